"""Complete commands that are printed for the user to run, quoted for the shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markone.cli.messages import option_words, typed
from markone.cli.options import option


def train_command(
    data: Sequence[str], target: str | None, *, reading: Mapping[str, Any] | None = None, **settings: Any
) -> str:
    """Return the `markone train` command for the same data, read in the same way.

    >>> train_command(["my data.csv"], "label", rule="perceptron", average=False, solver=None)
    "markone train 'my data.csv' --target label --rule perceptron --no-average"
    """
    given = {"target": target, **settings, **(reading or {})}
    words = (option_words((option(name), option(f"no_{name}")), one) for name, one in given.items() if one is not None)
    return typed("markone", "train", *data, *(word for some in words for word in some))
