"""`markone certify`: whether a plane separates the classes, with a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from markone.cli.options import FileName, Flag, Number, Reading
from markone.cli.shared_options import HeldFiles, Memory, NoProgress, Spec, Target, Threads

if TYPE_CHECKING:
    from markone.theory.certificate import Certificate

POINTS_SHOWN = 12
DIGITS = 12
"""A weight of a proof with more digits is shown as a share."""
LEAST_PASSES, MOST_PASSES = 10, 10_000
"""Each pass but the last has a mistake, so that a bound of these is one of passes; it is often far too high."""


def certify(
    *data: HeldFiles,
    target: Target = None,
    no_bias: Flag = False,
    tol: Number = 0.01,
    seconds: Number = 60.0,
    features: Spec = None,
    save: FileName | None = None,
    threads: Threads = None,
    memory: Memory = None,
    json: Flag = False,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Say whether a plane separates the classes, and prove it.

    Either a plane separates them: then the best margin that any plane has lies between two numbers, and a perceptron
    makes no more mistakes than is said. Or none does: then a few examples prove it, and it is said how many rows are
    in the way. Features are those of `markone train`.

    For example:

    `markone certify reviews.csv --target label`

    `markone certify reviews.csv --target label --no-bias --tol 1e-6`

    `markone certify reviews.csv --target label --seconds 10 --json`

    Parameters
    ----------
    no_bias
        The plane must go through the origin.
    tol
        How narrow the bracket of the margin is to be: by which share of its upper end the lower may be smaller.
    seconds
        How long to look for an answer, reading not counted. After that, it is the bracket that was reached.
    save
        A file for the whole certificate as JSON: planes, and shares of examples, too.
    json
        Print one JSON object instead of the lines. It has all but the planes.
    """
    from markone.cli.commands import train_command
    from markone.cli.output import check_not_read, write_page
    from markone.cli.progress import is_watched
    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines, in_json, print_json
    from markone.cli.terminal import say
    from markone.theory.certifying import certify as search

    check_not_read(save, *data, features)
    source = open_rows("certify", data, reading, target=target, threads=threads)
    certificate = search(
        source,
        features=features,
        bias=not no_bias,
        tol=tol,
        seconds=seconds,
        threads=threads,
        memory=memory,
        progress=is_watched(quiet=quiet),
    )
    write_page(save, lambda: in_json(certificate.as_dict()))
    if json:
        print_json({**without_planes(certificate.as_dict()), "bad_lines": source.bad.count})
        return
    command = partial(train_command, data, target, features=features, reading=reading)
    say("\n".join([str(certificate), *proof_table(certificate), *advice(certificate, command)]))
    bad_lines(source.bad)


def without_planes(facts: Any) -> Any:
    """They have as many numbers as there are features."""
    if not isinstance(facts, dict):
        return facts
    return {name: without_planes(one) for name, one in facts.items() if name not in ("plane", "bound_plane")}


def proof_table(certificate: Certificate) -> Iterator[str]:
    """The proof's examples, with their labels and weights."""
    from markone.reporting.grids import Grid, label_in_words

    proof, classes = certificate.proof, certificate.classes
    if proof is None:
        return
    several, largest = len(classes) > 2, max(proof.weights)
    heads = ["row", "class", *(["rather than"] if several else []), "weight"]
    rows = []
    for row, label, rival, weight in list(zip(proof.rows, proof.labels, proof.rivals, proof.weights, strict=True)):
        share = f"{weight:,}" if largest < 10**DIGITS else f"{weight / largest:.6g}"
        rows.append(
            [str(row + 1), *(label_in_words(classes[one]) for one in ([label, rival] if several else [label])), share]
        )
    yield ""
    if len(rows) == 1:
        yield "A row of zeros is on neither side of a plane through the origin:"
    elif len({*proof.labels, *proof.rivals}) == 2:
        yield "With these weights the examples of both classes have the same sum:"
    else:
        yield "With these weights what is to score higher and what lower has the same sum:"
    yield str(Grid([heads], rows[:POINTS_SHOWN]))
    if len(rows) > POINTS_SHOWN:
        yield f"... and {len(rows) - POINTS_SHOWN} more; --json has them all, with their weights as whole numbers"


def advice(certificate: Certificate, command: Callable[..., str]) -> Iterator[str]:
    """What to do about it, with a command that does it."""
    from markone.theory.advice import few_are_wrong, what_to_do

    yield ""
    bias = {} if certificate.bias else {"bias": False}
    if certificate.separable:
        bound = certificate.mistake_bound
        passes = MOST_PASSES if bound is None else int(min(max(LEAST_PASSES, bound + 1), MOST_PASSES))
        yield "With enough passes a perceptron learns these rows without a mistake:"
        yield f"  {command(rule='perceptron', epochs=passes, holdout=0, **bias)}"
    elif certificate.separable is False:
        what = what_to_do(certificate)
        yield f"{what[0].upper()}{what[1:]}"
        yield f"  {command(rule='mira', **bias) if few_are_wrong(certificate) else command(rule='mlp')}"
    else:
        yield "It may still be either. Give it more time: --seconds"
