"""Training on clusters: what an engine costs, other libraries, and a model of the cost of a pass.

`python -m benchmarks.clusters` measures everything; `overhead`, `peers`, `passes` or `cost` after it measure one thing.
The result is `benchmarks/CLUSTERS.json`, from which docs/partitions.md has its picture and its figures. All workers are
processes of this machine, so that the time of a network is not measured: the model computes it. `peers` needs the
packages dask-ml and pyspark, and Java.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import markone
from benchmarks import cluster_peers
from benchmarks.kept import cache_folder
from benchmarks.made import made_ranks, made_texts, tabbed
from markone.cluster.dask import DaskEngine
from markone.cluster.engine import Threads
from markone.data.blocks import Block, Sparse, as_rows
from markone.learning.examples import BlockExamples, GivenPart
from markone.learning.online import Linear
from markone.learning.partitions import mixing
from markone.model.settings import Settings

RESULT = Path(__file__).parent / "CLUSTERS.json"
FILES = 8
BYTES_OF_CHANGE = 28
"""The bytes of a weight that has changed: its place, and three numbers."""
TASKS_OF_PARTITION = 4
"""A partition learns, tells its counts, gets its share, and is merged."""
VALUES = 100
BITS = 18
"""The places of words in the trainings that are measured, as a power of two."""
MANY_BITS = 24
"""The same for many weights, which do not fit into caches."""
HASH = 2_654_435_761
"""Spreads words over the places of a table."""
ROUNDS = 2
TASKS = 100
SMALL = 1_000_000
"""The bytes of the few rows with which workers begin."""
LOOPBACK = 1e9
"""Bytes a second between two processes of one machine, with packing."""


@dataclass(frozen=True)
class Cost:
    """The measured seconds of the steps of a pass, each on one core."""

    value: float
    """Learning, for each value of a row."""
    load: float
    """Packing, unpacking and restoring the weights, for each weight."""
    merge: float
    """Merging two sets of changes, for each weight that has changed in one of them."""
    mix: float
    """Mixing the changes into the weights, for each weight that has changed."""
    task: float
    """Submitting a task and getting its result."""


@dataclass(frozen=True)
class Machines:
    """The workers, and the network between them."""

    workers: int
    bandwidth: float = 1.25e9
    """Bytes a second, in each direction of each machine: 10 Gbit/s by default."""
    latency: float = 2e-4
    cores: int | None = None
    """How many tasks can really run at the same time; by default, as many as there are workers."""


def seconds_of_pass(
    cost: Cost, machines: Machines, *, values: float, partitions: int, weights: int, changed: float
) -> dict[str, float]:
    """Return the seconds of the steps of a pass over rows with so many values in all. A partition changes `changed`
    weights, and two sets of changes have none in common, until all weights have changed: this is the worst case."""
    at_once = min(machines.workers, partitions, machines.cores or machines.workers)
    rounds = -(-partitions // at_once)
    levels = int(np.ceil(np.log2(partitions))) if partitions > 1 else 0
    copies = 1 + int(
        np.ceil(np.log2(max(1, min(machines.workers, partitions))))
    )  # a worker that has them sends them on
    send = 4 * weights * copies / machines.bandwidth
    sizes = [min(weights, changed * 2**level) for level in range(1, levels + 1)]
    crowded = [max(1.0, partitions / 2**level / at_once) for level in range(1, levels + 1)]
    merging = sum(
        size * (cost.merge * many + BYTES_OF_CHANGE / machines.bandwidth) + machines.latency
        for size, many in zip(sizes, crowded, strict=True)
    )
    last = sizes[-1] if sizes else min(weights, changed)
    return {
        "learning": values / partitions * cost.value * rounds,
        "sending": send + cost.load * weights * max(1.0, min(machines.workers, partitions) / at_once),
        "merging": merging,
        "mixing": last * (cost.mix + BYTES_OF_CHANGE / machines.bandwidth),
        "tasks": TASKS_OF_PARTITION * partitions * cost.task,
    }


# ---- measuring


def best_of(call: Callable[[], Any]) -> float:
    found = []
    for _ in range(2 * ROUNDS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def measured(bits: int, seed: int = 1) -> Cost:
    """Measure the steps of a pass on one core of this machine, with 2^bits weights."""
    weights = 2**bits
    labels, ranks = next(made_ranks(seed, VALUES))
    indptr = np.arange(0, ranks.size + 1, VALUES, dtype=np.int64)
    indices = (ranks.ravel() * HASH % weights).astype(np.uint32)
    matrix = Sparse(indptr, indices, np.ones(ranks.size, np.float32), weights)
    block = Block(as_rows(matrix), matrix, labels.astype(np.int32))
    settings = Settings(rule="mira", partitions=2)
    base = mixing.Weights(Linear(settings, features=weights, classes=2, dtype=np.float32))
    part = GivenPart(BlockExamples(block, Settings()))
    alone = Linear(Settings(rule="mira"), features=weights, classes=2, dtype=np.float32)
    value = best_of(lambda: alone.learn(block)) / ranks.size
    load = best_of(lambda: pickle.loads(pickle.dumps(base, 5)).borrow()) / weights
    learned = [mixing.learn_part(part, base, epoch) for epoch in (1, 2)]
    a, b = (mixing.share_of(one, 0.5, 1.0) for one in learned)
    both = mixing.merge(a, b)
    merge = best_of(lambda: mixing.merge(a, b)) / len(both.weights[0])
    nothing, clocks = mixing.Changes(mixing.NOTHING, mixing.NOTHING), (1.0, 1.0, 1.0)
    with Threads(1) as one:
        mix = best_of(lambda: base.mix(both, nothing, clocks, one)) / len(both.weights[0])
    with local_cluster(1) as address, DaskEngine.at(address) as engine:
        task = best_of(lambda: engine.gather([engine.submit(abs, number) for number in range(TASKS)])) / TASKS
    return Cost(value, load, merge, mix, task)


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", silence_logs=50
    ) as made:
        yield made.scheduler_address


def write_files(folder: Path, size: int) -> None:
    """Write files of made texts, which have this size together."""
    for number in range(FILES):
        with (folder / f"part{number}.txt").open("wb") as file:
            for labels, texts in made_texts(number):
                file.write(tabbed(labels, texts)[: size // FILES].rpartition(b"\n")[0] + b"\n")
                if file.tell() >= 0.9 * size / FILES:
                    break


def train(folder: Path, epochs: int = 3, **how: Any) -> tuple[float, markone.Model]:
    """Return the seconds from files to a model, and the model."""
    start = time.perf_counter()
    source = markone.read(f"{folder}/*.txt", format="tab", threads=2)
    features = {"text": {"words": [1, 1], "hash_bits": BITS, "weight": "none"}}
    model = markone.train(source, features=features, rule="mira", epochs=epochs, partitions=4, holdout=0.0, **how)
    return time.perf_counter() - start, model


@contextmanager
def small_files() -> Iterator[Path]:
    """Few rows, with which workers begin: they then import what they need."""
    with TemporaryDirectory() as name:
        write_files(Path(name), SMALL)
        yield Path(name)


def overhead(folder: Path) -> dict[str, float]:
    """Compare two workers of Dask with two threads: the same files, the same model. The workers have learned from a few
    rows before; `imports` is how much longer this took for the first time."""
    threads, workers = [], []
    with local_cluster(2) as address, small_files() as few:
        first, _ = train(few, cluster=address)
        second, _ = train(few, cluster=address)
        for _ in range(ROUNDS):
            seconds, ours = train(folder, threads=2)
            threads.append(seconds)
            seconds, theirs = train(folder, cluster=address)
            workers.append(seconds)
            assert ours.digest == theirs.digest
    both = {"threads": min(threads), "dask": min(workers)}
    return {**both, "ratio": both["dask"] / both["threads"], "imports": first - second}


def validation(folder: Path, cost: Cost, workers: int) -> dict[str, float]:
    """Compare the model with the passes of a training on this number of workers."""
    with local_cluster(workers) as address:
        _, model = train(folder, epochs=12, cluster=address)
    width = model.features.width
    machines = Machines(workers, bandwidth=LOOPBACK, cores=min(workers, os.cpu_count() or 1))
    values = float(model.history.rows * VALUES)
    steps = seconds_of_pass(cost, machines, values=values, partitions=4, weights=width, changed=width / 2)
    return {"measured": min(one.seconds or 0.0 for one in model.history), "computed": sum(steps.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["cost", "overhead", "peers", "passes"], nargs="*", help="all by default")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[250, 1000], help="the sizes of the files together")
    asked = parser.parse_args()
    found = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    wanted = asked.what or ["cost", "overhead", "peers", "passes"]
    if "cost" in wanted:
        found["cost"] = {str(bits): asdict(measured(bits)) for bits in (BITS, MANY_BITS)}
    for megabytes in asked.megabytes if wanted != ["cost"] else ():
        with TemporaryDirectory(dir=cache_folder()) as name:
            folder, key = Path(name), str(megabytes)
            write_files(folder, megabytes * 10**6)
            if "overhead" in wanted:
                found.setdefault("overhead", {})[key] = overhead(folder)
            if "peers" in wanted:
                found.setdefault("peers", {})[key] = dict(cluster_peers.compared(folder, ROUNDS))
            if "passes" in wanted:
                cost = Cost(**found["cost"][str(BITS)])
                passes = {str(workers): validation(folder, cost, workers) for workers in (1, 2, 4)}
                found.setdefault("passes", {})[key] = passes
        RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
