"""Model files: what each holds, and which command is for it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from markone.cli.messages import typed
from markone.errors import DataError
from markone.storage.container import kind_of


class Commands(NamedTuple):
    """The commands for models of a kind."""

    called: str
    use: str
    measure: str
    train: str


COMMANDS_FOR = {
    "classifier": Commands("a classifier", "predict", "evaluate", "train"),
    "tagger": Commands("a tagger", "tag run", "tag evaluate", "tag train"),
    "parser": Commands("a parser", "parse run", "parse evaluate", "parse train"),
}


def check_kind(path: str, wanted: str, purpose: Literal["use", "measure", "learn on", "resume"], *data: str) -> None:
    """That a file holds what a command is for; else which command it is for, with the data that were named."""
    found = kind_of(path)
    if found == wanted or found not in COMMANDS_FOR:  # whoever loads it says what it is instead
        return
    problem = f"{path} holds {COMMANDS_FOR[found].called}, not {COMMANDS_FOR[wanted].called}"
    if purpose == "learn on":
        raise DataError(f"{problem}, and only from such can one learn on")
    if purpose == "resume":
        raise DataError(f"{problem}; the command that goes on with it is markone {COMMANDS_FOR[found].train} --resume")
    command = COMMANDS_FOR[found].use if purpose == "use" else COMMANDS_FOR[found].measure
    raise DataError(f"{problem}; the command for it is: {typed('markone', *command.split(), path, *data)}")
