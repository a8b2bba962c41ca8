"""`markone certify`: whether a plane separates the classes, with a proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from markone.cli.options import FileName, Flag, Number, Reading
from markone.cli.shared_options import HeldFiles, Memory, NoProgress, Plot, Scaled, Spec, Target, Threads

if TYPE_CHECKING:
    from markone.theory.certificate import Certificate

POINTS_SHOWN = 12
DIGITS = 12
"""If a weight of a proof has more digits, the weights are shown relative to the largest."""
LEAST_PASSES, MOST_PASSES = 10, 10_000
"""Each pass except the last has a mistake, so a bound on mistakes is also one on passes. It is often far too high."""


def certify(
    *data: HeldFiles,
    target: Target = None,
    no_bias: Flag = False,
    tol: Number = 0.01,
    seconds: Number = 60.0,
    features: Spec = None,
    scaled: Scaled = False,
    save: FileName | None = None,
    plot: Plot = None,
    threads: Threads = None,
    memory: Memory = None,
    json: Flag = False,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Say whether a plane separates the classes, and prove it.

    If a plane separates them, the report gives a lower and an upper bound of the best margin, and the largest number of
    mistakes that a perceptron can make. If no plane does, a few examples prove it, and the report says how many rows
    prevent the separation. The features are those of `markone train`, but numbers are used as they are.

    For example:

    `markone certify reviews.csv --target label`

    `markone certify reviews.csv --target label --no-bias --tol 1e-6`

    `markone certify reviews.csv --target label --seconds 10 --json`

    `markone certify reviews.csv --target label --plot distances.svg`

    Parameters
    ----------
    no_bias
        The plane must go through the origin.
    tol
        The relative difference between the two bounds of the margin at which the search stops.
    seconds
        The time limit of the search, without reading. After it, the report gives the bounds that were reached.
    save
        Also save the complete certificate as JSON, with the planes and the weights of the examples.
    json
        Print one JSON object instead of the report. It contains everything except the planes.
    """
    from markone.cli.commands import train_command
    from markone.cli.output import check_not_read, write_page
    from markone.cli.pictures import check_picture, of_certificate, save_picture
    from markone.cli.progress import wished
    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines, in_json, print_json
    from markone.cli.terminal import say
    from markone.theory.advice import SECONDS, with_bias
    from markone.theory.certifying import certify as search

    check_not_read(save, *data, features)
    check_picture(plot, *data, features, written=[save])
    source = open_rows("certify", data, reading, target=target, threads=threads)
    find = partial(
        search,
        source,
        features=features,
        scaled=scaled,
        tol=tol,
        threads=threads,
        memory=memory,
        progress=wished(quiet=quiet),
    )
    certificate = find(bias=not no_bias, seconds=seconds)
    write_page(save, lambda: in_json(certificate.as_dict()))
    save_picture(plot, lambda: of_certificate(certificate, source), f"The certificate of {source.name}")
    if json:
        print_json({**without_planes(certificate.as_dict()), "bad_lines": source.bad.count})
        return
    command = partial(train_command, data, target, features=features, reading=reading)
    biased = with_bias(certificate, lambda: find(bias=True, seconds=min(seconds, SECONDS)))
    say("\n".join([str(certificate), *proof_table(certificate), *advice(certificate, biased, command)]))
    bad_lines(source.bad)


def without_planes(facts: Any) -> Any:
    """Return the facts without the planes, which have one number for each feature."""
    if not isinstance(facts, dict):
        return facts
    return {name: without_planes(one) for name, one in facts.items() if name not in ("plane", "bound_plane")}


def proof_table(certificate: Certificate) -> Iterator[str]:
    """Yield the lines of a table of the examples in the proof, with their labels and weights."""
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
        yield "A row of zeros lies on every plane through the origin, so it is on neither side:"
    elif not several and len({*proof.labels}) == 1:
        yield "With these weights, the weighted sum of these examples is 0:"
    elif len({*proof.labels, *proof.rivals}) == 2:
        yield "With these weights, the weighted sums of the examples of both classes are equal:"
    else:
        yield "With these weights, the sum of what should score higher equals the sum of what should score lower:"
    yield str(Grid([heads], rows[:POINTS_SHOWN]))
    if len(rows) > POINTS_SHOWN:
        yield f"... and {len(rows) - POINTS_SHOWN} more; --json prints all of them, with integer weights"


def advice(certificate: Certificate, biased: Certificate | None, command: Callable[..., str]) -> Iterator[str]:
    """Yield advice on what to do next, with a command. `biased` is a certificate with a bias, if it may help."""
    from markone.features.map import SCALES
    from markone.theory.advice import few_are_wrong, what_to_do

    yield ""
    bias = {} if certificate.bias else {"bias": False}
    raw = {"scaled": False} if (certificate.numbers or "").startswith(SCALES["none"]) else {}
    if certificate.separable is False:
        what = what_to_do(certificate, biased)
        yield f"{what[0].upper()}{what[1:]}"
    if certificate.separable:
        yield from separating(certificate, partial(command, **bias, **raw))
    elif biased is not None and biased.separable:
        yield from separating(biased, partial(command, **raw))
    elif certificate.separable is False:
        linear = command(rule="mira", **bias, **(raw if bias else {}))  # centring would move planes through the origin
        yield f"  {linear if few_are_wrong(certificate) else command(rule='mlp')}"
    else:
        yield "The classes may or may not be separable. Allow more time with --seconds."


def separating(certificate: Certificate, command: Callable[..., str]) -> Iterator[str]:
    """Yield the command of a perceptron that separates the classes, and how many passes it may need."""
    from markone.model.bounds import whole

    bound = math.inf if certificate.mistake_bound is None else certificate.mistake_bound
    passes = int(min(max(LEAST_PASSES, bound + 1), MOST_PASSES))
    yield "With enough passes, a perceptron classifies all these rows correctly:"
    yield f"  {command(rule='perceptron', epochs=passes, holdout=0, average=False)}"
    if bound >= MOST_PASSES:
        most = f"up to {whole(bound)} passes" if math.isfinite(bound) else "any number of passes"
        yield f"In theory, {most} may be needed. The command makes at most {passes:,}, which are often enough."
