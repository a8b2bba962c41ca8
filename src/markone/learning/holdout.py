"""Rows that are held out: the same share of every class, at random, chosen all at once or while rows go by."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from markone.data.source import UNLABELLED
from markone.errors import DataError


def split(labels: NDArray[np.int32], share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to learn from and rows to hold out: the same share of every class, at random, each set in storage order."""
    random = np.random.default_rng([seed, 1])
    apart = np.zeros(len(labels), bool)
    mixed = random.permutation(len(labels))
    by_class = mixed[np.argsort(labels[mixed], kind="stable")]
    # Every 1/share-th row of that list: each class gives its share to within one row.
    places = np.floor((np.arange(round(share * len(labels))) + random.random()) / share).astype(np.int64)
    apart[by_class[places[places < len(labels)]]] = True
    check_both(apart, share)
    return np.flatnonzero(~apart), np.flatnonzero(apart)


def check_both(apart: NDArray[np.bool_], share: float) -> None:
    if not apart.any() or apart.all():
        raise DataError(f"{len(apart)} rows are too few to hold out a share of {share:g}; hold out more, or none")


class HoldoutChoice:
    """Chooses while rows go by, batch after batch: of each 1/share rows of a class one, at random.

    So what is learned of the features can leave out the labels of rows that will be held out.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share = share
        self.seed = seed
        self.met: dict[int, int] = {}
        self.blocks: dict[int, tuple[np.random.Generator, int, NDArray[np.int64]]] = {}

    def __call__(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the next rows are held out."""
        apart = np.zeros(len(labels), bool)
        if self.share > 0:
            for label in np.unique(labels[labels != UNLABELLED]).tolist():
                rows = np.flatnonzero(labels == label)
                start = self.met.get(label, 0)
                self.met[label] = start + len(rows)
                apart[rows[self._chosen(label, start, start + len(rows))]] = True
        return apart

    def _chosen(self, label: int, start: int, end: int) -> NDArray[np.int64]:
        """Which of a class's rows from `start` to `end` are chosen, counted from `start`."""
        random, blocks, places = self.blocks.get(
            label, (np.random.default_rng([self.seed, 1, label]), 0, np.zeros(0, np.int64))
        )
        enough = math.ceil(end * self.share) + 1
        if enough > blocks:
            starts = np.ceil(np.arange(blocks, enough + 1) / self.share).astype(np.int64)
            more = starts[:-1] + np.floor(random.random(enough - blocks) * np.diff(starts)).astype(np.int64)
            places, blocks = np.concatenate([places, more]), enough
        self.blocks[label] = random, blocks, places[places >= end]
        return places[(places >= start) & (places < end)] - start
