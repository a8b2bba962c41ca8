"""Learning: nothing is lost after an answer, a restart gives the same model, and drift raises an alarm."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markone
from markone.errors import DataError
from markone.server import learning
from markone.server.drift import PageHinkley
from markone.server.learning import Learning
from markone.server.service import Service
from markone.storage.journal import Journal, line_of

from .asking import KINDS, TEXTS, ask, service_of, spam_model

MORE = ["free beer", "a long walk", "money for nothing", "see the film"]
LABELS = ["spam", "ham", "spam", "ham"]


def learner(path: Path, after: int = 5000, **more: Any) -> Service:
    return service_of(path, learning=lambda shelf: Learning(shelf, after), learn=True, **more)


def killed(service: Service) -> None:
    """End a service without a snapshot, as `kill -9` does, which also ends its lock."""
    assert service.learning is not None
    for pupil in service.learning._pupils.values():
        pupil.release()


def restarted(service: Service, path: Path, after: int = 5000) -> Service:
    killed(service)
    return learner(path, after)


def learn(service: Service, texts: list[str], labels: list[Any], **more: Any) -> Any:
    return ask(service, "POST", "/learn", {"texts": texts, "labels": labels, **more})


@pytest.fixture(params=[{"rule": "mira"}, {"rule": "perceptron"}, {"rule": "naive-bayes"}, {"rule": "hinge"}], ids=str)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    spam_model(tmp_path / "mail.model", **request.param)
    return tmp_path / "mail.model"


def test_what_is_learned_is_used_and_kept(path: Path) -> None:
    service = learner(path)
    reply = learn(service, MORE, LABELS)
    assert reply.status == 200, reply.body
    found = reply.json
    assert found["learned"] == 4 and len(found["predictions"]) == 4
    right = sum(one == label for one, label in zip(found["predictions"], LABELS, strict=True))
    assert found["accuracy"] == right / 4 and found["drift"] is False
    assert ask(service, "POST", "/predict", {"text": "walk"}).json["version"] == found["version"]
    learn(service, ["beer money"], ["spam"])
    inside = service.shelf.find("mail", None)
    assert inside.version.endswith("+5")
    again = restarted(service, path).shelf.find("mail", None)  # as after a kill: the journal is learned again
    assert again.model.digest == inside.model.digest and again.version == inside.version
    assert again.model.scores(TEXTS + MORE).tobytes() == inside.model.scores(TEXTS + MORE).tobytes()


def test_a_snapshot_predicts_as_the_model_in_memory(path: Path) -> None:
    service = learner(path, after=4)
    for start in range(0, 4, 2):
        learn(service, MORE[start : start + 2], LABELS[start : start + 2])
    assert [one.name for one in path.parent.glob("*.learned-*")] == ["mail.model.learned-4"]
    inside = service.shelf.find("mail", None).model
    saved = markone.load(path.parent / "mail.model.learned-4")
    assert saved.scores(TEXTS + MORE).tobytes() == inside.scores(TEXTS + MORE).tobytes()
    assert len((path.parent / "mail.model.journal").read_bytes().splitlines()) == 1
    learn(service, ["one more"], ["ham"])
    again = restarted(service, path, after=4)
    assert again.shelf.find("mail", None).model.digest == service.shelf.find("mail", None).model.digest
    again.learning.close()
    assert [one.name for one in path.parent.glob("*.learned-*")] == ["mail.model.learned-5"]
    closed = learner(path)
    assert closed.shelf.find("mail", None).model.digest == service.shelf.find("mail", None).model.digest
    assert 'markone_learned_total{model="mail"} 5' in ask(closed, "GET", "/metrics").body.decode()


def test_a_snapshot_is_saved_when_it_would_take_long_to_learn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mail.model"
    spam_model(path, rule="mira")
    service = learner(path)
    learn(service, MORE[:2], LABELS[:2])
    assert not list(tmp_path.glob("*.learned-*"))
    monkeypatch.setattr(learning, "SECONDS_AGAIN", 0.0)
    learn(service, MORE[2:3], LABELS[2:3])
    assert [one.name for one in tmp_path.glob("*.learned-*")] == ["mail.model.learned-3"]


def test_new_words_and_classes(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    for _ in range(3):
        assert learn(service, ["goal and penalty", "free money"], ["sport", "spam"]).status == 200
    model = service.shelf.find("mail", None).model
    assert sorted(model.classes) == ["ham", "spam", "sport"] and "penalty" in model.features.names()
    found = ask(service, "POST", "/predict", {"text": "a penalty"}).json["predictions"][0]
    assert found["label"] == "sport" and set(found["scores"]) == {"ham", "spam", "sport"}
    again = restarted(service, tmp_path / "mail.model").shelf.find("mail", None).model
    assert again.digest == model.digest


def test_rows_are_learned(tmp_path: Path) -> None:
    rows = [{"age": 20, "job": "cook"}, {"age": 61, "job": "judge"}, {"age": 33, "job": "cook"}]
    markone.train(rows, target=["low", "high", "low"], rule="mira").save(tmp_path / "people.model")
    service = learner(tmp_path / "people.model")
    asked = {"rows": [{"age": 40, "job": "pilot"}, {"age": 50, "job": "judge"}], "labels": ["high", "high"]}
    for _ in range(4):
        assert ask(service, "POST", "/learn", asked).status == 200
    assert (
        ask(service, "POST", "/predict", {"row": {"age": 30, "job": "pilot"}}).json["predictions"][0]["label"] == "high"
    )


def test_a_torn_last_line_was_never_confirmed(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE[:2], LABELS[:2])
    kept = service.shelf.find("mail", None).model.digest
    journal = tmp_path / "mail.model.journal"
    before = journal.read_bytes()
    learn(service, MORE[2:], LABELS[2:])
    whole = journal.read_bytes()
    for end in (len(before) + 1, len(before) + 20, len(whole) - 1):
        journal.write_bytes(whole[:end])
        service = restarted(service, tmp_path / "mail.model")
        assert service.shelf.find("mail", None).model.digest == kept
        assert journal.read_bytes() == before
    damaged = bytearray(whole)
    damaged[len(before) - 5] ^= 1
    journal.write_bytes(damaged)
    killed(service)
    with pytest.raises(markone.DataError, match="line 2: the journal is damaged"):
        learner(tmp_path / "mail.model")


def test_a_journal_with_other_entries_is_refused(tmp_path: Path) -> None:
    """The checksums are right, but the entries are not those of a service."""
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE, LABELS)
    killed(service)
    journal = tmp_path / "mail.model.journal"
    start, entry = (json.loads(line[17:]) for line in journal.read_bytes().splitlines())
    for first, second in (
        (start, {**entry, "labels": 3}),
        (start, {}),
        (start, [1]),
        ({**start, "drift": None}, entry),
        ({**start, "learned": "x"}, entry),
        ({**start, "snapshot": "../../other.model"}, entry),
        ({"format": 1}, entry),
    ):
        journal.write_bytes(line_of(first) + line_of(second))
        with pytest.raises(markone.DataError, match="journal|there is no model"):
            learner(tmp_path / "mail.model")


def test_a_journal_of_another_model_is_refused(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE, LABELS)
    with pytest.raises(markone.DataError, match="another service already learns"):
        learner(tmp_path / "mail.model")
    killed(service)
    spam_model(tmp_path / "mail.model", rule="perceptron")
    with pytest.raises(markone.DataError, match="another model has learned"):
        learner(tmp_path / "mail.model")


def test_a_full_disk_is_a_503_and_nothing_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE[:2], LABELS[:2])
    before, journal = service.shelf.find("mail", None), (tmp_path / "mail.model.journal").read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("markone.storage.journal.os.fsync", fail)
        reply = learn(service, MORE[2:], LABELS[2:])
    assert reply.status == 503 and "No space left" in reply.json["detail"]
    assert service.shelf.find("mail", None) is before
    assert (tmp_path / "mail.model.journal").read_bytes() == journal
    assert learn(service, MORE[2:], LABELS[2:]).json["learned"] == 4


@pytest.mark.parametrize("change", ["written", "replaced", "removed"])
def test_nothing_is_learned_into_a_journal_that_another_service_has_changed(
    tmp_path: Path, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE[:2], LABELS[:2])
    journal = tmp_path / "mail.model.journal"
    content = journal.read_bytes()
    if change == "written":
        content += content.splitlines(keepends=True)[-1]
        journal.write_bytes(content)
    elif change == "replaced":
        (tmp_path / "other").write_bytes(content)
        (tmp_path / "other").replace(journal)
    else:
        journal.unlink()
    reply = learn(service, MORE[2:], LABELS[2:])
    assert reply.status == 503 and "has been changed or removed by another program" in reply.json["detail"]
    assert service.learning is not None
    service.learning.close()
    assert "no snapshot was saved" in capsys.readouterr().err and not list(tmp_path.glob("*.learned-*"))
    assert change == "removed" or journal.read_bytes() == content


def test_a_line_that_cannot_be_taken_back_ends_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")

    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("markone.storage.journal.os.fsync", fail)
        patch.setattr("markone.storage.journal.os.truncate", fail)
        assert learn(service, MORE[:2], LABELS[:2]).status == 503
    assert learn(service, MORE[:2], LABELS[:2]).status == 503  # no line follows one that may be torn


def test_wrong_requests_change_nothing(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    for body, status in (
        ({"texts": ["a"], "labels": []}, 422),
        ({"texts": [], "labels": []}, 422),
        ({"labels": ["ham"]}, 422),
        ({"texts": ["a"], "rows": [{}], "labels": ["ham"]}, 422),
        ({"texts": ["a"], "labels": [3]}, 422),
        ({"rows": [{"other": "a"}], "labels": ["ham"]}, 422),
        ({"texts": ["a"]}, 422),
    ):
        reply = ask(service, "POST", "/learn", body)
        assert reply.status == status and len(reply.json["detail"]) > 20, body
    assert service.shelf.find("mail", None).learned == 0
    assert len((tmp_path / "mail.model.journal").read_bytes().splitlines()) == 1


def test_models_that_cannot_learn_say_why(tmp_path: Path) -> None:
    markone.train(TEXTS, target=KINDS, rule="svm").save(tmp_path / "svm.model")
    with pytest.raises(markone.DataError, match="none of the models can learn .*all rows at once"):
        learner(tmp_path / "svm.model")
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path)
    reply = learn(service, MORE, LABELS, model="svm")
    assert reply.status == 422 and "all rows at once" in reply.json["detail"]
    learns = {one["name"]: one["learns"] for one in ask(service, "GET", "/models").json["models"]}
    assert learns == {"mail": True, "svm": False}


def test_a_file_of_a_model_that_learns_is_not_reloaded(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    service = learner(tmp_path / "mail.model")
    learn(service, MORE, LABELS)
    spam_model(tmp_path / "mail.model", rule="perceptron")
    [said] = service.refresh()
    assert "restart the service" in said and service.shelf.find("mail", None).learned == 4


# ---- the journal, and drift

ENTRIES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2), max_size=5)


@given(ENTRIES, st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_journal_cut_anywhere_keeps_its_complete_entries(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, str]], cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "a.journal"
    journal = Journal.begin(str(path), {"base": "x"})
    first = path.stat().st_size
    sizes = [first]
    for entry in entries:
        journal.add(entry)
        sizes.append(path.stat().st_size)
    end = first + cut % (sizes[-1] - first + 1)
    path.write_bytes(path.read_bytes()[:end])
    found = Journal.read(str(path))
    assert found is not None
    complete = sum(size <= end for size in sizes) - 1
    assert found[1] == entries[:complete] and path.stat().st_size == sizes[complete]


def streams() -> list[list[int]]:
    """Mistakes of a stream whose error rate rises, falls, or stays."""
    shuffled = random.Random(7)
    rates = (
        [0.1] * 800 + [0.6] * 600,
        [0.5] * 800 + [0.1] * 800,
        [0.2] * 2000,
        [0.0] * 500 + [1.0] * 200 + [0.5] * 900,
    )
    return [[int(shuffled.random() < rate) for rate in one] for one in rates]


def test_drift_is_found_where_river_finds_it() -> None:
    alarms = []
    for stream in streams():
        test = PageHinkley()
        alarms.append([place for place, mistake in enumerate(stream) if test.update(mistake)])
        assert test.alarms == len(alarms[-1])
    river = pytest.importorskip("river.drift")
    for stream, ours in zip(streams(), alarms, strict=True):
        theirs, found = river.PageHinkley(mode="up"), []
        for place, mistake in enumerate(stream):
            theirs.update(mistake)
            if theirs.drift_detected:
                found.append(place)
        assert found == ours
    assert [len(one) for one in alarms][1:3] == [0, 0] and alarms[0] and alarms[3]


def test_the_alarm_survives_a_restart() -> None:
    stream = streams()[0]
    whole, halves = PageHinkley(), PageHinkley()
    for place, mistake in enumerate(stream):
        if place % 100 == 0:
            halves = PageHinkley.of(json.loads(json.dumps(halves.as_dict())))
        assert whole.update(mistake) == halves.update(mistake)


def test_a_change_of_the_world_raises_the_alarm_of_the_service(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="perceptron")
    service = learner(tmp_path / "mail.model")
    assert not learn(service, ["free money", "lunch"] * 50, ["spam", "ham"] * 50).json["drift"]
    assert learn(service, ["free money", "lunch"] * 40, ["ham", "spam"] * 40).json["drift"]
    assert 'markone_drift_alarms_total{model="mail"} 1' in ask(service, "GET", "/metrics").body.decode()


def test_a_regression_does_not_learn(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model", rule="mira")
    data = markone.read([{"size": size, "rent": 8 * size} for size in range(9)], target="rent")
    markone.train(data, rule="regression").save(tmp_path / "rents.model")
    with pytest.raises(DataError, match=r"none of the models can learn \(rents: a regression needs all rows at once"):
        learner(tmp_path / "rents.model")
    service = learner(tmp_path)
    refused = ask(service, "POST", "/learn", {"model": "rents", "rows": [{"size": 3}], "labels": [24.5]})
    assert refused.status == 422
    assert refused.json["detail"] == (
        "rents cannot learn: a regression needs all rows at once, so it cannot learn one example at a time."
    )
