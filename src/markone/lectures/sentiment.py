"""Topics on a sentiment classifier: vectors, document features, the sum z, the sigmoid, and the losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from markone import reference
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid, plain_number

REVIEW = (
    "The plot is slow and the jokes are stale, yet the old harbour looks splendid in every shot. There is no villain "
    "to speak of, only weather, and I found that a relief. The captain is a delight, dry as salt, and her crew sing "
    "as badly as sailors do. Bring a coat, take your uncle, and then you will leave here quite content."
)
"""A review of 64 words whose features are those of the lecture's review."""
LEXICONS = {"positive": ["splendid", "delight", "content"], "negative": ["slow", "stale", "dull"]}
DOCUMENT: dict[str, Any] = {
    "text": {
        "words": [],
        "signs": False,
        "lexicons": LEXICONS,
        "document": ["no", "pronouns", "exclamation", "log-words"],
    },
    "unit": False,
}
"""The spec of the six features."""
DEFINITIONS = {
    "positive": "count of positive lexicon words",
    "negative": "count of negative lexicon words",
    "no": "does “no” appear?",
    "pronouns": "1st and 2nd person pronouns",
    "!": "does “!” appear?",
    "ln words": "log of the word count",
}
WEIGHTS = {"positive": 2.5, "negative": -5.0, "no": -1.2, "pronouns": 0.5, "!": 2.0, "ln words": 0.7}
BIAS = 0.1
LOG_ON_THE_SLIDE = 4.15


def features_of(review: str) -> dict[str, float]:
    """Return the six features of a review."""
    from markone import FeatureMap, Features, read

    source = read([review, "no!"], target=["positive", "negative"])
    found = FeatureMap(Features(**DOCUMENT), source.columns).fit(source).named(review)
    return {name: float(found.get(name, 0.0)) for name in DEFINITIONS}


# ---- vectors

ANGLES = ((0, "same direction"), (60, ""), (90, "orthogonal"), (120, ""), (180, "opposite directions"))
DOCUMENTS = ("win the game", "win the vote", "win the game win the game", "stale jokes")


def show_cosine() -> Shown:
    v: reference.Vector = {"x": 2.0, "y": 0.0}
    rows = []
    for angle, meaning in ANGLES:
        w: reference.Vector = {"x": math.cos(math.radians(angle)), "y": math.sin(math.radians(angle))}
        rows.append([f"{angle}° {meaning}", f"{reference.dot(v, w):+.2f}", f"{reference.cosine(v, w):+.2f}"])
    vectors: list[reference.Vector] = [{word: text.split().count(word) for word in text.split()} for text in DOCUMENTS]
    words = [
        [text, *(f"{reference.cosine(vectors[i], other):.2f}" for other in vectors)] for i, text in enumerate(DOCUMENTS)
    ]
    head = ["document", *map(str, range(1, len(DOCUMENTS) + 1))]
    degrees = [float(angle) for angle in range(0, 181, 5)]
    return Shown(
        f"v has length {plain_number(math.sqrt(reference.length2(v)))}, w has length 1.\n"
        f"{Grid([['angle between v and w', 'v·w', 'cosine']], rows)}\n\n"
        f"Cosine similarity of word counts\n{Grid([head], words)}",
        (
            Chart(
                (
                    Line(degrees, [math.cos(math.radians(angle)) for angle in degrees], "cosine similarity", 0),
                    Line([0, 180], [0, 0], "orthogonal", 1, dashed=True),
                ),
                title="Cosine similarity depends on the angle only",
                x="angle in degrees",
                limits=(0, 180, -1.05, 1.05),
            ),
        ),
    )


# ---- features


