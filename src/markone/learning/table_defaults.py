"""The defaults for tables, if the user chooses no rule: logistic regression with curves and pairs of columns.

On held-out training rows of many tables, this is better than lines by any rule where columns have curved effects, and
as good where they have not, because held-out rows decide (shapes.py). See docs/rules.md and docs/accuracy.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markone.data.source import Column
from markone.errors import SettingsError
from markone.features.derived import made_columns
from markone.model.rules import Rule, predicts_numbers

RULE: Rule = "logistic"
KINDS = ("numeric", "boolean", "categorical", "set")
OF_BOTH = ("holdout", "seed", "tie", "bias")
"""The settings that leave the choice of the rule open. Others, such as `C`, are about another rule."""
OF_NUMBERS = ("rule", "seed", "bias", "loss", "quantile")
"""The settings with which tables have curves if numbers are predicted."""


def suits(columns: Iterable[Column], given: Mapping[str, Any]) -> bool:
    """Return whether the defaults for tables apply to these columns and the given settings."""
    settings = {*OF_NUMBERS} if predicts_numbers(given.get("rule")) else {*OF_BOTH}
    return all(column.kind in KINDS for column in made_columns(tuple(columns))) and given.keys() <= settings


def check_plain(plain: bool, suited: bool) -> None:
    """Raise an error if `plain` would change nothing."""
    if plain and not suited:
        raise SettingsError(
            "plain",
            "is about tables of numbers and categories without a rule (or with 'regression') or other settings; here "
            "there are no curves, so leave it out",
        )
