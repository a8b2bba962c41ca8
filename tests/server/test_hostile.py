"""Random requests to every path: each gets an answer that the description has, and none is a defect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markone
from markone.server.openapi import COMMON
from markone.server.routes import ROUTES
from markone.server.service import Service

from .asking import ask, service_of, spam_model

KNOWN = {200, 405, 408, *COMMON}
FIELDS = [
    *("text", "texts", "row", "rows", "columns", "images", "words", "sentences", "conllu", "model", "version", "top"),
    *(
        "inputs",
        "instances",
        "dataframe_split",
        "dataframe_records",
        "data",
        "name",
        "shape",
        "datatype",
        "labels",
        "id",
    ),
    *("age", "job", "form", "upos", "outputs", "params", "index"),
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["mail", "people", "BYTES", "FP64", "text", "age", "job", "free"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=12,
)
BODIES = st.one_of(VALUES.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60))
POSTS = [(route.path, kind) for route in ROUTES for kind in route.takes]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    folder = tmp_path_factory.mktemp("hostile")
    spam_model(folder / "mail.model")
    rows = [{"age": 20, "job": "cook"}, {"age": 61, "job": "judge"}, {"age": 33, "job": "cook"}]
    markone.train(rows, target=["low", "high", "low"], rule="mira").save(folder / "people.model")
    sentences = [[("the", "DET"), ("dog", "NOUN")]] * 3
    markone.Tagger.train(sentences, epochs=2).save(folder / "words.tagger")
    return service_of(Path(folder))


@pytest.mark.filterwarnings("ignore::markone.MarkoneWarning")
@pytest.mark.parametrize(("path", "kind"), POSTS)
@given(
    body=BODIES, model=st.sampled_from(["mail", "people", "words", "no"]), accept=st.sampled_from(["*/*", "text/csv"])
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_bodies(service: Service, path: str, kind: str, body: bytes, model: str, accept: str) -> None:
    where = path.replace("{name}", model).replace("{version}", "1")
    reply = ask(service, "POST", f"{where}?model={model}", body, kind=kind, accept=accept)
    assert reply.status in KNOWN, (body, reply.body)
    if reply.status != 200:
        assert reply.headers["content-type"] == "application/problem+json" and reply.json["detail"]


@given(
    path=st.text(max_size=20),
    query=st.text(st.characters(codec="ascii"), max_size=20),
    method=st.sampled_from(["GET", "POST", "PUT"]),
)
@settings(max_examples=60, deadline=None)
def test_random_paths(service: Service, path: str, query: str, method: str) -> None:
    reply = ask(service, method, f"/{path.replace('?', '')}?{query}", b"{}")
    assert reply.status in KNOWN


def test_a_value_of_any_kind_in_every_field(service: Service) -> None:
    values: list[Any] = [None, True, 0, -1, 1e308, "", "a", [], {}, [None], [[]], [{}], {"a": {}}, [1, "a"], 2**63]
    for route in ROUTES:
        for name in getattr(route.reads, "__struct_fields__", ()):
            for value in values:
                where = route.path.replace("{name}", "people").replace("{version}", "1")
                reply = ask(
                    service, "POST", where, {name: value, "model": "people"} if name != "model" else {name: value}
                )
                assert reply.status in KNOWN, (route.path, name, value, reply.body)
