"""Commands that are printed for the user to run: whole, and quoted as a shell needs it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markone.cli.options import option


def train_command(
    data: Sequence[str], target: str | None, *, reading: Mapping[str, Any] | None = None, **how: Any
) -> str:
    """The training that reads the same data in the same way.

    >>> train_command(["my data.csv"], "label", rule="perceptron", average=False, solver=None)
    "markone train 'my data.csv' --target label --rule perceptron --no-average"
    """
    said = {"target": target, **how, **(reading or {})}
    return shlex.join(
        ["markone", "train", *data, *(word for name, value in said.items() for word in words(name, value))]
    )


def words(name: str, value: Any) -> Iterator[str]:
    """An option as it is typed; nothing for what was not said."""
    if value is None:
        return
    if isinstance(value, bool):
        yield option(name if value else f"no_{name}")
        return
    for one in value if isinstance(value, list | tuple) else [value]:
        yield from (option(name), str(one))
