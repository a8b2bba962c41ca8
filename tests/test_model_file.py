"""The file of a model: what is saved is loaded, to the bit, by nobody's leave but its checksums'."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from forging import ODD, Forged, damaged, places, put
from golden.make import HERE, VERSION, Case, cases, examples
from markone import DataError, Model, SettingsError, _core
from markone.features.spec import BEFORE, Text
from markone.model.file import LATER_SETTINGS
from markone.model.history import History, Pass
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings
from markone.storage.saved import Saved

CASES = cases()
FAMILIES = {
    name: replace(CASES["words"], settings={"rule": rule, **settings})
    for name, rule, settings in (
        ("naive-bayes", "naive-bayes", {}),
        ("network", "mlp", {"hidden": (3, 2), "epochs": 2}),
        ("svm", "svm", {}),
    )
}
FORGED = {**CASES, **FAMILIES}
"""Those that are damaged: of every family of rules."""


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    """A trained model of each case."""
    return {name: case.train() for name, case in FORGED.items()}


@pytest.fixture(scope="module")
def saved(models: dict[str, Model], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bytes of their files."""
    path = tmp_path_factory.mktemp("saved") / "m.model"
    found = {}
    for name, model in models.items():
        model.save(path)
        found[name] = path.read_bytes()
    return found


def alike(one: Model, other: Model, case: Case) -> bool:
    """Whether two models say the same, to the bit."""
    asked = examples(case.asked)
    return (
        one.scores(asked).tobytes() == other.scores(asked).tobytes()
        and np.array_equal(one.predict(asked), other.predict(asked))
        and [(type(label), label) for label in one.classes] == [(type(label), label) for label in other.classes]
        and one.settings == other.settings
        and without_seconds(one.history) == without_seconds(other.history)
        and (one.target, one.reading) == (other.target, other.reading)
    )


def without_seconds(history: History) -> History:
    return replace(history, passes=[replace(one, seconds=None) for one in history])


# ---- what is saved is loaded


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_the_saved_one(models: dict[str, Model], tmp_path: Path, name: str) -> None:
    model = models[name]
    model.save(tmp_path / "m.model")
    loaded = markone.load(tmp_path / "m.model")
    assert alike(model, loaded, CASES[name])
    expected, found = model.weights(), loaded.weights()
    assert list(found) == list(expected)
    assert all(found[feature].tobytes() == weights.tobytes() for feature, weights in expected.items())
    assert str(loaded.features.spec) == str(model.features.spec) and loaded.features.columns == model.features.columns


@pytest.mark.parametrize("name", CASES)
def test_the_same_model_is_the_same_bytes(models: dict[str, Model], saved: Any, tmp_path: Path, name: str) -> None:
    models[name].save(tmp_path / "again")
    markone.load(tmp_path / "again").save(tmp_path / "loaded")
    assert saved[name] == (tmp_path / "again").read_bytes() == (tmp_path / "loaded").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_a_final_model_has_only_what_is_used(models: dict[str, Model], tmp_path: Path, name: str) -> None:
    model, case = models[name], CASES[name]
    before = model.features.names()
    model.save(tmp_path / "final", final=True)
    assert model.features.names() == before
    final = markone.load(tmp_path / "final")
    assert list(final.predict(examples(case.asked))) == list(model.predict(examples(case.asked)))
    np.testing.assert_allclose(final.scores(examples(case.asked)), model.scores(examples(case.asked)), atol=1e-6)
    kept, all_of_them = final.weights(), model.weights()
    assert {name: weights.tolist() for name, weights in all_of_them.items() if weights.any()}.items() <= {
        name: weights.tolist() for name, weights in kept.items()
    }.items()
    final.save(tmp_path / "again", final=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "final").read_bytes()


def test_a_final_model_is_smaller(tmp_path: Path) -> None:
    texts = [f"{'good' if i % 2 else 'bad'} word{i}" for i in range(400)]
    model = markone.train(
        texts,
        target=[i % 2 for i in range(400)],
        features=CASES["words"].features,
        rule="hinge",
        penalty="l1",
        strength=0.01,
        average=False,
    )
    model.resume = Saved({"epoch": 5}, {"v": np.zeros(1000)})
    model.save(tmp_path / "m")
    model.save(tmp_path / "final", final=True)
    final = markone.load(tmp_path / "final")
    assert final.features.width < 100 < model.features.width
    assert (tmp_path / "final").stat().st_size < (tmp_path / "m").stat().st_size / 3
    assert model.resume is not None and final.resume is None


