"""The command: `python -m benchmarks [--rounds N] [--only WORD] [--list]`, from the project's root."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.answers import answers
from benchmarks.cases import CASES, Case
from benchmarks.datasets import AbsentError
from benchmarks.timing import Comparison, alternate, best, on_cores

RESULTS = Path(__file__).with_name("RESULTS.md")
TOLERANCE = 0.01
"""The largest allowed loss of accuracy against the other side: one point."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare Markone with its peers.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side, the best counts (5)")
    parser.add_argument(
        "--only", default="", metavar="WORD", help=f"cases whose name contains WORD; {RESULTS.name} is left alone"
    )
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    arguments = parser.parse_args()
    cases = [case for case in CASES if arguments.only in case.name]
    if not cases:
        parser.error(f"no case has {arguments.only!r} in its name; --list shows them")
    if arguments.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {arguments.rounds}")
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    results, skipped = run_all(cases, arguments.rounds)
    if arguments.only:
        print(report.render(results, skipped, arguments.rounds))
    else:
        say("certificates")
        RESULTS.write_text(report.render(results, skipped, arguments.rounds, answers()), encoding="utf-8")
    return judge(results)


def run_all(
    cases: list[Case[Any]], rounds: int
) -> tuple[list[tuple[Case[Any], Comparison]], list[tuple[Case[Any], str]]]:
    """Return the results, and the skipped cases with the reasons."""
    results, skipped = [], []
    for number, case in enumerate(cases, start=1):
        say(f"[{number}/{len(cases)}] {case.name}")
        try:
            results.append((case, run(case, rounds)))
        except AbsentError as absent:
            say(f"  skipped: {absent}")
            skipped.append((case, str(absent)))
    return results, skipped


def run(case: Case[Any], rounds: int) -> Comparison:
    check_presence(case)
    data = case.data.load()
    turns = []
    with on_cores(case.cores):
        for turn in alternate(case.ours, case.theirs, data, rounds):
            turns.append(turn)
            say(f"  round {len(turns)}: {report.sentence(turn)}")
    result = best(turns)
    say(f"  best: {report.sentence(result)}, at least {case.at_least:g}; accuracy {report.accuracies(result)}")
    return result


def check_presence(case: Case[Any]) -> None:
    for package in (case.ours.package, case.theirs.package):
        if package is not None and find_spec(package) is None:
            raise AbsentError(f"{package} is not installed")
    if case.cores > (os.cpu_count() or 1):
        raise AbsentError(f"there are no {case.cores} cores")


def judge(results: list[tuple[Case[Any], Comparison]]) -> int:
    """Return the exit status: 1 if a case is fast at the price of accuracy."""
    failed = [(case, result) for case, result in results if loss(result) > TOLERANCE]
    for case, result in failed:
        print(f"{case.name}: less accurate than theirs, {report.accuracies(result)}", file=sys.stderr)
    return 1 if failed else 0


def loss(result: Comparison) -> float:
    """Return how much less accurate our side is."""
    if result.ours.accuracy is None or result.theirs.accuracy is None:
        return 0.0
    return result.theirs.accuracy - result.ours.accuracy


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
