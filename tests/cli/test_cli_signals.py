"""Ctrl-C and SIGTERM at any moment, met by real processes."""

from __future__ import annotations

import array
import fcntl
import os
import random
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from commands import TRAIN
from markone.cli.output import pieces_of
from markone.learning.interruption import Interruption, Shelter
from markone.storage.container import kind_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")

COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "help": (["--help"], set()),
    "train": ([*TRAIN, "--epochs", "60", "--checkpoint", "-o", "a.model"], {"a.model", "a.model.checkpoint"}),
    "predict": (["predict", "reviews.model", "large.csv", "-o", "out.csv"], {"out.csv"}),
    "predict to a pipe": (["predict", "reviews.model", "large.csv", "--scores", "--threads", "2"], set()),
    "tag": (
        ["tag", "train", "treebank.conllu", "--epochs", "40", "-o", "a.tagger"],
        {"a.tagger", "a.tagger.checkpoint"},
    ),
    "validate": (["validate", "reviews.csv", "--target", "label", "--folds", "3"], set()),
    "validate, one left out": (["validate", "reviews.csv", "--target", "label", "--method", "loo"], set()),
    "compare": (["compare", "reviews.csv", "--target", "label", "--folds", "2", "--html", "page.html"], {"page.html"}),
}
TIMED = {"validate", "validate, one left out", "compare"}
"""Those that tell how long they took, so that no two answers are the same."""
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
IN_QUICK_TESTS = ("train", "predict", "predict to a pipe")
"""All are stopped at many moments by the slow tests."""


