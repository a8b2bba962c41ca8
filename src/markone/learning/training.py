"""Training: from a source to a model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np

from markone.data.blocks import is_sparse
from markone.data.budget import memory_budget
from markone.data.read import read
from markone.data.source import UNLABELLED, Label, Source
from markone.data.store import RowStore
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.features.spec import Features, Function
from markone.learning.holdout import Choice
from markone.learning.linear import Linear
from markone.learning.passes import Callback, StoredExamples, make_passes
from markone.learning.progress import Progress, Silence, visible_progress
from markone.model.model import Model
from markone.model.settings import Rule, Settings
from markone.parallel import count_threads, in_order

DRAFTS_SHARE = 3
"""Drafts are kept while they take less than one of so many parts of the memory: the rows made of them need as much."""


def train(
    source: Any,
    *,
    target: Any = None,
    rule: Rule = "mira",
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    callback: Callback | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Model:
    """Learns a model from a source, or from whatever `markone.read` opens.

    Parameters
    ----------
    source
        A source, or what `markone.read` takes: a path, a frame, a list of texts.
    target
        What is to be predicted, as for `markone.read`, where `source` is not yet a source.
    rule
        How an example moves the weights: `perceptron`, `mira`, `logistic` or `hinge`.
    features
        The spec of the features: a `Features`, a dict or the name of a TOML file. By default every column is used as
        suits its kind.
    functions
        Python functions that make more features, by name.
    threads
        How many threads read and count; as many as there are cores by default. The result is the same.
    memory
        Rows that need more than this go to a temporary file: bytes, or a text such as "2 GB"; half of the machine's
        by default. The result is the same.
    callback
        Called with each pass; training ends when it returns True.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is told how far the work is.
    settings
        All else is as in `markone.Settings`: `epochs`, `C`, `holdout` and so on.

    Examples
    --------
    >>> model = train(["free money", "see you soon"], target=["spam", "ham"])
    >>> model.predict("money for free")
    'spam'
    """
    how = settings_of(rule, settings)
    spec = Features.of(features, functions)
    workers, budget = count_threads(threads), memory_budget(memory)
    if not isinstance(source, Source):
        source = read(source, target=target, threads=threads)
    elif target is not None:
        raise SettingsError("target", "belongs to markone.read where a source is opened by it")
    if source.target is None:
        raise DataError("there is nothing to predict; say which column is the target: target=...")
    if callback is not None and not callable(callback):
        raise SettingsError("callback", f"must be a function, not {callback!r}")
    if isinstance(progress, bool):
        progress = visible_progress() if progress else None
    progress = progress or Silence()
    feature_map = FeatureMap(spec, source.columns)
    with RowStore(budget) as store:
        classes = fill(store, source, feature_map, how, workers, budget, progress)
        linear = Linear(how, features=feature_map.width, classes=len(classes), dtype=np.float32)
        history = make_passes(linear, StoredExamples(store, how), callback=callback, progress=progress)
    return Model(features=feature_map, classes=classes, weights=linear.weights(), settings=how, history=history)


def settings_of(rule: Rule, settings: dict[str, Any]) -> Settings:
    known = [field.name for field in fields(Settings)]
    for name in settings:
        if name in signature(read).parameters:
            raise SettingsError(name, f"belongs to markone.read: train(markone.read(..., {name}=...))")
        if name not in known:
            raise SettingsError(name, f"is unknown; there are {', '.join(known)}.{did_you_mean(name, known)}")
    how = Settings(rule=rule, **settings)
    if how.patience is not None and how.holdout == 0 and how.tol is None:
        raise SettingsError(
            "patience", "waits for held-out accuracy, or with tol for the loss; set holdout or tol, too"
        )
    if how.tol is not None and how.patience is None:
        raise SettingsError("tol", "says what counts as better for patience; set it, too")
    if "strength" in settings and how.penalty is None and how.schedule != "inverse":
        raise SettingsError("strength", "is that of a penalty, or of the schedule 'inverse'; set one of them, too")
    return how


def fill(
    store: RowStore,
    source: Source,
    feature_map: FeatureMap,
    settings: Settings,
    threads: int,
    budget: int,
    progress: Progress,
) -> list[Label]:
    """Learns the features, puts all rows into the store, and returns the classes.

    The source is read once if what was drafted at the first reading can be kept, else twice. Features are not told the
    labels of what is held out.
    """
    drafts: deque[Any] = deque()
    held_out = Choice(settings.holdout, settings.seed)
    size = rows = 0
    for batch, collected in feature_map.collected(source, threads):
        assert batch.labels is not None  # there is a target
        apart = held_out(batch.labels)
        draft = feature_map.absorb(collected, np.where(apart, np.int32(UNLABELLED), batch.labels))
        rows += len(batch)
        progress.read(rows)
        if feature_map.held() > budget:
            raise DataError(
                f"after {rows:,} rows the vocabulary needs more than the {budget / 1e6:,.0f} MB of memory; take fewer "
                "or shorter n-grams, a table of fixed size (text.hash_bits), no odds (text.weight), or say memory=..."
            )
        if size <= budget // DRAFTS_SHARE:
            size += size_of(draft)
            drafts.append((draft, batch.labels, batch.importance))
        else:
            drafts.clear()
    if rows == 0:
        raise DataError("there are no rows to learn from")
    feature_map.finish()
    held_out, again = Choice(settings.holdout, settings.seed), 0
    for matrix, labels, importance in rows_of(source, feature_map, drafts, threads):
        store.add(matrix, labels, importance, held_out(labels))
        again += len(labels)
    feature_map.settle()
    if again != rows:
        raise DataError(f"{source.name} has changed while it was read: it had {rows:,} rows, and then {again:,}")
    classes = in_good_order([source.labels[number] for number in store.labels_met()])
    if not classes:
        raise DataError("none of the rows has a label")
    if len(classes) < 2:
        raise DataError(f"all examples have the label {classes[0]!r}; to learn a difference, two are needed at least")
    number = {identity(label): i for i, label in enumerate(classes)}
    store.finish(np.array([number.get(identity(label), UNLABELLED) for label in source.labels], np.int32))
    return classes


def identity(label: Label) -> tuple[type, Label]:
    """1 and True are two labels, although they are equal."""
    return type(label), label


def rows_of(
    source: Source, feature_map: FeatureMap, drafts: deque[Any], threads: int
) -> Iterator[tuple[Matrix, Any, Any]]:
    if drafts:
        tasks = (drafts.popleft() for _ in range(len(drafts)))
        return in_order(lambda task: (feature_map.refine(task[0]), *task[1:]), tasks, threads)
    return in_order(
        lambda batch: (feature_map.transform(batch), batch.labels, batch.importance), source.batches(), threads
    )


def size_of(draft: Any) -> int:
    """The bytes of the arrays in it."""
    if isinstance(draft, list | tuple):
        return sum(map(size_of, draft))
    if is_sparse(draft):
        return size_of([draft.indptr, draft.indices, draft.data])
    return int(getattr(draft, "nbytes", 0))


def in_good_order(labels: list[Label]) -> list[Label]:
    """Numbers by size, texts by the alphabet; what cannot be compared, by how it is written."""
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=str)
