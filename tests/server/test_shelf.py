"""The shelf: names and versions of models, and files that change while the service answers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import markone
from markone.server.problems import Problem
from markone.server.shelf import Shelf

from .asking import ask, service_of, spam_model


def shelf_of(*places: object) -> Shelf:
    shelf = Shelf([str(place) for place in places])
    shelf.load()
    return shelf


def names(shelf: Shelf) -> list[tuple[str, str]]:
    return [(one.name, one.version) for one in shelf]


def test_names_and_versions_come_from_files(tmp_path: Path) -> None:
    model = spam_model(tmp_path / "mail.model")
    for name in ("mail@9.model", "mail@10.model", "other.model"):
        model.save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a model")
    (tmp_path / ".hidden.model").write_text("not a model")
    short = model.digest[:12]
    found = names(shelf_of(tmp_path))
    assert sorted(found) == sorted([("mail", short), ("mail", "9"), ("mail", "10"), ("other", short)])
    assert [version for name, version in found if name == "mail" and version != short] == ["9", "10"]
    assert names(shelf_of(f"new={tmp_path / 'mail.model'}")) == [("new", short)]
    assert names(shelf_of(f"new@v2={tmp_path / 'mail.model'}")) == [("new", "v2")]


def test_wrong_places_are_explained(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mail.model").write_bytes((tmp_path / "mail.model").read_bytes())
    (tmp_path / "odd name.model").write_bytes((tmp_path / "mail.model").read_bytes())
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.model").write_bytes(b"no model")
    tagger = markone.StructuredPerceptron
    assert tagger is not None
    for places, words in (
        ([], "at least one"),
        ([tmp_path / "none.model"], "there is no model"),
        ([tmp_path / "empty"], "no file ends in .model"),
        ([tmp_path / "bad.model"], "not a Markone model"),
        ([tmp_path / "mail.model", tmp_path / "sub" / "mail.model"], "the same name 'mail'; rename"),
        ([tmp_path / "odd name.model"], "consists of letters, digits"),
    ):
        with pytest.raises(markone.MarkoneError, match=words):
            shelf_of(*places)
    assert names(shelf_of(f"odd={tmp_path / 'odd name.model'}"))[0][0] == "odd"


def test_a_changed_file_is_loaded_aside_and_swapped(tmp_path: Path) -> None:
    first = spam_model(tmp_path / "mail.model")
    service = service_of(tmp_path)
    assert service.refresh() == []
    old = service.shelf.find("mail", None)
    second = markone.train(["free money", "see you"], target=["ham", "spam"])
    second.save(tmp_path / "mail.model")
    assert ask(service, "POST", "/predict", {"text": "free money"}).json["version"] == first.digest[:12]
    [said] = service.refresh()
    assert "mail.model is loaded as mail, version " + second.digest[:12] in said
    found = ask(service, "POST", "/predict", {"text": "free money"}).json
    assert found["version"] == second.digest[:12] and found["predictions"][0]["label"] == "ham"
    assert old.model.predict("free money") == "spam"  # a request that has begun ends on the old model


def test_a_damaged_file_leaves_the_old_model(tmp_path: Path) -> None:
    first = spam_model(tmp_path / "mail.model")
    service = service_of(tmp_path)
    content = bytearray((tmp_path / "mail.model").read_bytes())
    content[-1] ^= 1
    (tmp_path / "mail.model").write_bytes(content)
    [said] = service.refresh()
    assert "cannot be used" in said and "checksum" in said and "the old one goes on answering" in said
    assert service.refresh() == []  # it is reported once
    assert service.shelf.find("mail", None).model.digest == first.digest
    first.save(tmp_path / "mail.model")
    assert len(service.refresh()) == 1


def test_files_of_a_folder_come_and_go(tmp_path: Path) -> None:
    model = spam_model(tmp_path / "mail.model")
    shelf = shelf_of(tmp_path)
    model.save(tmp_path / "new.model")
    assert "loaded as new" in shelf.refresh()[0]
    (tmp_path / "mail.model").unlink()
    assert "is gone" in shelf.refresh()[0]
    assert [name for name, _ in names(shelf)] == ["new"]
    (tmp_path / "new.model").unlink()
    shelf.refresh()
    assert [name for name, _ in names(shelf)] == ["new"]  # the last model stays


def test_a_named_file_that_vanishes_stays_loaded(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model")
    shelf = shelf_of(tmp_path / "mail.model")
    os.unlink(tmp_path / "mail.model")
    shelf.refresh()
    assert [name for name, _ in names(shelf)] == ["mail"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_wrong_with_one_file_does_not_keep_others_away_and_is_said_once(tmp_path: Path) -> None:
    model = spam_model(tmp_path / "mail.model")
    shelf = shelf_of(tmp_path)
    (tmp_path / "loop.model").symlink_to("loop.model")
    (tmp_path / "dangling.model").symlink_to("nothing")
    (tmp_path / "folder.model").mkdir()
    os.mkfifo(tmp_path / "pipe.model")
    model.save(tmp_path / "odd name.model")
    model.save(tmp_path / "mail.parser")  # the name of the model that answers
    model.save(tmp_path / "new.model")
    said = "\n".join(shelf.refresh())
    for words in ("folder.model cannot be used", "pipe.model cannot be used", "consists of letters", "the same name"):
        assert said.count(words) == 1
    assert "new.model is loaded" in said and len(said.splitlines()) == 5
    assert [name for name, _ in names(shelf)] == ["mail", "new"]
    assert shelf.find("mail", None).path == str(tmp_path / "mail.model")
    assert shelf.refresh() == [] and shelf.changes == 1


def test_a_folder_that_vanishes_keeps_its_models(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    spam_model(tmp_path / "models" / "mail.model")
    shelf = shelf_of(tmp_path / "models")
    (tmp_path / "models").rename(tmp_path / "away")
    assert shelf.refresh() == [] and [name for name, _ in names(shelf)] == ["mail"]
    (tmp_path / "models").mkdir()
    [said] = shelf.refresh()
    assert "the old ones go on answering" in said
    assert shelf.refresh() == [] and shelf.changes == 0 and [name for name, _ in names(shelf)] == ["mail"]


def test_a_name_that_is_no_name_is_not_compared_with_others(tmp_path: Path) -> None:
    spam_model(tmp_path / "mail.model")
    began = time.process_time()
    with pytest.raises(Problem, match="There is no model"):
        shelf_of(tmp_path).find("mail" * 1_000_000, None)
    assert time.process_time() - began < 1
