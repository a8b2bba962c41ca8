"""Settings of a parser: what it looks at, how it searches and how it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from markone.brief import Brief
from markone.data.options import check_choice
from markone.errors import Setting, SettingsError
from markone.structured.checking import check_passes, is_number, whole
from markone.structured.sentences import FORM

Mode = Literal["fast", "accurate", "exact"]
Crossing = Literal["lift", "skip"]
USUAL_EPOCHS: dict[Mode, int] = {"fast": 10, "accurate": 32, "exact": 10}
USUAL_ROUND = 8
"""Passes, where it is accurate."""
USUAL_BEAM = 8
USUAL_C = 0.01
USUAL_FEATURES = 1_000_000
WIDEST_BEAM = 1024


@dataclass(frozen=True, slots=True, repr=False)
class ParserSettings(Brief):
    """Settings of a parser, spelled out: see `Parser.train`."""

    mode: Mode
    tags: str
    epochs: int
    round: int | None
    beam: int | None
    C: float | None
    features: int
    crossing: Crossing
    seed: int
    holdout: float
    patience: int | None

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, get_args(Mode))
        check_choice("crossing", self.crossing, get_args(Crossing))
        if not isinstance(self.tags, str) or self.tags == FORM:
            raise SettingsError("tags", f"must be the name of a column of tags, not {self.tags!r:.80}")
        check_passes(self.epochs, self.seed, self.holdout, self.patience)
        whole("features", self.features, 1)
        if self.round is not None:
            whole("round", self.round, 1)
        if self.mode != "exact" and self.C is not None:
            only = ("belongs to ", Setting("mode", "exact"), f", not to {self.mode!r}")
            raise SettingsError("C", only, value=self.C, advice="leave it out")
        if self.mode == "exact" and not (is_number(self.C) and float(self.C or 0) > 0):
            raise SettingsError("C", f"must be a number greater than 0, not {self.C!r}")
        if self.mode == "accurate":
            whole("beam", self.beam, 2, WIDEST_BEAM)
        elif self.beam is not None:
            only = ("is the width of ", Setting("mode", "accurate"), f", not of {self.mode!r}")
            raise SettingsError("beam", only, value=self.beam, advice="leave it out")

    @property
    def width(self) -> int:
        """How many states the search keeps."""
        return 1 if self.beam is None else self.beam
