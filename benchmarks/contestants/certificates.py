"""Certificates: whether classes can be separated, by us with a proof, and by others without."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

import markone
from benchmarks.contestants.command import processor_time
from benchmarks.datasets import Split
from benchmarks.files import Files
from benchmarks.timing import Contestant, Outcome, timed


def certify() -> Contestant[Split]:
    """A plane with a bracket of the margin, or a proof, with removal and hinge."""

    def turn(data: Split) -> Outcome:
        seconds, certificate = timed(lambda: markone.certify(data.train, data.train_labels))
        if certificate.separable is None:
            raise RuntimeError("there was no answer")
        return Outcome(seconds, None)

    return Contestant("certify(X, y)", turn)


def certify_file(options: str) -> Contestant[Files]:
    """The processor time of the whole process."""
    return Contestant(
        f"markone certify file {options}",
        lambda files: Outcome(processor_time(f"certify {files.train} {options}"), None),
    )


def widest_street() -> Contestant[Split]:
    """The support vector machine with a hard margin, which shows nothing where there is none."""
    return Contestant(
        "SVC(kernel='linear', C=1e10)",
        lambda data: Outcome(
            timed(lambda: SVC(kernel="linear", C=1e10).fit(data.train, data.train_labels))[0],
            None,
        ),
    )


def linear_program() -> Contestant[Split]:
    """Whether some w has w·z ≥ 1 for all z, by HiGHS."""

    def turn(data: Split) -> Outcome:
        z = np.where(data.train_labels == data.train_labels.max(), 1.0, -1.0)[:, None] * np.hstack(
            [data.train, np.ones((len(data.train), 1))]
        )
        solve: Any = linprog
        seconds, _ = timed(
            lambda: solve(
                np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=[(None, None)] * z.shape[1], method="highs"
            )
        )
        return Outcome(seconds, None)

    return Contestant("linprog(method='highs')", turn)
