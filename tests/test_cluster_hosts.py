"""Clusters that take longer to try: Ray, workers that are killed at any moment, and hosts with a bad network.

`make test-cluster` runs these tests. Hosts are network namespaces of this machine, which the test makes and removes.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import markone
from markone.cluster import preflight
from markone.cluster.dask import DaskEngine
from markone.cluster.engines import engine_of
from markone.errors import DataError, SettingsError

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.cluster
FILES, ROWS = 6, 1000
SETTINGS = {"rule": "mira", "partitions": 7, "epochs": 6, "holdout": 0.1}
PROCESS = [sys.executable, "-W", "ignore", "-m"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("texts")
    chance = random.Random(3)
    words = [f"w{number}" for number in range(3000)]
    for number in range(FILES):
        with open(made / f"part{number}.jsonl", "w") as file:
            for _ in range(ROWS if number else 30):  # one file is a hundred times smaller
                label = chance.choice(["a", "b", "c"])
                text = " ".join(chance.choices(words, k=40)) + f" {label}{chance.randrange(30)}"
                file.write(f'{{"text": "{text}", "label": "{label}"}}\n')
    return made


def texts(folder):
    return markone.read(f"{folder}/part*.jsonl", target="label")


@pytest.fixture(scope="module")
def expected(folder):
    return markone.train(texts(folder), threads=2, **SETTINGS).digest


def start(*command, by=(), **environment):
    """Start a process, by another program if one is given."""
    return subprocess.Popen(
        [*by, *PROCESS, *command],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end(processes):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Hosts:
    """A scheduler and workers, each a process without a nanny: one that is killed does not come back."""

    def __init__(self, folder, address="127.0.0.1"):
        self.folder = folder
        self.processes = []
        file = folder / "scheduler.json"
        more = ("--scheduler-file", str(file), "--no-dashboard", "--dashboard-address", ":0")
        self.processes.append(start("distributed.cli.dask_scheduler", "--host", address, "--port", "0", *more))
        wait_until(file.exists)
        self.client = distributed.Client(scheduler_file=str(file), timeout=30)
        self.address = self.client.scheduler.address

    def worker(self, by=(), **environment):
        """Start a worker, and wait until it is there."""
        before = set(self.places())
        more = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        process = start("distributed.cli.dask_worker", self.address, *more, by=by, **environment)
        self.processes.append(process)
        wait_until(lambda: set(self.places()) - before)
        return process

    def places(self):
        return [*self.client.scheduler_info(n_workers=-1)["workers"]]

    def close(self):
        self.client.close()
        end(self.processes)


def wait_until(there, seconds=120):
    limit = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < limit, "it did not begin in time"
        time.sleep(0.1)


@pytest.fixture
def hosts(tmp_path):
    made = Hosts(tmp_path)
    yield made
    made.close()


# ---- kills


@pytest.mark.parametrize(
    "step",
    ["read_files", "surveys_of", "count_features", "merge_features", "refine_rows", "join_rows", "learn_part", "merge"],
)
def test_a_kill_in_any_step_changes_nothing(hosts, folder, expected, monkeypatch, step):
    """A worker is killed in reading, in a pass, or in a mix. Another one begins under a new address."""
    first, _ = hosts.worker(), hosts.worker()
    submitted = DaskEngine._submitted
    killing: list[threading.Thread] = []

    def watched(engine, task):
        submitted(engine, task)
        if task.function.__name__ == step and not killing:
            killing.extend([threading.Timer(0.02, first.kill), threading.Thread(target=hosts.worker)])
            for one in killing:
                one.start()
        return task

    monkeypatch.setattr(DaskEngine, "_submitted", watched)
    try:
        found = markone.train(texts(folder), cluster=hosts.address, **SETTINGS)
    finally:
        for one in killing:
            one.join()
    assert killing and found.digest == expected


def test_the_last_worker_is_killed(hosts, folder, monkeypatch):
    monkeypatch.setattr("markone.cluster.tasks.SILENT", 5.0)
    only = hosts.worker()
    started = []

    def murder(result):
        if result.epoch == 2:
            only.kill()
            started.append(time.monotonic())

    with pytest.raises(DataError, match="has had no worker for 5 seconds; start workers, and resume"):
        markone.train(texts(folder), cluster=hosts.address, callback=murder, **SETTINGS)
    assert time.monotonic() - started[0] < 30


def test_a_worker_that_hangs_is_given_up(hosts, folder, expected, monkeypatch):
    monkeypatch.setattr("markone.cluster.dask.SILENT", 4.0)
    first, _ = hosts.worker(), hosts.worker()

    def suspend(result):
        if result.epoch == 2:
            os.killpg(first.pid, signal.SIGSTOP)

    started = time.monotonic()
    found = markone.train(texts(folder), cluster=hosts.address, callback=suspend, **SETTINGS)
    assert found.digest == expected
    assert time.monotonic() - started < 60


def test_a_slow_worker_changes_nothing(hosts, folder, expected):
    """One worker has a tenth of the time of the other."""
    slow, _ = hosts.worker(), hosts.worker()
    done = threading.Event()

    def brake():
        while not done.wait(0.02):
            os.killpg(slow.pid, signal.SIGSTOP)
            done.wait(0.18)
            os.killpg(slow.pid, signal.SIGCONT)

    braking = threading.Thread(target=brake)
    braking.start()
    try:
        assert markone.train(texts(folder), cluster=hosts.address, **SETTINGS).digest == expected
    finally:
        done.set()
        braking.join()


def test_a_worker_that_cannot_see_the_files(hosts, folder):
    hosts.worker()
    hide = 'mount -t tmpfs tmpfs "$0" && exec "$@"'
    if subprocess.run(["unshare", "-m", "sh", "-c", hide, folder, "true"], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    hosts.worker(by=["unshare", "-m", "sh", "-c", hide, str(folder)])
    started = time.monotonic()
    with pytest.raises(DataError, match=r"the worker tcp://.* cannot read .*part0.jsonl: No such file or directory"):
        markone.train(texts(folder), cluster=hosts.address, **SETTINGS)
    assert time.monotonic() - started < 30


def test_a_worker_with_another_numpy(hosts, folder, expected, tmp_path):
    """It is refused before the training. If it joins later, it gets no tasks that stay."""
    (tmp_path / "sitecustomize.py").write_text("import numpy\nnumpy.__version__ = '1.0'\n")
    hosts.worker()

    def join(result):
        if result.epoch == 1:
            hosts.worker(PYTHONPATH=str(tmp_path))

    assert markone.train(texts(folder), cluster=hosts.address, callback=join, **SETTINGS).digest == expected
    started = time.monotonic()
    with pytest.raises(DataError, match=r"the worker tcp://.* has NumPy 1.0, and this process has"):
        markone.train(texts(folder), cluster=hosts.address, **SETTINGS)
    assert time.monotonic() - started < 30


def test_the_scheduler_is_killed(hosts, folder, monkeypatch):
    monkeypatch.setattr("markone.cluster.dask.SILENT", 5.0)
    hosts.worker()
    started = []

    def murder(result):
        if result.epoch == 2:
            hosts.processes[0].kill()
            started.append(time.monotonic())

    with pytest.raises(DataError, match="the Dask cluster at tcp.* no longer answers"):
        markone.train(texts(folder), cluster=hosts.address, callback=murder, **SETTINGS)
    assert time.monotonic() - started[0] < 30


def test_the_driver_is_killed_and_resumed(hosts, folder, expected, tmp_path):
    hosts.worker(), hosts.worker()
    out = tmp_path / "out.model"
    command = ("markone", "train", f"{folder}/part*.jsonl", "--target", "label", "-o", str(out), "--checkpoint")
    settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
    driver = start(*command, *settings, "--cluster", hosts.address)
    kept = Path(f"{out}.checkpoint")
    wait_until(kept.exists)
    end([driver])
    assert not out.exists()
    subprocess.run([*PROCESS, *command, *settings, "--cluster", hosts.address, "--resume"], check=True, timeout=120)
    assert markone.load(out).digest == expected


def test_two_trainings_at_once(hosts, folder, expected):
    hosts.worker(), hosts.worker()
    found = []
    other = {**SETTINGS, "partitions": 3}

    def train(settings):
        found.append((settings["partitions"], markone.train(texts(folder), cluster=hosts.address, **settings).digest))

    threads = [threading.Thread(target=train, args=(one,)) for one in (SETTINGS, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(found) == {7: expected, 3: markone.train(texts(folder), **other).digest}


def test_a_full_disk_on_one_worker(hosts, folder, expected, tmp_path, monkeypatch):
    """Rows that do not fit into the memory go to a temporary file. One worker has no room for it."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        hosts.worker(TMPDIR=str(small))
        hosts.worker()
        with DaskEngine.at(hosts.address) as engine:
            tasks = [engine.submit(spilled, number) for number in range(6)]
            assert engine.gather(tasks) == [2**17] * 6
            assert engine.made_again > 0
        assert markone.train(texts(folder), cluster=hosts.address, **SETTINGS).digest == expected
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def spilled(number):
    from markone.data.spill import SpillFile

    with SpillFile() as file:
        file.reserve(2**20)
    return 2**17


