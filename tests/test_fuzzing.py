"""The fuzzer: a short run of it, which finds nothing, and planted defects, which it must find."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from fuzz import workers
from fuzz.harness import Files
from fuzz.mutations import MARK, change_array, change_fact, mutate, mutate_bytes, nudged, without_marks, write
from fuzz.readers import USES, Readers
from fuzz.seeds import STAGES, make_seed
from fuzz.states import States
from fuzz.subjects import Classifier, every_subject
from fuzz.targets import Case, Outcome, Target
from markone.storage.container import read_file, to_json
from markone.storage.saved import Saved
from quickly import slow

HERE = Path(__file__).parent
CASES = {"files": 200, "readers": 150, "states": 300, "planted": 12}


def plan_of(target: Target, findings: Path) -> workers.Plan:
    return workers.Plan([target], 1, None, None, 1, 10.0, 512, findings)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    target = Files()
    target.prepare(tmp_path_factory.mktemp("fuzz"))
    return target


# ---- a short run


def check_cases(target: Target, count: int, folder: Path) -> list[Outcome]:
    """That cases do no harm."""
    plan, outcomes = plan_of(target, folder), []
    for number in range(count):
        _, case, outcome, failure = workers.use(plan, number)
        if failure is not None:
            told = f"case {number} of {target.name}: {case.kind}: {case.changes}, then {outcome.steps}"
            raise AssertionError(told) from failure
        outcomes.append(outcome)
    return outcomes


@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_used_or_refused(files: Files, tmp_path: Path) -> None:
    outcomes = check_cases(files, CASES["files"], tmp_path)
    assert sum(one.accepted for one in outcomes) > CASES["files"] / 10
    assert sum(not one.accepted for one in outcomes) > CASES["files"] / 10
    assert sum(one.resumed for one in outcomes) > CASES["files"] / 20


@pytest.mark.filterwarnings("ignore")
def test_damaged_texts_are_read_or_refused(tmp_path: Path) -> None:
    target = Readers()
    target.prepare(tmp_path)
    outcomes = check_cases(target, CASES["readers"], tmp_path)
    assert 0 < sum(one.accepted for one in outcomes) < CASES["readers"]


@pytest.mark.filterwarnings("ignore")
def test_damaged_states_are_taken_or_refused(tmp_path: Path) -> None:
    target = States()
    target.prepare(tmp_path)
    outcomes = check_cases(target, CASES["states"], tmp_path)
    assert 0 < sum(one.accepted for one in outcomes) < CASES["states"]


def test_there_are_seeds_of_every_kind(files: Files) -> None:
    rules = {one.settings["rule"] for one in files.subjects.values() if isinstance(one, Classifier)}
    assert rules == {"perceptron", "mira", "logistic", "hinge", "svm", "naive-bayes", "mlp"}
    assert {"tagger-viterbi", "tagger-greedy", "tagger-beam", "parser-fast", "parser-accurate", "parser-exact"} <= {
        *files.kinds()
    }
    for name in files.kinds():
        cut, kept, final = (files.seeds[f"{name}.{stage}"] for stage in STAGES)
        assert cut.facts["history"]["stopped"] == "interrupted", name
        assert cut.facts["resume"] is not None and kept.facts["resume"] is not None, name
        assert final.facts.get("resume") is None, name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stage", [STAGES[0], slow(STAGES[1])])
def test_whole_files_are_used_and_go_on(files: Files, stage: str) -> None:
    for name in files.kinds():
        outcome = Outcome()
        content = (files.folder / "seeds" / f"{name}.{stage}").read_bytes()
        files.use(Case(name, [], content), random.Random(1), outcome)
        assert outcome.accepted and outcome.resumed, (name, outcome)


def test_whole_states_are_taken() -> None:
    target = States()
    for name in target.kinds():
        outcome = Outcome()
        target.use(Case(name, [], target.kind(name).arrays), random.Random(1), outcome)
        assert outcome.accepted, name


def test_whole_texts_are_read(tmp_path: Path) -> None:
    """Some of the ways to read them are not theirs, but one is."""
    target = Readers()
    target.prepare(tmp_path)
    for name in target.kinds():
        outcomes = [Outcome() for _ in range(10)]
        for i, outcome in enumerate(outcomes):
            target.use(Case(name, [], USES[name][0]), random.Random(i), outcome)
        assert any(one.accepted for one in outcomes), name


# ---- what it finds

PLANTED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import markone
from fuzz import harness, workers
from fuzz.subjects import every_subject

def hang():
    while True:
        pass

def too_much():
    raise markone.DataError(len(bytearray(b"x") * 2**26))

defects = [lambda: len(3), lambda: [][1], hang, os.abort, too_much]

class Files(harness.Files):
    def use(self, case, chance, outcome):
        # The loader is at fault, each time in another way.
        markone.load = lambda path: defects[chance.randrange(len(defects))]()
        super().use(case, chance, outcome)

target = Files({"mira-2": every_subject()["mira-2"]})
report = workers.run(workers.Plan([target], 1, int(sys.argv[3]), None, 2, 0.5, 32, Path(sys.argv[2])))
print(report)
sys.exit(len(report.findings))
"""


