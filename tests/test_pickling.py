"""Models are sent to other processes: by the content of their file, which is checked when it is read."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from markone import MIRA, MLP, DataError, LinearSVM, LogisticRegression, NaiveBayes, Perceptron, Tagger
from markone.demo.stories import write_stories
from markone.structured.parser import Parser
from markone.structured.perceptron import StructuredPerceptron

TEXTS = ["free money now", "see you soon", "free beer", "soon home", "money back", "see the sea"] * 3
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"] * 3
RULES: list[dict[str, Any]] = [
    {"rule": "mira"},
    {"rule": "logistic", "solver": "newton"},
    {"rule": "svm"},
    {"rule": "naive-bayes"},
    {"rule": "mlp", "hidden": (4,), "epochs": 2},
]


def there_and_back(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    """Another process, which knows only what it imports and is sent."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def content(model: Any, folder: Path) -> bytes:
    model.save(folder / "some.model")
    return (folder / "some.model").read_bytes()


def of_example(example: Any) -> float:
    """A feature of the user's own."""
    return float(len(example))


@pytest.mark.parametrize("settings", RULES, ids=lambda one: "-".join(map(str, one.values())))
def test_a_model_comes_back_as_the_same_file(settings: dict[str, Any], tmp_path: Path) -> None:
    model = markone.train(TEXTS, target=LABELS, **settings)
    again = there_and_back(model)
    assert content(again, tmp_path) == content(model, tmp_path)
    assert (again.scores(TEXTS) == model.scores(TEXTS)).all()
    assert copy.copy(model) is model and copy.deepcopy(model) is model


def test_a_model_that_was_sent_goes_on_with_its_training(tmp_path: Path) -> None:
    model = markone.train(TEXTS, target=LABELS, epochs=2, holdout=0)
    more = markone.train(TEXTS, target=LABELS, epochs=5, holdout=0)
    there_and_back(model).save(tmp_path / "two.model")
    resumed = markone.train(TEXTS, target=LABELS, epochs=5, holdout=0, resume=tmp_path / "two.model")
    assert content(resumed, tmp_path) == content(more, tmp_path)


def test_functions_of_the_users_own_go_by_reference() -> None:
    model = markone.train(TEXTS, target=LABELS, functions={"length": of_example})
    again = there_and_back(model)
    assert again.features.spec.functions == {"length": of_example}
    assert (again.scores(TEXTS) == model.scores(TEXTS)).all()
    alone = markone.train(TEXTS, target=LABELS, functions={"length": lambda example: 1.0})
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(alone)


def test_nothing_but_the_file_and_who_reads_it_is_pickled() -> None:
    class Names(pickle.Unpickler):
        found: list[str] = []  # noqa: RUF012 - one for this test

        def find_class(self, module: str, name: str) -> Any:
            self.found.append(f"{module}.{name}")
            return super().find_class(module, name)

    Names(io.BytesIO(pickle.dumps(markone.train(TEXTS, target=LABELS)))).load()
    assert Names.found == ["markone.model.model.unpickled"]


def test_what_is_damaged_is_said() -> None:
    from markone.model.model import unpickled

    read, (whole, functions) = markone.train(TEXTS, target=LABELS).__reduce__()
    assert read is unpickled and read(whole, functions).predict("free money") == "spam"
    for damaged in (b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1])):
        with pytest.raises(DataError, match="<pickle>"):
            read(damaged, functions)
    with pytest.raises(DataError, match="instead of a classifier"):
        read(small_tagger().__reduce__()[1][0])


def small_tagger() -> Tagger:
    sentences = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("a", "DET"), ("cat", "NOUN")]]
    return Tagger.train(sentences, epochs=3)


