"""The documentation of the service shows what the service answers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import markone
from markone.server.learning import Learning

from .asking import TEXTS, ask, service_of

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
CURL = re.compile(
    r"^\$ curl -s localhost:8080(\S+) -H 'Content-Type: application/json' -d '(.*)'\n(.*)\n", re.MULTILINE
)


def test_the_page_shows_what_is_answered(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    model = markone.train(TEXTS, target=["spam", "spam", "ham", "ham"], rule="logistic")
    model.save(tmp_path / "mail.model")
    service = service_of(tmp_path, learning=Learning, learn=True)

    def answered(found: re.Match[str]) -> str:
        reply = ask(service, "POST", found[1], json.loads(found[2]))
        return f"{found[0].rpartition(chr(10) + found[3])[0]}\n{reply.body.decode()}\n"

    right = CURL.sub(answered, page)
    line = f"mail, version {model.digest[:12]}: {model.in_brief()}"
    right = re.sub(r"^mail, version .*$", line, right, flags=re.MULTILINE)
    if os.environ.get("MARKONE_UPDATE_DOCS"):
        PAGE.write_text(right, encoding="utf-8")
    assert len(CURL.findall(page)) == 4 and page == right
