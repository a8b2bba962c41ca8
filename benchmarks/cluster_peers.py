"""Other libraries that learn from files on several workers: dask-ml and Spark, on the files of `benchmarks.clusters`.

Each runs in a process of its own, with two workers, and prints its seconds and its accuracy on rows that it has not
seen. The time is from files to a model. Starting a cluster and its processes, and testing, does not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import markone
from benchmarks.made import made_texts, tabbed

BITS = 18
"""The places of words, as a power of two."""
PASSES = 3
ITERATIONS = 20
"""Those of Spark's solver, each of which reads all rows at least once."""
TEST_ROWS = 20_000
TEST = "test.tsv"
WORKERS = 2
MEMORY = "6g"
"""What the process of Spark may need."""


def write_test(folder: Path) -> None:
    """Write rows that no training file has."""
    labels, texts = next(made_texts(seed=1000))
    (folder / TEST).write_bytes(tabbed(labels[:TEST_ROWS], texts[:TEST_ROWS]))


def tested(folder: Path) -> tuple[list[str], list[str]]:
    """Return the labels and the texts of the test rows."""
    lines = [line.split("\t", 1) for line in (folder / TEST).read_text("utf-8").splitlines()]
    return [label for label, _ in lines], [text for _, text in lines]


def markone_on_dask(folder: Path) -> tuple[float, float]:
    from benchmarks.clusters import local_cluster, small_files, train

    with local_cluster(WORKERS) as address, small_files() as few:
        train(few, cluster=address)  # the workers import what they need
        seconds, model = train(folder, epochs=PASSES, cluster=address)
    found = model.evaluate(markone.read(folder / TEST, format="tab"))
    return seconds, float(found.accuracy)


def dask_ml(folder: Path) -> tuple[float, float]:
    """Let one model see blocks of rows, one after the other: the usual way for files that do not fit in memory."""
    import dask.array
    import dask.bag
    from dask_ml.feature_extraction.text import HashingVectorizer
    from dask_ml.wrappers import Incremental
    from distributed import Client
    from sklearn.feature_extraction.text import HashingVectorizer as OwnVectorizer
    from sklearn.linear_model import SGDClassifier

    from benchmarks.clusters import local_cluster

    bags: Any = dask.bag  # their functions have no types
    arrays: Any = dask.array
    settings = {"n_features": 2**BITS, "norm": None, "alternate_sign": False}
    with local_cluster(WORKERS) as address, Client(address) as client:  # type: ignore[no-untyped-call]
        client.run(__import__, "dask_ml.wrappers")
        start = time.perf_counter()
        lines = bags.read_text(f"{folder}/*.txt", blocksize="32MB").str.strip().str.split("\t", maxsplit=1)
        rows = HashingVectorizer(**settings).transform(lines.pluck(1))
        blocks = lines.pluck(0).map_partitions(lambda labels: np.array([*labels])).to_delayed()
        labels = arrays.concatenate(
            [arrays.from_delayed(one, shape=(np.nan,), dtype="U3") for one in blocks], allow_unknown_chunksizes=True
        )
        rows, labels = client.persist([rows, labels])
        model = Incremental(SGDClassifier(average=True, random_state=0), assume_equal_chunks=True)
        for _ in range(PASSES):
            model.partial_fit(rows, labels, classes=["no", "yes"])
        seconds = time.perf_counter() - start
    right, texts = tested(folder)
    predicted = model.estimator_.predict(OwnVectorizer(**settings).transform(texts))
    return seconds, float(np.mean(predicted == np.array(right)))


def spark(folder: Path) -> tuple[float, float]:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import HashingTF, Tokenizer
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, split, when

    session = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.driver.memory", MEMORY)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")

    def rows(pattern: str) -> Any:
        cells = split(col("value"), "\t", 2)
        lines = session.read.text(pattern).select(
            when(cells.getItem(0) == "yes", 1.0).otherwise(0.0).alias("label"), cells.getItem(1).alias("text")
        )
        words = Tokenizer(inputCol="text", outputCol="words").transform(lines)
        return HashingTF(numFeatures=2**BITS, inputCol="words", outputCol="features").transform(words)

    start = time.perf_counter()
    training = rows(f"{folder}/*.txt").select("label", "features").cache()
    model = LogisticRegression(maxIter=ITERATIONS).fit(training)
    seconds = time.perf_counter() - start
    accuracy = model.evaluate(rows(str(folder / TEST))).accuracy
    session.stop()
    return seconds, float(accuracy)


WAYS: dict[str, Callable[[Path], tuple[float, float]]] = {
    "markone": markone_on_dask,
    "dask-ml": dask_ml,
    "spark": spark,
}


def compared(folder: Path, rounds: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Run all libraries in turns, each in a process of its own, and yield the best seconds and the accuracy of each."""
    write_test(folder)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, all_times in found.items():
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.cluster_peers", name, str(folder)]
            lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
            all_times.append(json.loads(lines[-1]))
    for name, all_times in found.items():
        yield name, min(all_times, key=lambda one: one["seconds"])


if __name__ == "__main__":
    took, right = WAYS[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps({"seconds": took, "accuracy": right}))
