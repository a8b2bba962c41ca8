"""A training that is left and taken up again ends with the bytes of one that was not; and learning on from a model."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from markone.errors import DataError, SettingsError
from markone.learning import examples
from markone.learning.checkpoints import Checkpoints
from markone.learning.interruption import Interruption
from markone.learning.progress import Silence
from markone.model.model import Model
from stopping import Stopping

WORDS = [
    "red",
    "green",
    "blue",
    "round",
    "square",
    "small",
    "large",
    "old",
    "new",
    "warm",
    "cold",
    "soft",
    "hard",
    "loud",
    "quiet",
]
ON_DISK, IN_MEMORY = 5000, None
"""How much memory there is for the rows."""


def texts(count: int, seed: int = 0, classes: int = 2) -> dict[str, list[Any]]:
    chance = random.Random(seed)
    labels = [chance.randrange(classes) for _ in range(count)]
    said = [" ".join(chance.choices(WORDS[3 * label : 3 * label + 9], k=8)) for label in labels]
    return {"text": said, "size": [chance.random() for _ in labels], "label": [f"c{label}" for label in labels]}


def saved(model: Model, folder: Path) -> bytes:
    model.save(folder / "model")
    return (folder / "model").read_bytes()


RUNS: list[dict[str, Any]] = [
    {"rule": "perceptron"},
    {"rule": "perceptron", "average": False, "order": "given"},
    {"rule": "perceptron", "form": "difference", "schedule": "sqrt", "order": "once"},
    {"rule": "mira"},
    {"rule": "mira", "C": float("inf"), "bias": False},
    {"rule": "mira", "update": "mistake", "form": "difference"},
    {"rule": "logistic", "solver": "online", "penalty": "l2", "strength": 0.01},
    {"rule": "logistic", "schedule": "adagrad", "penalty": "l1", "strength": 0.001},
    {"rule": "hinge", "schedule": "inverse", "strength": 0.01, "penalty": "l2"},
    {"rule": "hinge", "schedule": "adagrad", "penalty": "l2", "strength": 0.01, "start": "random"},
    {"rule": "perceptron", "holdout": 0.2, "patience": 2},
    {"rule": "logistic", "solver": "online", "patience": 2, "tol": 1e-3, "holdout": 0.0},
    {"rule": "perceptron", "holdout": 0.2, "patience": 3, "eta": 0.5, "epochs": 9},
]


@pytest.mark.parametrize("memory", [IN_MEMORY, ON_DISK])
@pytest.mark.parametrize("settings", RUNS, ids=lambda settings: "-".join(map(str, settings.values())))
def test_a_training_that_was_interrupted_ends_with_the_same_bytes(
    settings: dict[str, Any], memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 2000)  # some looks to a pass
    monkeypatch.setattr("markone.data.store.PIECE_VALUES", 60)  # some windows to a pass
    monkeypatch.setattr("markone.data.budget.LEAST", ON_DISK)
    data = texts(400, classes=2 if settings["rule"] == "mira" else 3)
    data["weight"] = [float(i % 4) for i in range(400)]  # those of importance 0 are visited in vain
    source = markone.read(data, target="label", importance="weight")
    how = {"epochs": 4, "memory": memory, "features": {"text": {"words": [1, 1]}}, **settings}
    whole = saved(markone.train(source, **how), tmp_path)
    checkpoint = tmp_path / "kept"
    chance, stops = random.Random(str(settings)), 0
    while True:
        model = markone.train(
            source, checkpoint=checkpoint, resume=True, progress=Stopping(chance.randint(1, 7)), **how
        )
        if model.history.stopped != "interrupted":
            break
        stops += 1
        assert stops < 100
    assert stops > 0
    assert saved(model, tmp_path) == whole


def test_a_training_can_be_taken_up_with_more_passes(tmp_path: Path) -> None:
    source = markone.read(texts(300), target="label")
    whole = saved(markone.train(source, epochs=6), tmp_path)
    markone.train(source, epochs=2, checkpoint=tmp_path / "kept")
    again = markone.train(source, epochs=6, checkpoint=tmp_path / "kept", resume=True)
    assert len(again.history) == 6 and saved(again, tmp_path) == whole


@pytest.mark.parametrize("settings", [{}, {"rule": "perceptron", "patience": 3}, {"rule": "logistic", "penalty": "l1"}])
def test_a_model_that_is_finished_can_have_more_passes(settings: dict[str, Any], tmp_path: Path) -> None:
    source = markone.read(texts(300), target="label")
    how: dict[str, Any] = {"holdout": 0.2, **settings}
    whole = saved(markone.train(source, epochs=6, **how), tmp_path)
    markone.train(source, epochs=2, **how).save(tmp_path / "two")
    again = markone.train(source, epochs=6, resume=tmp_path / "two")
    assert saved(again, tmp_path) == whole


def test_a_training_that_has_come_to_rest_stays_there(tmp_path: Path) -> None:
    source = markone.read(["red green", "blue blue"], target=["warm", "cold"])
    model = markone.train(source, rule="perceptron", epochs=9)
    assert model.history.stopped == "converged"
    model.save(tmp_path / "model")
    again = markone.train(source, epochs=50, resume=tmp_path / "model")
    assert again.history.stopped == "converged" and len(again.history) == len(model.history)
    np.testing.assert_array_equal(again.scores(source), model.scores(source))


def test_a_checkpoint_is_a_model_as_well(tmp_path: Path) -> None:
    data = texts(300)
    source = markone.read(data, target="label")
    model = markone.train(source, epochs=3, checkpoint=tmp_path / "kept", callback=lambda result: result.epoch == 2)
    kept = markone.load(tmp_path / "kept")
    assert model.history.stopped == "callback" and kept.history.stopped == "callback"
    assert len(kept.history) == 2
    assert kept.accuracy(source) > 0.7


def test_checkpoints_come_when_minutes_have_gone_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 500)
    kept = []
    monkeypatch.setattr(Model, "save", lambda model, path: kept.append(len(model.history)))
    source = markone.read(texts(200), target="label")

    def passes_at_checkpoints(**how: Any) -> list[int]:
        kept.clear()
        markone.train(source, epochs=3, checkpoint=Checkpoints(tmp_path / "kept", **how))
        return kept[:]

    assert passes_at_checkpoints() == [1, 2, 3]
    assert passes_at_checkpoints(each_pass=False) == []
    assert passes_at_checkpoints(each_pass=False, minutes=60) == []
    often = passes_at_checkpoints(each_pass=False, minutes=1e-9)
    assert len(often) > 6 and set(often) == {0, 1, 2, 3}


def test_without_a_checkpoint_a_training_starts_from_the_beginning(tmp_path: Path) -> None:
    source = markone.read(texts(100), target="label")
    model = markone.train(source, epochs=2, checkpoint=tmp_path / "kept", resume=True)
    assert len(model.history) == 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": "hinge"}, "rule is 'hinge' now and was 'mira' before the interruption"),
        ({"seed": 3}, "seed is 3 now and was 0"),
        ({"features": {"unit": True, "text": {"words": [1, 1]}}}, "features are already in the model"),
    ],
)
def test_a_training_is_taken_up_with_its_own_settings(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    source = markone.read(texts(100), target="label")
    markone.train(source, epochs=1, checkpoint=tmp_path / "kept")
    with pytest.raises(SettingsError, match=sentence):
        markone.train(source, checkpoint=tmp_path / "kept", resume=True, **change)


@pytest.mark.parametrize("changed", ["row", "label", "importance", "order", "class"])
def test_a_training_is_taken_up_with_its_own_rows(changed: str, tmp_path: Path) -> None:
    data = texts(300)
    data["weight"] = [1.0 + i % 2 for i in range(300)]
    markone.train(markone.read(data, target="label", importance="weight"), epochs=2, checkpoint=tmp_path / "kept")
    other = {name: list(values) for name, values in data.items()}
    if changed == "row":
        other["size"][17] += 0.1
    elif changed == "label":
        other["label"][17] = "c0" if other["label"][17] == "c1" else "c1"
    elif changed == "importance":
        other["weight"][17] = 5.0
    elif changed == "order":
        other = {name: values[::-1] for name, values in other.items()}
    else:
        other["label"][17] = "c7"
    source = markone.read(other, target="label", importance="weight")
    with pytest.raises(DataError, match="the rows are not those of the interrupted training"):
        markone.train(source, checkpoint=tmp_path / "kept", resume=True)


def test_a_final_model_is_no_checkpoint(tmp_path: Path) -> None:
    source = markone.read(texts(100), target="label")
    markone.train(source, epochs=1).save(tmp_path / "model", final=True)
    with pytest.raises(DataError, match="is a final model without its training state"):
        markone.train(source, checkpoint=tmp_path / "model", resume=True)


def test_a_training_that_ends_by_itself_is_kept_to_its_end(tmp_path: Path) -> None:
    source = markone.read(["red green", "blue blue"], target=["warm", "cold"])
    model = markone.train(source, rule="perceptron", epochs=9, checkpoint=tmp_path / "kept")
    kept = markone.load(tmp_path / "kept")
    assert kept.history.stopped == model.history.stopped == "converged" and len(kept.history) == len(model.history)
    again = markone.train(source, epochs=9, checkpoint=tmp_path / "kept", resume=True)
    assert saved(again, tmp_path) == saved(model, tmp_path)


def test_what_a_callback_interrupts_is_kept(tmp_path: Path) -> None:
    def callback(result: Any) -> None:
        if result.epoch == 2:
            raise KeyboardInterrupt

    source = markone.read(texts(100), target="label")
    where = Checkpoints(tmp_path / "kept", each_pass=False)
    model = markone.train(source, epochs=5, checkpoint=where, callback=callback)
    assert model.history.stopped == "interrupted" and len(markone.load(tmp_path / "kept").history) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_last_pass_loses_nothing(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from markone.learning import training

    source = markone.read(texts(100), target="label")
    whole = saved(markone.train(source, epochs=3), tmp_path)
    count = training.count_strongest

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), number)
        return count(*arguments)

    class Ended(BaseException): ...

    def end(*_: object) -> None:
        raise Ended

    where = Checkpoints(tmp_path / "kept", each_pass=False)
    before = signal.signal(signal.SIGTERM, end)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(training, "count_strongest", interrupted)
            if number == signal.SIGTERM:
                with pytest.raises(Ended):
                    markone.train(source, epochs=3, checkpoint=where)
            else:
                assert markone.train(source, epochs=3, checkpoint=where).history.stopped == "interrupted"
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        signal.signal(signal.SIGTERM, before)
    again = markone.train(source, epochs=3, checkpoint=where, resume=True)
    assert saved(again, tmp_path) == whole


def test_signals_that_are_somebody_elses_are_left_alone(tmp_path: Path) -> None:
    class OurError(Exception): ...

    def raise_ours(*_: object) -> None:
        raise OurError

    source = markone.read(texts(100), target="label")
    for number, handler in ((signal.SIGINT, raise_ours), (signal.SIGTERM, signal.SIG_IGN)):
        before = signal.signal(number, handler)
        try:
            if handler is raise_ours:
                with pytest.raises(OurError):
                    markone.train(source, checkpoint=tmp_path / "kept", progress=Stopping(1, number))
            else:
                model = markone.train(source, checkpoint=tmp_path / "kept", progress=Stopping(1, number))
                assert model.history.stopped != "interrupted"
            assert signal.getsignal(number) is handler
        finally:
            signal.signal(number, before)


def test_a_second_signal_ends_at_once_unless_it_comes_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with Interruption((signal.SIGINT,)) as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.signal == signal.SIGINT
        os.kill(os.getpid(), signal.SIGINT)
        monkeypatch.setattr("markone.learning.interruption.GRACE", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_progress_goes_on_where_it_was(tmp_path: Path) -> None:
    class Seen(Silence):
        rows = 0

        def advance(self, rows: int) -> None:
            self.rows += rows

    source = markone.read(texts(100), target="label")
    markone.train(source, epochs=2, checkpoint=tmp_path / "kept")
    seen = Seen()
    markone.train(source, epochs=5, checkpoint=tmp_path / "kept", resume=True, progress=seen)
    assert seen.rows == 500


def forged_states() -> dict[str, Any]:
    def put(name: str, value: Any) -> Any:
        return lambda saved: saved.arrays.update({name: value(saved.arrays[name])})

    def fact(name: str, value: Any) -> Any:
        return lambda saved: saved.facts.update({name: value})

    def summed(name: str, value: Any) -> Any:
        return lambda saved: saved.facts["sums"].update({name: value})

    def nan(array: Any) -> Any:
        return np.full_like(array, np.nan)

    return {
        "nothing": lambda saved: (saved.facts.clear(), saved.facts.update(digest="x")),
        "more": fact("pickle", 1),
        "no sums": fact("sums", None),
        "visits that are text": summed("visits", "x"),
        "visits that are a fraction": summed("visits", 1.5),
        "visits that are true": summed("visits", True),
        "negative visits": summed("visits", -5),
        "too many visits": summed("visits", 10**6),
        "loss that is none": summed("loss", None),
        "a sum more": summed("seconds", 1),
        "no gain": fact("passes_without_gain", -1),
        "an array more": lambda saved: saved.arrays.update(other=np.zeros(1)),
        "an array less": lambda saved: saved.arrays.pop("state.u"),
        "one row for all": put("state.v", lambda array: array[:1]),
        "another type": put("state.u", lambda array: array.astype(np.float32)),
        "weights that are no numbers": put("state.v", nan),
        "sums that are no numbers": put("state.u", nan),
        "clocks that stand still": put("state.clocks", lambda array: array * 0),
        "debts from before": put("state.owed_asked", lambda array: array - 1),
        "debts that shrink": put("state.owed_visits", lambda array: np.array([0.0, 2.0, 1.0])),
        "moments that never were": put("state.settled", lambda array: array + 10**6),
        "a best that is none": lambda saved: saved.arrays.update({"best.v": np.zeros((1, 1), np.float32)}),
    }


@pytest.mark.parametrize("name", forged_states())
def test_a_forged_checkpoint_is_refused(name: str, tmp_path: Path) -> None:
    source = markone.read(texts(100), target="label")
    markone.train(source, epochs=2, rule="logistic", solver="online", penalty="l1", checkpoint=tmp_path / "kept")
    kept = markone.load(tmp_path / "kept")
    assert kept.resume is not None
    forged_states()[name](kept.resume)
    if name == "nothing":
        kept.resume.facts["digest"] = markone.load(tmp_path / "kept").resume.facts["digest"]  # type: ignore[union-attr]
    kept.save(tmp_path / "kept")
    with pytest.raises(DataError, match="training state in the file is damaged"):
        markone.train(source, epochs=3, checkpoint=tmp_path / "kept", resume=True)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"resume": True}, "resume needs the file"),
        ({"checkpoint": 7}, "checkpoint must be the path of a file, not 7"),
    ],
)
def test_what_is_wrong_with_checkpoints_gets_a_sentence(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        markone.train(["a b", "c d"], target=[0, 1], **asked)
    with pytest.raises(SettingsError, match="minutes must be a number greater than 0, not -1"):
        Checkpoints("kept", minutes=-1)


def test_a_checkpoint_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder .*nowhere for the checkpoint"):
        markone.train(texts(100), target="label", checkpoint=tmp_path / "nowhere" / "kept")


def test_a_checkpoint_that_fails_does_not_end_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DataError("cannot save kept: No space left on device")

    monkeypatch.setattr(Model, "save", fail)
    source = markone.read(texts(100), target="label")
    with pytest.warns(UserWarning, match="No space left on device; training continues"):
        model = markone.train(source, epochs=2, checkpoint=tmp_path / "kept")
    assert len(model.history) == 2


def test_what_is_interrupted_is_kept_elsewhere_where_it_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, kept = Model.save, []

    def save_elsewhere(model: Model, path: Any) -> None:
        if Path(path).parent == tmp_path:
            raise DataError("cannot save kept: No space left on device")
        kept.append(Path(path))
        save(model, path)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = markone.read(texts(100), target="label")
    where = Checkpoints(tmp_path / "kept", each_pass=False)
    with monkeypatch.context() as patch:
        patch.setattr(Model, "save", save_elsewhere)
        with pytest.warns(UserWarning, match="No space left on device. The checkpoint is in .* instead; move it"):
            markone.train(source, epochs=3, checkpoint=where, progress=Stopping(1))
    again = markone.train(source, epochs=3, resume=kept[0])
    assert saved(again, tmp_path) == saved(markone.train(source, epochs=3), tmp_path)


def test_a_lexicon_file_is_no_other_spec(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("red\nwarm\n")
    spec = {"columns": {"text": {"lexicons": {"good": str(tmp_path / "good.txt")}}}}
    source = markone.read(texts(100), target="label")
    markone.train(source, epochs=1, features=spec, checkpoint=tmp_path / "kept")
    model = markone.train(source, epochs=2, features=spec, checkpoint=tmp_path / "kept", resume=True)
    assert len(model.history) == 2


TRAINING = """
import sys, markone
from markone.learning import examples
from markone.learning.checkpoints import Checkpoints
from markone.learning.interruption import Interruption
examples.VALUES_BETWEEN_LOOKS = 3000
print("reading", flush=True)
model = markone.train(sys.argv[1], target="label", epochs=40, resume=True,
                      checkpoint=Checkpoints(sys.argv[2], minutes=0.0001))
