"""Topics on more than two classes: a weight vector for each class."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from markone import reference
from markone.lectures.planes import product
from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Bars, Chart, Points

HEADLINE = "win the vote"
CLASSES: dict[str, reference.Vector] = {
    "SPORTS": {"BIAS": -2, "win": 4, "game": 4, "vote": 0, "the": 0},
    "POLITICS": {"BIAS": 1, "win": 2, "game": 0, "vote": 4, "the": 0},
    "TECH": {"BIAS": 2, "win": 0, "game": 2, "vote": 0, "the": 0},
}


def show_multiclass() -> Shown:
    names = [*CLASSES["SPORTS"]]
    x = {name: int(name == "BIAS" or name in HEADLINE.split()) for name in names}
    scores = {name: reference.dot(w, x) for name, w in CLASSES.items()}
    rows: list[list[object]] = [[name, x[name], *(w[name] for w in CLASSES.values())] for name in names]
    rows.append(["activation", "", *scores.values()])
    winner = max(scores, key=lambda name: scores[name])
    return Shown(
        f"{grid(['feature', 'x', *(f'w {name}' for name in CLASSES)], rows)}\n{winner} has the highest activation.",
        (Chart((Bars([*scores], [*scores.values()]),), title=f"Activations of “{HEADLINE}”"),),
    )


THREE_WEIGHTS = ((0.0, 1.0), (1.0, -0.5), (-1.0, -0.5))


def show_regions() -> Shown:
    places = [(x / 2, y / 2) for x in range(-6, 7) for y in range(-6, 7)]
    winners: dict[int, list[tuple[float, float]]] = {}
    for place in places:
        scores = [product(w, place) for w in THREE_WEIGHTS]
        winners.setdefault(reference.winner(scores, range(3), "error") + 1, []).append(place)
    rows = [
        [
            place,
            *(product(w, place) for w in THREE_WEIGHTS),
            1 + reference.winner([product(w, place) for w in THREE_WEIGHTS], range(3), "error"),
        ]
        for place in ((0.0, 2.0), (2.0, 0.0), (-2.0, -1.0), (1.0, 1.0))
    ]
    parts = [
        Points([x for x, _ in found], [y for _, y in found], f"class {number}", number - 1)
        for number, found in sorted(winners.items())
    ]
    chart = Chart(
        (*parts,), title="The class that wins at each point", x="x1", y="x2", limits=(-3.3, 3.3, -3.3, 3.3), square=True
    )
    return Shown(grid(["x", "w1·x", "w2·x", "w3·x", "class"], rows), (chart,))


HEADLINES = (
    ("SPORTS", "win the game"),
    ("POLITICS", "win the vote"),
    ("TECH", "the new game"),
    ("POLITICS", "the election"),
)


def counted(labelled: Sequence[tuple[str, str]]) -> Table:
    """Return labelled texts as a table with a column for each word, which counts it.

    >>> counted([("SPORTS", "win win"), ("TECH", "new")]).rows
    [['win win', 2, 0, 'SPORTS'], ['new', 0, 1, 'TECH']]
    """
    words = list(dict.fromkeys(word for _, text in labelled for word in text.split()))
    rows = [[text, *(text.split().count(word) for word in words), label] for label, text in labelled]
    return Table(["text", *words, "label"], rows)


def show_updates() -> Shown:
    from markone import trace

    run = trace(
        [text for _, text in HEADLINES],
        [label for label, _ in HEADLINES],
        features={"text": {"words": [1, 1], "value": "count", "weight": "none"}, "unit": False},
        average=False,
        steps=None,
        only_mistakes=True,
    )
    final = run.weights()
    words = [*counted(HEADLINES).columns[1:-1], "BIAS"]
    rows = [[word, *(w.get(word, 0) for w in final.values())] for word in words]
    lines = []
    for step in run:
        pulls = step.pulls or {}
        moved = ", ".join(
            f"{'+' if pull > 0 else '-'} x for {name}" for name, pull in sorted(pulls.items(), key=itemgetter(1))
        )
        lines.append([f"{step.epoch}, {step.rows[0] + 1}", HEADLINES[step.rows[0]][1], str(step.label), moved])
    return Shown(
        f"{grid(['pass, row', 'x', 'label', 'update'], lines)}\n{run.mistakes} mistakes. The weights at the end:\n"
        f"{grid(['feature', *final], rows)}",
        (Chart((Bars(words, [final["POLITICS"].get(word, 0) for word in words]),), title="Weights of POLITICS"),),
    )


TOPICS = (
    Topic(
        name="multiclass",
        title="Multiclass decision rule: “win the vote”",
        claim="Each class has its own weight vector, and an activation. The class with the highest activation wins.",
        show=show_multiclass,
        question="Which word would you add so that SPORTS wins?",
        answer="“game”: it adds 4 to SPORTS and 2 to TECH, so that “win the vote game” has 6, 7 and 4; a second “game” "
        "makes it 10, 7 and 6.",
        terms=("multiclass decision rule", "highest activation wins", "weight vector for each class", "argmax"),
    ),
    Topic(
        name="regions",
        title="Fitting three planes: predict i when w_i·x is highest",
        claim="With three weight vectors, the plane is divided into three regions. The border of two regions is the "
        "line on which their activations are equal.",
        show=show_regions,
        question="On which line are classes 1 and 2 tied?",
        answer="Where (w1 - w2)·x = 0, which is -x1 + 1.5 x2 = 0.",
        terms=("multiclass", "three planes", "regions", "decision boundary"),
    ),
    Topic(
        name="multiclass-updates",
        title="The multi-class perceptron algorithm",
        claim="If the wrong class wins, the features of the example are subtracted from its weights, and added to the "
        "weights of the right class. All other classes stay as they are.",
        show=show_updates,
        question="Why do the weights of each feature always sum to 0 over the classes?",
        answer="They start at 0, and each update adds and subtracts the same vector.",
        terms=("multi-class perceptron", "predicted class", "correct class", "update"),
        data=lambda: counted(HEADLINES),
        commands=("markone trace {data} --target label --kinds text=ignore --only-mistakes",),
    ),
)
