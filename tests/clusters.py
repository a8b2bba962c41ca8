"""A cluster of Dask with two processes on loopback, for all tests of a session, and files that its workers read."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

FILES = 4


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", silence_logs=50
    ) as made:
        yield made


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Four files of sentences. The first has one row."""
    made = tmp_path_factory.mktemp("sentences")
    chance = random.Random(5)
    for number in range(FILES):
        lines = []
        for _ in range(150 * number):
            label = chance.choice(["ham", "spam"])
            words = ["free", "money", "offer", "now"] if label == "spam" else ["lunch", "see", "you", "now"]
            text = " ".join(chance.choice([*words, *"abcdefgh"]) for _ in range(6))
            lines.append(f'{{"text": "{text}", "label": "{label if chance.random() < 0.95 else "ham"}"}}\n')
        (made / f"mail{number}.jsonl").write_text("".join(lines) or '{"text": "one", "label": "ham"}\n')
    return made


def kill(engine, place):
    """Kill a worker. Its nanny starts another one, which has another address."""
    os.kill(engine.client.run(os.getpid, workers=[place])[place], signal.SIGKILL)


def wait_for(engine, gone, workers=2, seconds=30):
    """Wait until the scheduler has noticed that a worker is gone, and has this number of others."""
    limit = time.monotonic() + seconds
    while gone in (there := engine.client.scheduler_info(n_workers=-1)["workers"]) or len(there) < workers:
        assert time.monotonic() < limit, "no other worker began in time"
        time.sleep(0.05)
