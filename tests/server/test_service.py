"""The service: every path, its formats, its checks and its limits."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import markone
from files_of import as_idx
from markone.server import messages
from markone.server.facts import PAGE
from markone.server.routes import ROUTES
from markone.server.service import Service
from markone.server.settings import ServeSettings
from markone.web.safety import HEADERS

from .asking import HOST, TEXTS, ask, run, service_of, spam_model

ROWS = [
    {"age": 20, "job": "cook", "happy": True},
    {"age": 61, "job": "judge", "happy": False},
    {"age": 33, "job": "cook", "happy": True},
    {"age": 70, "job": "judge", "happy": False},
]
INCOMES = ["low", "high", "low", "high"]
SENTENCES = [
    {
        "form": ["the", "dog", "barks"],
        "upos": ["DET", "NOUN", "VERB"],
        "head": [2, 3, 0],
        "deprel": ["det", "nsubj", "root"],
    },
    {
        "form": ["a", "cat", "sleeps"],
        "upos": ["DET", "NOUN", "VERB"],
        "head": [2, 3, 0],
        "deprel": ["det", "nsubj", "root"],
    },
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models")
    spam_model(path / "mail@1.model")
    spam_model(path / "mail@10.model", rule="perceptron")
    markone.train(ROWS, target=INCOMES, rule="mira").save(path / "people.model")
    markone.Tagger.train(SENTENCES, column="upos", epochs=5).save(path / "words.tagger")
    markone.Parser.train(SENTENCES * 4, epochs=3, mode="fast", tag=True).save(path / "trees.parser")
    return path


@pytest.fixture(scope="module")
def service(folder: Path) -> Service:
    return service_of(folder)


@pytest.fixture(scope="module")
def mail(folder: Path) -> markone.Model:
    return markone.load(folder / "mail@1.model")


@pytest.fixture(scope="module")
def people(folder: Path) -> markone.Model:
    return markone.load(folder / "people.model")


# ---- predictions


def test_several_labels_are_answered_as_lists(tmp_path: Path) -> None:
    texts = ["free money now", "cheap free offer", "see you at lunch", "free lunch with a friend"] * 20
    labels = [["shop"], ["shop"], ["food"], ["food", "shop"]] * 20
    model = markone.train(texts, target=labels)
    model.save(tmp_path / "mail.model")
    service = service_of(tmp_path)
    asked = ["a free lunch", "see a friend", "money", "."]
    found = ask(service, "POST", "/predict", {"texts": asked}).json["predictions"]
    assert [tuple(one["label"]) for one in found] == model.predict(asked) and len(
        {len(one["label"]) for one in found}
    ) > 1
    likely = model.probabilities(asked)
    assert [[*one["probabilities"].values()] for one in found] == [pytest.approx(row) for row in likely.tolist()]
    lines = ask(service, "POST", "/predict", {"texts": asked}, accept="text/csv").body.decode().splitlines()
    assert lines[0].startswith("prediction,") and len(lines) == 5
    said = ask(service, "POST", "/explain", {"text": "a free lunch"}).json
    assert said["prediction"] in model.predict("a free lunch") and said["against"] == f"not {said['supports']}"
    for label in model.classes:
        one = ask(service, "POST", "/explain", {"text": "money", "label": label}).json
        assert one["supports"] == label and (one["prediction"] == label) == (label in model.predict("money"))
    wrong = ask(service, "POST", "/explain", {"text": "money", "label": "shops"})
    assert wrong.status == 422 and "there is no such label" in wrong.json["detail"]
    tensor = {"name": "text", "shape": [2], "datatype": "BYTES", "data": asked[:2]}
    outputs = ask(service, "POST", "/v2/models/mail/infer", {"inputs": [tensor]}).json["outputs"]
    assert outputs[0]["data"] == [";".join(own) for own in model.predict(asked[:2])]
    assert outputs[1]["shape"] == [2, 2]
    assert ask(service, "POST", "/invocations", {"inputs": asked}).json["predictions"] == [
        *map(list, model.predict(asked))
    ]


def test_a_text_and_texts_get_what_the_model_says(service: Service, mail: markone.Model) -> None:
    asked = {"model": "mail", "version": "1"}
    for wanted, examples in (({"text": TEXTS[0]}, TEXTS[:1]), ({"texts": TEXTS}, TEXTS), ({"texts": []}, [])):
        reply = ask(service, "POST", "/predict", {**wanted, **asked})
        assert reply.status == 200
        found = msgspec.convert(reply.json, messages.Predictions)
        assert (found.model, found.version) == ("mail", "1")
        assert [one.label for one in found.predictions] == list(mail.predict(examples))
        for one, scores, shares in zip(
            found.predictions, mail.scores(examples), mail.probabilities(examples) if examples else [], strict=True
        ):
            assert list(one.scores) == mail.classes
            assert np.array_equal(np.float32(list(one.scores.values())), scores)
            assert np.array_equal(list(one.probabilities.values()), shares)


def test_the_latest_version_answers_and_others_by_name(service: Service) -> None:
    latest = ask(service, "POST", "/predict", {"text": "free", "model": "mail"}).json
    assert latest["version"] == "10" and "probabilities" not in latest["predictions"][0]
    assert ask(service, "POST", "/predict?model=mail&version=1", {"text": "free"}).json["version"] == "1"
    for path, status, words in (
        ("/predict", 422, "name one of mail, people as the model"),
        ("/predict?model=male", 404, "Did you mean 'mail'?"),
        ("/predict?model=mail&version=2", 404, "no version '2', but 1, 10"),
        ("/predict?model=words", 422, "words is a tagger, but this needs a classifier"),
        ("/predict?model=../mail@1.model", 404, "no model"),
    ):
        reply = ask(service, "POST", path, {"text": "free"})
        assert reply.status == status and words in reply.json["detail"], path
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json["status"] == status and reply.json["title"]


def test_a_row_rows_and_columns_are_the_same_examples(service: Service, people: markone.Model) -> None:
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    right = list(people.predict(ROWS))
    asked = [{"rows": ROWS}, {"columns": columns}]
    for wanted in asked:
        found = ask(service, "POST", "/predict?model=people", wanted).json
        assert [one["label"] for one in found["predictions"]] == right and "missing" not in found
    one = ask(service, "POST", "/predict?model=people", {"row": ROWS[1]}).json["predictions"]
    assert [one["label"] for one in one] == right[1:2]
    with pytest.warns(markone.MarkoneWarning, match="lacks columns"):
        some = ask(service, "POST", "/predict?model=people", {"row": {"age": 30}}).json
    assert some["missing"] == ["job", "happy"]


def test_scores_of_impossible_classes_are_null(tmp_path: Path) -> None:
    tables = {"ham": {"see": 0.5, "free": 0.0}, "spam": {"see": 0.2, "free": 0.5}}
    markone.Model.from_tables(tables).save(tmp_path / "bayes.model")
    [one] = ask(service_of(tmp_path / "bayes.model"), "POST", "/predict", {"text": "free"}).json["predictions"]
    assert one["label"] == "spam" and None in one["scores"].values()
    assert one["probabilities"] == {"ham": 0.0, "spam": 1.0}


def test_images(tmp_path: Path) -> None:
    images = np.array([[[0, 9], [9, 0]], [[200, 0], [0, 200]]] * 4, np.uint8)
    (tmp_path / "images-idx3-ubyte").write_bytes(as_idx(images))
    (tmp_path / "labels-idx1-ubyte").write_bytes(as_idx(np.array([0, 1] * 4, np.uint8)))
    model = markone.train(tmp_path / "images-idx3-ubyte")
    model.save(tmp_path / "pixels.model")
    service = service_of(tmp_path)
    found = ask(service, "POST", "/predict", {"images": images.tolist()})
    assert [one["label"] for one in found.json["predictions"]] == model.predict(images).tolist()
    tensor = {"name": "image", "shape": [8, 2, 2], "datatype": "UINT8", "data": images.ravel().tolist()}
    inferred = ask(service, "POST", "/v2/models/pixels/infer", {"inputs": [tensor]}).json
    assert inferred["outputs"][0]["data"] == [str(label) for label in model.predict(images)]
    for shape in ([0, 2, 2], [0, 2**62, 3], [0, 2, 2**70], [2**31, 2**33, 0]):
        empty = {"inputs": [{**tensor, "shape": shape, "data": []}]}
        assert ask(service, "POST", "/v2/models/pixels/infer", empty).status == 422
    uneven: list[Any] = [[[[0, 256]]], [[[1, 2], [3]]], [[[]]]]
    for wrong in uneven:
        assert ask(service, "POST", "/predict", {"images": wrong}).status == 422


@pytest.fixture(scope="module")
def rents(folder: Path) -> markone.Model:
    flats = [{"size": 20 + 7 * i % 90, "district": "north" if i % 3 else "centre"} for i in range(60)]
    target = [
        250 + 8 * flat["size"] + 300 * (flat["district"] == "centre") + 10 * (i % 5) for i, flat in enumerate(flats)
    ]
    data = markone.read([{**flat, "rent": rent} for flat, rent in zip(flats, target, strict=True)], target="rent")
    model = markone.train(data, rule="regression")
    (folder / "numbers").mkdir()
    model.save(folder / "numbers" / "rents.model")
    return model


@pytest.fixture(scope="module")
def numbers(rents: markone.Model, folder: Path) -> Service:
    return service_of(folder / "numbers", folder / "words.tagger")


FLATS: list[dict[str, Any]] = [
    {"size": 33, "district": "centre"},
    {"size": 90, "district": "north"},
    {"size": 61, "district": None},
]


def test_a_regression_answers_numbers_in_every_format(numbers: Service, rents: markone.Model) -> None:
    right = rents.predict(FLATS).tolist()
    assert len(set(right)) == 3
    columns = {name: [flat[name] for flat in FLATS] for name in FLATS[0]}
    for wanted in ({"rows": FLATS}, {"columns": columns}):
        found = msgspec.convert(ask(numbers, "POST", "/predict", wanted).json, messages.PredictedNumbers, strict=True)
        assert [one.prediction for one in found.predictions] == right and found.version == rents.digest[:12]
    assert ask(numbers, "POST", "/predict", {"row": FLATS[0]}).json["predictions"] == [{"prediction": right[0]}]
    with pytest.warns(markone.MarkoneWarning, match="lacks the column"):
        assert ask(numbers, "POST", "/predict", {"row": {"size": 33}}).json["missing"] == ["district"]
    table = ask(numbers, "POST", "/predict", {"rows": FLATS}, accept="text/csv").body.decode().splitlines()
    assert table[0] == "prediction" and [float(np.float32(one)) for one in table[1:]] == right
    lines = ask(numbers, "POST", "/predict", {"rows": FLATS}, accept="application/x-ndjson").lines
    assert lines == [{"prediction": number} for number in right]
    body = b"".join(json.dumps(one).encode() + b"\n" for one in [FLATS[0], {**FLATS[0], "size": "wide"}, *FLATS[1:]])
    first, wrong, *rest = ask(numbers, "POST", "/predict", pieces=[body], kind="application/x-ndjson").lines
    assert [first, *rest] == lines and wrong["line"] == 2 and "error" in wrong


def test_a_regression_in_other_protocols(numbers: Service, rents: markone.Model) -> None:
    right = rents.predict(FLATS[:2]).tolist()
    outputs = ask(numbers, "GET", "/v2/models/rents").json["outputs"]
    assert outputs == [{"name": "prediction", "datatype": "FP32", "shape": [-1]}]
    size = {"name": "size", "shape": [2], "datatype": "FP64", "data": [33, 90]}
    district = {"name": "district", "shape": [2], "datatype": "BYTES", "data": ["centre", "north"]}
    inferred = ask(numbers, "POST", "/v2/models/rents/infer", {"inputs": [size, district]}).json
    assert inferred["outputs"] == [{"name": "prediction", "datatype": "FP32", "shape": [2], "data": right}]
    label = {"inputs": [size, district], "outputs": [{"name": "label"}]}
    refused = ask(numbers, "POST", "/v2/models/rents/infer", label)
    assert refused.status == 422 and "no output 'label'; there are prediction" in refused.json["detail"]
    assert ask(numbers, "POST", "/invocations", {"instances": FLATS[:2]}).json == {"predictions": right}


def test_the_explanation_of_a_number_adds_up_to_it(numbers: Service, rents: markone.Model) -> None:
    said = ask(numbers, "POST", "/explain", {"row": FLATS[0], "top": 1000}).json
    found = msgspec.convert(said, messages.Explained, strict=True)
    [table] = found.tables
    assert found.runner_up is None and (found.supports, found.against) == ("larger rent", "smaller rent")
    assert found.prediction == table.score == pytest.approx(rents.predict(FLATS[0]))
    assert sum(row.product or 0 for row in table.rows) == pytest.approx(table.score)
    assert len(table.rows) == table.features > 2
    refused = ask(numbers, "POST", "/explain", {"row": FLATS[0], "label": "larger rent"})
    assert refused.status == 422 and "predicts numbers and has no labels" in refused.json["detail"]


def test_a_regression_in_what_the_service_says_about_itself(numbers: Service) -> None:
    ask(numbers, "POST", "/predict", {"rows": FLATS})
    facts = {one["name"]: one for one in ask(numbers, "GET", "/models").json["models"]}
    rents, words = facts["rents"], facts["words"]
    assert (rents["kind"], words["kind"]) == ("regression", "tagger")
    assert rents["classes"] == [] and not rents["has_probabilities"]
    counts = ask(numbers, "GET", "/metrics").body.decode()
    assert re.search(r'markone_model_info{model="rents",version="[0-9a-f]+",kind="regression"} 1', counts)
    assert 'markone_examples_total{path="/predict"}' in counts
    described = ask(numbers, "GET", "/openapi.json").json
    answer = described["paths"]["/predict"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    kinds = [one["$ref"].rpartition("/")[2] for one in answer["anyOf"]]
    assert kinds == ["Predictions", "PredictedNumbers"] and set(kinds) < set(described["components"]["schemas"])
    assert set(described["components"]["schemas"]["PredictedNumber"]["properties"]) == {"prediction"}


def test_csv_and_lines_by_accept(service: Service, mail: markone.Model) -> None:
    path, wanted = "/predict?model=mail&version=1", {"texts": TEXTS}
    table = ask(service, "POST", path, wanted, accept="text/html, text/csv;q=0.9, */*;q=0.1")
    assert table.headers["content-type"] == "text/csv"
    rows = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert [row["prediction"] for row in rows] == list(mail.predict(TEXTS))
    assert np.array_equal(np.float32([row["score:spam"] for row in rows]), mail.scores(TEXTS)[:, 1])
    lines = ask(service, "POST", path, wanted, accept="application/x-ndjson")
    assert [line["label"] for line in lines.lines] == list(mail.predict(TEXTS))
    refused = ask(service, "POST", path, wanted, accept="image/png")
    assert refused.status == 406 and "application/json or text/csv" in refused.json["detail"]


# ---- streams


def test_a_stream_is_answered_while_it_arrives(service: Service, mail: markone.Model) -> None:
    lines = [json.dumps(text if i % 2 else {"text": text}).encode() + b"\n" for i, text in enumerate(TEXTS * 3)]
    body = b"".join(lines)
    path = "/predict?model=mail&version=1"
    reply = ask(service, "POST", path, pieces=[body[:30], body[30:100], b"", body[100:]], kind="application/x-ndjson")
    assert reply.status == 200 and len(reply.pieces) == 3
    assert [line["label"] for line in reply.lines] == list(mail.predict(TEXTS * 3))
    whole = ask(service, "POST", path, body[:-1], kind="application/jsonl")
    assert whole.body == reply.body


def test_a_wrong_line_of_a_stream_does_not_harm_the_others(service: Service) -> None:
    bad = [b'"free"', b"not json", b'{"other": 1}', b"3", b'{"text": 3}', b'"\xff"', b"", b'"see you"']
    found = ask(service, "POST", "/predict?model=mail", b"\n".join(bad), kind="application/x-ndjson").lines
    assert [("label" in line) for line in found] == [True, False, False, False, False, False, True]
    assert found[1]["line"] == 2 and "JSON" in found[1]["error"] and "'text'" in found[2]["error"]
    rows = [{"age": 30, "job": "cook", "happy": True}, {"age": {"a": "x"}}, {"age": 61, "job": "judge", "happy": False}]
    body = b"\n".join(json.dumps(row).encode() for row in rows)
    found = ask(service, "POST", "/predict?model=people", body, kind="application/x-ndjson").lines
    assert len(found) == 3 and found[0]["label"] == "low" and found[2]["label"] == "high"


def test_a_long_line_ends_a_stream(folder: Path) -> None:
    small = service_of(folder / "mail@1.model", most_bytes=1000)
    pieces = [b'"free"\n', b'"' + 600 * b"a", 600 * b"a"]
    found = ask(small, "POST", "/predict", pieces=pieces, kind="application/x-ndjson").lines
    assert found[0]["label"] == "spam" and found[1]["status"] == 413


# ---- explanations


def test_explanations_add_up(service: Service, mail: markone.Model) -> None:
    text = "free lunch, and free money"
    reply = ask(service, "POST", "/explain?model=mail&version=1", {"text": text})
    found = msgspec.convert(reply.json, messages.Explained)
    right = mail.explain(text)
    assert found.prediction == right.prediction == mail.predict(text)
    [table] = found.tables
    assert sum(row.product for row in table.rows) == pytest.approx(float(mail.scores(text)[1]), abs=1e-6)
    assert table.score == right.tables[0].score and table.features == len(right.tables[0].rows)
    assert "".join(piece.text for piece in found.texts[0].pieces) == text
    few = ask(service, "POST", "/explain?model=mail&version=1", {"text": text, "top": 1}).json
    assert len(few["tables"][0]["rows"]) == 1
    row = ask(service, "POST", "/explain?model=people", {"row": ROWS[0]})
    assert row.status == 200 and row.json["texts"] == []
    assert ask(service, "POST", "/explain?model=mail", {"text": "a", "row": {}}).status == 422


# ---- sentences


def test_tags_as_json_and_conllu(service: Service, folder: Path) -> None:
    tagger = markone.Tagger.load(folder / "words.tagger")
    words = ["the", "cat", "barks"]
    for wanted in ({"words": words}, {"sentences": [words]}, {"text": "the cat barks"}, {"columns": [{"form": words}]}):
        found = msgspec.convert(ask(service, "POST", "/tag", wanted).json, messages.Tagged)
        assert found.sentences[0].tokens == words and [found.sentences[0].tags] == tagger.tag([words])
    lines = ask(service, "POST", "/tag", {"words": words}, accept="text/x-conllu")
    assert lines.body.startswith(b"1\tthe\t_\tDET\t")
    assert ask(service, "POST", "/tag", lines.body, kind="text/x-conllu", accept="text/x-conllu").body == lines.body
    assert ask(service, "POST", "/tag", b"the cat barks", kind="text/plain").json["sentences"][0]["tokens"] == words


def test_trees_as_json_and_conllu(service: Service, folder: Path) -> None:
    parser = markone.Parser.load(folder / "trees.parser")
    found = msgspec.convert(ask(service, "POST", "/parse", {"text": "the cat barks"}).json, messages.Parsed)
    [tree] = parser.parse([["the", "cat", "barks"]])
    assert (found.sentences[0].heads, found.sentences[0].relations) == (tree.heads, tree.labels)
    lines = ask(service, "POST", "/parse", b"the cat barks", kind="text/plain", accept="text/x-conllu").body.decode()
    assert [line.split("\t")[6] for line in lines.splitlines() if "\t" in line] == [str(head) for head in tree.heads]


def test_the_tagger_of_the_service_tags_for_a_parser_without_one(folder: Path, tmp_path: Path) -> None:
    parser = markone.Parser.train(SENTENCES * 4, epochs=3, mode="fast")
    parser.save(tmp_path / "bare.parser")
    tagger = markone.Tagger.load(folder / "words.tagger")
    words = ["the", "cat", "barks"]
    [tags] = tagger.tag([words])
    [tree] = parser.parse([{"form": words, "upos": tags}])
    both = service_of(tmp_path / "bare.parser", folder / "words.tagger")
    found = ask(both, "POST", "/parse", {"words": words}).json["sentences"][0]
    assert found == {"tokens": words, "tags": tags, "heads": tree.heads, "relations": tree.labels}
    alone = ask(service_of(tmp_path / "bare.parser"), "POST", "/parse", {"words": words})
    assert alone.status == 422 and "serve a tagger of 'upos' beside the parser" in alone.json["detail"]


def test_parsing_takes_no_longer_than_allowed(folder: Path) -> None:
    long = ask(service_of(folder / "trees.parser"), "POST", "/parse", {"words": ["a"] * 5001})
    assert long.status == 413 and "5,000 words for this parser, not 5,001" in long.json["detail"]
    hurried = service_of(folder / "trees.parser", seconds=0.001)
    many = ask(hurried, "POST", "/parse", {"sentences": [["a"] * 500] * 60})
    assert many.status == 503
    paragraphs = b"the cat barks\n\n" * 120
    whole = ask(service_of(folder / "trees.parser"), "POST", "/parse", paragraphs, kind="text/plain")
    assert whole.status == 200 and len(whole.json["sentences"]) == 120
    lines = ask(
        service_of(folder / "trees.parser"), "POST", "/parse", paragraphs, kind="text/plain", accept="text/x-conllu"
    )
    assert lines.body.count(b"\tbarks\t") == 120


@pytest.mark.parametrize("path", ["/tag", "/parse"])
def test_wrong_sentences_get_a_sentence(service: Service, path: str) -> None:
    wrong: list[Any] = [
        {},
        {"text": "a", "words": ["a"]},
        {"words": [1]},
        {"conllu": "1\ta\n"},
        {"columns": [{"x": ["a"]}]},
    ]
    wrong += [{"columns": [{"form": ["a"], "head": ["x"]}]}, {"text": "a\0b"}]
    for asked in wrong:
        reply = ask(service, "POST", path, asked)
        assert reply.status == 422 and len(reply.json["detail"]) > 20, asked
    assert ask(service, "POST", path, b"\xff\xfe", kind="text/plain").status == 422
    assert ask(service, "POST", path, {"sentences": []}).json["sentences"] == []


# ---- Open Inference Protocol and MLflow


def test_open_inference_protocol(service: Service, mail: markone.Model, people: markone.Model) -> None:
    assert ask(service, "GET", "/v2/health/live").json == {"live": True}
    assert ask(service, "GET", "/v2/health/ready").json == {"ready": True}
    assert ask(service, "GET", "/v2").json["name"] == "markone"
    about = ask(service, "GET", "/v2/models/mail").json
    assert about["versions"] == ["1", "10"]
    assert about["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
    assert ask(service, "GET", "/v2/models/mail/versions/1/ready").json == {"ready": True}
    assert ask(service, "GET", "/v2/models/mail/versions/7/ready").status == 404
    tensor = {"name": "text", "shape": [4], "datatype": "BYTES", "data": TEXTS}
    reply = ask(service, "POST", "/v2/models/mail/versions/1/infer", {"id": "7", "inputs": [tensor]}).json
    assert (reply["model_name"], reply["model_version"], reply["id"]) == ("mail", "1", "7")
    outputs = {one["name"]: one for one in reply["outputs"]}
    assert outputs["label"]["data"] == list(mail.predict(TEXTS))
    assert outputs["scores"]["shape"] == [4, 2] and outputs["scores"]["datatype"] == "FP32"
    assert np.array_equal(np.float32(outputs["scores"]["data"]).reshape(4, 2), mail.scores(TEXTS))
    assert np.array_equal(np.reshape(outputs["probabilities"]["data"], (4, 2)), mail.probabilities(TEXTS))
    only = {"inputs": [tensor], "outputs": [{"name": "label"}]}
    assert [one["name"] for one in ask(service, "POST", "/v2/models/mail/infer", only).json["outputs"]] == ["label"]
    columns = [
        {"name": "age", "shape": [4, 1], "datatype": "INT32", "data": [[row["age"]] for row in ROWS]},
        {"name": "job", "shape": [4], "datatype": "BYTES", "data": [row["job"] for row in ROWS]},
        {"name": "happy", "shape": [4], "datatype": "BOOL", "data": [row["happy"] for row in ROWS]},
    ]
    found = ask(service, "POST", "/v2/models/people/infer", {"inputs": columns}).json
    assert found["outputs"][0]["data"] == list(people.predict(ROWS))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [3]},
        {"shape": [-1]},
        {"shape": [2, 2]},
        {"datatype": "FP32"},
        {"datatype": "TEXT"},
        {"name": "body"},
        {"data": [1, 2, 3, 4]},
        {"data": "four"},
    ],
)
def test_wrong_tensors_get_a_sentence(service: Service, change: dict[str, Any]) -> None:
    tensor = {"name": "text", "shape": [4], "datatype": "BYTES", "data": TEXTS, **change}
    reply = ask(service, "POST", "/v2/models/mail/infer", {"inputs": [tensor]})
    assert reply.status == 422 and len(reply.json["detail"]) > 20


def test_mlflow(service: Service, mail: markone.Model, people: markone.Model) -> None:
    assert ask(service, "GET", "/ping").status == 200
    labels, kinds = list(people.predict(ROWS)), list(mail.predict(TEXTS))
    names = list(ROWS[0])
    split = {"columns": names, "data": [[row[name] for name in names] for row in ROWS], "index": [0, 1, 2, 3]}
    columns = {name: [row[name] for row in ROWS] for name in names}
    for wanted in (
        {"dataframe_split": split},
        {"dataframe_records": ROWS},
        {"instances": ROWS},
        {"inputs": columns},
        {"inputs": split["data"]},
    ):
        assert ask(service, "POST", "/invocations?model=people", wanted).json == {"predictions": labels}, wanted
    assert ask(service, "POST", "/invocations?model=mail&version=1", {"instances": TEXTS}).json["predictions"] == kinds
    table = "age,job,happy\n" + "".join(f"{row['age']},{row['job']},{row['happy']}\n" for row in ROWS)
    assert (
        ask(service, "POST", "/invocations?model=people", table.encode(), kind="text/csv").json["predictions"] == labels
    )
    odd: list[Any] = [{}, {"instances": [1]}, {"inputs": []} | {"instances": []}, {"instances": [], "params": {"a": 1}}]
    for wrong in odd:
        assert ask(service, "POST", "/invocations?model=people", wrong).status == 422
    assert ask(service, "POST", "/invocations?model=people", b"a,a\n1,2\n", kind="text/csv").status == 422
    assert ask(service, "POST", "/invocations?model=people", b"a,b\n1\n", kind="text/csv").status == 422


# ---- what the service says about itself


def test_the_description_has_every_path_and_is_made_from_the_types(service: Service) -> None:
    described = ask(service, "GET", "/openapi.json").json
    assert described["openapi"] == "3.1.0"
    shown = {(route.method.lower(), route.path) for route in ROUTES if route.gives and route.path != "/learn"}
    assert shown == {(method, path) for path, methods in described["paths"].items() for method in methods}
    predict = described["paths"]["/predict"]["post"]
    assert predict["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Examples"}
    fields = set(described["components"]["schemas"]["Examples"]["properties"])
    assert fields == set(messages.Examples.__struct_fields__)
    references = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
    assert references <= set(described["components"]["schemas"])


def test_models_are_listed(service: Service, mail: markone.Model) -> None:
    found = {(one["name"], one["version"]): one for one in ask(service, "GET", "/models").json["models"]}
    assert len(found) == 5
    assert found["mail", "1"]["digest"] == mail.digest and found["mail", "1"]["classes"] == mail.classes
    assert [column["kind"] for one in found.values() if one["name"] == "people" for column in one["columns"]] == [
        "numeric",
        "categorical",
        "boolean",
    ]
    [people] = [version for name, version in found if name == "people"]
    assert found["people", people]["digest"].startswith(people) and len(people) == 12


def test_metrics_count_requests_and_examples(folder: Path) -> None:
    own = service_of(folder / "mail@1.model")
    for _ in range(3):
        ask(own, "POST", "/predict", {"texts": TEXTS})
    ask(own, "POST", "/predict", {"nothing": 1})
    ask(own, "GET", "/nowhere")
    text = ask(own, "GET", "/metrics").body.decode()
    for line in (
        'markone_requests_total{path="/predict",status="200"} 3',
        'markone_requests_total{path="/predict",status="422"} 1',
        'markone_requests_total{path="other",status="404"} 1',
        'markone_examples_total{path="/predict"} 12',
        'markone_request_seconds_count{path="/predict"} 4',
        'markone_request_seconds_bucket{path="/predict",le="+Inf"} 4',
        'markone_model_info{model="mail",version="1",kind="classifier"} 1',
    ):
        assert line in text.splitlines()
    assert all(re.fullmatch(r"# (HELP|TYPE) .*|\w+(\{.*\})? [\d.e-]+", line) for line in text.splitlines())


def test_the_page_and_every_answer_have_strict_headers(service: Service) -> None:
    for path, file in PAGE.items():
        reply = ask(service, "GET", path)
        assert reply.status == 200 and reply.body == file.read_bytes()
    for reply in (ask(service, "GET", "/"), ask(service, "POST", "/predict", {}), ask(service, "GET", "/no")):
        assert {name: reply.headers[name.lower()] for name in HEADERS} == HEADERS
    assert ask(service, "HEAD", "/").body == b""
    page = PAGE["/"].read_text()
    assert "<style" not in page and "style=" not in page and not re.search(r"<script(?! type=\"module\" src)", page)


# ---- who may ask


def test_only_requests_to_this_server_from_its_own_page(folder: Path) -> None:
    own = service_of(folder / "mail@1.model", hosts=("models.example",))
    good = [{}, {"host": "localhost:8080"}, {"origin": f"http://{HOST}"}, {"host": "Models.example"}]
    good += [{"host": "models.example", "origin": "https://models.example"}]
    bad = [{"host": "evil.example"}, {"origin": "http://evil.example"}, {"origin": "null"}, {"host": "127.0.0.1"}]
    bad += [{"host": "models.example", "origin": f"http://{HOST}"}, {"host": ""}]
    for headers in good:
        assert ask(own, "POST", "/predict", {"text": "a"}, **headers).status == 200, headers
    for headers in bad:
        for method, path in (("POST", "/predict"), ("GET", "/"), ("GET", "/metrics")):
            assert ask(own, method, path, {"text": "a"}, **headers).status == 403, headers
    assert ask(own, "POST", "/predict", {"text": "a"}, more=[("host", "evil.example")]).status == 400


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("::1", "[::1]:8080"),
        ("0:0::1", "[::1]:8080"),
        ("127.0.0.2", "127.0.0.2:8080"),
        ("2001:db8::5", "[2001:db8::5]"),
    ],
)
def test_the_address_of_the_service_is_one_of_its_names(folder: Path, address: str, host: str) -> None:
    token = "abcdefghijklmnop"
    own = service_of(folder / "mail@1.model", host=address, token=token)
    asked = {"text": "a"}
    assert ask(own, "POST", "/predict", asked, host=host, authorization=f"Bearer {token}").status == 200
    assert ask(own, "POST", "/predict", asked, host="[::2]:8080", authorization=f"Bearer {token}").status == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", None, "application/json; charset=latin-1"]
)
def test_other_content_types_are_refused(service: Service, kind: str | None) -> None:
    assert ask(service, "POST", "/predict?model=mail", {"text": "a"}, kind=kind).status == 415


def test_the_token(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = "abcdefghijklmnop"
    own = service_of(folder / "mail@1.model", token=token, host="0.0.0.0", hosts=("models.example",))
    host = {"host": "models.example"}
    for open_path in ("/", "/try.js", "/ping", "/v2/health/ready"):
        assert ask(own, "GET", open_path, **host).status == 200
    for wrong in (None, "Bearer", f"Bearer {token}x", f"Basic {token}", "Bearer ü"):
        headers = host if wrong is None else {**host, "authorization": wrong}
        for method, path in (("POST", "/predict"), ("GET", "/metrics"), ("GET", "/models"), ("GET", "/openapi.json")):
            reply = ask(own, method, path, {"text": "a"}, **headers)
            assert reply.status == 401 and reply.headers["www-authenticate"] == "Bearer" and token not in str(reply)
    for scheme in ("Bearer", "bearer", "BEARER "):
        assert ask(own, "POST", "/predict", {"text": "a"}, authorization=f"{scheme} {token}", **host).status == 200
    described = ask(own, "GET", "/openapi.json", authorization=f"Bearer {token}", **host).json
    assert described["security"] == [{"token": []}] and described["paths"]["/ping"]["get"]["security"] == []
    assert token not in "".join(capsys.readouterr())


def test_settings_are_checked() -> None:
    wrong: list[dict[str, Any]] = [
        {"host": "0.0.0.0"},
        {"token": "short"},
        {"token": "with spaces in it, and long"},
        {"port": 70000},
        {"workers": 0},
        {"workers": 2, "learn": True},
        {"hosts": ["a b"]},
        {"seconds": 0},
        {"most_rows": 0},
    ]
    for settings in wrong:
        with pytest.raises(markone.SettingsError) as error:
            ServeSettings(**settings)
        assert "with spaces" not in str(error.value) and "short" not in str(error.value)
    assert ServeSettings(host="::1").is_local and ServeSettings(host="localhost").is_local


# ---- limits


def test_limits(folder: Path) -> None:
    own = service_of(folder / "mail@1.model", most_bytes=1000, most_rows=3, longest_text=50)
    assert ask(own, "POST", "/predict", {"texts": ["a"] * 3}).status == 200
    for asked in ({"texts": ["a"] * 4}, {"text": "a" * 51}, {"row": {"text": "a" * 51}}, {"text": "a" * 1000}):
        reply = ask(own, "POST", "/predict", asked)
        assert reply.status == 413 and re.search(r"\d", reply.json["detail"])
    assert ask(own, "POST", "/predict", b"", content_length="1001").status == 413
    slow = ask(own, "POST", "/predict", pieces=[b'{"text": "', b"a" * 600, b"a" * 600, b'"}'])
    assert slow.status == 413 and slow.headers["connection"] == "close"
    busy = service_of(folder / "mail@1.model", most_requests=1)
    busy._busy = 1
    reply = ask(busy, "POST", "/predict", {"text": "a"})
    assert reply.status == 429 and reply.headers["retry-after"] == "1"
    assert ask(busy, "GET", "/models").status == 429


def test_time_is_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio
    import time

    own = service_of(folder / "mail@1.model", seconds=0.05)
    monkeypatch.setattr("markone.model.model.Model.decide", lambda *_: time.sleep(0.3))
    late = ask(own, "POST", "/predict", {"texts": ["a" * 40_000]})
    assert late.status == 503 and "0.05 seconds" in late.json["detail"]

    async def never() -> Any:
        await asyncio.sleep(10)

    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    headers = [(b"host", HOST.encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/predict", "query_string": b"", "headers": headers}
    run(own(scope, never, send))
    assert said[0]["status"] == 408


DEEP = b'{"row": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"text": "\xff"}', 400),
        (b"[]", 422),
        (b'{"text": 3}', 422),
        (b'{"text": "a", "other": 1}', 422),
        (b'{"text": "a", "texts": []}', 422),
        (b"{}", 422),
        (b'{"row": {"age": 1e999}}', 422),
        (b'{"row": {"age": 99999999999999999999999999}}', 422),
        (b'{"row": {"age": -1e400}}', 422),
        (DEEP, 422),
        (b'{"row": {"a": ' + b"[" * 30 + b"]" * 30 + b"}}", 422),
        (b'{"columns": {"age": [1], "job": []}}', 422),
        (b'{"columns": {}}', 422),
        (b'{"rows": [{}]}', 422),
        (b'{"rows": [1]}', 422),
        (b'{"texts": ["a"]}', 422),
        (b'{"row": {"no such column": 1}}', 422),
    ],
)
def test_hostile_bodies_get_a_sentence(service: Service, body: bytes, status: int) -> None:
    reply = ask(service, "POST", "/predict?model=people", body)
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json" and reply.json["detail"].endswith(
        (".", "?", "]")
    )
    assert " ." not in reply.json["detail"] and "jSON" not in reply.json["detail"]


def test_wrong_paths_and_methods(service: Service) -> None:
    for path in ("/nothing", "/../etc/passwd", "/v2/models", "/v2/models/mail/versions", "/page/try.js", "/service.py"):
        assert ask(service, "GET", path).status == 404, path
    reply = ask(service, "GET", "/predict")
    assert reply.status == 405 and reply.headers["allow"] == "POST"
    assert ask(service, "DELETE", "/v2/models/mail").status == 405
    assert ask(service, "POST", "/learn", {"texts": ["a"], "labels": ["ham"]}).status == 403
    assert ask(service, "GET", "/models?" + "a=b&" * 50).status == 200
    assert ask(service, "POST", "/predict?" + "a=b&" * 50, {"text": "a"}).status == 400


def test_a_defect_is_logged_and_not_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("secret")

    monkeypatch.setattr("markone.model.model.Model.decide", fail)
    reply = ask(service, "POST", "/predict?model=mail", {"text": "a"})
    assert reply.status == 500 and "secret" not in reply.json["detail"] and "secret" in capsys.readouterr().err


@pytest.mark.parametrize("row", [{"text": []}, {"text": ["free", "lunch"]}, {"other": []}, {"text": {}}])
def test_a_row_with_lists_is_one_row_and_is_refused_for_a_text(tmp_path: Path, row: dict[str, Any]) -> None:
    spam_model(tmp_path / "mail.model")
    service = service_of(tmp_path / "mail.model")
    for path in ("/predict", "/explain"):
        reply = ask(service, "POST", path, {"row": row})
        assert reply.status == 422 and "column 'text'" in reply.json["detail"], reply.json


def test_many_names_that_no_model_uses_cost_little(service: Service, people: markone.Model) -> None:
    """Each name in any row would become a column of all rows."""
    one = {"age": 40, "job": "cook", "happy": True}
    rows = [{**one, **{f"k{i}_{k}": 1 for k in range(30)}} for i in range(1000)]
    columns = {name: [value] for name, value in [*one.items(), *((f"k{i}", 1) for i in range(30_000))]}
    began = time.process_time()
    label = people.predict(one)
    for path, asked in (
        ("/predict", {"rows": rows}),
        ("/predict", {"columns": columns}),
        ("/predict", {"row": {**rows[0], "deep": {f"k{i}": 1 for i in range(30_000)}}}),
    ):
        reply = ask(service, "POST", path, {"model": "people", **asked})
        assert reply.status == 200 and reply.json["predictions"][0]["label"] == label
    assert ask(service, "POST", "/explain", {"model": "people", "row": {**rows[0], **rows[1]}}).status == 200
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert len(ask(service, "POST", "/predict?model=people", lines, kind="application/x-ndjson").lines) == 1000
    assert ask(service, "POST", "/invocations?model=people", {"instances": rows}).status == 200
    wide = ",".join(["age", "job", *(f"k{i}" for i in range(20_000))])
    assert ask(service, "POST", "/invocations?model=people", wide.encode() + b"\n1,a\n", kind="text/csv").status == 413
    assert time.process_time() - began < 10  # it took minutes, and gigabytes
    strangers = ask(service, "POST", "/predict", {"model": "people", "row": {f"k{i}": 1 for i in range(100)}})
    assert strangers.status == 422 and "needs the column" in strangers.json["detail"]


def test_a_line_in_tiny_pieces_is_joined_once(service: Service, mail: markone.Model) -> None:
    line = json.dumps("free " * 2_000).encode() + b"\n" + json.dumps(TEXTS[0]).encode()
    pieces = [line[at : at + 1] for at in range(len(line))]
    reply = ask(service, "POST", "/predict?model=mail&version=1", pieces=pieces, kind="application/x-ndjson")
    assert [one["label"] for one in reply.lines] == list(mail.predict(["free " * 2_000, TEXTS[0]]))