model.save(sys.argv[3])
"""


@pytest.mark.parametrize(
    ("number", "often"),
    [
        (signal.SIGKILL, 2),
        (signal.SIGTERM, 1),
        pytest.param(signal.SIGKILL, 10, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 2, marks=pytest.mark.slow),
    ],
)
def test_a_training_that_is_killed_again_and_again_ends_with_the_same_bytes(
    number: signal.Signals, often: int, tmp_path: Path
) -> None:
    import csv

    data = texts(1000)
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(data), *zip(*data.values(), strict=True)])
    markone.train(str(tmp_path / "data.csv"), target="label", epochs=40).save(tmp_path / "whole")
    arguments = [tmp_path / "data.csv", tmp_path / "kept", tmp_path / "model"]
    chance, kills = random.Random(0), 0
    for _ in range(50):
        with subprocess.Popen([sys.executable, "-c", TRAINING, *arguments], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            if kills < often:
                time.sleep(chance.uniform(0.05, 0.3))
                process.send_signal(number)
            if process.wait(timeout=60) == 0:
                break
        assert process.returncode == -number
        kills += 1
        if (tmp_path / "kept").exists():
            markone.load(tmp_path / "kept")
    assert kills > 0
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} <= {"data.csv", "kept", "model", "whole"}


# ---- learning on


def test_learning_on_starts_at_the_weights_that_the_model_predicts_with(tmp_path: Path) -> None:
    source = markone.read(texts(150), target="label")
    base = markone.train(source, epochs=3)
    base.save(tmp_path / "base")
    for model in (base, tmp_path / "base"):
        on = markone.train(source, epochs=1, from_model=model, rule="hinge", eta=1e-9)
        np.testing.assert_allclose(on.scores(source), base.scores(source), atol=1e-4)


def test_few_new_examples_count_as_much_as_from_the_start() -> None:
    base = markone.train(markone.read(texts(600), target="label"), epochs=20)
    new = {"text": ["loud fountain"] * 3, "size": [0.5] * 3, "label": ["new"] * 3}
    on = markone.train(markone.read(new, target="label"), from_model=base)
    assert on.predict({"text": "a loud fountain", "size": 0.4}) == "new"


def test_learning_on_brings_new_classes_and_new_features() -> None:
    base = markone.train(["red green", "blue blue"] * 3, target=["warm", "cold"] * 3)
    before = base.weights()
    new = ["soft soft red", "soft round", "blue quiet", "red square"] * 5
    on = markone.train(new, target=["touch", "touch", "cold", "warm"] * 5, from_model=base)
    assert on.classes == ["cold", "touch", "warm"] and base.classes == ["cold", "warm"]
    assert {"soft", "quiet", "square"} <= set(on.weights()) and "soft" not in base.weights()
    assert [on.predict(text) for text in ("soft", "red", "blue")] == ["touch", "warm", "cold"]
    for name, weights in base.weights().items():
        np.testing.assert_array_equal(weights, before[name])


def test_learning_on_with_a_table_keeps_its_scale_and_takes_new_categories() -> None:
    table = {"size": [1.0, 2.0, 3.0, 4.0], "make": ["a", "b", "a", "b"], "y": ["no", "no", "yes", "yes"]}
    base = markone.train(table, target="y", epochs=3)
    more = {"size": [100.0, None, 2.0], "make": ["c", "c", "a"], "y": ["yes", "no", "no"]}
    on = markone.train(more, target="y", from_model=base, epochs=3)
    assert {"make=a", "make=b", "make=c", "size is missing"} <= set(on.weights())
    [old], [new] = (list(model.features.named([{"size": 4.0, "make": "a"}])) for model in (base, on))
    assert old["size"] == new["size"]


def test_learning_on_holds_out_as_many_as_suit_the_new_rows() -> None:
    many, few = markone.read(texts(1000), target="label"), markone.read(texts(20), target="label")
    large, small = markone.train(many, epochs=1), markone.train(few, epochs=1)
    assert (large.settings.holdout, small.settings.holdout) == (0.05, 0.0)
    assert markone.train(few, epochs=1, from_model=large).history.held_out == 0
    assert markone.train(many, epochs=1, from_model=small, patience=1).history.held_out > 0
    assert markone.train(few, epochs=1, from_model=large, holdout=0.5).history.held_out > 0
    with pytest.raises(SettingsError, match="patience needs held-out accuracy"):
        markone.train(few, epochs=1, from_model=large, patience=1)


def test_a_label_may_be_a_number_in_one_source_and_a_text_in_another() -> None:
    base = markone.train(["red green", "blue blue"] * 3, target=[0, 1] * 3)
    on = markone.train(["red", "blue", "loud"] * 3, target=["0", "1", "maybe"] * 3, from_model=base)
    assert on.classes == [0, 1, "maybe"]
    assert [on.predict(text) for text in ("red", "blue", "loud")] == [0, 1, "maybe"]


def test_functions_are_those_of_the_model() -> None:
    base = markone.train(["red green", "blue blue"], target=["warm", "cold"])
    with pytest.raises(SettingsError, match="functions are already in the model"):
        markone.train(["a", "b"], target=["warm", "cold"], from_model=base, functions={"size": len})


def test_learning_on_takes_the_features_of_the_model() -> None:
    base = markone.train(["red green", "blue blue"], target=["warm", "cold"])
    with pytest.raises(SettingsError, match="features are already in the model that the training starts from"):
        markone.train(["a", "b"], target=["warm", "cold"], from_model=base, features={"text": {"characters": [1, 2]}})
    with pytest.raises(DataError, match="the model needs the column|is numeric|does not"):
        markone.train({"x": [1.0, 2.0], "y": ["warm", "cold"]}, target="y", from_model=base)
