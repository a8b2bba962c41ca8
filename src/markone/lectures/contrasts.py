"""Topics that compare ways to classify: with and without probabilities, linear or not."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

from markone import reference
from markone.lectures.mail import made_reviews, reviews_table
from markone.lectures.planes import Example, classes_of, labels_of, made_points, rows_of, table_of
from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Bars, Chart, Line, Points

if TYPE_CHECKING:
    from markone.model.model import Model

# ---- probabilities, or not

MAIL = (
    ("spam", "free money now"),
    ("spam", "free offer"),
    ("spam", "win money free"),
    ("spam", "see our offer"),
    ("ham", "see you now"),
    ("ham", "money for the rent"),
    ("ham", "see the report"),
    ("ham", "are you free"),
    ("ham", "the report is late"),
    ("ham", "lunch now"),
)


def mail() -> Table:
    return Table(["label", "text"], MAIL)


def words(text: str) -> dict[Any, int]:
    return dict(Counter(text.split()))


def perceptron_of_mail() -> dict[Any, float]:
    """Return the weights of a perceptron for “spam”."""
    learner = reference.Learner(2)
    for _ in range(20):
        learner.learn([(words(text), int(label == "spam"), 1) for label, text in MAIL])
    return learner.w[1]


def show_probabilities() -> Shown:
    counts = Counter(("free" in text.split(), label) for label, text in MAIL)
    joint = {key: counts[key] / len(MAIL) for key in ((True, "spam"), (True, "ham"), (False, "spam"), (False, "ham"))}
    w = perceptron_of_mail()
    rows = []
    for (free, label), share in joint.items():
        total = sum(value for (other, _), value in joint.items() if other == free)
        rows.append(["free" if free else "no “free”", label, counts[free, label], share, share / total])
    names = [f"{'free' if free else 'no free'}, {label}" for free, label in joint]
    return Shown(
        f"{grid(['x', 'y', 'messages', 'P(x, y)', 'P(y | x)'], rows)}\nThe joint probabilities sum to "
        f"{sum(joint.values()):.0f}, and the conditional ones for each x. A perceptron has no probabilities: its "
        f"weight of “free” is {w['free']:+.0f}.",
        (Chart((Bars(names, list(joint.values())),), title="The joint distribution P(x, y)"),),
    )


def show_generative() -> Shown:
    vocabulary = sorted({word for _, text in MAIL for word in text.split()})
    model = reference.NaiveBayes(("ham", "spam"), vocabulary)
    model.learn([(words(text), label, 1) for label, text in MAIL])
    chance = random.Random(4)
    lines = []
    for label in ("ham", "spam"):
        [table] = model.draws(label)
        for _ in range(3):
            drawn = chance.choices(vocabulary, [float(table[word]) for word in vocabulary], k=4)
            lines.append([label, f"{float(model.prior(label)):.1f}", " ".join(drawn)])
    w = perceptron_of_mail()
    [spam], [ham] = model.draws("spam"), model.draws("ham")
    common = sorted(vocabulary, key=lambda word: -abs(w.get(word, 0)))[:8]
    ratios = [math.log(float(spam[word]) / float(ham[word])) for word in common]
    return Shown(
        "Messages drawn from naive Bayes, first the class and then each word:\n"
        + grid(["class", "P(class)", "message"], lines)
        + "\nA perceptron trained on the same messages has weights, from which nothing can be drawn.",
        (
            Chart((Bars(common, ratios),), title="Naive Bayes: ln P(word|spam) - ln P(word|ham)"),
            Chart((Bars(common, [w.get(word, 0) for word in common]),), title="Perceptron: weight for spam"),
        ),
    )


# ---- three learning algorithms on the same texts

TRAINED, TESTED = 200, 600


def show_three_views() -> Shown:
    from markone import train

    texts, labels = made_reviews(TRAINED, 1)
    new_texts, new_labels = made_reviews(TESTED, 2)
    how: dict[str, dict[str, Any]] = {
        "naive Bayes": {"rule": "naive-bayes"},
        "logistic regression": {"rule": "logistic"},
        "perceptron": {"rule": "perceptron", "patience": 3, "holdout": 0.2, "epochs": 30},
    }
    sources = ("counts", "gradient ascent", "mistakes")
    models: dict[str, Model] = {name: train(texts, target=labels, **settings) for name, settings in how.items()}
    rows, shares = [], []
    for (name, model), source in zip(models.items(), sources, strict=True):
        shares.append(model.accuracy(new_texts, new_labels))
        rows.append([name, source, len(model.history.passes), model.scorer.has_probabilities, shares[-1]])
    heads = ["algorithm", "parameters from", "passes", "probabilities", "accuracy"]
    return Shown(
        f"{grid(heads, rows)}\n{TRAINED} hotel reviews for training, and {TESTED} new ones for accuracy.",
        (Chart((Bars([*models], [100 * share for share in shares]),), title="Accuracy on new reviews, in percent"),),
    )


# ---- three boundaries

CLUSTERS = made_points(24, 14, lambda x, y: x + y - 0.25 * x * x + 0.3)
NEXT = (0.6, -0.9)


def show_next_point() -> Shown:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    from markone import Perceptron

    xs, ys = rows_of(CLUSTERS), labels_of(CLUSTERS)
    models = {
        "1-NN": KNeighborsClassifier(1).fit(xs, ys),
        "decision tree": DecisionTreeClassifier(random_state=0).fit(xs, ys),
        "linear classifier": Perceptron(max_iter=100, random_state=0).fit(xs, ys),
    }
    places = [[x / 5, y / 2.5] for x in range(-16, 17) for y in range(-8, 9)]
    rows, charts = [], []
    for name, model in models.items():
        wrong = sum(int(found) != y for found, y in zip(model.predict(xs), ys, strict=True))
        rows.append([name, wrong, f"{int(model.predict([list(NEXT)])[0]):+d}"])
        found = [int(one) for one in model.predict(places)]
        inside = [place for place, sign in zip(places, found, strict=True) if sign > 0]
        region = Points([x for x, _ in inside], [y for _, y in inside], "region of +1", 5)
        charts.append(
            Chart(
                (region, *classes_of(CLUSTERS), Points([NEXT[0]], [NEXT[1]], "the next point", 4)),
                title=f"{name}: the region of +1",
                x="x1",
                y="x2",
                limits=(-3.3, 3.3, -3.3, 3.3),
            )
        )
    return Shown(grid(["classifier", "training mistakes", f"class of {NEXT}"], rows), tuple(charts))


# ---- what the perceptron assumes

RING = made_points(300, 3, lambda x, y: x * x + y * y - 4.5, gap=0.2)


def columns_of(examples: list[Example]) -> dict[str, list[float]]:
    """Return the points as columns with names, from which products can be made."""
    return {f"x{i + 1}": [x[i] for x, _ in examples] for i in range(2)}


def show_inductive_bias() -> Shown:
    from markone import train

    learned, tested = RING[:150], RING[150:]
    passes = (1, 2, 5, 10, 20, 50)
    found: dict[int, list[float]] = {}
    for degree in (1, 2):
        for epochs in passes:
            model = train(
                columns_of(learned),
                target=labels_of(learned),
                rule="perceptron",
                epochs=epochs,
                features={"degree": degree},
            )
            found.setdefault(degree, []).append(model.accuracy(columns_of(tested), labels_of(tested)))
    rows = [[number, found[1][i], found[2][i]] for i, number in enumerate(passes)]
    circle = [math.tau * i / 60 for i in range(61)]
    radius = math.sqrt(4.5)
    ring = Line([radius * math.cos(a) for a in circle], [radius * math.sin(a) for a in circle], "target", 2)
    return Shown(
        grid(["iterations", "x1, x2", "and x1², x1·x2, x2²"], rows) + "\nAccuracy on 150 held-out points.",
        (
            Chart(
                (ring, *classes_of(tested)),
                title="The held-out points",
                x="x1",
                y="x2",
                limits=(-3.3, 3.3, -3.3, 3.3),
                square=True,
            ),
        ),
    )


TOPICS = (
    Topic(
        name="probabilities",
        title="Who needs probabilities?",
        claim="Naive Bayes models the joint distribution P(X, Y), and logistic regression the conditional P(Y|X). To "
        "predict, only the more probable class is needed. The perceptron is error-driven: it learns a function to the "
        "classes directly, without any distribution.",
        show=show_probabilities,
        question="What can you compute from P(x, y), but not from P(y | x)?",
        answer="P(x), that is how usual a message is, and P(x | y), from which messages can be drawn.",
        terms=("joint", "conditional", "distribution", "error-driven", "naive Bayes", "logistic regression"),
        data=mail,
        commands=(
            "markone train {data} --target label --kinds text=text --rule naive-bayes",
            "markone train {data} --target label --kinds text=text --rule logistic",
        ),
    ),
    Topic(
        name="generative",
        title="Generative vs. discriminative",
        claim="A generative classifier, such as naive Bayes, models how examples arise, so new ones can be drawn from "
        "it; it asks for the class by Bayes' rule. A discriminative one predicts the label directly from the features, "
        "without such a model, and is driven by mistakes.",
        show=show_generative,
        question="Why do the drawn messages make no sense, although the classifier works?",
        answer="Naive Bayes draws each word independently of the others. For classification this is often good enough.",
        terms=(
            "generative",
            "discriminative",
            "naive Bayes",
            "mistake driven rather than model driven",
            "evidence",
            "sample",
        ),
        data=mail,
        commands=(
            "markone train {data} --target label --kinds text=text --rule naive-bayes -o mail.model",
            "markone explain mail.model",
        ),
    ),
    Topic(
        name="three-views",
        title="Three views of classification",
        claim="Naive Bayes counts, in one pass over the data. Logistic regression ascends the gradient of the "
        "likelihood, and is regularized. The perceptron reacts to mistakes, pass after pass, until held-out accuracy "
        "no longer rises. The first two have a probabilistic interpretation.",
        show=show_three_views,
        question="Which of the three would you use if a new example must be learned every second?",
        answer="Naive Bayes only adds to its counts, and the perceptron takes one step. Logistic regression in batches "
        "would have to start again.",
        terms=(
            "three views of classification",
            "data statistics",
            "gradient ascent",
            "reactions to mistakes",
            "one pass through the data",
            "held-out accuracy maxes out",
            "naive Bayes",
            "logistic regression",
        ),
        data=lambda: reviews_table(TRAINED),
        commands=("markone compare {data} --target label --rules naive-bayes,logistic,perceptron --no-contrasts",),
    ),
    Topic(
        name="next-point",
        title="How will the next point be classified? 1-NN, decision tree, linear",
        claim="1-nearest-neighbour gives a point the class of the closest training point. A decision tree cuts the "
        "plane parallel to the axes. A linear classifier cuts it with one straight line, its decision boundary.",
        show=show_next_point,
        question="Which of the three makes no training mistakes, whatever the points are?",
        answer="1-NN, and a tree that is grown to the end, as long as equal points have equal labels. A "
        "line often must.",
        terms=("1-NN classifier", "nearest neighbour", "decision tree", "linear classifier", "data set in 2D space"),
        data=lambda: table_of(CLUSTERS),
        commands=("markone compare {data} --target label --folds 3 --rules averaged-perceptron",),
    ),
    Topic(
        name="inductive-bias",
        title="Properties of the perceptron: inductive bias and hyperparameters",
        claim="The inductive bias of the perceptron is that the decision boundary is a hyperplane. Its hyperparameters "
        "are the feature transformations and the number of iterations. Here the target is a circle, which is a "
        "hyperplane only after a transformation.",
        show=show_inductive_bias,
        question="How should you choose the degree of the products and the number of iterations?",
        answer="On held-out examples, and never on the test set: markone train --tune does this for the settings "
        "of a rule.",
        terms=(
            "inductive bias",
            "hyperparameters",
            "number of iterations",
            "feature transformations",
            "hyperplane",
            "simple algorithm",
        ),
        data=lambda: table_of(RING),
        commands=("markone validate {data} --target label --rule perceptron --folds 3",),
    ),
)
