"""The JSON export: the document itself. An interpreter in Python checks it, which reads nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence

from markone.exporting.document import Document
from markone.exporting.interpreter import Answer, Interpreter
from markone.exporting.options import Options, Ran
from markone.exporting.samples import Row
from markone.exporting.texts import in_lines


def write(document: Document, _: Options) -> bytes:
    return f"{in_lines(document)}\n".encode()


def run(content: bytes, _: Document, rows: Sequence[Row], __: Options) -> Ran:
    interpreter = Interpreter(json.loads(content))
    return Ran("an interpreter in Python", [*map(interpreter.answer, rows)])


def interpret(document: Document, rows: Sequence[Row]) -> list[Answer]:
    """Predict by the document, for targets that cannot be run here."""
    return [*map(Interpreter(document).answer, rows)]
