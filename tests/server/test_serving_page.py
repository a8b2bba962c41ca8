"""The documentation of the service shows what the service answers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import markone
from markone import Model
from markone.demo.reviews import write_reviews
from markone.server.learning import Learning

from .asking import TEXTS, ask, service_of

DOCS = Path(__file__).parents[2] / "docs"
CURL = re.compile(
    r"^\$ curl -s localhost:8080(\S+) -H 'Content-Type: application/json' -d '(.*)'\n(.*)\n", re.MULTILINE
)


def mail(_folder: Path) -> Model:
    return markone.train(TEXTS, target=["spam", "spam", "ham", "ham"], rule="logistic")


def reviews(folder: Path) -> Model:
    write_reviews(folder / "reviews.csv", count=2000, seed=0)
    markone.train(folder / "reviews.csv", target="guest", rule="logistic").save(folder / "final", final=True)
    return markone.load(folder / "final")


MODELS = {"mail": mail, "reviews": reviews}


@pytest.mark.parametrize(("page", "name", "requests"), [("serving", "mail", 4), ("tutorials/deploying", "reviews", 1)])
def test_the_page_shows_what_is_answered(tmp_path: Path, page: str, name: str, requests: int) -> None:
    path = DOCS / f"{page}.md"
    before = path.read_text(encoding="utf-8")
    model = MODELS[name](tmp_path)
    place = tmp_path / f"{name}.model"
    model.save(place)
    service = service_of(place, learning=Learning, learn=True)

    def answered(found: re.Match[str]) -> str:
        reply = ask(service, "POST", found[1], json.loads(found[2]))
        return f"{found[0].rpartition(chr(10) + found[3])[0]}\n{reply.body.decode()}\n"

    right = CURL.sub(answered, before)
    line = f"{name}, version {model.digest[:12]}: {model.in_brief()}"
    right = re.sub(rf"^{name}, version .*$", line, right, flags=re.MULTILINE)
    if os.environ.get("MARKONE_UPDATE_DOCS"):
        path.write_text(right, encoding="utf-8")
    assert len(CURL.findall(before)) == requests and rounded(before) == rounded(right)


def rounded(page: str) -> str:
    """The page with nine digits: the exponentials of NumPy's versions differ in the last ones."""
    return re.sub(r"\d\.\d{10,}", lambda found: f"{float(found[0]):.9f}", page)