def test_planted_defects_are_found(tmp_path: Path) -> None:
    """Exceptions, a hang, a crash and a heap of memory: all cases are used, and each defect is found once."""
    arguments = [sys.executable, "-c", PLANTED, str(HERE), str(tmp_path), str(CASES["planted"])]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    found = {one["failure"]: one for one in workers.findings_in(tmp_path)}
    assert set(found) == {"TypeError", "IndexError", "hang of 0.5 s", "Aborted", "more than 32 MB"}, (
        done.stdout + done.stderr
    )
    assert done.returncode == 5 and "all files" in done.stdout
    assert sum(one["times"] for one in found.values()) == CASES["planted"]
    for one in found.values():
        folder = Path(one["folder"])
        assert one["changes"] and one["number"] < CASES["planted"] and (folder / "details.txt").stat().st_size > 0
        assert (folder / "case.bin").stat().st_size > 100


@pytest.mark.parametrize(
    ("log", "failure", "place"),
    [
        (
            "../../core/rows/rows.h:188:31: runtime error: signed integer overflow: 9223372036854775806 + 12 is",
            "undefined behaviour: signed integer overflow: N + 12 is",
            "core/rows/rows.h:188",
        ),
        (
            "    #0 0x7f in step(int) ../../core/optimum/dual.cpp:12\nSUMMARY: AddressSanitizer: heap-use-after-free x",
            "AddressSanitizer: heap-use-after-free",
            "core/optimum/dual.cpp:12",
        ),
        (
            'Fatal Python error: Segmentation fault\n  File "/x/markone/learning/svm.py", line 5 in learn\n',
            "Segmentation fault",
            "learning/svm.py:5 in learn",
        ),
        ("killed", "", ""),
    ],
)
def test_the_place_of_a_crash_is_found(log: str, failure: str, place: str) -> None:
    assert workers.place_in(log) == (failure, place)


HARMED_LATER = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fuzz import harness, workers
from fuzz.subjects import every_subject

class Files(harness.Files):
    used = 0

    def use(self, case, chance, outcome):
        self.used += 1
        if self.used == 3:
            os.abort()

