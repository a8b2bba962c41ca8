"""The service and the filter beside others: `python -m benchmarks.serving`, from the root, writes SERVING.md.

Both servers run under uvicorn with the same event loop and parser, on one core. The client has another core. The
servers are asked in turns, and the best turn of each counts. They are compared by their processor time, which other
programs on the machine change less than the number of requests. Then it measures how long requests take while another
model is loaded, how much memory four workers need, and the filter (filters.py).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import markone
from benchmarks.datasets import folder as data_folder
from benchmarks.filters import compare_filters
from benchmarks.report import Measured, as_times, measurements

RESULTS = Path(__file__).with_name("SERVING.md")
CONNECTIONS = 16
TEXT = (
    "This was a surprisingly good film, with a story that holds together and actors who care about it. "
    "I would see it again."
)
PEER = """
import pickle, sys
from fastapi import FastAPI
from pydantic import BaseModel

model = pickle.load(open(sys.argv[1], "rb"))
app = FastAPI()

class Asked(BaseModel):
    texts: list[str]

@app.post("/predict")
def predict(asked: Asked):
    labels = model.predict(asked.texts).tolist()
    shares = model.predict_proba(asked.texts).tolist()
    return {"predictions": [{"label": label, "probabilities": row} for label, row in zip(labels, shares)]}

import uvicorn
uvicorn.run(app, port=int(sys.argv[2]), loop="uvloop", http="httptools", access_log=False, log_level="warning")
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a server did in a turn."""

    requests: float
    """Per second."""
    p50: float
    p99: float
    """In milliseconds."""
    work: float
    """Processor time of the server for a request, in microseconds."""

    def __str__(self) -> str:
        return (
            f"{self.requests:,.0f} requests/s, p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms; "
            f"{self.work:,.0f} µs of processor time for each"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__.partition(":")[0])
    parser.add_argument("--seconds", type=float, default=3, metavar="S", help="the time of a turn (3)")
    parser.add_argument("--turns", type=int, default=4, metavar="N", help="the turns of each server (4)")
    parser.add_argument("--only", choices=["requests", "loading", "memory", "filter"], help="one of the measurements")
    arguments = parser.parse_args()
    found: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        for one in measured(Path(folder), arguments):
            print(one, flush=True)
            found.append(one)
    if arguments.only is None:
        RESULTS.write_text(measurements("The service and the filter", found), encoding="utf-8")
    return 0


def measured(made: Path, asked: argparse.Namespace) -> Iterator[Measured]:
    texts, labels = reviews()
    model = markone.train(texts, target=labels, rule="logistic", solver="online")
    model.save(made / "reviews.model", final=True)
    if asked.only in (None, "requests"):
        yield from compare(made, texts, labels, asked.seconds, asked.turns)
    if asked.only in (None, "loading"):
        yield while_loading(made, texts, labels, asked.seconds)
    if asked.only in (None, "memory"):
        yield memory_of_workers(made)
    if asked.only in (None, "filter"):
        yield from compare_filters(made, model, texts, labels, asked.turns)


def reviews() -> tuple[list[str], list[str]]:
    """The texts of IMDb and their labels."""
    with gzip.open(data_folder("imdb") / "train.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for _, text in rows], [label for label, _ in rows]


# ---- requests per second


def compare(made: Path, texts: list[str], labels: list[str], seconds: float, turns: int) -> Iterator[Measured]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    theirs = make_pipeline(TfidfVectorizer(), LogisticRegression(solver="liblinear")).fit(texts, labels)
    (made / "theirs.pickle").write_bytes(pickle.dumps(theirs))
    (made / "peer.py").write_text(PEER)
    with our_server(made / "reviews.model") as ours, their_server(made) as peer:
        for count, wanted in ((1, 10), (100, 20)):
            body = json.dumps({"texts": [TEXT] * count}).encode()
            found: list[tuple[Turn, Turn]] = []
            for _ in range(turns):
                found.append((load(*ours, body, seconds), load(*peer, body, seconds)))
            one, other = (min(side, key=lambda turn: turn.work) for side in zip(*found, strict=True))
            what = f"{count} text{'s' if count > 1 else ''} in a request, {CONNECTIONS} connections"
            ratio = as_times(other.work / one.work)
            yield Measured(f"{what}; theirs: FastAPI and scikit-learn", str(one), str(other), ratio, f"{wanted} times")


def load(port: int, process: int, body: bytes, seconds: float) -> Turn:
    """Ask a server on all connections for some time, with wrk if it is there, because it needs less time itself."""
    began = processor_time(process)
    requests, p50, p99 = (load_by_wrk if shutil.which("wrk") else load_by_python)(port, body, seconds)
    return Turn(requests / seconds, p50, p99, (processor_time(process) - began) / requests * 1e6)


def processor_time(process: int) -> float:
    """The seconds for which a process has run on a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load_by_python(port: int, body: bytes, seconds: float) -> tuple[float, float, float]:
    import uvloop

    times = np.array(uvloop.run(ask(port, body, seconds))) * 1000
    return len(times), float(np.percentile(times, 50)), float(np.percentile(times, 99))


