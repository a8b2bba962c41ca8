"""The learners of the page are those of `markone.reference`: equal bits for sums and products in Node and in Chromium.

Only rules with exp and log may differ in the last digits, because browsers round these functions in their own way.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from typing import Any

import numpy as np
import pytest

from markone.learning.examples import shuffled
from markone.reference import Learner, Network, Tally, sgd
from markone.reference.network import Memory
from markone.reference.vectors import BIAS

FEATURES = {
    "x1": ("x1", lambda a, b: a),
    "x2": ("x2", lambda a, b: b),
    "x11": ("x1²", lambda a, b: a * a),
    "x22": ("x2²", lambda a, b: b * b),
    "x12": ("x1·x2", lambda a, b: a * b),
}
ONLINE = ("perceptron", "mira", "logistic", "hinge")
TIES = ("error", "negative", "positive")
ORDERS = ("given", "once", "each")
PASSES = 2
CLOSE = 1e-12
VARIANTS: list[dict[str, Any]] = [{"form": "difference"}, {"eta": 0.3}]
if "update" in {field.name for field in dataclasses.fields(Learner)}:
    VARIANTS += [{"rule": "mira", "update": "mistake"}, {"rule": "mira", "form": "difference", "C": 0.2}]


def number(bits: str) -> float:
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def hexed(value: float) -> str:
    return struct.pack(">d", float(value)).hex()


@pytest.fixture(params=["node", "chromium"])
def ask(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def order_of(rows: int, settings: dict[str, Any], epoch: int) -> list[int]:
    if settings["order"] == "given":
        return list(range(rows))
    mixed = 0 if settings["order"] == "once" else epoch - 1
    return shuffled(np.arange(rows), settings["seed"], mixed).tolist()


def rows_of(case: dict[str, Any]) -> list[tuple[dict[str, float], int]]:
    if "lines" in case:
        return [(dict.fromkeys(dict.fromkeys(line["text"].split()), 1.0), line["y"]) for line in case["lines"]]
    return [
        ({FEATURES[one][0]: FEATURES[one][1](float(p["x1"]), float(p["x2"])) for one in case["features"]}, p["y"])
        for p in case["points"]
    ]


def reference_steps(case: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """The steps of `markone.reference` on a case, in the form of the page."""
    settings = case["settings"]
    taken = {name: settings[name] for name in ("rule", "eta", "C", "tie", "form", "update") if name in settings}
    rows, classes = rows_of(case), len(case["classes"])
    learner = Learner(classes, bias=case["bias"], **taken)
    steps: list[dict[str, Any]] = []
    mistakes = 0

    def flat(vectors: dict[int, dict[Any, Any]]) -> list[str]:
        return [hexed(vectors.get(k, {}).get(name, 0.0)) for k in range(classes) for name in names]

    for epoch in range(1, settings["passes"] + 1):
        changed = False
        for row in order_of(len(rows), settings, epoch):
            x, y = rows[row]
            scores, said, tally = learner.scores(x), learner.predict(x), Tally()
            learner.visit(x, y, 1, tally)
            changed |= bool(tally.updates)
            mistakes += tally.mistakes
            numbers = flat(learner.w)
            norm2 = 0.0
            for bits in numbers if classes > 2 else numbers[len(names) :]:
                norm2 += number(bits) * number(bits)
            steps.append(
                {
                    "pass": epoch,
                    "row": row,
                    "scores": [hexed(score) for score in scores],
                    "said": said,
                    "wrong": bool(tally.mistakes),
                    "loss": hexed(tally.loss),
                    "numbers": numbers,
                    "average": flat(learner.average()),
                    "norm2": hexed(norm2),
                    "mistakes": mistakes,
                }
            )
        if settings["rule"] in ("perceptron", "mira") and not changed:
            break
    return steps


def cases_of(presets: dict[str, Any]) -> list[dict[str, Any]]:
    """Every rule, tie, order and preset; and every other setting at least once."""
    base = {"eta": 1, "C": 0.7, "form": "label", "seed": 3, "passes": PASSES}
    found = []
    for preset, (place, (rule, tie, order)) in itertools.product(
        presets["points"], enumerate(itertools.product(ONLINE, TIES, ORDERS))
    ):
        features = ["x1", "x2"] if place % 2 else list(FEATURES)
        settings = {**base, "rule": rule, "tie": tie, "order": order}
        found.append(
            {"points": preset["points"], "classes": preset["classes"], "features": features, "bias": place % 3 > 0}
        )
        found[-1]["settings"] = settings
    for preset, variant in itertools.product(presets["points"], VARIANTS):
        settings = {**base, "rule": "perceptron", "tie": "error", "order": "each", **variant}
        given = {"points": preset["points"], "classes": preset["classes"], "features": ["x1", "x2"], "bias": True}
        found.append({**given, "settings": settings})
    for texts, rule in itertools.product(presets["texts"], ONLINE):
        settings = {**base, "rule": rule, "tie": "error", "order": "given"}
        found.append({"lines": texts["lines"], "classes": texts["classes"], "bias": True, "settings": settings})
    return found


def assert_close(mine: Any, theirs: Any, where: str) -> None:
    for key, value in theirs.items():
        if isinstance(value, list):
            assert [number(one) for one in mine[key]] == pytest.approx(
                [number(one) for one in value], rel=CLOSE, abs=CLOSE
            ), where
        elif isinstance(value, str):
            assert number(mine[key]) == pytest.approx(number(value), rel=CLOSE, abs=CLOSE), where
        else:
            assert mine[key] == value, where


def test_every_rule_tie_order_and_preset(ask: Any) -> None:
    [presets] = ask([{"ask": "presets"}])
    cases = cases_of(presets)
    assert len(cases) >= 4 * 3 * 3 * 8
    answers = ask([{"ask": "run", **case} for case in cases])
    steps = 0
    for case, answer in zip(cases, answers, strict=True):
        where = f"{case['settings']} on {len(rows_of(case))} rows"
        wanted = reference_steps(case, answer["names"])
        assert len(wanted) == len(answer["steps"]), where
        steps += len(wanted)
        if case["settings"]["rule"] != "logistic":
            assert answer["steps"] == wanted, where
            continue
        for mine, theirs in zip(answer["steps"], wanted, strict=True):
            assert_close(mine, theirs, where)
    assert steps > 10_000


def test_a_wrong_digit_would_be_noticed(node: Any) -> None:
    [presets] = node([{"ask": "presets"}])
    [case, *_] = cases_of(presets)
    [answer] = node([{"ask": "run", **case}])
    wanted = reference_steps(case, answer["names"])
    wanted[-1]["numbers"][-1] = hexed(np.nextafter(number(wanted[-1]["numbers"][-1]), 1e9))
    assert answer["steps"] != wanted


@pytest.mark.parametrize("activation", ["tanh", "relu", "sigmoid"])
def test_the_network(ask: Any, activation: str) -> None:
    [presets] = ask([{"ask": "presets"}])
    for preset in (presets["points"][3], presets["points"][7]):
        points = preset["points"][:8]
        classes = len(preset["classes"])
        settings = {"rule": "mlp", "eta": 0.4, "hidden": 3, "activation": activation, "passes": 3, "seed": 5}
        case = {"points": points, "classes": preset["classes"], "features": ["x1", "x2"], "bias": True}
        [answer] = ask([{"ask": "run", **case, "settings": {**settings, "order": "each"}}])
        numbers = [number(bits) for bits in answer["start"]]
        hidden, outputs = 3, 1 if classes == 2 else classes
        first = [[numbers[j * 3 + i] for j in range(hidden)] for i in range(2)]
        at = hidden * 3
        second = [[numbers[at + k * 4 + j] for k in range(outputs)] for j in range(hidden)]
        biases = [numbers[j * 3 + 2] for j in range(hidden)], [numbers[at + k * 4 + 3] for k in range(outputs)]
        network = Network([(first, biases[0]), (second, biases[1])], activation)
        for step in answer["steps"]:
            p = points[step["row"]]
            x = [p["x1"], p["x2"]]
            scores = [node.value for node in network.scores(x)]
            scores = [0.0, *scores] if classes == 2 else scores
            assert [number(bits) for bits in step["scores"]] == pytest.approx(scores, rel=1e-10, abs=1e-12)
            for layer, (weights, bias) in enumerate(network.gradient([x], [p["y"]], [1.0])):
                for row, slopes in zip(network.weights[layer], weights, strict=True):
                    for one, slope in zip(row, slopes, strict=True):
                        one.value = sgd(one.value, slope, 0.4, Memory())
                for one, slope in zip(network.biases[layer], bias, strict=True):
                    one.value = sgd(one.value, slope, 0.4, Memory())


def test_both_have_the_same_presets(node: Any, chromium: Any) -> None:
    assert node([{"ask": "presets"}]) == chromium([{"ask": "presets"}])


# ---- random numbers


class RandomBits:
    """The page's generator in Python."""

    def __init__(self, seed: int) -> None:
        self.counter = seed

    def next(self) -> int:
        mask = 2**64 - 1
        self.counter = (self.counter + 0x9E3779B97F4A7C15) & mask
        z = self.counter
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def uniform(self) -> float:
        return (self.next() >> 11) / 2**53

    def normal(self) -> float:
        total = -6.0
        for _ in range(12):
            total += self.uniform()
        return total


