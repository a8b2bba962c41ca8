"""Workers: processes that use cases one after the other, and a parent that goes on when a case kills one.

A case is a number: with the seed of the run it says what is made, whichever process makes it. A worker writes the
number into memory that it shares with the parent before it begins, so that the parent knows which case crashed it, has
taken too long, or needs too much memory. Findings are folders, one for each kind of failure at each place.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .targets import Case, Outcome, Target

POLL = 0.02
"""Seconds between two looks of the parent at its workers."""
SLEEPING = 6
"""How many times longer a case may wait than compute."""
NOW, SINCE = 0, 1
DONE, ACCEPTED, RESUMED = 0, 1, 2
IDLE = -1
TOO_MUCH_MEMORY = 77
"""The exit status of a worker whose memory has grown."""


@dataclass(frozen=True)
class Plan:
    """What is to be done."""

    targets: list[Target]
    seed: int
    files: int | None
    """Cases of the target that has most, at most."""
    minutes: float | None
    workers: int
    seconds: float
    """The computing time that one case may take."""
    megabytes: int
    """By which one case may make the memory grow."""
    findings: Path

    def turns(self) -> list[Target]:
        """Whose turn it is, over and over."""
        return [target for target in self.targets for _ in range(target.share)]

    def cases(self) -> float:
        if self.files is None:
            return float("inf")
        most = max(target.share for target in self.targets)
        return -(-self.files // most) * len(self.turns())

    def target_of(self, number: int) -> Target:
        turns = self.turns()
        return turns[number % len(turns)]

    def chance(self, number: int, purpose: str) -> random.Random:
        return random.Random(f"{self.seed} {number} {purpose}")

    def make(self, number: int) -> Case:
        return self.target_of(number).make(self.chance(number, "make"))


@dataclass
class Report:
    """What came out of it."""

    kinds: list[tuple[str, str]]
    """Each target's."""
    counts: NDArray[np.int64]
    """Of each kind: cases, accepted ones, and resumed ones."""
    seconds: float
    findings: list[dict[str, Any]] = field(default_factory=list)

    def of(self, target: str) -> NDArray[np.int64]:
        return self.counts[[one == target for one, _ in self.kinds]].sum(axis=0)

    def __str__(self) -> str:
        lines = [f"{'':36}{'cases':>10}{'accepted':>10}{'refused':>10}{'resumed':>10}{'findings':>10}"]
        found = Counter((one["target"], kind) for one in self.findings for kind in one["kinds"])
        for (target, kind), (done, accepted, resumed) in zip(self.kinds, self.counts.tolist(), strict=True):
            figures = f"{done:>10,}{accepted:>10,}{done - accepted:>10,}{resumed:>10,}{found[target, kind]:>10,}"
            lines.append(f"{kind:36}{figures}")
        for target in dict.fromkeys(target for target, _ in self.kinds):
            done, accepted, resumed = self.of(target).tolist()
            own = sum(one["target"] == target for one in self.findings)
            lines.append(
                f"{'all ' + target:36}{done:>10,}{accepted:>10,}{done - accepted:>10,}{resumed:>10,}{own:>10,}"
            )
        done = int(self.counts[:, DONE].sum())
        lines.append(f"{done:,} cases in {self.seconds:,.0f} s: {done / max(self.seconds, 1e-9):,.0f} a second")
        for one in self.findings:
            times = f"{one['times']:,} times, in {', '.join(one['kinds'][:6])}"
            lines += ["", f"FOUND {one['failure']} at {one['place']}: {times}", f"  {one['folder']}"]
            lines.append(f"  {one['kind']}: {'; '.join(one['changes'])}; then {', '.join(one['steps'])}"[:1000])
            lines.append(f"  {one['message']}"[:500])
        return "\n".join(lines)


# ---- a worker


class Worker:
    """A process of our own, and what it shares with us."""

    def __init__(self, plan: Plan, number: int, folder: Path, kinds: list[tuple[str, str]]) -> None:
        self.plan = plan
        self.folder = folder
        self.kinds = {kind: i for i, kind in enumerate(kinds)}
        self.next = number
        """The case that it begins with."""
        self.log = folder / f"log.{number}"
        numbers = 2 + len(kinds) * 3
        self.shared = np.frombuffer(mmap.mmap(-1, numbers * 8), np.int64)
        self.counts = self.shared[2:].reshape(-1, 3)
        self.pid = 0
        self.parent = os.getpid()

    def start(self) -> None:
        self.shared[NOW] = IDLE
        self.shared[SINCE] = time.monotonic_ns()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self.work()

    def work(self) -> NoReturn:
        status = 1
        try:
            os.setsid()  # Ctrl-C is the parent's, who ends us
            log = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND)
            os.dup2(log, 2)
            os.dup2(log, 1)
            faulthandler.enable(2)
            faulthandler.register(signal.SIGUSR1, 2)
            quiet()
            for target in self.plan.targets:
                target.prepare(self.folder)
            status = self.use_cases()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def use_cases(self) -> int:
        plan, number = self.plan, self.next
        while number < plan.cases() and os.getppid() == self.parent:
            self.shared[SINCE] = time.monotonic_ns()
            self.shared[NOW] = number
            before = largest_memory()
            target, case, outcome, failure = use(plan, number)
            if failure is not None:
                note(plan, number, case, outcome, failure, "".join(traceback.format_exception(failure)))
            row = self.counts[self.kinds[target.name, case.kind]]
            row += (1, outcome.accepted, outcome.resumed)
            if largest_memory() - before > plan.megabytes * 2**20:
                return TOO_MUCH_MEMORY
            number += plan.workers
        return 0


