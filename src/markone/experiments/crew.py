"""The crew of an experiment, which does its tasks: this process, one after the other, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import tee
from typing import Any, Protocol

from markone.cluster.engine import Engine, Handle, in_turn
from markone.data.subsets import Held
from markone.experiments.progress import StepProgress
from markone.features.spec import Features
from markone.learning.samples import paths_of

Task = tuple[list[str], tuple[Any, ...]]
"""What a task does, in words for the progress, and the arguments of its function."""


class Crew(Protocol):
    """Does tasks with an object that all tasks share, such as the rows."""

    remote: bool
    """Whether tasks are sent to other machines, so that they should neither be small nor depend on each other."""

    def each(self, work: Callable[..., Any], tasks: Iterable[Task], told: StepProgress) -> Iterator[Any]:
        """Call `work` with the shared object and the arguments of each task. Yield the results in their order."""


class Alone:
    """This process. A task is asked for only when the result of the one before was used."""

    remote = False

    def __init__(self, shared: Any) -> None:
        self.shared = shared

    def each(self, work: Callable[..., Any], tasks: Iterable[Task], told: StepProgress) -> Iterator[Any]:
        for words, arguments in tasks:
            for what in words:
                told.step(what)
            yield work(self.shared, *arguments)


class Workers:
    """The workers of a cluster. Each of them keeps the shared object."""

    remote = True

    def __init__(self, engine: Engine, shared: Any) -> None:
        self.engine = engine
        self.shared: Handle = engine.put(shared)

    def each(self, work: Callable[..., Any], tasks: Iterable[Task], told: StepProgress) -> Iterator[Any]:
        submitted, shown = tee(tasks)
        results = in_turn(self.engine, work, ((self.shared, *arguments) for _, arguments in submitted))
        for result, (words, _) in zip(results, shown, strict=False):
            for what in words:
                told.step(what)
            yield result


@contextmanager
def crew_of(cluster: Any, shared: Any, held: Held, spec: Features) -> Iterator[Crew]:
    """Yield the crew of an experiment. The workers of a cluster must see the files from which the rows were read, and
    be able to call the functions of the features."""
    if cluster is None:
        yield Alone(shared)
        return
    from markone.cluster.engines import opened

    with opened(cluster, paths_of(held), spec.functions) as engine:
        yield Workers(engine, shared)
