"""spaCy: a tagger and a parser over a small network of its own, from words to their tags and trees.

They are trained for a few steps only: how long a network of that size takes does not depend on how well it was trained,
and to train it well takes many minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.timing import Contestant, Outcome, timed
from benchmarks.treebanks import Treebank

PACKAGE = "spacy"
SENTENCES = 500
STEPS = 20
BATCH = 256


def run(part: str) -> Contestant[Treebank]:
    """`tagger` or `parser`: what is timed is from words to what it says of them."""
    pipes: dict[int, Any] = {}

    def turn(data: Treebank) -> Outcome:
        from spacy.tokens import Doc

        if id(data) not in pipes:
            pipes[id(data)] = trained(part, data)
        pipe, words = pipes[id(data)], data.test.lists()

        def tag() -> None:
            for _ in pipe.pipe((Doc(pipe.vocab, one) for one in words), batch_size=BATCH):
                pass

        return Outcome(timed(tag)[0], None)

    return Contestant(f"spacy.blank('en') with a {part}, .pipe(batch_size={BATCH})", turn, PACKAGE)


def trained(part: str, data: Treebank) -> Any:
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    pipe = spacy.blank("en")
    pipe.add_pipe(part)
    some = data.train.some(0, SENTENCES)
    columns = zip(some.lists(), some.lists("upos"), some.head_lists(), some.lists("deprel"), strict=True)
    examples = [
        Example(
            Doc(pipe.vocab, words),
            Doc(
                pipe.vocab,
                words,
                tags=tags,
                heads=[head - 1 if head else i for i, head in enumerate(heads)],
                deps=names,
            ),
        )
        for words, tags, heads, names in columns
    ]
    step: Callable[..., Any] = pipe.update
    optimizer = pipe.initialize(lambda: examples)
    for start in range(STEPS):
        step(examples[start::STEPS], sgd=optimizer)
    return pipe