def use(plan: Plan, number: int) -> tuple[Target, Case, Outcome, BaseException | None]:
    """Makes a case and uses it."""
    target, outcome = plan.target_of(number), Outcome()
    case = plan.make(number)
    try:
        target.use(case, plan.chance(number, "use"), outcome)
    except BaseException as error:
        return target, case, outcome, error
    return target, case, outcome, None


def quiet() -> None:
    """Disks are not waited for, and warnings are for people."""
    os.fsync = lambda _: None
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")


def largest_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- findings

OURS = re.compile(r"markone/([\w/]+\.py)")


def place_of(error: BaseException) -> str:
    """The innermost line of Markone's that an exception has gone through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if found := OURS.search(frame.filename):
            return f"{found[1]}:{frame.lineno} in {frame.name}"
    return "outside of markone"


def place_in(log: str) -> tuple[str, str]:
    """What a sanitizer or the handler of signals has said about a crash: what it was, and where, if they have."""
    if found := re.search(r"(core/[\w/]+\.\w+:\d+):\d+: runtime error: (.*)", log):
        return f"undefined behaviour: {re.sub(r'[-+0-9.e]{3,}', 'N', found[2]):.100}", found[1]
    if found := re.search(r"SUMMARY: AddressSanitizer: ([\w-]+)(.*)", log):
        return f"AddressSanitizer: {found[1]}", line_of(log) or found[2].strip()[:100]
    fatal = re.search(r"(?:Fatal Python error: |what\(\): +)(.*)", log)
    frame = re.search(r'File "\S*markone/([\w/]+\.py)", line (\d+) in (\S+)', log)
    return fatal[1] if fatal else "", f"{frame[1]}:{frame[2]} in {frame[3]}" if frame else ""


def line_of(log: str) -> str | None:
    """The innermost line of the core's in a sanitizer's report, which may have only its address."""
    if inner := re.search(r"#\d+ 0x\w+ in .* \S*?(core/[\w/]+\.\w+:\d+)", log):
        return inner[1]
    inner = re.search(r"#\d+ 0x\w+ .*\((\S*/_core\.\S+\.so)\+(0x\w+)\)", log)
    if inner is None or shutil.which("addr2line") is None:
        return None
    found = subprocess.run(["addr2line", "-e", inner[1], inner[2]], capture_output=True, text=True, check=False).stdout
    line = re.search(r"core/[\w/]+\.\w+:\d+", found)
    return line[0] if line else None


def note(
    plan: Plan, number: int, case: Case, outcome: Outcome, failure: BaseException | str, details: str, place: str = ""
) -> None:
    """Stores a finding, or only that there was another of its kind."""
    what = failure if isinstance(failure, str) else type(failure).__name__
    place = place or (place_of(failure) if isinstance(failure, BaseException) else "")
    target = plan.target_of(number)
    folder = plan.findings / re.sub(r"[^\w.-]+", "-", f"{target.name} {what} {place}")[:150]
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), open(folder / "case.json", "x") as file:
        told = {
            "target": target.name,
            "seed": plan.seed,
            "number": number,
            "targets": [one.name for one in plan.targets],
            "kind": case.kind,
            "changes": case.changes,
            "steps": outcome.steps,
            "failure": what,
            "place": place,
            "message": str(failure)[:2000],
        }
        json.dump(told, file, indent=1)
        (folder / "details.txt").write_text(details, errors="backslashreplace")
        if (content := target.stored(case)) is not None:
            (folder / "case.bin").write_bytes(content)
    with open(folder / "seen.txt", "a") as seen:
        seen.write(f"{number} {case.kind}\n")


def findings_in(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*/case.json")):
        seen = [line.split(" ", 1)[1] for line in (path.parent / "seen.txt").read_text().splitlines()]
        kinds = [kind for kind, _ in Counter(seen).most_common()]
        yield {**json.loads(path.read_text()), "folder": str(path.parent), "times": len(seen), "kinds": kinds}


# ---- the parent


def run(plan: Plan, tell: Callable[[str], None] = print) -> Report:
    """Uses all cases, and reports."""
    kinds = [(target.name, kind) for target in plan.targets for kind in target.kinds()]
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="markone-fuzz-", dir=room) as name:
        folder = Path(name)
        if in_child(lambda: [target.prepare(folder) for target in plan.targets]) != 0:
            raise RuntimeError("what all cases share could not be made")
        workers = [Worker(plan, number, folder, kinds) for number in range(plan.workers)]
        start = told = time.monotonic()
        for worker in workers:
            worker.start()
        running = list(workers)
        try:
            while running:
                time.sleep(POLL)
                running = [worker for worker in running if look(worker, folder)]
                now = time.monotonic()
                if plan.minutes is not None and now - start > plan.minutes * 60:
                    break
                if now - told > 60:
                    told = now
                    done = sum(int(worker.counts[:, DONE].sum()) for worker in workers)
                    found = len(list(plan.findings.glob("*/case.json")))
                    tell(f"{done:,} cases, {done / (now - start):,.0f} a second, {found} findings")
        except KeyboardInterrupt:
            tell("interrupted")
        finally:
            for worker in running:
                end(worker.pid)
        seconds = time.monotonic() - start
        counts = np.sum([worker.counts for worker in workers], axis=0)
    return Report(kinds, counts, seconds, list(findings_in(plan.findings)))


def look(worker: Worker, folder: Path) -> bool:
    """Looks after a worker; whether it is still at work."""
    plan, pid = worker.plan, worker.pid
    ended, status, _ = os.wait4(pid, os.WNOHANG)
    number, since = worker.shared[:2].tolist()
    if ended:
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            return False
        log = worker.log.read_text(errors="backslashreplace")
        if number == IDLE:
            raise RuntimeError(f"a worker could not begin:\n{log}")
        if code == TOO_MUCH_MEMORY:
            failure, place = f"more than {plan.megabytes} MB", ""
        else:
            what, place = place_in(log)
            failure = what or (f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}")
        blame(plan, folder, number, failure, place, log)
    elif number != IDLE and (failure := overdue(plan, pid, since)):
        os.kill(pid, signal.SIGUSR1)  # it says where it is
        time.sleep(0.2)
        end(pid)
        log = worker.log.read_text(errors="backslashreplace")
        blame(plan, folder, number, failure, place_in(log)[1], log)
    else:
        return True
    worker.next = number + plan.workers
    if worker.next >= plan.cases():
        return False
    worker.start()
    return True


def overdue(plan: Plan, pid: int, since: int) -> str | None:
    """What is too much in what a worker does."""
    waited = (time.monotonic_ns() - since) / 1e9
    if waited < min(plan.seconds, 0.5):
        return None
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        if pages * resource.getpagesize() > 8 * plan.megabytes * 2**20:
            return f"more than {8 * plan.megabytes} MB"
    except (OSError, IndexError):  # it has just ended
        return None
    # A machine that is busy with other things makes a case wait, but not compute.
    if waited > SLEEPING * plan.seconds or (waited > plan.seconds and is_computing(pid, waited, plan.seconds)):
        return f"hang of {plan.seconds:g} s"
    return None


COMPUTED: dict[int, tuple[float, float]] = {}
"""Of each process the waiting time of its case, and the computing time, when it was first overdue."""


def is_computing(pid: int, waited: float, seconds: float) -> bool:
    """Whether a process has computed that long since its case was first seen to last."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    computed = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    first_waited, first = COMPUTED.get(pid, (waited, computed))
    if waited < first_waited:  # another case
        first_waited, first = waited, computed
    COMPUTED[pid] = first_waited, first
    return computed - first >= seconds / 2


def blame(plan: Plan, folder: Path, number: int, failure: str, place: str, log: str) -> None:
    """Stores the case that has killed a worker. A child makes it again, for the parent must not be harmed.

    Memory that one case overwrites may harm only a later one of the same worker, unless a sanitizer looks.
    """

    def make() -> None:
        plan.target_of(number).prepare(folder)
        case = plan.make(number)
        where = place or f"an unknown place of {case.kind}"
        note(plan, number, case, Outcome(steps=["killed"]), failure, log[-20_000:] or failure, where)

    def use_alone() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what it says is known
        plan.target_of(number).prepare(folder)
        use(plan, number)

    if not failure.startswith(("hang", "more than")) and in_child(use_alone, plan.seconds * SLEEPING) == 0:
        failure += ", not by this case alone"
    if in_child(make) != 0:
        raise RuntimeError(f"case {number} could not be made again")


def end(pid: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def in_child(work: Callable[[], object], seconds: float = float("inf")) -> int:
    """Does something in a process of its own, whose threads and memory end with it; its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            quiet()
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    since = time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() - since > seconds:
            end(pid)
            return -signal.SIGKILL
        time.sleep(POLL / 10)
