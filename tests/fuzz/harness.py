"""The harness of model files: each is loaded, asked, explained, evaluated, saved and resumed, within bounds."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from pathlib import Path

from markone import MarkoneError
from markone.storage.saved import Saved

from .mutations import mutate, write
from .seeds import SHARES, STAGES, make_seeds, read_seeds
from .subjects import Subject, every_subject, some_steps
from .targets import Case, Outcome, Target

MOST_STEPS = 2
"""Beside the first. All of them at each file would take too long, and another file has the others."""


class Files(Target):
    """Files of models, under checksums that are right."""

    name = "files"
    share = 4

    def __init__(self, subjects: dict[str, Subject] | None = None) -> None:
        self.subjects = every_subject() if subjects is None else subjects
        self.seeds: dict[str, Saved] = {}
        self.folder = Path()

    def kinds(self) -> list[str]:
        return list(self.subjects)

    def prepare(self, folder: Path) -> None:
        seeds = folder / "seeds"
        if not seeds.exists():
            seeds.mkdir()
            make_seeds(self.subjects, seeds)
        self.seeds = read_seeds(self.subjects, seeds)
        self.folder = folder

    def make(self, chance: random.Random) -> Case:
        kind = chance.choice(list(self.subjects))
        [stage] = chance.choices(STAGES, SHARES)
        saved, changes = mutate(self.seeds[f"{kind}.{stage}"], chance, lambda: self.other_seed(kind, chance))
        path = self.path("made")
        write(path, saved)
        return Case(kind, [stage, *changes], path.read_bytes())

    def other_seed(self, kind: str, chance: random.Random) -> Saved:
        """Another stage of the same kind, or another kind."""
        kind = kind if chance.random() < 0.5 else chance.choice(list(self.subjects))
        return self.seeds[f"{kind}.{chance.choice(STAGES)}"]

    def path(self, name: str) -> Path:
        """Of a file that no other process has."""
        return self.folder / f"{name}.{os.getpid()}"

    def use(self, case: Case, chance: random.Random, outcome: Outcome) -> None:
        subject, path = self.subjects[case.kind], self.path("used")
        path.write_bytes(case.content)
        outcome.steps.append("load")
        try:
            model = subject.load(path)
        except MarkoneError:
            return
        outcome.accepted = True
        saving = ("save", lambda: model.save(self.path("saved"), final=chance.random() < 0.5))
        for name, step in some_steps([*subject.steps(model), saving], chance, MOST_STEPS):
            outcome.steps.append(name)
            with suppress(MarkoneError):
                step()
        outcome.steps.append("resume")
        try:
            # Whatever number of passes the file says: one more, and no longer.
            subject.train(resume=path, epochs=subject.passes + 2, callback=lambda _: True)
        except MarkoneError:
            return
        outcome.resumed = True