def show_features() -> Shown:
    found = features_of(REVIEW)
    rows = [[f"x{i} {DEFINITIONS[name]}", plain_number(value)] for i, (name, value) in enumerate(found.items(), 1)]
    words = len(reference.tokenize(REVIEW))
    return Shown(
        f"{wrapped(REVIEW)}\n\n{Grid([['feature', 'value']], rows)}\n"
        f"The word count is {words}, and ln({words}) = {math.log(words):.4f}, "
        f"which is {LOG_ON_THE_SLIDE} on the slide.",
        (Chart((Bars([*found], [*found.values()]),), title="The six features of the review"),),
    )


def wrapped(text: str) -> str:
    import textwrap

    from markone.reporting.grids import SCREEN

    return textwrap.fill(text, SCREEN)


def reviews() -> Table:
    """Return the review, and a few others to learn from."""
    others = (
        ("positive", "A delight from start to end! You will laugh, and so did I."),
        ("positive", "Splendid music and a captain you can trust. We left content."),
        ("positive", "My uncle was content, and the weather in it is splendid!"),
        ("negative", "Slow, slow, slow. No jokes, no plot, and a dull villain."),
        ("negative", "The crew is dull and the songs are stale."),
        ("negative", "There is no reason to watch this slow film about sailors."),
    )
    return Table(["label", "text"], [["positive", REVIEW], *map(list, others)])


TEMPLATES: dict[str, Any] = {
    "text": {
        "words": [1, 1],
        "signs": False,
        "value": "count",
        "weight": "none",
        "min_count": 1,
        "templates": ["lower", "not"],
    },
    "unit": False,
}
TEMPLATE_TEXT = "Great cast, not a great plot. No great loss."


def show_templates() -> Shown:
    from markone import FeatureMap, Features, read

    source = read([TEMPLATE_TEXT, "plain"], target=["a", "b"])
    found = FeatureMap(Features(**TEMPLATES), source.columns).fit(source).named(TEMPLATE_TEXT)
    words = [name for name in found if ":" not in name and not name.startswith("NOT_")]
    kinds: dict[str, Callable[[str], str]] = {
        "count": lambda word: word,
        "lower case": lambda word: f"lower:{word}",
        "NOT before": lambda word: f"NOT_{word}",
    }
    rows = [[word, *(plain_number(found.get(name(word), 0.0)) for name in kinds.values())] for word in words]
    return Shown(
        f"“{TEMPLATE_TEXT}”\n{Grid([['word', *kinds]], rows)}\n"
        f"Three templates made {len(found)} features of {len(words)} different words.",
        (Chart((Bars([*found][:16], [float(value) for value in [*found.values()][:16]]),), title="Features by name"),),
    )


# ---- the classification function


def products() -> tuple[dict[str, float], float]:
    """Return the products of weight and value on the slide's values, and their sum z with the bias.

    >>> round(products()[1], 3)
    0.805
    """
    x = {**features_of(REVIEW), "ln words": LOG_ON_THE_SLIDE}
    made = {name: WEIGHTS[name] * value for name, value in x.items()}
    return made, sum(made.values()) + BIAS


def show_z() -> Shown:
    made, z = products()
    rows = [
        [DEFINITIONS[name], plain_number(made[name] / WEIGHTS[name]), str(WEIGHTS[name]), plain_number(made[name])]
        for name in made
    ]
    rows.append(["bias", "1", str(BIAS), str(BIAS)])
    exact = z + WEIGHTS["ln words"] * (math.log(len(reference.tokenize(REVIEW))) - LOG_ON_THE_SLIDE)
    return Shown(
        f"{Grid([['definition', 'value', 'weight', 'product']], rows, [['z', '', '', plain_number(z)]])}\n"
        f"With ln 64 unrounded, z = {exact:.4f}.\n"
        f"σ({plain_number(z)}) = 1 / (1 + exp(-{plain_number(z)})) = {reference.sigmoid(z):.2f}, "
        "which is more than 0.5: positive.",
        (
            Chart(
                (Bars([*made, "bias"], [*made.values(), BIAS]),),
                title=f"Products, whose sum is z = {plain_number(z)}",
            ),
        ),
    )


