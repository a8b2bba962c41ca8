"""Pictures of the measurements: the benchmarks as bars, growth and partitions as lines, and the accuracies of several
programs as dots."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from markone.plots.colours import BLUE, GREEN, INK, ORANGE, PURPLE, QUIET, SKY, VERMILION
from markone.plots.drawing import SMALL, TEXT, End, entitle, finished, label_ends, name_axes, new_figure, tidy

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.clusters import MANY_BITS, Cost, Machines, seconds_of_pass
from benchmarks.clusters import RESULT as CLUSTERS
from docs.results import Case, Growth, accuracies, cases
from docs.results import growth as growths

LINE = 0.24
"""The height of a line, in inches."""
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)

# The groups of the page on speed: a title, and how the names of their cases begin. The last has all others.
GROUPS = {
    "speed-bayes": ("Naive Bayes: times as fast as scikit-learn", r"naive Bayes|labels by naive|text to naive"),
    "speed-files": (
        "From files, with reading and features: times as fast as scikit-learn, or as named",
        r"text to (?:model|scores)|rows to|table to|defaults|command",
    ),
    "speed-calls": ("One call: times as fast as scikit-learn", r"partial_fit|predict, 1 row|one text"),
    "speed-sentences": ("Sentences: times as fast as the program named", r"tags|trees"),
    "speed-rows": ("Rows in memory, from rows to model: times as fast as scikit-learn, or as named", ""),
}
NOT_SHOWN = re.compile(r"leave-one-out|two threads|saving|certificate")
"""Cases in which the other side is not a program that does the same."""
PEER = re.compile(r" \(([^()]*)\)")
USUAL_PEER = "scikit-learn"
DETAIL = re.compile(r", to (?:0\.1|a slope)[^:]*:")


def speed(group: str) -> Figure:
    """Draw how many times as fast as others Markone is, case by case, on a logarithmic axis."""
    title = GROUPS[group][0]
    shown = [case for name, case in cases().items() if group_of(name) == group and case.has_peer]
    figure = new_figure(7.4, 0.9 + LINE * len(shown))
    axes = tidy(figure.add_subplot(), grid="x")
    places = range(len(shown))
    axes.set_xscale("log")
    for place, case in zip(places, shown, strict=True):
        axes.barh(place, case.times - 1, left=1, height=0.66, color=BLUE if case.times >= 1 else VERMILION)
        beside = (max(case.times, 1), place)
        axes.annotate(in_words(case.times), beside, (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set_yticks(places, [label(case) for case in shown], fontsize=SMALL)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(min(1, *(0.9 * case.times for case in shown)), 1.7 * max(case.times for case in shown))
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda times, _: f"{times:g}×"))
    axes.axvline(1, color=QUIET, linewidth=1)
    axes.spines["left"].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=TEXT, color=INK)
    return finished(figure, f"{title}. {'; '.join(f'{label(case)} {case.times:g} times as fast' for case in shown)}")


def group_of(name: str) -> str | None:
    """Return the first group to which a case belongs."""
    groups = (group for group, (_, beginning) in GROUPS.items() if re.match(beginning, name))
    return None if NOT_SHOWN.match(name) else next(groups)


def in_words(times: float) -> str:
    return f"{times:.2g}×" if times < 1 else f"{times:.1f}×" if times < 10 else f"{times:.0f}×"


def label(case: Case) -> str:
    """Return the case without details, its data, and the other program if it is not the usual one."""
    found = PEER.search(case.name)
    beside = f", {found[1]}" if found and found[1] != USUAL_PEER else ""
    return DETAIL.sub(":", PEER.sub("", case.name)) + beside


# ---- growth


def growth() -> Figure:
    """Draw the time and the memory of Markone and Vowpal Wabbit against the size of the data."""
    found = growths()
    figure = new_figure(7.4, 2.4 * len(found))
    for (left, right), (title, grown) in zip(figure.subplots(len(found), 2, squeeze=False), found.items(), strict=True):
        draw_growth(left, title, grown, "seconds", grown.seconds)
        draw_growth(right, title, grown, "megabytes", grown.megabytes)
    return finished(figure, "Time and memory of Markone and Vowpal Wabbit against the size of the data")


def draw_growth(axes: Axes, title: str, grown: Growth, name: str, sides: tuple[list[float], list[float]]) -> None:
    tidy(axes)
    for values, colour in zip(sides, (BLUE, ORANGE), strict=True):
        axes.plot(grown.sizes, values, color=colour, marker="o", markersize=3)
    axes.set_xlim(0, grown.sizes[-1])
    axes.set_ylim(0, 1.1 * max(map(max, sides)))
    entitle(axes, title)
    name_axes(axes, grown.unit, name)
    ours, theirs = sides
    label_ends(axes, [End(ours[-1], "Markone", BLUE), End(theirs[-1], "Vowpal Wabbit", ORANGE)])


# ---- accuracies

COLOURS, MARKERS = (BLUE, VERMILION, ORANGE, GREEN, PURPLE, SKY, QUIET), "osD^vP<"


def dots(heading: str) -> Figure:
    """Draw the accuracies of several programs on each data set of a table, ours above the others."""
    programs, table = accuracies(heading)
    shown = {name: line for name, line in table.items() if not name.startswith("mean")}
    figure = new_figure(7.4, 1.3 + LINE * len(shown))
    axes = tidy(figure.add_subplot())
    for number, program in enumerate(programs):
        points = [(line[number], place) for place, line in enumerate(shown.values()) if line[number] is not None]
        axes.plot(
            *zip(*points, strict=True),
            MARKERS[number],
            color=COLOURS[number],
            label=program,
            markersize=8 if number == 0 else 5.5,
            alpha=1 if number == 0 else 0.8,
            zorder=3 if number == 0 else 2,
        )
    axes.set_yticks(range(len(shown)), list(shown), fontsize=SMALL)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}%"))
    entitle(axes, "accuracy on test rows")
    figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize=SMALL, handletextpad=0.2)
    ranks = "; ".join(f"{one} {rank:g}" for one, rank in zip(programs, table["mean rank"], strict=True))
    return finished(figure, f"Accuracy of {len(programs)} programs on {len(shown)} data sets; mean ranks: {ranks}")


# ---- clusters

WEIGHTS = {24: BLUE, 26: ORANGE, 28: VERMILION}
"""The powers of two that are drawn as numbers of weights."""
VALUES_OF_ROWS = 1e11
"""The values in all rows: a billion texts of a hundred words."""
WORKERS = [2**power for power in range(11)]


def cost_of_clusters() -> Figure:
    """Draw the seconds of a pass against the number of workers, by the model of benchmarks/clusters.py."""
    cost = Cost(**json.loads(CLUSTERS.read_text(encoding="utf-8"))["cost"][str(MANY_BITS)])
    figure = new_figure(7.4, 4.2)
    axes = tidy(figure.add_subplot())
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    alone = [VALUES_OF_ROWS * cost.value / workers for workers in WORKERS]
    axes.plot(WORKERS, alone, "--", color=QUIET, label="learning alone")
    said = []
    for power, colour in WEIGHTS.items():
        passes = [pass_of(cost, workers, power) for workers in WORKERS]
        axes.plot(WORKERS, [sum(steps.values()) for steps in passes], color=colour, label=f"2^{power} weights")
        crowded = next((i for i, steps in enumerate(passes) if steps["learning"] < sum(steps.values()) / 2), None)
        if crowded is not None:
            axes.plot(WORKERS[crowded], sum(passes[crowded].values()), "o", color=colour)
            said.append(
                f"with 2^{power} weights mixing takes more than half of a pass from {WORKERS[crowded]} workers on"
            )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda workers, _: f"{workers:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:,.10g} s"))
    entitle(axes, "one pass over a billion texts of 100 words, by the number of workers")
    axes.legend(frameon=False, fontsize=SMALL)
    return finished(figure, f"Seconds of a pass against the number of workers: {'; '.join(said)}")


def pass_of(cost: Cost, workers: int, power: int) -> dict[str, float]:
    """Return the seconds of the steps of a pass with one partition for each worker."""
    changed = min(2.0**power, VALUES_OF_ROWS / workers)
    machines = Machines(workers)
    return seconds_of_pass(cost, machines, values=VALUES_OF_ROWS, partitions=workers, weights=2**power, changed=changed)


# ---- partitions

OF_PARTITIONS = Path(__file__).with_name("partitions.md")


def accuracy_by_partitions() -> Figure:
    """Draw how the accuracies on the page about partitions differ from those of one partition."""
    page = OF_PARTITIONS.read_text(encoding="utf-8")
    table = page[page.index("| partitions | 1 |") :].partition("\n\n")[0].splitlines()
    counts, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    figure = new_figure(7.4, 3.4)
    axes = tidy(figure.add_subplot())
    told = []
    for number, (name, *row) in enumerate(rows):
        both = zip(counts[1:], row, strict=True)
        points = [(int(count), float(one) - float(row[0])) for count, one in both if one != "–"]
        axes.plot(
            *zip(*points, strict=True),
            MARKERS[number % len(MARKERS)] + ("-" if number < len(MARKERS) else "--"),
            color=COLOURS[number % len(COLOURS)],
            label=name,
            markersize=4.5,
            linewidth=1.3,
        )
        told.append(f"{name} {points[-1][1]:+.2f} points with {points[-1][0]} partitions")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([int(count) for count in counts[1:]]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:g}"))
    axes.set_xlabel("partitions", fontsize=SMALL)
    axes.axhline(0, color=QUIET, linewidth=1)
    entitle(axes, "accuracy, in points above one partition")
    figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize=SMALL)
    return finished(figure, f"Accuracy against the number of partitions: {'; '.join(told)}")