def test_a_final_model_that_has_learned_nothing(tmp_path: Path) -> None:
    model = markone.train(["a b", "a b"], target=["x", "y"], features=CASES["words"].features)
    model = with_weights(model, np.zeros((2, 1), np.float32), np.ones(1, np.float32))
    model.save(tmp_path / "m", final=True)
    loaded = markone.load(tmp_path / "m")
    assert loaded.features.width == 0 and loaded.features.names() == []
    assert loaded.predict(["a", "c"]).tolist() == ["y", "y"] and loaded.scores("a").tolist() == [0, 1]
    loaded.save(tmp_path / "again")
    assert markone.load(tmp_path / "again").predict("a") == "y"


def with_weights(model: Model, matrix: Any, bias: Any) -> Model:
    return Model(
        features=model.features,
        classes=model.classes,
        scorer=LinearScorer(_core.Weights32(matrix, bias, len(model.classes)), has_probabilities=False),
        settings=model.settings,
        history=model.history,
    )


def test_what_learning_needs_and_what_was_counted_are_kept(models: dict[str, Model], tmp_path: Path) -> None:
    model = models["words"]
    more = Model(
        features=model.features,
        classes=model.classes,
        scorer=model.scorer,
        settings=model.settings,
        history=model.history,
        target="label",
        reading={"format": "csv", "separator": ";", "missing": ["", "NA"]},
        resume=Saved({"position": [1, None]}, {"v": np.arange(5.0), "deep.name": np.zeros((2, 0), np.int32)}),
    )
    more.save(tmp_path / "m")
    loaded = markone.load(tmp_path / "m")
    assert loaded.target == "label" and loaded.reading == more.reading
    assert loaded.resume is not None and more.resume is not None
    assert loaded.resume.facts == more.resume.facts
    assert {name: array.tolist() for name, array in loaded.resume.arrays.items()} == {
        "v": [0, 1, 2, 3, 4],
        "deep.name": [[], []],
    }
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize(
    "labels", [["a", "b"], [3, 7], [True, False], [0.5, 1.5], ["1", 1], [1, True, 0.5], ["", "é\ud800"]]
)
def test_labels_keep_their_types(tmp_path: Path, labels: list[Any]) -> None:
    model = markone.train(["x", "y", "z", "x y"], target=[labels[i % len(labels)] for i in range(4)])
    model.save(tmp_path / "m")
    loaded = markone.load(tmp_path / "m")
    assert [(type(label), label) for label in loaded.classes] == [(type(label), label) for label in model.classes]
    assert model.predict(["x"]).dtype == loaded.predict(["x"]).dtype


def test_settings_and_passes_that_are_not_finite(models: dict[str, Model], tmp_path: Path) -> None:
    model = models["words"]
    settings = Settings(rule="mira", C=math.inf, tol=-math.inf, patience=1)
    passes = [Pass(1, 2, 3, math.inf, math.nan, 0.25, None, 0.5), Pass(2, 0, 0, 0.0, 1e300, 1e-9)]
    odd = Model(
        features=model.features,
        classes=model.classes,
        scorer=model.scorer,
        settings=settings,
        history=History(passes, "interrupted", 2),
    )
    odd.save(tmp_path / "m")
    loaded = markone.load(tmp_path / "m")
    assert loaded.settings == settings and repr(loaded.history) == repr(without_seconds(odd.history))


def test_functions_are_given_again(tmp_path: Path) -> None:
    functions = {"length": len, "shout": lambda text: {"!": text.count("!")}}
    model = markone.train(["free!!", "see you"], target=["spam", "ham"], functions=functions)
    model.save(tmp_path / "m")
    model.save(tmp_path / "final", final=True)
    for name in ("m", "final"):
        loaded = markone.load(tmp_path / name, functions=functions)
        assert loaded.scores("free!").tolist() == model.scores("free!").tolist()
        with pytest.raises(DataError, match="cannot load the model .*the Python function 'length'"):
            markone.load(tmp_path / name)
    with pytest.raises(SettingsError, match="functions has 'lenght'"):
        markone.load(tmp_path / "m", functions={**functions, "lenght": len})