def show_sigmoid() -> Shown:
    _, z = products()
    values = [-6.0, -2.0, -1.0, 0.0, z, 2.0, 6.0]
    rows = [
        [plain_number(value), f"{reference.sigmoid(value):.4f}", "yes" if reference.sigmoid(value) > 0.5 else "no"]
        for value in values
    ]
    grid = [i / 10 for i in range(-60, 61)]
    return Shown(
        f"{Grid([['z', 'P(y=1) = σ(z)', 'more than 0.5?']], rows)}\nσ(z) > 0.5 exactly where z > 0.",
        (
            Chart(
                (
                    Line(grid, [*map(reference.sigmoid, grid)], "σ(z)", 0),
                    Line([-6, 6], [0.5, 0.5], "decision boundary 0.5", 1, dashed=True),
                    Points([z], [reference.sigmoid(z)], "the review", 2),
                ),
                title="The sigmoid makes a probability of any number z",
                x="z",
                y="P(y=1)",
                limits=(-6, 6, 0, 1),
            ),
        ),
    )


# ---- the objective function


def show_losses() -> Shown:
    rows = []
    for p in (0.99, 0.69, 0.5, 0.31, 0.01):
        z = math.log(p / (1 - p))
        rows.append([f"{p:.2f}", f"{reference.squared_error([z], 1):.4f}", f"{reference.cross_entropy(z, 1):.4f}"])
    table = Grid([["ŷ if y = 1", "½(ŷ - y)²", "cross-entropy"]], rows)
    grid = [i / 20 for i in range(-100, 101)]
    wrong = -5.0
    p = reference.sigmoid(wrong)
    cross, square = p - 1, (p - 1) * p * (1 - p)
    return Shown(
        f"{table}\nAt z = {wrong:.0f}, a confident mistake, the slope of the cross-entropy is {cross:.3f},\n"
        f"and that of the squared error is only {square:.5f}.",
        (
            Chart(
                (
                    Line(grid, [reference.cross_entropy(z, 1) for z in grid], "cross-entropy", 0),
                    Line(grid, [reference.squared_error([z], 1) for z in grid], "½(ŷ - y)²", 1, dashed=True),
                ),
                title="Two losses of ŷ = σ(z) if y = 1",
                x="z",
                y="loss",
            ),
        ),
    )


def show_cross_entropy() -> Shown:
    _, z = products()
    p = reference.sigmoid(z)
    rows = []
    for y in (1, 0):
        both_in_one = p**y * (1 - p) ** (1 - y)
        rows.append(
            [f"y = {y}", f"{p if y else 1 - p:.2f}", f"{both_in_one:.2f}", f"{reference.cross_entropy(z, y):.2f}"]
        )
    grid = [i / 100 for i in range(1, 100)]
    return Shown(
        f"ŷ = P(positive | review) = {p:.2f}\n"
        f"{Grid([['right label', 'p(y|x)', 'ŷ^y (1 - ŷ)^(1 - y)', '-ln p(y|x)']], rows)}",
        (
            Chart(
                (
                    Line(grid, [-math.log(q) for q in grid], "y = 1: -ln ŷ", 0),
                    Line(grid, [-math.log(1 - q) for q in grid], "y = 0: -ln(1 - ŷ)", 1, dashed=True),
                    Points([p, p], [reference.cross_entropy(z, y) for y in (1, 0)], "the review", 0),
                ),
                title="Cross-entropy loss: low if the prediction is right, high if it is wrong",
                x="ŷ",
                y="loss",
                limits=(0, 1, 0, 4),
            ),
        ),
    )