def load_by_wrk(port: int, body: bytes, seconds: float) -> tuple[float, float, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = [==[{body.decode()}]==]\n"
            "function done(summary, latency, requests)\n"
            "  local bad = summary.errors.status + summary.errors.connect + summary.errors.read\n"
            '  print("found", summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3,'
            " latency:percentile(99) / 1e3, bad)\n"
            "end\n"
        )
        script.flush()
        options = ["-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}", "-s", script.name]
        said = subprocess.run(
            ["wrk", *options, f"http://127.0.0.1:{port}/predict"], check=True, capture_output=True, text=True
        ).stdout
    rate, p50, p99, bad = map(float, next(line for line in said.splitlines() if line.startswith("found")).split()[1:])
    if bad:
        raise RuntimeError(said)
    return rate * seconds, p50, p99


async def ask(port: int, body: bytes, seconds: float) -> list[float]:
    request = (
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % (port, len(body))
        + body
    )
    loop, times = asyncio.get_running_loop(), list[float]()
    clients = [
        (await loop.create_connection(lambda: Client(request, times), "127.0.0.1", port))[1] for _ in range(CONNECTIONS)
    ]
    await asyncio.sleep(seconds)
    for client in clients:
        client.ends()
    return times


class Client(asyncio.Protocol):
    """A connection that sends the next request as soon as it has the answer."""

    LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)

    def __init__(self, request: bytes, times: list[float]) -> None:
        self.request, self.times = request, times
        self.received = b""
        self.transport: Any = None
        self.began = 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.received = b""
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        found = self.LENGTH.search(self.received)
        if head < 0 or found is None or len(self.received) < head + 4 + int(found[1]):
            return
        if not self.received.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self.received[:500].decode())
        self.times.append(time.perf_counter() - self.began)
        if not self.transport.is_closing():
            self.send()

    def ends(self) -> None:
        self.transport.abort()


# ---- servers


@contextmanager
def running(arguments: list[str], pattern: str | None, core: int | None = 0) -> Iterator[tuple[int, Any]]:
    """A server on one core, until the block ends; the number that it prints, and its process."""
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
    )
    try:
        number = 0
        assert process.stdout is not None
        for line in process.stdout if pattern is not None else ():
            if found := re.search(str(pattern), line):
                number = int(found[1])
                break
        yield number, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextmanager
def our_server(*models: Path, core: int | None = 0, options: tuple[str, ...] = ()) -> Iterator[tuple[int, int]]:
    """The service on one core; its port and its process."""
    command = [sys.executable, "-m", "markone", "serve", *map(str, models), "--port", "0", *options]
    others = {*os.sched_getaffinity(0)} - {0}
    os.sched_setaffinity(0, others or {0})
    with running(command, r":(\d+)/", core) as (port, process):
        yield port, process.pid


@contextmanager
def their_server(made: Path) -> Iterator[tuple[int, int]]:
    port = free_port()
    command = [sys.executable, str(made / "peer.py"), str(made / "theirs.pickle"), str(port)]
    with running(command, None) as (_, process):
        wait_for(port, process)
        yield port, process.pid


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[Any]) -> None:
    import socket

    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


# ---- while a model is loaded, and memory


def while_loading(made: Path, texts: list[str], labels: list[str], seconds: float) -> Measured:
    """How long requests take while a model of about 100 MB is loaded, again and again, on the same core."""
    folder = made / "models"
    folder.mkdir()
    os.link(made / "reviews.model", folder / "reviews.model")
    large = markone.train(
        texts,
        target=labels,
        features={"text": {"words": [1, 4], "min_count": 1}},
        rule="logistic",
        solver="online",
        epochs=1,
    )
    large.save(made / "large.model", final=True)
    size = (made / "large.model").stat().st_size
    body = json.dumps({"text": TEXT, "model": "reviews"}).encode()
    with our_server(folder, core=None, options=("--reload", "0.1")) as server:
        usual = load(*server, body, seconds)
        os.link(made / "large.model", folder / "large.model")
        loading = load(*server, body, seconds)
    what = f"p99 while a model of {size / 1e6:,.0f} MB is loaded; theirs: usually"
    ratio = f"{loading.p99 / usual.p99:.1f} times as long"
    return Measured(what, f"{loading.p99:.2f} ms", f"{usual.p99:.2f} ms", ratio, "at most 2 times")


def memory_of_workers(made: Path) -> Measured:
    """The memory of four workers beside that of one, in proportional shares of what processes have in common. The model
    has 2^26 hashed words and pairs, of which it has seen only a few."""
    texts, labels = reviews()
    how = {"text": {"words": [1, 2], "hash_bits": 26}}
    model = markone.train(texts[::100], target=labels[::100], features=how, rule="perceptron", epochs=1)
    model.save(made / "wide.model", final=True)
    del model
    needs = []
    for workers in (1, 4):
        command = [sys.executable, "-m", "markone", "serve", str(made / "wide.model"), "--port", "0"]
        with running([*command, "--workers", str(workers)], r":(\d+)/", None) as (port, process):
            body = json.dumps({"text": TEXT}).encode()
            load(port, process.pid, body, 2)
            needs.append(sum(shared_size(one) for one in family(process.pid)))
    size = (made / "wide.model").stat().st_size
    what = f"memory of 4 workers with a model of {size / 1e6:,.0f} MB; theirs: 1 worker"
    ours, theirs = (f"{need / 1e6:,.0f} MB" for need in reversed(needs))
    return Measured(what, ours, theirs, f"{needs[1] / needs[0]:.2f} times as much", "less than 1.3 times")


def family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in family(int(child)))]


def shared_size(process: int) -> int:
    """The memory of a process in bytes; pages of several processes are divided among them."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return 1024 * int(found[1])


if __name__ == "__main__":
    sys.exit(main())
