"""Our command line, as a process of its own, and a model's file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

import markone
from benchmarks.contestants.ours import open_file
from benchmarks.files import Files
from benchmarks.memory import run_process
from benchmarks.timing import Contestant, Outcome, timed

MEMORY = Path("/dev/shm")
"""A file system without a disk: what a disk takes to sync would be the same for both."""


def train(options: str, spec: markone.Features) -> Contestant[Files]:
    """From a file to the file of a model."""

    def turn(files: Files) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            model, features, empty = (Path(folder, name) for name in ("model", "features.toml", "two.tsv"))
            features.write_text(str(spec), encoding="utf-8")
            empty.write_text("pos\tgood film\nneg\tbad film\n" * 2)
            learn = f"train {{}} {options} --features {features} -o {model} --quiet"
            start, _ = timed(lambda: run(learn.format(empty)))
            seconds, _ = timed(lambda: run(learn.format(files.train)))
            found = markone.load(model).accuracy(open_file(files.test, {"format": "tab"}, 1))
            return Outcome(seconds, found, start=start)

    return Contestant(f"markone train file {options} --features features.toml -o model --quiet", turn)


def predict(read: dict[str, Any], learning: dict[str, Any]) -> Contestant[Files]:
    """From a file to a file of labels, by a model that was trained before."""

    @cache
    def model_of(path: Path) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            model = markone.train(open_file(path, read, 1), **learning)
            model.save(Path(folder, "model"), final=True)
            return Path(folder, "model").read_bytes()

    def turn(files: Files) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            model, found, empty = (Path(folder, name) for name in ("model", "labels", "one.tsv"))
            model.write_bytes(model_of(files.train))
            empty.write_text("pos\tgood film\n")
            answer = f"predict {model} {{}} -o {found} --output labels --format tab --threads 1"
            start, _ = timed(lambda: run(answer.format(empty)))
            seconds, _ = timed(lambda: run(answer.format(files.test)))
            with files.test.open(encoding="utf-8") as lines, found.open(encoding="utf-8") as labels:
                right = [line.startswith(f"{label.rstrip()}\t") for line, label in zip(lines, labels, strict=True)]
            return Outcome(seconds, float(np.mean(right)), size=files.test.stat().st_size, start=start)

    return Contestant("markone predict model file -o labels --threads 1", turn)


def predict_line(read: dict[str, Any], learning: dict[str, Any]) -> Contestant[Files]:
    """From a line on standard input to its label: the processor time of the whole process."""

    @cache
    def model_of(path: Path) -> Path:
        model = Path(tempfile.mkdtemp(), "model")
        markone.train(open_file(path, read, 1), **learning).save(model, final=True)
        return model

    def turn(files: Files) -> Outcome:
        return Outcome(processor_time(f"predict {model_of(files.train)} -", "not a good film\n"), None)

    return Contestant("echo 'not a good film' | markone predict model -", turn)


def compare(columns: Sequence[str]) -> Contestant[Files]:
    """All rules and contrasts on a table that has no header: the processor time of the whole process."""
    options = f"--target {columns[-1]} --no-header --columns {','.join(columns)}"
    return Contestant(
        f"markone compare file {options}",
        lambda files: Outcome(processor_time(f"compare {files.train} {options}"), None),
    )


def processor_time(options: str, line: str | None = None) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    timed(lambda: run(options, line))  # for the memory; the time of the clock is not what counts here
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def limit(seconds: float) -> Contestant[Any]:
    """A time that is not to be exceeded."""
    return Contestant(f"{seconds:g} s of processor time", lambda _: Outcome(seconds, None, memory=None))


def run(options: str, line: str | None = None) -> None:
    """The command, its compiled modules kept as in any installation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "markone", *options.split()]
    run_process(command, line=line, env=environment, stdout=subprocess.DEVNULL)


# ---- a file of many weights


def hashed_model() -> markone.Model:
    """With 2²² weights, whose learning can go on."""
    chance = np.random.default_rng(0)
    texts = [" ".join(map(str, chance.zipf(1.3, 50))) for _ in range(2000)]
    features = {"text": {"words": [1, 2], "hash_bits": 22}}
    return markone.train(texts, target=chance.integers(0, 2, 2000).tolist(), features=features, epochs=1, threads=1)


def save_and_load() -> Contestant[markone.Model]:
    def turn(model: markone.Model) -> Outcome:
        with in_memory() as folder:
            path = Path(folder, "model")

            def work() -> None:
                model.save(path)
                markone.load(path)

            seconds, _ = timed(work)
            return Outcome(seconds, None, size=path.stat().st_size)

    return Contestant("model.save(path); markone.load(path)", turn)


def save_and_load_tensors() -> Contestant[markone.Model]:
    """The same arrays by safetensors' own functions."""

    def turn(model: markone.Model) -> Outcome:
        with in_memory() as folder:
            path = Path(folder, "model")
            model.save(path)
            arrays = load_file(path)

            def work() -> None:
                save_file(arrays, path)
                load_file(path)

            seconds, _ = timed(work)
            return Outcome(seconds, None, size=path.stat().st_size)

    return Contestant("safetensors.numpy.save_file(arrays, path); load_file(path)", turn, "safetensors")


def in_memory() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