plan = workers.Plan([Files({"mira-2": every_subject()["mira-2"]})], 1, 4, None, 1, 5.0, 64, Path(sys.argv[2]))
workers.run(plan)
"""


def test_a_crash_that_a_case_before_has_caused_is_told_so(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", HARMED_LATER, str(HERE), str(tmp_path)], check=True, timeout=120)
    [found] = workers.findings_in(tmp_path)
    assert found["number"] == 2 and found["failure"].startswith("Aborted, not by this case alone")


@pytest.mark.filterwarnings("ignore")
def test_a_finding_can_be_replayed(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from fuzz import __main__ as command

    plan = plan_of(files, tmp_path)
    number = 5
    case = plan.make(number)
    workers.note(plan, number, case, Outcome(), TypeError("planted"), "", "somewhere")
    [found] = workers.findings_in(tmp_path)
    monkeypatch.setattr(command, "TARGETS", {"files": lambda: files})
    monkeypatch.setattr(files, "prepare", lambda _: None)
    monkeypatch.setattr(command, "quiet", lambda: None)
    assert command.main(["--replay", found["folder"]]) == 0
    assert "does no harm" in capsys.readouterr().out

    def fails(*_: Any) -> None:
        raise TypeError("planted")

    monkeypatch.setattr(files, "use", fails)
    assert command.main(["--replay", found["folder"]]) == 1
    assert "planted" in capsys.readouterr().err


# ---- what it changes


def test_the_same_number_makes_the_same_case(files: Files, tmp_path: Path) -> None:
    plan = plan_of(files, tmp_path)
    for number in range(20):
        one, other = plan.make(number), plan.make(number)
        assert (one.kind, one.changes, one.content) == (other.kind, other.changes, other.content)


def test_checksums_hold_whatever_is_changed(files: Files, tmp_path: Path) -> None:
    """But for what JSON does not allow, a changed file is read, with the change."""
    chance, path, read = random.Random(1), tmp_path / "m", 0
    seed = files.seeds["mira-2.cut"]
    for _ in range(100):
        saved, changes = mutate(seed, chance, lambda: seed)
        write(path, saved)
        if MARK in to_json(saved.facts):
            continue
        try:
            found = read_file(path)
        except markone.DataError:  # facts that are nested too deeply
            continue
        read += 1
        assert found.facts == saved.facts
        for name, array in saved.arrays.items():
            np.testing.assert_array_equal(found.arrays[name], array, err_msg=str(changes))
    assert read > 50


@pytest.mark.parametrize(("value", "raw"), [(MARK + "NaN", "NaN"), (MARK + "9" * 5000, "9" * 5000)])
def test_what_json_cannot_say_is_written_all_the_same(files: Files, tmp_path: Path, value: str, raw: str) -> None:
    seed = files.seeds["mira-2.final"]
    for facts, text in (
        ({**seed.facts, "target": value}, f'"target":{raw}'),
        ({**seed.facts, MARK + json.dumps("target"): 1}, '"target":1'),
    ):
        write(tmp_path / "m", Saved(facts, seed.arrays))
        assert text in (tmp_path / "m").read_bytes().decode("latin-1").replace("\\", "").replace(": ", ":")
        with pytest.raises(markone.DataError, match="header has been changed"):
            markone.load(tmp_path / "m")


def test_each_change_changes_something() -> None:
    chance = random.Random(1)
    arrays = {"resume.a": np.arange(6.0), "b": np.arange(4, dtype=np.uint8), "c": np.zeros((2, 3), np.float32)}
    facts = {"n": 3, "x": 0.5, "words": ["a", "b"], "inner": {"yes": True}}
    told, same = set(), 0
    for _ in range(500):
        other, how = change_array(arrays, chance)
        told.add(how.split(" ")[0])
        same += other.keys() == arrays.keys() and all(
            (other[name].dtype, other[name].shape, other[name].tobytes()) == (one.dtype, one.shape, one.tobytes())
            for name, one in arrays.items()
        )
        new, how = change_fact(facts, chance)
        told.add(how.split(" ")[0])
        same += repr(new) == repr(facts)
    assert same < 150 and arrays["b"].tolist() == [0, 1, 2, 3] and facts["inner"] == {"yes": True}
    assert {
        "put",
        "nudge",
        "remove",
        "rename",
        "twice",
        "nest",
        "swap",
        "element",
        "shorten",
        "lengthen",
        "type",
    } <= told


def test_bytes_are_changed() -> None:
    chance = random.Random(1)
    assert len({mutate_bytes(b"1 2:3\n", chance)[0] for _ in range(200)}) > 100


def test_an_interrupted_seed_is_in_the_middle_of_a_pass(tmp_path: Path) -> None:
    subject = every_subject()["perceptron-3"]
    saved = read_file(make_seed(subject, "cut", tmp_path))
    assert 0 < saved.facts["resume"]["sums"]["visits"] < 8 and len(saved.facts["history"]["passes"]) == 1


def test_a_number_that_overflows_is_written_as_infinity(tmp_path: Path) -> None:
    largest = sys.float_info.max
    facts = {"a": nudged(largest, lambda x: x * 1000), "b": nudged(-largest, lambda x: x * 2)}
    write(tmp_path / "x", Saved(facts, {}))
    assert b"Infinity" in (tmp_path / "x").read_bytes() and b"-Infinity" in (tmp_path / "x").read_bytes()


def test_a_marked_text_inside_of_another_is_written_too() -> None:
    inner = json.dumps({"a": f"{MARK}1e999"})
    assert without_marks(json.dumps({"x": MARK + inner, "y": f"{MARK}NaN"})) == '{"x": {"a": 1e999}, "y": NaN}'