# ---- Ray


@pytest.fixture(scope="module")
def ray():
    found = pytest.importorskip("ray", reason="Ray is not installed: pip install 'markone[ray]'")
    found.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    yield found
    found.shutdown()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", ["mira", "naive-bayes"])
def test_ray_learns_the_same_bytes(ray, folder, rule):
    settings = SETTINGS if rule == "mira" else {"rule": rule, "partitions": 4}
    expected = markone.train(texts(folder), **settings).digest
    assert markone.train(texts(folder), cluster=ray, **settings).digest == expected


@pytest.mark.filterwarnings("ignore")
def test_a_kill_on_ray_changes_nothing(ray, folder, expected):
    with engine_of(ray) as engine:
        preflight.check_workers(engine, [])

        def murder(result):
            if result.epoch in (1, 3):
                os.kill(engine.gather([engine.submit(os.getpid)])[0], signal.SIGKILL)

        assert markone.train(texts(folder), cluster=ray, callback=murder, **SETTINGS).digest == expected


@pytest.mark.filterwarnings("ignore")
def test_parts_by_ray(ray, folder, tmp_path):
    model = markone.train(texts(folder), epochs=1)
    a = markone.predict_files(model, str(folder), tmp_path / "a")
    b = markone.predict_files(model, str(folder), tmp_path / "b", cluster=ray)
    assert [Path(one).read_bytes() for one in a.files] == [Path(one).read_bytes() for one in b.files]


