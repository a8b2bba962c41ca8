"""The spec of a feature map: read, checked, printed, and read again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import Features
from markone.data.source import Column
from markone.errors import DataError, MarkoneError, SettingsError

SPEC: dict[str, Any] = {
    "unit": True,
    "degree": 2,
    "conjunctions": ["make*cylinders"],
    "text": {"words": [1, 2], "signs": False, "value": "log", "lexicons": {"good": ["fine", "nice"]}},
    "numeric": {"scale": "max-abs"},
    "categorical": {"min_count": 2},
    "image": {"pixels": "on-off", "patches": 3},
    "rows": {"scale": "standard"},
    "columns": {"two words": {"words": []}, "title": {"weight": "idf"}},
}


def test_a_spec_is_the_same_as_dict_as_file_and_in_python(tmp_path: Path) -> None:
    spec = Features(**SPEC)
    assert spec.as_dict() == SPEC
    assert Features.of(SPEC) == spec == Features.of(spec)
    path = tmp_path / "spec.toml"
    path.write_text(str(spec), encoding="utf-8")
    assert Features.of(path) == Features.of(str(path)) == spec
    assert Features.of(json.loads(json.dumps(spec.as_dict()))) == spec
    assert Features.of(None) == Features() and str(Features()) == ""
    no_limit = Features(text={"max_features": 3}, columns={"k": {"max_features": None}})
    assert Features.of(no_limit.as_dict()).for_column(Column("k", "text")).max_features is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_survives_printing(column: str, word: str) -> None:
    spec = Features(columns={column: {"lexicons": {"list": ["a" + word]}}})
    assert Features.of(tomllib.loads(str(spec))) == spec


def test_a_column_has_the_settings_of_its_kind_and_its_own() -> None:
    spec = Features.of(SPEC)
    title = spec.for_column(Column("title", "text"))
    assert title.weight == "idf" and title.words == (1, 2) and not title.signs
    assert spec.for_column(Column("two words", "text")).words is None
    assert spec.for_column(Column("age", "boolean")).scale == "max-abs"
    with pytest.raises(SettingsError, match=r"^columns\.title\.weight is unknown; there are scale, missing"):
        spec.for_column(Column("title", "numeric"))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"txt": {}}, r"^features\.txt is unknown; there are text, .*Did you mean 'text'\?$"),
        ({"text": {"word": [1, 2]}}, r"^text\.word is unknown; .*Did you mean 'words'\?$"),
        ({"text": {"words": [2, 1]}}, r"^text\.words must be \[shortest, longest\] with lengths from 1 to 5"),
        ({"text": {"words": [1, 6]}}, r"^text\.words must be"),
        ({"text": {"words": 2}}, r"^text\.words must be"),
        ({"text": {"weight": "odd"}}, r"^text\.weight must be one of 'none', 'idf', 'odds', not 'odd'\. Did you mean"),
        ({"text": {"signs": 1}}, r"^text\.signs must be True or False"),
        ({"text": {"smoothing": 0.5, "weight": "idf"}}, r"^text\.smoothing is for the weight 'odds'"),
        ({"text": {"discount": 0, "weight": "none"}}, r"^text\.discount is for the weight 'odds'"),
        ({"text": {"discount": 2}}, r"^text\.discount must be a number from 0 to 1, not 2"),
        ({"image": {"threshold": 0.1, "patches": []}}, r"^image\.threshold is only for binary pixels"),
        ({"text": {"smoothing": 0}}, r"^text\.smoothing must be a number greater than 0"),
        ({"text": {"min_count": 0}}, r"^text\.min_count must be a whole number from 1 to"),
        ({"text": {"hash_bits": 40}}, r"^text\.hash_bits must be a whole number from 1 to 30"),
        ({"text": {"hash_bits": 10, "min_count": 2}}, r"^text\.min_count prunes a vocabulary"),
        ({"text": {"hash_bits": 10, "max_features": 2}}, r"^text\.max_features prunes a vocabulary"),
        ({"text": {"negation": True, "templates": ["not"]}}, r"^text\.templates must not contain 'not'"),
        ({"text": {"document": ["pronoun"]}}, r"^text\.document must be one of .*Did you mean 'pronouns'"),
        ({"text": {"document": "no"}}, r"^text\.document must be a list"),
        ({"text": {"lexicons": ["a"]}}, r"^text\.lexicons must map names"),
        ({"text": {"lexicons": {"a": [1]}}}, r"^text\.lexicons must contain lists of words"),
        ({"text": {"lexicons": {"a": "/no/such/file"}}}, r"^cannot read the lexicon /no/such/file"),
        ({"text": 3}, r"^text must be a table"),
        ({"degree": 4}, r"^degree must be a whole number from 1 to 3"),
        ({"unit": "yes"}, r"^unit must be True or False"),
        ({"conjunctions": "a*b"}, r"^conjunctions must be a list"),
        ({"conjunctions": ["a"]}, r"^conjunctions must contain names of columns with \* between them"),
        ({"columns": ["a"]}, r"^columns must be a table"),
        ({"functions": {"f": 3}}, r"^functions must map names to functions"),
        ({"functions": ["shout"]}, r"^functions must be given: .*'shout'"),
        (3, r"^features must be a Features, a dict, the name of a TOML file or 'email'"),
        ("/no/such.toml", r"^cannot read the spec /no/such.toml"),
    ],
)
def test_what_is_wrong_gets_a_sentence(bad: Any, sentence: str) -> None:
    with pytest.raises(MarkoneError, match=sentence):
        Features.of(bad)


def test_a_file_that_is_no_toml_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    for data in (b"words = [", b"\xff"):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"spec\.toml is not TOML"):
            Features.of(path)


def test_functions_are_named_in_the_spec_and_given_beside_it() -> None:
    spec = Features(functions={"shout": str.isupper})
    assert spec.as_dict() == {"functions": ["shout"]} and str(spec) == 'functions = ["shout"]'
    assert Features.of(spec.as_dict(), {"shout": str.isupper}) == spec
    assert Features.of(Features(), {"shout": str.isupper}) == spec


def test_a_lexicon_file_has_comments_and_may_be_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("; from somewhere\n\ncaf\xe9\nfine  \n".encode("latin-1"))
    assert Features(text={"lexicons": {"good": path}}).text.lexicons == {"good": ("café", "fine")}
