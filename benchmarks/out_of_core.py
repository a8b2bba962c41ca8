"""Training on texts that need not fit in memory: `python -m benchmarks.out_of_core [--gigabytes G]`, from the root.

A process of its own trains on a made file and says how much memory it had at most. The model is counted apart, and
counted small: 4 bytes for a weight, and the letters of the features' names. Everything else has to stay within a limit,
however long the file: Python, the libraries, sums for averaging, tables that find names, rows on their way.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import markone
from benchmarks.kept import cache_folder
from benchmarks.made import write_texts

LIMIT = 600_000_000
"""The most bytes beside the model."""
MEMORY = "200 MB"
COUNTS = {"words": [1, 2], "signs": False, "value": "count", "weight": "none"}
STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Need:
    """What a training took."""

    seconds: float
    peak: int
    """The most bytes that the process had in memory at a time."""
    model: int
    """Bytes of the model among them."""
    accuracy: float

    @property
    def beside(self) -> int:
        return self.peak - self.model


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_core", description=__doc__.partition(":")[0])
    parser.add_argument("--gigabytes", type=float, default=3, metavar="G", help="how large the made file is (3)")
    parser.add_argument("--hash-bits", type=int, default=20, metavar="B", help="the features are 2^B places (20)")
    parser.add_argument("--epochs", type=int, default=1, metavar="N", help="passes over the rows (1)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads that read (1)")
    arguments = parser.parse_args()
    if not STATUS.exists():
        parser.error(f"this needs {STATUS}, which says how much memory a process has had")
    if arguments.gigabytes <= 0:
        parser.error(f"--gigabytes must be more than 0, not {arguments.gigabytes:g}")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        train, test = Path(folder, "train.tsv"), Path(folder, "test.tsv")
        size = write_texts(train, seed=1, size=round(arguments.gigabytes * 1e9))
        write_texts(test, seed=2, size=10_000_000)
        settings = {"hash_bits": arguments.hash_bits, "epochs": arguments.epochs, "threads": arguments.threads}
        need = train_apart(train, test, settings)
    print(
        f"{size / 1e9:.2f} GB of text in {need.seconds:.1f} s, {size / need.seconds / 1e6:.1f} MB/s, "
        f"accuracy {need.accuracy:.2%}"
    )
    print(
        f"{need.peak / 1e6:.0f} MB of memory at most: {need.model / 1e6:.0f} MB of the model and "
        f"{need.beside / 1e6:.0f} MB beside it, where {LIMIT / 1e6:.0f} MB are allowed"
    )
    return 0 if need.beside < LIMIT else 1


# ---- the training


def train_apart(train: Path, test: Path, settings: dict[str, int]) -> Need:
    """In a process of its own, so that the memory is that of the training alone."""
    command = [sys.executable, "-c", f"from {__spec__.name} import answer; answer()"]
    given = json.dumps({"train": str(train), "test": str(test), **settings})
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the training failed:\n{done.stderr}")
    return Need(**json.loads(done.stdout))


def answer() -> None:
    """What the process does: reads what to do from standard input, and writes what it needed to standard output."""
    print(json.dumps(asdict(needed(**json.load(sys.stdin)))))


def needed(*, train: str, test: str, hash_bits: int, epochs: int, threads: int) -> Need:
    start = time.perf_counter()
    model = markone.train(
        markone.read(train, format="tab", threads=threads),
        rule="mira",
        C=1,
        epochs=epochs,
        features={"text": {**COUNTS, "hash_bits": hash_bits}, "unit": False},
        memory=MEMORY,
        threads=threads,
    )
    seconds = time.perf_counter() - start
    peak = most_memory()
    return Need(seconds, peak, model_size(model), model.accuracy(markone.read(test, format="tab")))


def most_memory() -> int:
    """The most bytes that this process has had in memory since it started."""
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def model_size(model: markone.Model) -> int:
    """A weight for each feature, since there are two classes, and the names."""
    return 4 * model.features.width + sum(len(name.encode()) for name in model.features.names())


if __name__ == "__main__":
    sys.exit(main())
