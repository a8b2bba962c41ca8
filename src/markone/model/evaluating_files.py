"""Evaluation on a cluster: each task reads and predicts one file, and returns what it has counted in each batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.cluster.engine import Engine, in_turn
from markone.data.source import BadLines, Source
from markone.errors import MarkoneWarning, SettingsError
from markone.features.examples import Completed, completed
from markone.features.files import Files, files_of

if TYPE_CHECKING:
    from markone.model.model import Model


def evaluated_on(cluster: Any, model: Model, source: Source) -> Any:
    """Return the evaluation of a model on the files of a source, with the same bits as by this process."""
    from markone.cluster.engines import opened

    files = files_of(source.source if isinstance(source, Completed) else source)
    if files is None:
        raise SettingsError("cluster", "needs files, which each worker can read; leave it out for other data")
    with opened(cluster, files.paths, model.features.spec.functions) as engine:
        return evaluated_by(engine, model, files, source.bad)


def evaluated_by(engine: Engine, model: Model, files: Files, bad: BadLines) -> Any:
    """Add up what the tasks have counted, in the order of the files and their batches, and the lines they skipped."""
    sent = engine.put(model)
    results = []
    for found, skipped in in_turn(engine, evaluate_file, ((sent, files, path) for path in files.paths)):
        results += found
        bad.add_all(skipped.count, skipped.first)
    if model.predicts_numbers:
        numbers, predicted = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
        return model.of_numbers(numbers, predicted)
    whole = model.tally()
    for tally in results:
        whole.merge(tally)
    return whole.evaluation()


# ---- tasks


def evaluate_file(model: Model, files: Files, path: str) -> tuple[list[Any], BadLines]:
    """Return a tally of each batch of a file, or the true and the predicted numbers; and the skipped lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkoneWarning)  # this process has warned before
        opened = files.source_or_none(path)
        if opened is None:
            return [], BadLines()
        source = completed(opened, model.features.columns)
    found = [model.numbers_found(source, 1)] if model.predicts_numbers else [*tallies(model, source)]
    return found, source.bad


def tallies(model: Model, source: Source) -> Iterator[Any]:
    """Yield a tally of each batch."""
    for batch, winners, scores in model.answers(source, threads=1):
        assert batch.labels is not None  # because there is a target
        tally: Any = model.tally()
        tally.add(source.labels, batch.labels, winners, scores)
        yield tally
