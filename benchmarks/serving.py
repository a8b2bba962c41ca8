"""Requests per second of the service beside FastAPI with scikit-learn: `python -m benchmarks.serving`, from the root.

Both servers run under uvicorn with the same event loop and parser, on one core. The client has another core. The
servers are asked in turns, and the best turn of each counts. Then it measures how long requests take while another
model is loaded, and how much memory four workers need.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import io
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

    def __str__(self) -> str:
        return f"{self.requests:,.0f} requests/s, p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__.partition(":")[0])
    parser.add_argument("--seconds", type=float, default=3, metavar="S", help="the time of a turn (3)")
    parser.add_argument("--turns", type=int, default=4, metavar="N", help="the turns of each server (4)")
    parser.add_argument("--only", choices=["requests", "loading", "memory", "filter"], help="one of the measurements")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        texts, labels = reviews()
        model = markone.train(texts, target=labels, rule="logistic", solver="online")
        model.save(made / "reviews.model", final=True)
        if arguments.only in (None, "requests"):
            compare(made, texts, labels, arguments.seconds, arguments.turns)
        if arguments.only in (None, "loading"):
            while_loading(made, texts, labels, arguments.seconds)
        if arguments.only in (None, "memory"):
            memory_of_workers(made)
        if arguments.only in (None, "filter"):
            compare_filters(made, model, texts, labels, arguments.turns)
    return 0


def reviews() -> tuple[list[str], list[str]]:
    """The texts of IMDb and their labels."""
    with gzip.open(data_folder("imdb") / "train.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for _, text in rows], [label for label, _ in rows]


# ---- requests per second


def compare(made: Path, texts: list[str], labels: list[str], seconds: float, turns: int) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    theirs = make_pipeline(TfidfVectorizer(), LogisticRegression(solver="liblinear")).fit(texts, labels)
    (made / "theirs.pickle").write_bytes(pickle.dumps(theirs))
    (made / "peer.py").write_text(PEER)
    with our_server(made / "reviews.model") as ours, their_server(made) as peer:
        for count in (1, 100):
            body = json.dumps({"texts": [TEXT] * count}).encode()
            found: dict[str, list[Turn]] = {"Markone": [], "FastAPI + scikit-learn": []}
            for _ in range(turns):
                for (name, results), port in zip(found.items(), (ours, peer), strict=True):
                    del name
                    results.append(load(port, body, seconds))
            print(f"{count} text{'s' if count > 1 else ''} in a request, {CONNECTIONS} connections:")
            best = {name: max(results, key=lambda turn: turn.requests) for name, results in found.items()}
            for name, turn in best.items():
                print(f"  {name}: {turn}")
            one, other = best.values()
            print(f"  {one.requests / other.requests:.1f} times as many", flush=True)


def load(port: int, body: bytes, seconds: float) -> Turn:
    """Ask a server on all connections for some time, with wrk if it is there, because it needs less time itself."""
    if shutil.which("wrk"):
        return load_by_wrk(port, body, seconds)
    import uvloop

    times = np.array(uvloop.run(ask(port, body, seconds))) * 1000
    return Turn(len(times) / seconds, float(np.percentile(times, 50)), float(np.percentile(times, 99)))


def load_by_wrk(port: int, body: bytes, seconds: float) -> Turn:
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
    return Turn(rate, p50, p99)


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
def our_server(*models: Path, core: int | None = 0, options: tuple[str, ...] = ()) -> Iterator[int]:
    command = [sys.executable, "-m", "markone", "serve", *map(str, models), "--port", "0", *options]
    others = {*os.sched_getaffinity(0)} - {0}
    os.sched_setaffinity(0, others or {0})
    with running(command, r":(\d+)/", core) as (port, _):
        yield port


@contextmanager
def their_server(made: Path) -> Iterator[int]:
    port = free_port()
    with running([sys.executable, str(made / "peer.py"), str(made / "theirs.pickle"), str(port)], None):
        wait_for(port)
        yield port


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    import socket

    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server does not answer")


# ---- while a model is loaded, and memory


def while_loading(made: Path, texts: list[str], labels: list[str], seconds: float) -> None:
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
    with our_server(folder, core=None, options=("--reload", "0.1")) as port:
        usual = load(port, body, seconds)
        os.link(made / "large.model", folder / "large.model")
        loading = load(port, body, seconds)
    print(f"While a model of {size / 1e6:,.0f} MB is loaded, with {CONNECTIONS} connections:")
    print(f"  usually: {usual}")
    print(f"  loading: {loading}")
    print(f"  p99 is {loading.p99 / usual.p99:.1f} times as long", flush=True)


def memory_of_workers(made: Path) -> None:
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
            load(port, body, 2)
            needs.append(sum(shared_size(one) for one in family(process.pid)))
    print(f"Memory with a model of {(made / 'wide.model').stat().st_size / 1e6:,.0f} MB:")
    print(f"  1 worker: {needs[0] / 1e6:,.0f} MB; 4 workers: {needs[1] / 1e6:,.0f} MB, {needs[1] / needs[0]:.2f} times")


def compare_filters(made: Path, model: markone.Model, texts: list[str], labels: list[str], turns: int) -> None:
    """Text per second of a filter on one core, beside fastText's predictions for the same texts, in turns."""
    import pyarrow as pa

    long = [" ".join(texts[at : at + 3])[:3000] for at in range(0, len(texts) - 2, 3)] * 4
    lines = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in long)
    with pa.output_stream(str(made / "crawl.jsonl.zst"), compression="zstd") as file:
        file.write(lines)
    size = sum(len(text.encode()) for text in long)
    peer = fasttext_model(made, texts, labels)
    model.prepare()
    ours: list[float] = []
    theirs: dict[str, list[float]] = {}
    os.sched_setaffinity(0, {0})
    for turn in range(turns):
        began = time.perf_counter()
        markone.filter_files(model, str(made / "crawl.jsonl.zst"), made / f"kept{turn}", threshold=0.9, threads=1)
        ours.append(size / (time.perf_counter() - began))
        if peer is not None:
            for name, read in (("with JSON lines and zstd", True), ("from texts in memory", False)):
                began = time.perf_counter()
                for text in texts_in(made / "crawl.jsonl.zst") if read else long:
                    peer.f.predict(text.replace("\n", " ") + "\n", 1, 0.0, "strict")
                theirs.setdefault(name, []).append(size / (time.perf_counter() - began))
    print(f"Filter, JSON lines with zstd, {size / len(long):,.0f} bytes of text in a row, one core:")
    print(f"  Markone: {max(ours) / 1e6:,.0f} MB/s of text")
    for name, speeds in theirs.items():
        times = max(ours) / max(speeds)
        print(f"  fastText {name}: {max(speeds) / 1e6:,.0f} MB/s; Markone is {times:.1f} times as fast")


def texts_in(path: Path) -> Iterator[str]:
    """The texts of JSON lines, as a program around fastText reads them."""
    import pyarrow as pa

    with pa.input_stream(str(path), compression="zstd", buffer_size=2**20) as file:
        for line in io.TextIOWrapper(file, encoding="utf-8"):
            yield json.loads(line)["text"]


def fasttext_model(made: Path, texts: list[str], labels: list[str]) -> Any:
    """A model of fastText on the same texts; None if it is not installed."""
    try:
        import fasttext
    except ImportError:
        return None
    rows = (f"__label__{label} {text}\n" for text, label in zip(texts, labels, strict=True))
    (made / "train.ft").write_text("".join(rows), encoding="utf-8")
    return fasttext.train_supervised(str(made / "train.ft"), epoch=2, verbose=0)


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
