"""The kinds of model files, and the commands for each kind."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from markone.cli.messages import typed
from markone.errors import DataError, ModelFileError
from markone.storage.container import kind_of


class Commands(NamedTuple):
    """The commands for one kind of model."""

    called: str
    use: str
    measure: str
    train: str


COMMANDS_FOR = {
    "classifier": Commands("a classifier", "predict", "evaluate", "train"),
    "tagger": Commands("a tagger", "tag run", "tag evaluate", "tag train"),
    "parser": Commands("a parser", "parse run", "parse evaluate", "parse train"),
}


def check_kind(path: str, wanted: str, purpose: Literal["use", "measure", "continue", "resume"], *data: str) -> None:
    """Check that a file contains the right kind of model; the error names the right command for it."""
    try:
        found = kind_of(path)
    except ModelFileError as error:
        if data and is_model(data[0]):
            said = f"{path} is not a Markone model, but {data[0]} is one; name the model first, and then the data"
            raise DataError(said) from error
        raise
    if found == wanted or found not in COMMANDS_FOR:  # the loader explains the problem
        return
    problem = f"{path} contains {COMMANDS_FOR[found].called}, not {COMMANDS_FOR[wanted].called}"
    if purpose == "continue":
        raise DataError(f"{problem}; training can only continue from {COMMANDS_FOR[wanted].called}")
    if purpose == "resume":
        raise DataError(f"{problem}; use markone {COMMANDS_FOR[found].train} --resume")
    command = COMMANDS_FOR[found].use if purpose == "use" else COMMANDS_FOR[found].measure
    raise DataError(f"{problem}; use this command: {typed('markone', *command.split(), path, *data)}")


def is_model(path: str) -> bool:
    """Whether a file contains a model."""
    try:
        return os.path.isfile(path) and kind_of(path) in COMMANDS_FOR
    except DataError:
        return False
