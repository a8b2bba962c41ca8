"""Settings of a parser: its input, its search and its training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from markone.brief import Brief
from markone.checks import check_fields, checked, number, one_of, optional, required, text, whole
from markone.errors import Setting, SettingsError
from markone.model.settings import MOST_PARTITIONS
from markone.structured.checking import check_patience
from markone.structured.sentences import FORM

Mode = Literal["fast", "accurate", "exact"]
Crossing = Literal["lift", "skip"]
USUAL_EPOCHS: dict[Mode, int] = {"fast": 10, "accurate": 32, "exact": 10}
USUAL_ROUND = 8
"""The number of passes in a round in the mode `accurate`."""
USUAL_BEAM = 8
USUAL_C = 0.01
USUAL_FEATURES = 1_000_000
WIDEST_BEAM = 1024


@dataclass(frozen=True, slots=True, repr=False)
class ParserSettings(Brief):
    """The complete settings of a parser, without defaults: see `Parser.train`."""

    mode: Mode = required(one_of(*get_args(Mode)))
    tags: str = required(text("the name of a column of tags"))
    epochs: int = required(whole(1))
    round: int | None = required(optional(whole(1)))
    beam: int | None = required(optional(whole(2, WIDEST_BEAM)))
    C: float | None = required(optional(number(above=0, below=math.inf)))
    features: int = required(whole(1))
    crossing: Crossing = required(one_of(*get_args(Crossing)))
    seed: int = required(whole(0))
    holdout: float = required(number(least=0, below=1))
    patience: int | None = required(optional(whole(1)))
    partitions: int = checked(1, whole(1, most=MOST_PARTITIONS))

    def __post_init__(self) -> None:
        check_fields(self)
        if self.tags == FORM:
            raise SettingsError("tags", f"must be the name of a column of tags, not {self.tags!r}")
        check_patience(self.holdout, self.patience)
        if self.mode != "exact" and self.C is not None:
            only = ("is only for ", Setting("mode", "exact"), f", not for {self.mode!r}")
            raise SettingsError("C", only, value=self.C, advice="leave it out")
        if self.mode == "exact" and self.C is None:
            raise SettingsError("C", ("must be a number greater than 0 for ", Setting("mode", "exact"), ", not None"))
        if self.mode == "accurate" and self.beam is None:
            raise SettingsError("beam", ("must be a whole number for ", Setting("mode", "accurate"), ", not None"))
        if self.mode != "accurate" and self.beam is not None:
            only = ("is only for ", Setting("mode", "accurate"), f", not for {self.mode!r}")
            raise SettingsError("beam", only, value=self.beam, advice="leave it out")

    @property
    def width(self) -> int:
        """The number of states that the search keeps."""
        return 1 if self.beam is None else self.beam
