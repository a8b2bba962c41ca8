"""Topics on the structured perceptron: a tag sequence and a tree, learned by hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise, product
from typing import Any

from markone import reference
from markone.lectures.topic import Shown, Topic, grid
from markone.reporting.charts import Bars, Chart

TAGS = ("NOUN", "PRON", "VERB")
TAGGED = (
    (("they", "can", "fish"), ("PRON", "VERB", "NOUN")),
    (("they", "fish"), ("PRON", "VERB")),
    (("fish", "swim"), ("NOUN", "VERB")),
)


def tag_features(words: Sequence[str], tags: Sequence[str]) -> dict[Hashable, int]:
    """Count the pairs of a word and its tag, and of a tag and the next one."""
    found: dict[Hashable, int] = {}
    for pair in [
        *(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)),
        *(f"{first} {second}" for first, second in pairwise(("START", *tags))),
    ]:
        found[pair] = found.get(pair, 0) + 1
    return found


def all_taggings(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(product(TAGS, repeat=len(words)))


# ---- trees: for each word the number of its head, where 0 is the root

PARSED = (
    (("they", "can", "fish"), (2, 0, 2)),
    (("they", "fish"), (2, 0)),
    (("fish", "can", "swim"), (3, 3, 0)),
)


def tree_features(words: Sequence[str], heads: Sequence[int]) -> dict[Hashable, int]:
    """Count the arcs from the head to the word, and their directions."""
    found: dict[Hashable, int] = {}
    named = ("ROOT", *words)
    for place, head in enumerate(heads, 1):
        direction = "root" if head == 0 else "left" if head > place else "right"
        for name in (f"{named[head]} → {words[place - 1]}", direction):
            found[name] = found.get(name, 0) + 1
    return found


def all_trees(words: Sequence[str]) -> list[tuple[int, ...]]:
    """Return all trees with one root."""
    return [heads for heads in product(range(len(words) + 1), repeat=len(words)) if is_tree(heads)]


def is_tree(heads: Sequence[int]) -> bool:
    """Whether one word has the root as its head, and all others lead to it.

    >>> is_tree((2, 0, 2)), is_tree((2, 1, 0)), is_tree((0, 0))
    (True, False, False)
    """
    if list(heads).count(0) != 1:
        return False
    for place in range(1, len(heads) + 1):
        seen = set()
        while place:
            if place in seen:
                return False
            seen.add(place)
            place = heads[place - 1]
    return True


# ---- a run

MOST_PASSES = 20


def learned(
    examples: Sequence[tuple[Any, Any]],
    features: Callable[[Any, Any], dict[Hashable, int]],
    answers: Callable[[Any], Sequence[Any]],
    written: Callable[[Any, Any], str],
) -> tuple[str, dict[Hashable, float]]:
    """Visit the examples until a pass makes no mistake. Return a table of the visits, and the weights."""
    from markone import StructuredPerceptron

    learner = reference.StructuredLearner(features, answers)
    rows = []
    for _ in range(MOST_PASSES):
        before = learner.mistakes
        for x, y in examples:
            guess = learner.predict(x)
            scores = learner.score(x, guess), learner.score(x, y)
            learner.visit(x, y)
            rows.append([" ".join(x), written(x, guess), *scores, "right" if guess == y else "wrong"])
        if learner.mistakes == before:
            break
    model = StructuredPerceptron(features, answers=answers, average=False, order="given", epochs=MOST_PASSES).train(
        examples
    )
    same = all(model.predict(x) == learner.predict(x) for x, _ in examples)
    text = grid(["sentence", "prediction", "its score", "right score", ""], rows)
    count = len(answers(examples[0][0]))
    return (
        f"{text}\n“{' '.join(examples[0][0])}” has {count} possible answers. markone.StructuredPerceptron learns to "
        f"give {'the same answers' if same else 'other answers'}.",
        {name: weight for name, weight in learner.w.items() if weight},
    )


def bars(weights: dict[Hashable, float], title: str) -> Chart:
    ordered = sorted(weights, key=lambda name: -weights[name])
    return Chart((Bars([*map(str, ordered)], [weights[name] for name in ordered]),), title=title)


def show_tags() -> Shown:
    text, weights = learned(TAGGED, tag_features, all_taggings, lambda _, tags: " ".join(tags))
    return Shown(text, (bars(weights, "Weights at the end: words with tags, and pairs of tags"),))


def show_tree() -> Shown:
    text, weights = learned(PARSED, tree_features, all_trees, arcs)
    return Shown(text, (bars(weights, "Weights at the end: arcs and their directions"),))


def arcs(words: Sequence[str], heads: Sequence[int]) -> str:
    named = ("ROOT", *words)
    return ", ".join(f"{named[head]}→{word}" for word, head in zip(words, heads, strict=True))


TOPICS = (
    Topic(
        name="structured",
        title="Structured perceptron: predict a tag sequence",
        claim="Instead of one class, the perceptron predicts a whole tag sequence: the one whose features have the "
        "highest sum of weights. If it is wrong, the features of the right sequence are added to the weights, and "
        "those of the predicted one are subtracted.",
        show=show_tags,
        question="Which features does an update not change?",
        answer="Those that both sequences have equally often: they are added and subtracted.",
        terms=("structured perceptron", "tag sequence", "structured data", "structured prediction", "tagger"),
    ),
    Topic(
        name="structured-tree",
        title="Structured perceptron: predict a parse tree",
        claim="The same algorithm predicts parse trees: an answer is a tree, in which each word has a head, and its "
        "features are the arcs. The update is the same: the arcs of the right tree are added, and those of the "
        "predicted tree are subtracted.",
        show=show_tree,
        question="How can the best tree be found if a sentence is too long to try all of them?",
        answer="By a search that builds trees from parts, as markone parse does, because the score is a sum over arcs.",
        terms=("structured perceptron", "parse tree", "structured prediction", "parser", "dependency"),
    ),
)
