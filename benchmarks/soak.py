"""The service under load, for a long time: `python -m benchmarks.soak [--minutes M]`, from the project's root.

Clients ask without a pause while workers are killed, models are replaced, and others send what no client should. A
second service learns, and is killed again and again. Every answer is compared with that of the model whose version it
names, and every example whose learning was confirmed must be known afterwards. If `schemathesis` is installed, it tries
requests of all kinds that `/openapi.json` describes. The command fails if anything is wrong.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import markone
from benchmarks.made import made_texts
from benchmarks.serving import free_port, wait_for

MODELS, ASKERS, HOSTILE = 3, 3, 4
BETWEEN_KILLS, BETWEEN_MODELS = 4.0, 1.5
"""In seconds."""
PATIENCE = 30.0
"""How long a client waits for an answer, in seconds."""


class WrongError(Exception):
    """The service did something wrong."""


class Soak:
    """What all threads share: what has happened, what was wrong, and whether it is over."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.happened: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.over = threading.Event()

    def goes_on(self) -> bool:
        return time.monotonic() < self.end and not self.over.is_set()

    def rest(self, seconds: float) -> bool:
        """Wait, and return whether it goes on."""
        self.over.wait(max(0.0, min(seconds, self.end - time.monotonic())))
        return self.goes_on()

    def thread(self, work: Callable[..., None], *arguments: Any) -> threading.Thread:
        """A thread that does this work. If the work fails, all is over."""

        def run() -> None:
            try:
                work(self, *arguments)
            except Exception as error:
                self.wrong.append(f"{work.__name__}: {error!r}")
                self.over.set()

        return threading.Thread(target=run)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.partition(":")[0])
    parser.add_argument("--minutes", type=float, default=10, metavar="M", help="how long (10)")
    parser.add_argument("--seed", type=int, default=0, help="of the random choices (0)")
    arguments = parser.parse_args()
    soak = Soak(60 * arguments.minutes)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        models, texts = trained(folder)
        (folder / "served").mkdir()
        replace(folder / "0.model", folder / "served" / "mail.model")
        shutil.copy(folder / "learner.model", folder / "taught.model")
        with served(folder / "served", "--workers", "2", "--reload", "0.2", "--seconds", "3") as (parent, port):
            threads = [
                *(soak.thread(ask_on, port, models, texts, number) for number in range(ASKERS)),
                soak.thread(replace_models, folder),
                soak.thread(kill_workers, parent, arguments.seed),
                *(soak.thread(be_hostile, port, number) for number in range(HOSTILE)),
                soak.thread(teach, folder / "taught.model", arguments.seed),
                soak.thread(try_schema, port, folder),
                soak.thread(ask_at_the_end, parent, port),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    for name, count in sorted(soak.happened.items()):
        print(f"{count:>9,} {name}")
    for what in soak.wrong:
        print(f"wrong: {what}")
    return 1 if soak.wrong else 0


def trained(folder: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Save models, and return for each version what it answers to some texts."""
    labels, texts = next(made_texts(seed=3))
    known: dict[str, dict[str, Any]] = {}
    asked = texts[-200:]
    plain = [text.decode() for text in asked]
    for number in range(MODELS):
        rows = slice(2_000 * number, 2_000 * (number + 1))
        words = [text.decode() for text in texts[rows]]
        model = markone.train(words, target=["yes" if yes else "no" for yes in labels[rows]], rule="logistic")
        model.save(folder / f"{number}.model")
        known[model.digest[:12]] = dict(zip(plain, model.predict(plain), strict=True))
    markone.train(["one word", "another word"], target=["a", "b"], rule="mira").save(folder / "learner.model")
    return known, plain


def replace(source: Path, target: Path) -> None:
    """Put a copy in the place of a file, whole or not at all."""
    unfinished = target.with_suffix(".new")
    shutil.copy(source, unfinished)
    unfinished.replace(target)


@contextmanager
def served(*arguments: object) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = [sys.executable, "-m", "markone", "serve", *map(str, arguments), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield process, port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def ask(port: int, method: str, path: str, body: Any) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


# ---- what happens at the same time


def ask_on(soak: Soak, port: int, models: dict[str, dict[str, Any]], texts: list[str], seed: int) -> None:
    """Ask for the labels of texts, and compare the answers with those of the model. A killed worker may end a request
    without an answer, and a busy service may refuse one."""
    chance = random.Random(seed)
    while soak.goes_on():
        some = chance.sample(texts, chance.choice([1, 1, 1, 20]))
        try:
            status, found = ask(port, "POST", "/predict", {"texts": some})
        except TimeoutError:
            raise WrongError(f"no answer in {PATIENCE:g} s") from None
        except (OSError, http.client.HTTPException):
            soak.happened["requests that ended with their worker"] += 1
            continue
        if status != 200:
            soak.happened[f"answers {status}"] += 1
            if status not in (429, 503):
                raise WrongError(f"{status} {found}")
            continue
        known = models.get(found["version"])
        if known is None or [one["label"] for one in found["predictions"]] != [known[text] for text in some]:
            raise WrongError(f"version {found['version']} answered {found['predictions'][:3]} to {some[:3]}")
        soak.happened["right answers"] += 1


def ask_at_the_end(soak: Soak, parent: subprocess.Popen[bytes], port: int) -> None:
    """The service must be there when all is over."""
    while soak.rest(1):
        if parent.poll() is not None:
            raise WrongError("the service has ended")
    time.sleep(1)  # the last worker that was killed has a successor
    ask(port, "POST", "/predict", {"text": "a"})


def replace_models(soak: Soak, folder: Path) -> None:
    number = 0
    while soak.rest(BETWEEN_MODELS):
        number += 1
        if number % 5 == 0:  # a file that is damaged must not be used
            damaged = folder / "served" / "mail.new"
            damaged.write_bytes((folder / "1.model").read_bytes()[:-100])
            damaged.replace(folder / "served" / "mail.model")
            soak.happened["damaged models"] += 1
        else:
            replace(folder / f"{number % MODELS}.model", folder / "served" / "mail.model")
            soak.happened["replaced models"] += 1


def kill_workers(soak: Soak, parent: subprocess.Popen[bytes], seed: int) -> None:
    chance = random.Random(seed)
    while soak.rest(BETWEEN_KILLS * chance.uniform(0.5, 1.5)):
        workers = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        if workers:
            os.kill(int(chance.choice(workers)), signal.SIGKILL)
            soak.happened["killed workers"] += 1


def be_hostile(soak: Soak, port: int, seed: int) -> None:
    """Send what is no request, or one that never ends."""
    chance = random.Random(seed)
    head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n".encode()
    tricks: list[Callable[[], bytes]] = [
        lambda: chance.randbytes(chance.randrange(1, 2_000)),
        lambda: b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        lambda: head + b'Content-Length: 30\r\n\r\n{"text": "\xff\xfe\xc0\x80"}',
        lambda: head + b"Content-Length: 99999999999\r\n\r\n",
        lambda: head + b"Content-Length: 20000\r\n\r\n" + b"[" * 20_000,
        lambda: head + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        lambda: head + b"Content-Length: 1000\r\n\r\n{",  # the rest never comes
    ]
    while soak.rest(0.02):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
                connection.sendall(chance.choice(tricks)())
                connection.settimeout(chance.choice([0.05, PATIENCE]))
                reply = connection.recv(1_000)
        except OSError:
            reply = b""  # refused, or this client has gone before the answer
        soak.happened["hostile requests"] += 1
        if reply.startswith(b"HTTP/1.1 5") and not reply.startswith(b"HTTP/1.1 503"):
            raise WrongError(f"a hostile request was answered by {reply[:200]!r}")


def teach(soak: Soak, model: Path, seed: int) -> None:
    """Teach a service that is killed again and again. Each example has a word of its own, which must be known later."""
    chance = random.Random(seed)
    confirmed = 0
    while soak.goes_on():
        with served(model, "--learn") as (process, port):
            found = ask(port, "GET", "/models", None)[1]["models"][0]["version"]
            learned = int(found.partition("+")[2] or 0)
            if not confirmed <= learned <= confirmed + 1:
                raise WrongError(f"{confirmed} examples were learned, and then {learned} were known")
            confirmed = learned
            until = time.monotonic() + chance.uniform(2, 10)
            while soak.goes_on() and time.monotonic() < until:
                number = confirmed + 1
                body = {"texts": [f"word{number}"], "labels": ["a" if number % 2 else "b"]}
                status, reply = ask(port, "POST", "/learn", body)
                if status != 200 or reply["learned"] != number:
                    raise WrongError(f"learning was answered by {status} {reply}")
                confirmed = number
                soak.happened["learned examples"] += 1
            if soak.goes_on():
                killer = threading.Timer(chance.uniform(0, 0.02), process.kill)
                killer.start()
                try:
                    ask(port, "POST", "/learn", {"texts": [f"word{confirmed + 1}"], "labels": ["a"]})
                    confirmed += 1
                except (OSError, http.client.HTTPException, json.JSONDecodeError):
                    pass  # killed before the answer; the example may be known or not
                killer.join()
                process.wait(PATIENCE)
                soak.happened["killed services that learn"] += 1


def try_schema(soak: Soak, port: int, folder: Path) -> None:
    """Let schemathesis try requests. That a request of the right form may still lack what it needs is no failure."""
    program = Path(sys.executable).with_name("schemathesis")
    seed = 0
    while program.exists() and soak.rest(1):
        seed += 1
        command = f"{program} run http://127.0.0.1:{port}/openapi.json --max-examples 30 --seed {seed}"
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        found = subprocess.run(
            [*command.split(), "--checks", checks, "--request-timeout", "20", "--max-failures", "1"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        soak.happened["runs of schemathesis"] += 1
        if found.returncode != 0 and "Network Error" not in found.stdout:
            raise WrongError(found.stdout[-3_000:])


if __name__ == "__main__":
    sys.exit(main())