def test_a_model_of_a_few_words_takes_a_few_kilobytes(saved: dict[str, bytes]) -> None:
    assert len(CASES["words"].train().features.names()) == 18
    assert len(saved["words"]) < 8000


def test_saving_over_a_model_that_was_loaded(models: dict[str, Model], tmp_path: Path) -> None:
    models["words"].save(tmp_path / "m")
    loaded = markone.load(tmp_path / "m")
    models["images"].save(tmp_path / "m")
    assert alike(loaded, models["words"], CASES["words"])


def test_a_model_that_cannot_be_saved(models: dict[str, Model], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot save .*there is no folder"):
        models["words"].save(tmp_path / "no" / "m")
    with pytest.raises(SettingsError, match="path must be the name of a file"):
        models["words"].save(None)  # type: ignore[arg-type]


# ---- weights of the core


@given(st.integers(0, 9), st.integers(2, 9), st.sampled_from([np.float32, np.float64]))
def test_weights_are_made_of_arrays(features: int, classes: int, dtype: Any) -> None:
    columns = 1 if classes == 2 else classes
    matrix = np.arange(features * columns, dtype=dtype).reshape(features, columns)
    bias = -np.arange(columns, dtype=dtype)
    weights = (_core.Weights32 if dtype == np.float32 else _core.Weights64)(matrix, bias, classes)
    view = weights.view()
    for found, expected in ((weights.matrix(), matrix), (view, matrix), (weights.bias(), bias)):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == dtype
    assert (weights.features, weights.classes) == (features, classes)
    assert features == 0 or not view.flags.writeable
    del weights
    np.testing.assert_array_equal(view, matrix)


def test_weights_of_the_wrong_shape_are_refused() -> None:
    zeros = np.zeros
    for matrix, bias, classes in (
        (zeros((3, 1)), zeros(1), 1),
        (zeros((3, 0)), zeros(0), 0),
        (zeros((3, 2)), zeros(2), 2),
        (zeros((3, 1)), zeros(2), 2),
        (zeros((3, 3)), zeros(4), 3),
        (zeros((0, 2)), zeros(2), 3),
    ):
        with pytest.raises(ValueError, match="the weights have the wrong shape"):
            _core.Weights64(matrix, bias, classes)
    with pytest.raises(TypeError):
        _core.Weights32(zeros((3, 1)), zeros(1), 2)


# ---- files that were made to deceive; their checksums are right


def forge(saved: bytes, path: Path, change: Any) -> None:
    forged = Forged(saved)
    change(forged)
    path.write_bytes(forged.assembled())


def set_array(name: str, values: Any) -> Any:
    def change(forged: Forged) -> None:
        array = np.frombuffer(forged.array(name), np.float32)
        array[:] = values

    return change


def fact(name: str, value: Any) -> Any:
    """A fact, or one within one, set to something else."""
    return lambda forged: put(forged.told["facts"], tuple(name.split(".")), value)


def row(**changed: Any) -> dict[str, Any]:
    return {
        "epoch": 1,
        "mistakes": 0,
        "updates": 0,
        "loss": 0.5,
        "norm2": 1,
        "holdout_last": None,
        "holdout_averaged": None,
    } | changed


FORGERIES = {
    "kind": (fact("kind", "tagger"), "it contains 'tagger' instead of a classifier"),
    "no settings": (lambda forged: forged.told["facts"].pop("settings"), "'settings' is missing"),
    "more facts": (fact("more", 1), "'more' is unknown"),
    "settings that are a list": (fact("settings", []), "its settings are not an object"),
    "unknown setting": (fact("settings.epoch", 1), "'epoch' is unknown"),
    "setting of a wrong type": (fact("settings.epochs", "5"), "in its settings, epochs must be a whole number"),
    "setting that is a list": (fact("settings.rule", ["mira"]), "in its settings, rule must be one of"),
    "setting that is a huge number": (
        fact("settings.epochs", -(10**400)),
        "in its settings, epochs must be a whole number of at least 1",
    ),
    "setting that is too large": (fact("settings.epochs", 2**63), "in its settings, epochs must be less than 2⁶³"),
    "setting that no float can hold": (
        fact("settings.C", 10**400),
        "in its settings, C must be a number that a float can hold",
    ),
    "settings that do not fit": (fact("settings.eta", 1.0), "in its settings, eta is not used by the rule 'mira'"),
    "inf where it means nothing": (fact("settings.rule", "inf"), "in its settings, rule must be one of"),
    "one class": (fact("classes", ["a"]), "it has fewer than two classes"),
    "no classes": (fact("classes", None), "it has no labels"),
    "class that is null": (fact("classes", ["a", None]), "it has no labels"),
    "class that is a list": (fact("classes", ["a", []]), "it has no labels"),
    "class twice": (fact("classes", ["a", "a"]), "a label occurs twice"),
    "three classes": (fact("classes", ["a", "b", "c"]), "the shape of its weights does not match its classes"),
    "history": (fact("history", None), "its history is not an object"),
    "passes": (fact("history.passes", {}), "its passes are not a list"),
    "pass": (fact("history.passes", [5]), "a pass of its history is not an object"),
    "pass without a number": (fact("history.passes", [row(epoch=None)]), "a pass of its history has epoch=None"),
    "pass with a fraction": (fact("history.passes", [row(mistakes=0.5)]), "a pass of its history has mistakes=0.5"),
    "pass that is true": (fact("history.passes", [row(updates=True)]), "a pass of its history has updates=True"),
    "pass with a text": (fact("history.passes", [row(loss="x")]), "a pass of its history has loss='x'"),
    "pass with something more": (fact("history.passes", [row(x=1)]), "a pass of its history: 'x' is unknown"),
    "why it ended": (fact("history.stopped", "bored"), "it does not say why training ended"),
    "why it ended, a list": (fact("history.stopped", []), "it does not say why training ended"),
    "best pass": (fact("history.best_epoch", "1"), "its history has best_epoch='1'"),
    "target": (fact("target", 5), "the name of the target is not a string"),
    "reading": (fact("reading", [1]), "its options for reading data are not an object"),
    "reading of what is no option": (
        fact("reading", {"once": True}),
        "for reading data: 'once' is unknown",
    ),
    "reading in an unknown format": (fact("reading", {"format": "pickle"}), "format must be one of"),
    "reading with a strange separator": (fact("reading", {"separator": 7}), "separator must be one character"),
    "reading in no encoding": (fact("reading", {"encoding": ["os"]}), "encoding of its data is not a string"),
    "no features": (fact("features", None), "its part 'features' is not an object"),
    "features that are a list": (fact("features", []), "its part 'features' is not an object"),
    "resume": (fact("resume", 1), "its part 'resume' is not an object"),
    "NaN": (set_array("weights", np.nan), "its weights contain NaN or infinity"),
    "infinity": (set_array("bias", np.inf), "its weights contain NaN or infinity"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_models(saved: dict[str, bytes], tmp_path: Path, name: str) -> None:
    change, sentence = FORGERIES[name]
    forge(saved["words"], tmp_path / "m", change)
    with pytest.raises(DataError, match=f"cannot load the model .*: .*{sentence}"):
        markone.load(tmp_path / "m")


def test_arrays_that_belong_to_nothing(models: dict[str, Model], tmp_path: Path) -> None:
    from markone.model.file import to_saved
    from markone.storage.container import write_file

    good = to_saved(models["words"], final=True)
    rows = len(good.arrays["weights"])
    for more, sentence in (
        ({"w": np.zeros(3)}, "'w' is unknown"),
        ({"resume.v": np.zeros(3)}, "its part 'resume' is not an object"),
        ({"weights": np.zeros((rows, 1))}, "not 32-bit floats"),
        ({"weights": np.zeros(rows, np.float32)}, "does not match its classes"),
        ({"weights": np.zeros((rows - 1, 1), np.float32)}, f"weights for {rows - 1} features"),
        ({"bias": np.zeros((1, 1), np.float32)}, "does not match its classes"),
        ({"features.more": np.zeros(3)}, "unknown"),
    ):
        write_file(tmp_path / "m", good.facts, {**good.arrays, **more})
        with pytest.raises(DataError, match=sentence):
            markone.load(tmp_path / "m")
    write_file(tmp_path / "m", good.facts, {name: good.arrays[name] for name in good.arrays if name != "bias"})
    with pytest.raises(DataError, match="'bias' is missing"):
        markone.load(tmp_path / "m")


# ---- fuzzing


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed") / "m.model"


@given(st.sampled_from([*FORGED]), st.data())
def test_damage_is_found(
    models: dict[str, Model], saved: dict[str, bytes], place: Path, name: str, data: st.DataObject
) -> None:
    place.write_bytes(data.draw(damaged(saved[name])))
    try:
        found = markone.load(place)
    except DataError:
        return
    assert alike(found, models[name], FORGED[name])


@given(st.sampled_from([*FORGED]), st.data())
def test_odd_facts(saved: dict[str, bytes], place: Path, name: str, data: st.DataObject) -> None:
    """With right checksums: a sentence, or a model that predicts."""
    forged = Forged(saved[name])
    for _ in range(data.draw(st.integers(1, 2))):
        facts = forged.told["facts"]
        put(facts, data.draw(st.sampled_from(places(facts))), data.draw(ODD))
    use(forged, place, name)


@given(st.sampled_from([*FORGED]), st.data())
def test_odd_bytes_in_arrays(saved: dict[str, bytes], place: Path, name: str, data: st.DataObject) -> None:
    forged = Forged(saved[name])
    for _ in range(data.draw(st.integers(1, 5))):
        which = data.draw(st.sampled_from([key for key in forged.header if key != "__metadata__"]))
        array = forged.array(which)
        if len(array):
            array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.sampled_from([0, 1, 127, 128, 255]))
    use(forged, place, name)


@given(st.sampled_from([*FORGED]), st.data())
def test_arrays_cut_and_stretched(saved: dict[str, bytes], place: Path, name: str, data: st.DataObject) -> None:
    forged = Forged(saved[name])
    which = data.draw(st.sampled_from([key for key in forged.header if key != "__metadata__"]))
    forged.resize(which, data.draw(st.integers(-2, 3)))
    use(forged, place, name)


def use(forged: Forged, place: Path, name: str) -> None:
    place.write_bytes(forged.assembled())
    try:
        model = markone.load(place)
        with np.errstate(all="ignore"):  # numbers may be huge now
            model.predict(examples(FORGED[name].asked))
        if model.scorer.weights is not None:
            model.weights()
    except DataError:  # of the file, or of columns that are others now
        return


# ---- what loading does not do


def run(script: str, *arguments: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_loading_opens_no_other_file_and_imports_nothing(saved: dict[str, bytes], tmp_path: Path) -> None:
    secret = str(tmp_path / "secret")
    Path(secret).write_text("a\nb\n")
    for name, content in saved.items():
        (tmp_path / f"{name}.good").write_bytes(content)
    spec = Forged(saved["lexicon"]).told["facts"]["features"]["spec"]
    hostile: list[Any] = [
        secret,
        spec | {"text": spec["text"] | {"lexicons": {"greedy": secret}}},
        spec | {"columns": {"text": {"lexicons": {"greedy": secret}}}},
        spec | {"functions": ["len", "os.system"]},
        spec | {"functions": {"len": "builtins.len"}},
    ]
    for number, one in enumerate(hostile):
        forge(saved["lexicon"], tmp_path / f"{number}.hostile", fact("features.spec", one))
    script = """
        import sys
        import markone
        markone.load  # with all that it needs
        seen = []
        WATCHED = "open import exec compile marshal pickle subprocess os ctypes socket shutil".split()
        sys.addaudithook(lambda event, what: seen.append((event, what)) if event.split(".")[0] in WATCHED else None)
        for path in sys.argv[1:]:
            seen.clear()
            try:
                markone.load(path)
            except markone.DataError as error:
                assert path.endswith(".hostile"), error
            else:
                assert path.endswith(".good"), path
            found = {(event, str(what[0])[:200]) for event, what in seen}
            assert found == {("open", path)}, found
    """
    paths = sorted([*tmp_path.glob("*.good"), *tmp_path.glob("*.hostile")])
    assert len(paths) == len(FORGED) + len(hostile)
    run(script, *paths)


def test_a_small_hostile_model_takes_little_memory(saved: dict[str, bytes], tmp_path: Path) -> None:
    """Under a limit that leaves 64 MB beyond what a good model of its kind has needed."""

    def bits(forged: Forged) -> None:
        forged.told["facts"]["features"]["spec"]["text"]["hash_bits"] = 30

    def widths(forged: Forged) -> None:
        forged.told["facts"]["features"]["widths"] = [2**40, -(2**40) + 128]

    paths = []
    for number, change in enumerate((bits, widths, fact("features.widths", [2**62, 2**62]))):
        forge(saved["hashed"], tmp_path / str(number), change)
        paths.append(tmp_path / str(number))
    for number in range(200):  # any number in the facts becomes a huge one
        forged = Forged(saved["images"] if number % 2 else saved["table"])
        facts = forged.told["facts"]
        numbers = [where for where in places(facts) if type(at(facts, where)) is int]
        if number // 2 < len(numbers):
            put(facts, numbers[number // 2], 2**30)
            (tmp_path / f"huge{number}").write_bytes(forged.assembled())
            paths.append(tmp_path / f"huge{number}")
    (tmp_path / "good").write_bytes(saved["hashed"])
    script = """
        import os, resource, sys
        import markone
        markone.load(sys.argv[1]).predict(["warm"])
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + (64 << 20), now + (64 << 20)))
        for path in sys.argv[2:]:
            try:
                markone.load(path)
            except markone.DataError as error:
                assert "memory" not in str(error), (path, error)
    """
    run(script, tmp_path / "good", *paths)


def at(what: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        what = what[key]
    return what


# ---- golden files

EXPECTED: dict[str, Any] = json.loads((HERE / f"expected.{VERSION}.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_golden_files(name: str) -> None:
    told = EXPECTED[name]
    asked = examples(told["asked"])
    model = markone.load(HERE / f"{name}.{VERSION}.model")
    assert model.predict(asked).tolist() == told["predicted"]
    assert model.scores(asked).tolist() == told["scores"]
    assert {feature: weights.tolist() for feature, weights in model.weights().items()} == told["weights"]
    final = markone.load(HERE / f"{name}-final.{VERSION}.model")
    assert final.predict(asked).tolist() == told["predicted"]
    np.testing.assert_allclose(final.scores(asked), told["scores"], atol=1e-6)


def test_settings_that_older_files_lack_mean_what_was_done_then(tmp_path: Path) -> None:
    assert markone.load(HERE / f"words.{VERSION}.model").settings.update == "margin"
    case, path = CASES["ascent"], HERE / f"ascent.{VERSION}.model"
    old = markone.load(path)
    assert "gradient" not in Forged(path.read_bytes()).told["facts"]["settings"]
    assert old.settings.gradient == "mean" and case.train().settings.gradient == "sum"
    # Such a training is resumed as it was begun.
    more = {**case.settings, "epochs": 6}
    resumed = markone.train(case.data, target=case.target, resume=path, **more)
    settings = {**more, "gradient": "mean"}
    features = {**case.features, "text": {**case.features["text"], **BEFORE}}
    whole = replace(case, settings=settings, features=features).train()
    assert alike(resumed, whole, case) and len(resumed.history) == 6
    resumed.save(tmp_path / "resumed")
    whole.save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    told_again = markone.train(case.data, target=case.target, resume=path, features=case.features, **more)
    assert alike(told_again, whole, case)
    with pytest.raises(SettingsError, match="gradient is 'sum' now and was 'mean' before"):
        markone.train(case.data, target=case.target, resume=path, gradient="sum")


def test_golden_files_are_small_and_all_are_known() -> None:
    names = {f"{name}{ending}.{VERSION}.model" for name in EXPECTED for ending in ("", "-final")}
    assert {path.name for path in HERE.glob("*.model")} == names
    assert all((HERE / name).stat().st_size < 20_000 for name in names)


def test_every_field_is_in_the_file(saved: dict[str, bytes]) -> None:
    facts = Forged(saved["words"]).told["facts"]
    assert list(facts["settings"]) == [one.name for one in fields(Settings) if one.name not in LATER_SETTINGS]
    assert set(facts["history"]) == {field.name for field in fields(History)}
    assert set(facts["history"]["passes"][0]) == {field.name for field in fields(Pass)} - {"seconds"}
    assert set(facts["features"]["spec"]["text"]) == {field.name for field in fields(Text)}
