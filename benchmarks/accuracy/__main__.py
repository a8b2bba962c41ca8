"""The command: `python -m benchmarks.accuracy SUITE [--only WORD]`, from the project's root."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from benchmarks.accuracy.suite import Suite, render, run

SUITES = ("texts", "tables", "labels", "numbers", "several", "compare", "tune")
"""Each is a module of this package with a `SUITE`."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description="Compare the accuracy of Markone without settings."
    )
    parser.add_argument("suite", choices=SUITES, help="which data sets")
    parser.add_argument("--only", default="", metavar="WORD", help="data sets whose name contains WORD")
    arguments = parser.parse_args()
    suite: Suite = import_module(f"benchmarks.accuracy.{arguments.suite}").SUITE
    rows = list(run(suite, arguments.only, lambda line: print(line, file=sys.stderr, flush=True)))
    print(render(suite, rows))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
