"""Commands that are printed for the user to run: whole, and quoted as a shell needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markone.cli.messages import option_words, typed
from markone.cli.options import option


def train_command(
    data: Sequence[str], target: str | None, *, reading: Mapping[str, Any] | None = None, **how: Any
) -> str:
    """The training that reads the same data in the same way.

    >>> train_command(["my data.csv"], "label", rule="perceptron", average=False, solver=None)
    "markone train 'my data.csv' --target label --rule perceptron --no-average"
    """
    said = {"target": target, **how, **(reading or {})}
    words = (option_words((option(name), option(f"no_{name}")), one) for name, one in said.items() if one is not None)
    return typed("markone", "train", *data, *(word for some in words for word in some))
