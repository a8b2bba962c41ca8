"""Dask beside threads and dask-ml, and a model of the cost of more partitions: `python -m benchmarks.cluster`.

The files are made. Two workers of Dask, with a thread each, train on them, and so do two threads of one process. Then
the tasks are measured one by one. From these times follows what more workers and more weights would need; the
prediction is compared with the times that were measured with one and with two workers.
"""

from __future__ import annotations

import argparse
import math
import operator
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import markone
from benchmarks.kept import cache_folder
from benchmarks.made import write_texts
from markone.cluster.dask import DaskEngine
from markone.learning.partitions.mixing import Weights, learn_part, merge, share_of

HASH_BITS = 20
EPOCHS = 5
HOW: dict[str, Any] = {
    "rule": "mira",
    "epochs": EPOCHS,
    "holdout": 0.01,
    "features": {"text": {"words": [1, 1], "hash_bits": HASH_BITS, "signs": False, "weight": "none"}},
}
SMALL_TASKS = 200
NETWORK = 1e9 / 8
"""Bytes per second between two hosts: a gigabit."""
LATENCY = 0.5e-3
"""Seconds until the first byte arrives at another host."""


@dataclass
class Costs:
    """What was measured, in seconds and bytes."""

    driver: float
    """What the driver does before the first pass and after the last one."""
    read: float
    """Reading all rows and making features, by one worker."""
    learn: float
    """A pass over all rows, by one worker."""
    merge: float
    """Merging the changes of two partitions."""
    task: float
    """The overhead of a task."""
    changes: float
    """The bytes of the changes of a partition."""
    weights: float
    """The bytes of the weights."""

    def passes(self, workers: int, partitions: int, *, network: float = math.inf) -> float:
        """Return the seconds of all passes."""
        rounds = math.ceil(partitions / workers) / partitions
        levels = math.ceil(math.log2(max(1, partitions)))
        shared = math.log2(workers + 1) * (self.weights / network)  # workers pass the weights on to each other
        merged = sum(
            max(1, math.ceil(partitions / 2 ** (level + 1) / workers)) * (self.merge + self.changes / network)
            for level in range(levels)
        )
        far = 0 if network == math.inf else LATENCY * 2 * (levels + 2)
        return EPOCHS * (self.learn * rounds + shared + merged + far + self.task * 4 * partitions)

    def training(self, workers: int, partitions: int, *, network: float = math.inf) -> float:
        rounds = math.ceil(partitions / workers) / partitions
        read = self.read * rounds
        return self.driver + read + self.passes(workers, partitions, network=network)

    def with_weights(self, bits: int) -> Costs:
        """Return the costs with 2^bits weights, if partitions change as large a share of them."""
        more = 2.0 ** (bits - HASH_BITS)
        return Costs(
            self.driver, self.read, self.learn, self.merge * more, self.task, self.changes * more, self.weights * more
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__.partition(":")[0])
    parser.add_argument("--megabytes", type=float, default=200, metavar="M", help="how large the made files are (200)")
    parser.add_argument("--partitions", type=int, default=8, metavar="P", help="partitions, and files (8)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        files = [Path(folder, f"part{number}.txt") for number in range(arguments.partitions)]
        size = sum(
            write_texts(file, seed=number, size=round(arguments.megabytes * 1e6 / len(files)))
            for number, file in enumerate(files)
        )
        print(f"{size / 1e6:,.0f} MB of texts in {len(files)} files, {EPOCHS} passes, 2^{HASH_BITS} places\n")
        measure(files, arguments.partitions)


def measure(files: list[Path], partitions: int) -> None:
    how = {**HOW, "partitions": partitions}
    times: dict[int, float] = {}
    with timed("two threads"):
        expected = markone.train(markone.read(files, format="tab"), threads=2, **how)
    for workers in (1, 2):
        with cluster_of(workers) as client:
            warm_up(client, workers)
            start = time.perf_counter()
            found = markone.train(markone.read(files, format="tab"), cluster=client, threads=2, **how)
            times[workers] = time.perf_counter() - start
            same = "the same bytes" if found.digest == expected.digest else "OTHER BYTES"
            print(f"{f'Dask, workers: {workers}':30} {times[workers]:8.1f} s   {same}")
            if workers == 2:
                with_dask_ml(files, client)
                task = overhead(client)
    costs = measured(files, partitions, task, expected)
    print(f"\n{costs}\n\n{'workers':>8}{'measured':>10}{'by the model':>14}")
    for workers, seconds in times.items():
        print(f"{workers:8}{seconds:8.1f} s{costs.training(workers, partitions):12.1f} s")
    print("\nOne pass by the model, a gigabit between hosts, a partition of the same size for each worker:")
    print(f"{'partitions':>10}" + "".join(f"{f'2^{bits} weights':>18}" for bits in (20, 24, 28)))
    for many in (1, 2, 4, 8, 16, 64, 256, 1000):
        more = [scaled(costs, many / partitions).with_weights(bits) for bits in (20, 24, 28)]
        cells = [one.passes(many, many, network=NETWORK) / EPOCHS for one in more]
        alone = costs.learn / partitions
        print(f"{many:10}" + "".join(f"{cell:9.2f} s ({alone / cell:4.0%})" for cell in cells))
    print("In brackets: the share of the time in which workers learn.")


def scaled(costs: Costs, times: float) -> Costs:
    """Return the costs of more rows."""
    return Costs(
        costs.driver, costs.read * times, costs.learn * times, costs.merge, costs.task, costs.changes, costs.weights
    )


@contextmanager
def timed(name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{name:30} {time.perf_counter() - start:8.1f} s")


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    import distributed

    module: Any = distributed
    with (
        module.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
        ) as cluster,
        module.Client(cluster) as client,
    ):
        yield client


def warm_up(client: Any, workers: int) -> None:
    """Let the workers import everything before they are timed."""
    markone.train(["a b", "c d"] * 10, target=["x", "y"] * 10, partitions=2 * workers, epochs=2, cluster=client)


def overhead(client: Any) -> float:
    """Return the seconds of a task that does nothing, if many are submitted at once."""
    with DaskEngine(client) as engine:
        start = time.perf_counter()
        engine.gather([engine.submit(operator.add, number, 1) for number in range(SMALL_TASKS)])
        return (time.perf_counter() - start) / SMALL_TASKS


def measured(files: list[Path], partitions: int, task: float, model: markone.Model) -> Costs:
    """Measure the tasks of a training one by one, in this process."""
    from markone.data.store import RowStore
    from markone.learning.learners import new_learner
    from markone.learning.online import Linear
    from markone.learning.partitions.distant import SentFeatures, Share, files_of, make_part

    source = markone.read(files, format="tab")
    start = time.perf_counter()
    markone.train(source, threads=2, **{**HOW, "epochs": 1})
    whole = time.perf_counter() - start
    recipe = files_of(source)
    assert recipe is not None
    one = files_of(markone.read(files[0], format="tab"))
    assert one is not None
    labels = np.concatenate([batch.labels for batch in markone.read(files[0], format="tab").batches()])
    labels = labels.astype(np.int32)
    share = Share(0, one, 0, labels, np.zeros(len(labels), bool), None, partitions)
    start = time.perf_counter()
    part = make_part(SentFeatures(model.features), share)
    read = time.perf_counter() - start
    assert isinstance(part.store, RowStore)
    learner = new_learner(model.settings, model.features, model.classes)
    assert isinstance(learner, Linear)
    weights = Weights(learner)
    start = time.perf_counter()
    result = learn_part(part, weights, 1)
    learned = time.perf_counter() - start
    changes = share_of(result, 0.5, 1.0)
    start = time.perf_counter()
    merge(changes, changes)
    merged = time.perf_counter() - start
    return Costs(
        driver=max(0.0, whole - learned * partitions),
        read=read * partitions,
        learn=learned * partitions,
        merge=merged,
        task=task,
        changes=len(pickle.dumps(changes, 5)),
        weights=len(pickle.dumps(weights, 5)),
    )


def with_dask_ml(files: list[Path], client: Any) -> None:
    """Train the nearest thing of dask-ml: hashed words, and a linear model that sees one file after the other."""
    try:
        import dask as dask_module
        import dask.array as dask_array
        from dask_ml.wrappers import Incremental
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import SGDClassifier
    except ImportError as error:
        print(f"{'dask-ml':30} is left out: {error}")
        return

    dask: Any = dask_module
    da: Any = dask_array

    def rows(path: Path) -> Any:
        texts = [line.partition("\t")[2] for line in path.read_text().splitlines()]
        return HashingVectorizer(n_features=2**HASH_BITS).transform(texts)

    def labels(path: Path) -> Any:
        return np.array([line.partition("\t")[0] == "yes" for line in path.read_text().splitlines()])

    with suppress(OSError), client.as_current():
        start = time.perf_counter()
        lengths = dask.compute(*[dask.delayed(len)(dask.delayed(labels)(path)) for path in files])
        X = da.concatenate(
            [
                da.from_delayed(dask.delayed(rows)(path), (count, 2**HASH_BITS), meta=rows(path)[:0])
                for path, count in zip(files, lengths, strict=True)
            ],
            allow_unknown_chunksizes=True,
        ).persist()
        y = da.concatenate(
            [
                da.from_delayed(dask.delayed(labels)(path), (count,), bool)
                for path, count in zip(files, lengths, strict=True)
            ]
        ).persist()
        learner = Incremental(SGDClassifier(random_state=0), shuffle_blocks=False)
        for _ in range(EPOCHS):
            learner.partial_fit(X, y, classes=[False, True])
        print(f"{'dask-ml Incremental':30} {time.perf_counter() - start:8.1f} s")


if __name__ == "__main__":
    main()
