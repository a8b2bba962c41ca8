"""Plots a certificate: two features in the plane, more by the distances of the examples from the best plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from markone.errors import DataError
from markone.model.margins import functional_margins
from markone.plots.colours import INK, QUIET
from markone.plots.drawing import SMALL, entitle, finished, mark_of, name_axes, name_text, new_figure, tidy
from markone.plots.margin_histogram import BINS, draw_spread
from markone.plots.plane import SIDE, Points, crossing, draw_points, frame
from markone.theory.margins import Spread, even_edges
from markone.theory.points import Points as Examples
from markone.theory.points import open_points

if TYPE_CHECKING:
    from markone.theory.certificate import Certificate

RING = 11
"""The size of the ring around an example that matters."""
MOST_JOINED = 40
"""The largest number of examples of a proof that are joined. More lines would hide the points."""


def certificate(certificate: Certificate, X: Any, y: Any = None) -> Figure:
    """Draw what a certificate says about its examples.

    Two features are drawn as points in the plane. Where the classes can be separated: the boundary and, of two classes,
    the band that its margin leaves free; the examples that the margin rests on are ringed. Where they cannot: the
    examples of the proof are ringed, and those of a class joined. With a bias, the joined ones of both classes meet in
    a point, the star; without, they are joined with the origin, too.

    More features cannot be drawn without loss. The picture is then a histogram of the exact distances of all examples
    from the plane that separates them or, if there is none, from the best plane that was found. Distances are negative
    on the wrong side. Of more than two classes, they are differences of scores, divided by the length of the weights.

    Parameters
    ----------
    certificate
        The result of `markone.certify`.
    X
        The examples that were certified.
    y
        Their labels, if they are not in `X`.

    Examples
    --------
    >>> import markone
    >>> from markone.plots import certificate
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> figure = certificate(markone.certify(X, y), X, y)
    >>> figure.axes[0].get_title(loc="left")
    'No line separates these 4 points'
    """
    examples = open_points(X, y, certificate.spec, bias=certificate.bias)
    if len(examples) != certificate.rows or examples.features != certificate.features:
        raise DataError(
            f"the certificate is of {certificate.rows:,} rows of {certificate.features:,} features; here are "
            f"{len(examples):,} rows of {examples.features:,}"
        )
    if examples.classes != certificate.classes:
        known, found = (", ".join(map(repr, some[:5])) for some in (certificate.classes, examples.classes))
        raise DataError(f"the classes of the certificate are {known}, and those of the examples are {found}")
    return in_the_plane(certificate, examples) if examples.features == 2 else distances(certificate, examples)


# ---- more features


def distances(certificate: Certificate, examples: Examples) -> Figure:
    """Draw the distances of all examples from a plane."""
    kind = "plane" if certificate.bias else "plane through the origin"
    if certificate.plane is not None:
        plane = certificate.plane
        title = f"A margin of {certificate.bracket[0]:.4g}; no {kind} has more than {certificate.bracket[1]:.4g}"
    else:
        least = certificate.removal or certificate.hinge
        if least is None:
            raise DataError("this certificate has no plane to draw, because time ran out; allow more seconds")
        plane, title = least.plane, f"No {kind} separates these {len(examples):,} rows; this one comes closest"
    weights, bias = (np.asarray(part, np.float64) for part in (plane.weights, plane.bias))
    functional = functional_margins(examples.matrix @ weights + bias, examples.truth)
    spread = Spread(functional, float(np.linalg.norm(weights)))
    figure = new_figure(6, 3.2)
    axes = figure.add_subplot()
    draw_spread(axes, spread, even_edges(spread.smallest, float(spread.geometric.max()), BINS))
    wrong = int((spread.functional <= 0).sum())
    entitle(axes, f"{title}\n{wrong:,} of {len(examples):,} examples are not on the right side")
    name_axes(axes, "distance from the plane" if len(certificate.classes) == 2 else "margin", "examples")
    return finished(figure, title)


# ---- two features


def in_the_plane(certificate: Certificate, examples: Examples) -> Figure:
    matrix = examples.matrix.toarray() if examples.is_sparse else examples.matrix
    points, numbers = np.asarray(matrix, np.float64), examples.truth
    figure = new_figure(6, 4.5)
    axes = tidy(figure.add_subplot(), grid=None)
    handles = draw_points(axes, points, numbers, certificate.classes)
    low, high = frame(points)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    if certificate.plane is not None:
        handles += draw_plane(axes, certificate, low, high)
        title = f"A margin of {certificate.bracket[0]:.4g}; no line has more than {certificate.bracket[1]:.4g}"
        ringed = [] if certificate.support is None else certificate.support.rows.tolist()
        what = "support vectors"
    elif certificate.proof is not None:
        handles += draw_proof(axes, certificate, points, numbers)
        title, ringed, what = f"No line separates these {len(points):,} points", [*certificate.proof.rows], "proof"
    else:
        title, ringed, what = f"Whether a line separates these {len(points):,} points is not decided", [], ""
    if ringed:
        handles += axes.plot(*points[ringed].T, "o", markersize=RING, markerfacecolor="none", color=INK, label=what)
    entitle(axes, title)
    names = ("feature 0", "feature 1") if examples.names is None else (examples.names[0], examples.names[1])
    name_axes(axes, *map(name_text, names))
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=SMALL)
    return finished(figure, title)


def draw_plane(axes: Axes, certificate: Certificate, low: Points, high: Points) -> list[Line2D]:
    """Draw the boundary and, for two classes, the margins; return the entries of the legend."""
    assert certificate.plane is not None
    weights, bias = (np.asarray(part, np.float64) for part in (certificate.plane.weights, certificate.plane.bias))
    style = {"color": INK, "linewidth": 1.5, "label": "boundary"}
    if len(bias) > 1:
        across, up = (np.linspace(low[i], high[i], SIDE) for i in range(2))
        scores = [np.add.outer(up * w[1], across * w[0]) + b for w, b in zip(weights.T, bias, strict=True)]
        best = np.stack(scores).argmax(axis=0)
        for number in range(len(bias)):
            axes.contour(across, up, best == number, levels=[0.5], colors=[INK], linewidths=[1.5])
        return [Line2D([], [], **style)]  # type: ignore[arg-type]
    size, norm, found = high - low, float(np.linalg.norm(weights)), {}
    for level in (0.0, certificate.bracket[0], -certificate.bracket[0]):
        a, b = (weights[:, 0] * size).tolist()
        ends = crossing(a, b, float(weights[:, 0] @ low + bias[0]) - level * norm)
        if ends is not None:
            how = {"color": QUIET, "linewidth": 1.2, "linestyle": (0, (4, 3)), "label": "margins"} if level else style
            [line] = axes.plot(*(low + ends * size).T, **how)  # type: ignore[arg-type]
            found[line.get_label()] = line
    return list(found.values())


def draw_proof(axes: Axes, certificate: Certificate, points: Points, numbers: NDArray[np.int64]) -> list[Line2D]:
    """Join the examples of each class in the proof, and mark the point where both sides meet."""
    proof = certificate.proof
    assert proof is not None
    rows = list(proof.rows)[:MOST_JOINED]
    for number in sorted({int(numbers[row]) for row in rows}):
        ends = [points[row] for row in rows if numbers[row] == number]
        if not certificate.bias:
            ends.append(np.zeros(2))
        for i, one in enumerate(ends):
            for other in ends[i + 1 :]:
                axes.plot(*np.array([one, other]).T, color=mark_of(number).colour, linewidth=1, alpha=0.7, zorder=1)
    first = int(numbers[rows[0]])
    side = [i for i, row in enumerate(proof.rows) if numbers[row] == first]
    if len({int(numbers[row]) for row in proof.rows}) != 2 or not certificate.bias:
        return []
    shares = np.array([float(proof.weights[i] / max(proof.weights)) for i in side])
    meeting = shares @ points[[proof.rows[i] for i in side]] / shares.sum()
    return axes.plot(*meeting, "*", color=INK, markersize=9, zorder=4, label="where both sides meet")