TOPICS = (
    Topic(
        name="linear-algebra",
        title="30 second linear algebra: dot product, cosine similarity",
        claim="The dot product is the sum of the products of the components. Cosine similarity divides it by both "
        "lengths: +1 for the same direction, 0 for orthogonal vectors, -1 for opposite directions. Word frequencies "
        "are not negative, so their cosine is between 0 and 1.",
        show=show_cosine,
        question="Why do documents 1 and 3 have a cosine of 1 although one is twice as long?",
        answer="Their vectors point in the same direction: cosine similarity ignores the lengths. Their dot product "
        "would be larger.",
        terms=("dot product", "vector length", "cosine similarity", "orthogonal"),
    ),
    Topic(
        name="document-features",
        title="Sentiment classifier: feature representation",
        claim="Six numbers represent a review: counts of words of two lexicons, whether “no” and “!” appear, the "
        "number of pronouns, and the logarithm of the word count. This review of our own has the values of the "
        "lecture's review.",
        show=show_features,
        question="Which words are the three pronouns of the 1st and 2nd person?",
        answer="“I”, “your” and “you”. “Her” is of the 3rd person.",
        terms=("feature representation", "sentiment", "lexicon", "binary feature", "word count"),
        data=reviews,
        commands=("markone train {data} --target label --rule logistic",),
    ),
    Topic(
        name="feature-templates",
        title="Feature templates: many features at once",
        claim="A feature template generates many features at once. For each word: its count, its count in lower case, "
        "and its count after a negation (NOT_).",
        show=show_templates,
        question="Which template tells the two sentences “great plot” and “not a great plot” apart?",
        answer="The third: NOT_great and NOT_plot occur only in the negated sentence. The counts of great and plot are "
        "the same in both.",
        terms=("feature templates", "word count", "lower case", "NOT"),
        data=reviews,
        commands=("markone train {data} --target label",),
    ),
    Topic(
        name="computing-z",
        title="Computing z, and sigmoid(z)",
        claim="z = Σ w·x + b is the sum of weight times value, plus the bias. It is a real number, not a probability; "
        "the sigmoid makes one of it.",
        show=show_z,
        question="What would a “!” in the review change?",
        answer="x5 would be 1, so z would grow by its weight 2.0 to 2.805, and σ(2.805) = 0.94.",
        terms=("dot product", "weights", "bias term", "sigmoid", "logistic regression"),
    ),
    Topic(
        name="sigmoid",
        title="Sigmoid function and decision boundary",
        claim="P(y=1) = σ(z) = 1 / (1 + exp(-z)). A test instance is classified as yes if the probability is more "
        "than 0.5, and as no otherwise. 0.5 is the decision boundary.",
        show=show_sigmoid,
        question="Without the sigmoid the classifier is only a linear function. Does the sigmoid change a decision?",
        answer="No: σ(z) > 0.5 exactly where z > 0, so the boundary is the same hyperplane. The sigmoid is needed for "
        "probabilities and for the loss.",
        terms=("sigmoid", "decision boundary", "probability", "hyperplane", "threshold"),
    ),
    Topic(
        name="loss-functions",
        title="Loss functions: squared error and cross-entropy",
        claim="A loss says how much the output ŷ = σ(w·x + b) differs from the right y. Two examples are the squared "
        "error ½(ŷ - y)² and the cross-entropy -ln p(y|x).",
        show=show_losses,
        question="Why is the cross-entropy the better loss for probabilities?",
        answer="It grows without limit when the prediction is confident and wrong, so its slope stays steep there, and "
        "it is convex in the weights. The squared error of a sigmoid is almost flat for a confident mistake.",
        terms=("loss function", "mean squared error", "cross-entropy loss", "objective function"),
    ),
    Topic(
        name="cross-entropy",
        title="Cross-entropy loss: example",
        claim="Learning maximises the probability of the right labels (conditional maximum likelihood). With the "
        "sign flipped, -ln p(y|x) is the cross-entropy loss: it is lower if the prediction is right.",
        show=show_cross_entropy,
        question="For which ŷ is the loss the same whichever label is right?",
        answer="For ŷ = 0.5: both losses are ln 2 = 0.69.",
        terms=("cross-entropy loss", "negative log likelihood", "conditional MLE", "log likelihood"),
    ),
)
"""Topics of the lecture on discriminative classification."""