def test_a_tagger_and_a_parser_come_back_as_the_same_file(tmp_path: Path) -> None:
    tagger = small_tagger()
    again = there_and_back(tagger)
    assert content(again, tmp_path) == content(tagger, tmp_path)
    assert again.tag([["the", "cat", "barks"]]) == tagger.tag([["the", "cat", "barks"]])
    write_stories(tmp_path / "few.conllu", 20, 1)
    parser = Parser.train(tmp_path / "few.conllu", mode="fast", epochs=2, tag=True)
    again = there_and_back(parser)
    assert content(again, tmp_path) == content(parser, tmp_path)
    assert again.parse(tmp_path / "few.conllu") == parser.parse(tmp_path / "few.conllu")


def letters(x: str, y: str) -> list[str]:
    return [f"{x}-{one}" for one in y]


def some_answers(x: str) -> list[str]:
    return ["a", "b", "ab"]


def test_a_structured_perceptron_comes_back_with_the_users_functions() -> None:
    examples = [("x", "a"), ("y", "ab"), ("z", "b")]
    learner = StructuredPerceptron(letters, answers=some_answers).train(examples)
    again = there_and_back(learner)
    assert again.weights == learner.weights and again.settings == learner.settings
    assert [again.predict(x) for x, _ in examples] == ["a", "ab", "b"]
    assert [one.mistakes for one in again.history] == [one.mistakes for one in learner.history]


def answers_of(models: list[Any], texts: list[str], words: list[list[str]]) -> list[Any]:
    classifier, tagger, structured = models
    return [classifier.predict(texts).tolist(), tagger.tag(words), structured.predict("y")]


def test_models_are_sent_to_a_process(process: ProcessPoolExecutor) -> None:
    learner = StructuredPerceptron(letters, answers=some_answers).train([("x", "a"), ("y", "ab")])
    models = [markone.train(TEXTS, target=LABELS), small_tagger(), learner]
    words = [["the", "cat", "barks"]]
    assert process.submit(answers_of, models, TEXTS, words).result() == answers_of(models, TEXTS, words)


# ---- estimators

GOING_ON = [
    Perceptron(random_state=1),
    MIRA(random_state=1),
    LogisticRegression(solver="online", random_state=1),
    LinearSVM(solver="online", random_state=1),
    MLP(hidden_layer_sizes=(4,), max_iter=2, tol=None),
    NaiveBayes(likelihood="gaussian"),
    NaiveBayes(likelihood=["gaussian", "categorical", "multinomial"]),
]


def rows() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (60, 3)).astype(float)
    return X, np.array(["a", "b", "c"])[(X[:, 0] + 2 * X[:, 1] > 4).astype(int) + (X[:, 2] > 2)]


def gone_on(estimator: Any, X: Any, y: Any) -> bytes:
    """What it knows after some more rows, some of a class that is new."""
    estimator.partial_fit(X[40:], y[40:])
    estimator.partial_fit(X[:2], ["new", "a"])
    state = estimator._learner.get_state()
    return b"".join(name.encode() + state[name].tobytes() for name in sorted(state)) + repr(estimator.classes_).encode()


@pytest.mark.parametrize(
    "estimator", GOING_ON, ids=lambda one: f"{type(one).__name__}{one.get_params().get('likelihood', '')}"
)
def test_a_fitted_estimator_goes_on_to_the_bit_wherever_it_is(estimator: Any) -> None:
    X, y = rows()
    for begun in (copy.deepcopy(estimator).fit(X[:40], y[:40]), copy.deepcopy(estimator).partial_fit(X[:40], y[:40])):
        sent = pickle.dumps(begun)
        here, there, beside = gone_on(begun, X, y), gone_on(pickle.loads(sent), X, y), pickle.loads(sent)
        assert here == there
        assert gone_on(copy.deepcopy(beside), X, y) == here


def test_fitted_estimators_go_on_to_the_bit_in_a_process(process: ProcessPoolExecutor) -> None:
    X, y = rows()
    for estimator in (Perceptron(random_state=1).fit(X[:40], y[:40]), GOING_ON[-1].partial_fit(X[:40], y[:40])):
        assert process.submit(gone_on, estimator, X, y).result() == gone_on(estimator, X, y)
