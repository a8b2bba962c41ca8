"""Chooses held-out rows: the same random share of every class, either of all rows or batch by batch."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from markone.data.source import UNLABELLED
from markone.errors import DataError


def split(labels: NDArray[np.int32], share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return training rows and held-out rows, a random share of every class. Both are in storage order."""
    random = np.random.default_rng([seed, 1])
    apart = np.zeros(len(labels), bool)
    mixed = random.permutation(len(labels))
    by_class = mixed[np.argsort(labels[mixed], kind="stable")]
    # Every (1/share)-th row of that list is held out, so the share of each class is right to within one row.
    places = np.floor((np.arange(round(share * len(labels))) + random.random()) / share).astype(np.int64)
    apart[by_class[places[places < len(labels)]]] = True
    check_both(apart, share)
    return np.flatnonzero(~apart), np.flatnonzero(apart)


def check_both(apart: NDArray[np.bool_], share: float) -> None:
    if not apart.any() or apart.all():
        raise DataError(f"{len(apart)} rows are too few to hold out a share of {share:g}; choose a larger share, or 0")


class HoldoutChoice:
    """Chooses held-out rows batch by batch: one random row of each 1/share rows of a class.

    The rows are known while features are fitted, so that the labels of held-out rows are not used for that.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share = share
        self.seed = seed
        self.met: dict[int, int] = {}
        self.blocks: dict[int, tuple[np.random.Generator, int, NDArray[np.int64]]] = {}

    def __call__(self, labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each of the next rows whether it is held out."""
        apart = np.zeros(len(labels), bool)
        if self.share > 0:
            for label in np.flatnonzero(np.bincount(labels[labels != UNLABELLED])).tolist():
                rows = np.flatnonzero(labels == label)
                start = self.met.get(label, 0)
                self.met[label] = start + len(rows)
                apart[rows[self._chosen(label, start, start + len(rows))]] = True
        return apart

    def _chosen(self, label: int, start: int, end: int) -> NDArray[np.int64]:
        """Return which rows of a class from `start` to `end` are chosen, counted from `start`."""
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