def start(arguments: list[str]) -> subprocess.Popen[str]:
    # Whoever runs the tests in the background may have Ctrl-C ignored, and children inherit that.
    return subprocess.Popen(
        [sys.executable, "-m", "markone", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_handlers(process: subprocess.Popen[str]) -> None:
    """Before that Python starts, which is not ours: it catches SIGINT itself, and lets SIGTERM end it."""
    bit = 1 << (signal.SIGTERM - 1)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:") and int(line.split()[1], 16) & bit:
                return
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("name", "moments"),
    [
        *((name, 2) for name in IN_QUICK_TESTS),
        *(pytest.param(name, 40, marks=pytest.mark.slow) for name in COMMANDS),
    ],
)
def test_a_signal_at_any_moment(name: str, moments: int, folder: Path) -> None:
    text = (folder / "reviews.csv").read_text()
    (folder / "large.csv").write_text(text + text.partition("\n")[2] * 20)
    if moments < 40:  # few moments need no long run
        (folder / "reviews.csv").write_text("".join(text.splitlines(keepends=True)[:200]))
    arguments, written = COMMANDS[name]
    others = set(os.listdir())
    with start(arguments) as process:
        wait_for_handlers(process)
        begun = time.monotonic()
        whole, _ = process.communicate(timeout=120)
        seconds = time.monotonic() - begun
        assert process.returncode == 0
    ready = {path: Path(path).read_bytes() for path in written if Path(path).exists()}
    chance = random.Random(f"{name} {moments}")
    stopped = 0
    for moment in range(moments):
        for path in written:
            Path(path).unlink(missing_ok=True)
        number = chance.choice([*STATUS])
        with start(arguments) as process:
            wait_for_handlers(process)
            time.sleep(seconds * (moment + chance.random()) / moments)
            process.send_signal(number)
            once = chance.random() < 0.5
            if not once:
                time.sleep(chance.choice([0.0, 0.001, 0.1]))
                process.send_signal(chance.choice([*STATUS]))
            out, err = process.communicate(timeout=120)
        told = f"{number.name} at {moment + 1} of {moments}, status {process.returncode}: {err}"
        if process.returncode == 0:  # it came too late
            assert err == "" and (out == whole or (name in TIMED and out)), told
        else:
            stopped += 1
            assert process.returncode in ([STATUS[number]] if once else STATUS.values()), told
            assert out[-1:] in ("", "\n") and (whole.startswith(out) or name in TIMED), told  # whole lines, or none
            assert err.startswith("markone: interrupted") and err.count("\n") == 1 and err.endswith("\n"), told
        assert set(os.listdir()) <= others | written, told
        for path in written & set(os.listdir()):
            if path.endswith(".checkpoint"):
                assert kind_of(path) is not None, told
            elif name in TIMED:
                assert Path(path).read_text().rstrip().endswith("</html>"), told
            else:
                assert Path(path).read_bytes() == ready[path], told
        if "a checkpoint is saved in" in err:
            assert any(path.endswith(".checkpoint") for path in os.listdir()), told
    assert stopped > 0, f"none of {moments} signals within {seconds:.1f} seconds came in time"


def test_the_first_signal_says_the_status(folder: Path) -> None:
    """Of two that come together; and a training that has begun is kept."""
    for first, second in ((signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)):
        Path("a.model.checkpoint").unlink(missing_ok=True)
        with start([*TRAIN, "--epochs", "1000000", "--checkpoint", "-o", "a.model"]) as process:
            deadline = time.monotonic() + 60
            while not Path("a.model.checkpoint").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(first)
            time.sleep(0.2)
            process.send_signal(second)
            out, err = process.communicate(timeout=60)
        assert process.returncode == STATUS[first] and out == ""
        assert err.startswith("markone: interrupted; a checkpoint is saved in a.model.checkpoint. To resume: markone ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(("number", "status"), STATUS.items())
def test_whoever_reads_from_a_pipe_gets_whole_lines(number: signal.Signals, status: int, folder: Path) -> None:
    """The pipe is full when the signal comes, as nobody reads from it yet."""
    text = (folder / "reviews.csv").read_text()
    (folder / "large.csv").write_text(text + text.partition("\n")[2] * 20)
    with start(["predict", "reviews.model", "large.csv", "--scores"]) as process:
        assert process.stdout is not None
        deadline = time.monotonic() + 60
        waiting = before = 0
        while (waiting == 0 or waiting > before) and time.monotonic() < deadline:
            time.sleep(0.3)
            before, waiting = waiting, waiting_in(process.stdout.fileno())
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status and err == "markone: interrupted\n"
    assert len(out) > 2**15 and out.endswith("\n") and len({line.count(",") for line in out.splitlines()}) == 1


def waiting_in(pipe: int) -> int:
    """How many bytes are there to be read."""
    answer = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, answer)
    return answer[0]


def test_pieces_are_whole_lines_that_a_pipe_takes_at_once() -> None:
    chance = random.Random(0)
    for longest in (10, 3000, 9000):
        data = b"".join(b"x" * chance.randrange(longest) + b"\n" for _ in range(200)) + b"end"
        pieces = list(pieces_of(data))
        assert b"".join(pieces) == data and all(piece.endswith(b"\n") for piece in pieces[:-1])
        assert all(len(piece) <= select.PIPE_BUF or piece.count(b"\n") == 1 for piece in pieces)
    assert list(pieces_of(b"")) == []


SWALLOWING = """
import sys, time
import markone.__main__ as program
import markone.cli.completion as module

def stubborn(shell=None):
    print("ready", flush=True)
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            pass

module.completion = stubborn
sys.argv = ["markone", "completion"]
sys.exit(program.program())
"""


@pytest.mark.parametrize(("number", "status"), STATUS.items())
def test_a_library_that_swallows_exceptions_does_not_keep_the_program(number: signal.Signals, status: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SWALLOWING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
        assert process.returncode == status and err == "markone: interrupted\n"


def test_what_was_learned_is_sheltered_until_it_is_saved() -> None:
    with Shelter((signal.SIGINT,)) as shelter:
        with pytest.raises(KeyboardInterrupt):  # nothing was learned yet
            os.kill(os.getpid(), signal.SIGINT)
        with Interruption((signal.SIGINT,)):  # nor is this to be kept
            pass
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with Interruption((signal.SIGINT,), keeping=True):
            pass
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)  # which may be the same hand
        assert shelter.signal == signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