@pytest.mark.filterwarnings("ignore")
def test_no_ray():
    pytest.importorskip("ray")
    with pytest.raises(DataError, match="no cluster of Ray answers at ray://127.0.0.1:9"):
        engine_of("ray://127.0.0.1:9")


def test_ray_that_is_not_connected():
    found = pytest.importorskip("ray")
    if found.is_initialized():
        pytest.skip("Ray is connected already")
    with pytest.raises(SettingsError, match="call ray.init"):
        engine_of(found)


# ---- hosts in network namespaces


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def network(tmp_path):
    """Two hosts beside this one. The cable of the second has a delay of 20 ms and loses 1% in each direction."""
    if os.geteuid() or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
        pytest.skip("network namespaces need root, the program ip, and /dev/net/tun")
    mark = f"mk{os.getpid() % 10000}"
    made = []
    cable = None
    try:
        try:
            ip("link", "add", f"{mark}br", "type", "bridge")
            made.append(["link", "del", f"{mark}br"])
            ip("addr", "add", "10.213.77.1/24", "dev", f"{mark}br")
            ip("link", "set", f"{mark}br", "up")
            for number in (2, 3):
                ip("netns", "add", f"{mark}h{number}")
                made.append(["netns", "del", f"{mark}h{number}"])
            peer = ["peer", "name", f"{mark}e2"]
            ip("link", "add", f"{mark}v2", "type", "veth", *peer)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not allowed here: {error.stderr.decode().strip()}")
        program = [sys.executable, Path(__file__).with_name("wire.py"), f"{mark}v3", f"{mark}e3", "0.02", "0.01"]
        cable = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert cable.stdout.readline() == b"ready\n"
        for number in (2, 3):
            inside = ["-n", f"{mark}h{number}"]
            ip("link", "set", f"{mark}v{number}", "master", f"{mark}br", "up")
            ip("link", "set", f"{mark}e{number}", "netns", f"{mark}h{number}", "name", "eth0")
            ip(*inside, "addr", "add", f"10.213.77.{number}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                ip(*inside, "link", "set", device, "up")
        yield mark
    finally:
        if cable is not None:
            cable.kill()
            cable.communicate()
        for words in reversed(made):
            subprocess.run(["ip", *words], check=False, capture_output=True)


def test_hosts_with_a_slow_network_that_loses_packets(network, folder, expected, tmp_path):
    hosts = Hosts(tmp_path, "10.213.77.1")
    try:
        for number in (2, 3):
            hosts.worker(by=["ip", "netns", "exec", f"{network}h{number}"])
        far = next(place for place in hosts.places() if "10.213.77.3" in place)
        started = time.monotonic()
        socket.create_connection(("10.213.77.3", int(far.rpartition(":")[2])), 30).close()
        assert time.monotonic() - started > 0.04  # there and back
        assert markone.train(texts(folder), cluster=hosts.address, **SETTINGS).digest == expected
    finally:
        hosts.close()


def test_a_host_whose_cable_is_cut(network, folder, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("markone.cluster.dask.SILENT", 5.0)
    hosts = Hosts(tmp_path, "10.213.77.1")
    try:
        for number in (2, 3):
            hosts.worker(by=["ip", "netns", "exec", f"{network}h{number}"])

        def cut(result):
            if result.epoch == 2:
                ip("link", "set", f"{network}v3", "down")

        started = time.monotonic()
        found = markone.train(texts(folder), cluster=hosts.address, callback=cut, **SETTINGS)
        assert found.digest == expected
        assert time.monotonic() - started < 90
    finally:
        hosts.close()
