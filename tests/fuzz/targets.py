"""Targets: what is fuzzed. Each makes cases of numbers, and uses them."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Case:
    """Something damaged."""

    kind: str
    """Of what it was before."""
    changes: list[str]
    content: Any
    """Bytes, or what else a target makes."""


@dataclass
class Outcome:
    """What became of a case that did no harm."""

    accepted: bool = False
    """It was loaded or read, not refused."""
    resumed: bool = False
    """Training went on from it."""
    steps: list[str] = field(default_factory=list)
    """What was done, of which the last may have failed."""


class Target(ABC):
    """What is fuzzed."""

    name: str
    share: int
    """How many of its cases there are to one of the others."""

    @abstractmethod
    def kinds(self) -> list[str]:
        """Of what it damages."""

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """What all cases share. The folder is for files, the same for all processes."""

    @abstractmethod
    def make(self, chance: random.Random) -> Case:
        """The case of a state of chance."""

    @abstractmethod
    def use(self, case: Case, chance: random.Random, outcome: Outcome) -> None:
        """Does with it what users do, and notes it. Whatever is raised is a finding."""

    def stored(self, case: Case) -> bytes | None:
        """The case as a file, where it can be one."""
        return case.content if isinstance(case.content, bytes) else None
