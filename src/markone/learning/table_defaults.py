"""The defaults for tables, if the user chooses no rule: logistic regression with curves and pairs of columns.

On held-out training rows of many tables, this is better than lines by any rule where columns have curved effects, and
as good where they have not, because held-out rows decide (shapes.py). See docs/rules.md and docs/accuracy.md.

Where texts stand beside other columns, logistic regression is only used if curves or pairs of those columns help.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markone.data.source import Column
from markone.errors import SettingsError
from markone.features.curves import Curves
from markone.features.derived import made_columns
from markone.features.map import FeatureMap
from markone.model.rules import Rule, predicts_numbers
from markone.model.settings import Settings

RULE: Rule = "logistic"
KINDS = ("numeric", "boolean", "categorical", "set")
TEXT = "text"
OF_BOTH = ("holdout", "seed", "tie", "bias", "class_weight")
"""The settings that leave the choice of the rule open. Others, such as `C`, are about another rule."""
OF_NUMBERS = ("rule", "seed", "bias", "loss", "quantile")
"""The settings with which tables have curves if numbers are predicted."""


def suits(columns: Iterable[Column], given: Mapping[str, Any]) -> bool:
    """Return whether the defaults for tables apply to these columns and the given settings."""
    kinds = {column.kind for column in made_columns(tuple(columns))}
    if predicts_numbers(given.get("rule")):
        return kinds <= {*KINDS} and given.keys() <= {*OF_NUMBERS}
    return kinds <= {*KINDS, TEXT} and kinds != {TEXT} and given.keys() <= {*OF_BOTH}


def after_search(features: FeatureMap, curved: Settings, straight: Settings | None) -> Settings:
    """The settings when curves and pairs were searched for: those for straight lines, where texts are beside other
    columns and nothing was found. `straight` is None if nothing was searched for."""
    if straight is None or not any(column.kind == TEXT for column in features.columns):
        return curved
    return curved if any(isinstance(part, Curves) and part.width for part in features.parts) else straight


def check_plain(plain: bool, suited: bool) -> None:
    """Raise an error if `plain` would change nothing."""
    if plain and not suited:
        raise SettingsError(
            "plain",
            "is about tables of numbers and categories without a rule (or with 'regression') or other settings; here "
            "there are no curves, so leave it out",
        )
