"""A part-of-speech tagger from a few sentences, and a structured perceptron for your own structures."""

from collections.abc import Iterator

import markone

SENTENCES = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    [("a", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")],
    [("the", "DET"), ("cat", "NOUN"), ("sees", "VERB"), ("a", "DET"), ("dog", "NOUN")],
    [("dogs", "NOUN"), ("see", "VERB"), ("the", "DET"), ("cats", "NOUN")],
]

tagger = markone.Tagger.train(SENTENCES, epochs=5)
print(tagger.tag(["a", "dog", "sees", "the", "cat"]))


def cuts(text: str) -> Iterator[list[str]]:
    """Every way to cut a text without spaces into words."""
    yield [text]
    for i in range(1, len(text)):
        for rest in cuts(text[i:]):
            yield [text[:i], *rest]


cutter = markone.StructuredPerceptron(lambda text, words: words, answers=cuts)
cutter.train([("thedog", ["the", "dog"]), ("adogbarks", ["a", "dog", "barks"])])
print(cutter.predict("thedogbarks"))
