"""The command: `python -m tests.fuzz`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where other helpers of the tests are
# Each worker has a core of its own.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from .harness import Files
from .readers import Readers
from .states import States
from .targets import Case, Outcome, Target
from .workers import Plan, quiet, run, use

TARGETS: dict[str, type[Target]] = {"files": Files, "readers": Readers, "states": States}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    made.add_argument("--files", type=int, help="how many model files; of other targets there are a quarter as many")
    made.add_argument("--minutes", type=float, help="stop after so many minutes")
    made.add_argument("--seed", type=int, default=1, help="the same seed makes the same cases")
    made.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    made.add_argument("--targets", default=",".join(TARGETS), help="some of files,readers,states")
    made.add_argument("--seconds", type=float, default=10.0, help="the computing time that one case may take")
    made.add_argument("--megabytes", type=int, default=512, help="by which one case may make the memory grow")
    made.add_argument("--findings", type=Path, help="the folder for findings; a new one by default")
    made.add_argument("--replay", type=Path, metavar="FOLDER", help="use the case of a finding again, in this process")
    return made


def main(arguments: list[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    if given.replay is not None:
        return replay(given.replay)
    names = given.targets.split(",")
    if unknown := set(names) - set(TARGETS):
        parser().error(f"there is no target {', '.join(sorted(unknown))}")
    plan = Plan(
        targets=[TARGETS[name]() for name in names],
        seed=given.seed,
        files=1000 if given.files is None and given.minutes is None else given.files,
        minutes=given.minutes,
        workers=given.workers,
        seconds=given.seconds,
        megabytes=given.megabytes,
        findings=given.findings or Path(tempfile.mkdtemp(prefix="markone-findings-")),
    )
    plan.findings.mkdir(parents=True, exist_ok=True)
    report = run(plan)
    print(report)
    print(f"\n{len(report.findings)} findings in {plan.findings}")
    return 1 if report.findings else 0


def replay(folder: Path) -> int:
    """Uses a stored case, and shows what it does: 1 if it still fails."""
    told = json.loads((folder / "case.json").read_text())
    targets = [TARGETS[name]() for name in told["targets"]]
    with tempfile.TemporaryDirectory() as room:
        plan = Plan(targets, told["seed"], None, None, 1, 0, 0, folder)
        number = told["number"]
        target = plan.target_of(number)
        target.prepare(Path(room))
        quiet()
        stored = folder / "case.bin"
        content = stored.read_bytes() if stored.exists() else None
        print(f"{told['kind']}: {'; '.join(told['changes'])}", flush=True)
        outcome = Outcome()
        try:
            if content is None:
                _, _, outcome, failure = use(plan, number)
                if failure is not None:
                    raise failure
            else:
                case = Case(told["kind"], told["changes"], content)
                target.use(case, plan.chance(number, "use"), outcome)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            print(f"steps: {', '.join(outcome.steps)}", flush=True)
    print("it does no harm")
    return 0


if __name__ == "__main__":
    sys.exit(main())
