"""Errors are data: they keep what they are about, and each interface says it in its own words."""

from __future__ import annotations

import pickle

import pytest

import markone
from markone.errors import (
    UNSAID,
    DataError,
    Interrupted,
    LimitError,
    MarkoneError,
    MarkoneWarning,
    ModelFileError,
    NoDataError,
    Setting,
    SettingsError,
    Terminated,
    warn,
)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"max_iter": 3}, "Did you mean 'epochs'"),
        ({"n_jobs": 1}, "Did you mean 'threads'"),
        ({"rule": "ridge"}, "Did you mean 'regression'"),
        ({"rule": "Passive_Aggressive"}, "Did you mean 'hinge'"),
        ({"epoch": 3}, "Did you mean 'epochs'"),
        ({"tune": True}, "not a setting, but a function: train with the settings of markone.tune"),
        ({"calibrate": True}, "is not needed: the probabilities"),
        ({"cv": 3}, "is called folds"),
    ],
)
def test_names_of_other_programs_are_understood(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        markone.train(["a", "b"], target=[0, 1], **given)  # type: ignore[arg-type]


def test_other_ways_to_say_leave_one_out_are_understood() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'loo'"):
        markone.validate(["a", "b"], target=[0, 1], method="leave-one-out")  # type: ignore[arg-type]


def test_an_estimator_that_gets_words_names_the_transformer() -> None:
    with pytest.raises(DataError, match=r"float: 'red'. .*make_pipeline\(markone.FeatureTransformer\(\)"):
        markone.LogisticRegression().fit([["red"], ["blue"]], [0, 1])


def shouted(setting: Setting) -> str:
    return setting.name.upper()


ERRORS = [
    MarkoneError("it is wrong"),
    SettingsError("epochs", "must be at least 1, not 0"),
    SettingsError(
        Setting("kinds", key="zip"), ("must fit ", Setting("format", "csv")), value="x", advice="leave it out"
    ),
    DataError("no rows"),
    DataError("no number", file="a.csv", line=3, column="age", advice=("say ", Setting("skip_bad", True))),
    DataError((SettingsError("eta", "is odd"), ". It is kept")),
    NoDataError("a.csv is empty"),
    LimitError("too long", file="a.csv", line=1),
    ModelFileError("a.model is damaged", file="a.model"),
    MarkoneWarning(("say ", Setting("tol", None))),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_an_error_that_was_pickled_says_and_holds_the_same(error):
    again = pickle.loads(pickle.dumps(error))
    assert (
        type(again) is type(error) and str(again) == str(error) and again.in_words(shouted) == error.in_words(shouted)
    )
    parts = {"words": None} if isinstance(error.words, tuple) else {}  # errors in them are equal to themselves alone
    assert vars(again) | parts == vars(error) | parts


def test_settings_are_written_by_who_tells_of_them():
    error = DataError(
        "no number", file="a.csv", line=3, advice=("say ", Setting("skip_bad", True), " or ", Setting("k"))
    )
    assert str(error) == "a.csv, line 3: no number; say skip_bad=True or k"
    assert error.in_words(shouted) == "a.csv, line 3: no number; say SKIP_BAD or K"
    wrapped = DataError((error, ". It is kept"))
    assert wrapped.in_words(shouted) == "a.csv, line 3: no number; say SKIP_BAD or K. It is kept"
    assert SettingsError("eta", ("needs ", Setting("C"))).in_words(shouted) == "ETA needs C"


def test_an_error_holds_what_it_is_about():
    error = SettingsError(Setting("kinds", key="zip"), "must be a kind", value="x", advice="leave it out")
    assert (error.name, error.problem, error.value) == ("kinds['zip']", "must be a kind", "x")
    assert str(error) == "kinds['zip'] must be a kind; leave it out"
    assert SettingsError("eta", "is odd").value is UNSAID


def test_data_say_where_they_are_wrong(tmp_path):
    (tmp_path / "a.csv").write_text("n,y\n1,a\n2\n")
    with pytest.raises(DataError) as caught:
        list(markone.read(tmp_path / "a.csv", target="y").batches())
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "a.csv"), 3)
    assert str(caught.value).endswith("; skip_bad=True skips such rows")
    with pytest.raises(LimitError) as caught:
        markone.read(tmp_path / "a.csv", target="y", longest_line=2)
    assert caught.value.line == 1 and str(caught.value).endswith("with longest_line")


def test_a_file_that_is_no_model_is_its_own_kind_of_error(tmp_path):
    (tmp_path / "a.model").write_bytes(b"nonsense")
    with pytest.raises(ModelFileError) as caught:
        markone.load(tmp_path / "a.model")
    assert caught.value.file == str(tmp_path / "a.model")


def test_a_warning_is_told_like_an_error():
    with pytest.warns(MarkoneWarning, match="^say tol=None$"):
        warn(("say ", Setting("tol", None)))


def test_interruptions_are_no_errors():
    assert issubclass(Terminated, Interrupted) and issubclass(Interrupted, KeyboardInterrupt)
    assert not Interrupted().told and Terminated().known().told