@pytest.mark.parametrize("seeds", [[0, 0], [7, 3], [2**32 - 1, 1], [1, 2, 3, 4, 5, 6]])
def test_orders_are_those_of_training(ask: Any, seeds: list[int]) -> None:
    items = list(range(57))
    [answer] = ask([{"ask": "random", "seeds": seeds, "items": items}])
    seed = int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0])
    assert int(answer["seed"]) == seed
    assert answer["order"] == shuffled(np.arange(57), *seeds).tolist()
    random = RandomBits(seed)
    assert answer["uniform"] == [hexed(random.uniform()), hexed(random.uniform())]
    assert answer["normal"] == hexed(random.normal())
    assert answer["below"] == (random.next() >> 32) * 1000 >> 32


# ---- rewinding


def test_rewinding_gives_the_same_weights(node: Any) -> None:
    [presets] = node([{"ask": "presets"}])
    moons = presets["points"][4]
    case = {"points": moons["points"], "classes": moons["classes"], "features": ["x1", "x2"], "bias": True}
    for rule in ("perceptron", "mlp"):
        [answer] = node([{"ask": "rewind", **case, "settings": {"rule": rule, "passes": 4}}])
        assert answer == {"steps": 320, "same": True}


def test_the_three_points_of_the_lecture(node: Any) -> None:
    [presets] = node([{"ask": "presets"}])
    three = presets["points"][0]
    case = {"points": three["points"], "classes": three["classes"], "features": ["x1", "x2"], "bias": False}
    [answer] = node([{"ask": "run", **case, "settings": {"tie": "negative"}}])
    weights = [[number(bits) for bits in step["numbers"][2:]] for step in answer["steps"]]
    assert weights == [[3, 2], [3, 2], [1, -1], [1, -1], [1, -1], [1, -1]]
    assert answer["stopped"] == "converged"
    assert BIAS not in answer["names"]
