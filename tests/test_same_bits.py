"""What goes into a model's file is computed by the core: NumPy's logarithms, sums and linear algebra, which differ
between versions, builds and processors in their last bits, have no say in it."""

from __future__ import annotations

import ast
import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import _core

TEXTS = [
    "free money now now",
    "see you soon then",
    "win free beer today",
    "lunch soon with you",
    "no money, no beer",
    "you",
]
LABELS = ["spam", "ham", "spam", "ham", "other", "ham"]
random = np.random.default_rng(3)
TABLE = random.normal(size=(240, 7)).round(3)
CLASSES = (TABLE @ random.normal(size=(7, 3)) + random.gumbel(size=(240, 3))).argmax(axis=1)

NARROW = TABLE[abs(TABLE[:, 0] + TABLE[:, 1]) > 0.3]
SIDES = (NARROW[:, 0] + NARROW[:, 1] > 0).astype(int)
CORNERS = TABLE + 9 * np.eye(7)[CLASSES]

RUNS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "odds": (TEXTS * 9, LABELS * 9, {}),
    "idf": (
        TEXTS * 9,
        LABELS * 9,
        {"features": {"text": {"weight": "idf", "value": "log", "document": ["log-words"]}}},
    ),
    "newton": (TEXTS * 9, LABELS * 9, {"rule": "logistic"}),
    "table": (TABLE, CLASSES, {"rule": "logistic"}),
    "l1": (TABLE, CLASSES, {"rule": "logistic", "penalty": "l1", "strength": 0.003}),
    "ascent": (TABLE, CLASSES, {"rule": "logistic", "solver": "ascent", "epochs": 20}),
    "online": (TABLE, CLASSES, {"rule": "logistic", "solver": "online", "patience": 1, "tol": 1e-3, "epochs": 40}),
    "mlp": (TABLE, CLASSES, {"rule": "mlp", "epochs": 3, "hidden": 8}),
    "unit": (TABLE, CLASSES, {"features": {"unit": True}}),
    "bounds": (TABLE, CLASSES, {"rule": "perceptron", "bounds": True}),
    "naive-bayes": (TABLE, CLASSES, {"rule": "naive-bayes"}),
    "hard margin": (NARROW, SIDES, {"rule": "svm", "C": math.inf, "tol": 1e-9, "epochs": 20}),
    "hard margin, 3 classes": (CORNERS, CLASSES, {"rule": "svm", "C": math.inf, "tol": 1e-9, "epochs": 20}),
}


def off(numbers: Any) -> Any:
    """Floats moved by their last bit, but for whole numbers, of which every sum is exact."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind != "f":
        return numbers[()]
    moved = np.nextafter(numbers, np.array(np.inf, numbers.dtype))
    return np.where(np.isfinite(numbers) & (numbers != np.round(numbers)), moved, numbers)[()]


def spoil(patch: pytest.MonkeyPatch) -> list[str]:
    """Moves the last bits of what NumPy makes; the list tells what was asked for."""
    asked: list[str] = []
    methods = importlib.import_module("numpy._core._methods" if np.__version__ >= "2" else "numpy.core._methods")

    def spoiled(name: str, of: Any) -> Any:
        def other(*given: Any, **how: Any) -> Any:
            asked.append(name)
            return off(of(*given, **how))

        return other

    for name in ("log", "log1p", "exp", "expm1", "sum", "mean", "einsum", "average"):
        patch.setattr(np, name, spoiled(name, getattr(np, name)))
    for name in ("norm", "inv", "solve", "det", "pinv"):
        patch.setattr(np.linalg, name, spoiled(name, getattr(np.linalg, name)))
    patch.setattr(methods, "umr_sum", spoiled("umr_sum", methods.umr_sum))
    return asked


def test_the_spoiler_spoils(monkeypatch: pytest.MonkeyPatch) -> None:
    before = np.log(np.array([3.0]))[0]
    spoil(monkeypatch)
    assert np.log(np.array([3.0]))[0] != before and np.array([0.5, 0.25]).sum() != 0.75
    assert np.array([1.0, 2.0]).sum() == 3


@pytest.mark.parametrize("run", RUNS)
def test_models_do_not_depend_on_the_last_bits_of_numpy(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, labels, how = RUNS[run]

    def trained(name: str) -> bytes:
        path = tmp_path / name
        model = markone.train(examples, target=labels, holdout=0.2, **how)
        for one in model.history.passes:
            object.__setattr__(one, "seconds", 0.0)
        model.save(path)
        return path.read_bytes()

    expected = trained("a")
    with monkeypatch.context() as patch:
        spoil(patch)
        assert trained("b") == expected


@pytest.mark.parametrize("room", ["data", "features", "learning", "model", "structured"])
def test_no_room_whose_numbers_are_saved_multiplies_matrices_by_numpy(room: str) -> None:
    """An operator cannot be spoiled, but it can be found."""
    assert markone.__file__ is not None
    found = []
    for path in (Path(markone.__file__).parent / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            operator = getattr(node, "op", None)
            of_numpy = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np"
            names = {"linalg", "dot", "vdot", "inner", "matmul", "einsum", "tensordot"}
            if isinstance(operator, ast.MatMult) or (of_numpy and node.attr in names):  # type: ignore[attr-defined]
                found.append(f"{path.name}:{node.lineno}")  # type: ignore[attr-defined]
    assert found == []


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100])
def test_products_are_added_in_their_order(size: int) -> None:
    random = np.random.default_rng(size)
    rows, v = random.normal(size=(5, size)), random.normal(size=size)
    assert _core.multiply(rows, v).tolist() == [_core.sum(row * v) for row in rows]
    np.testing.assert_allclose(_core.multiply(rows, v), rows @ v, rtol=1e-12)
    expected = np.zeros(5)
    for factor, column in zip(v, rows.T, strict=True):
        expected += factor * column
    assert _core.combine(v, np.ascontiguousarray(rows.T)).tolist() == expected.tolist()
    for call in (lambda: _core.multiply(rows, np.zeros(size + 1)), lambda: _core.combine(np.zeros(6), rows)):
        with pytest.raises(ValueError, match="the sizes differ"):
            call()


@given(st.floats(-700, 700))
def test_the_exponential_function_is_right_to_the_last_digits(x: float) -> None:
    assert _core.exp(np.array([x]))[0] == pytest.approx(math.exp(x), rel=4e-16 * max(1, abs(x)))


@given(st.lists(st.floats(-1e6, 1e6)))
def test_sums_are_right(numbers: list[float]) -> None:
    array, sizes = np.array(numbers, np.float64), sum(map(abs, numbers))
    assert _core.sum(array) == pytest.approx(math.fsum(numbers), abs=1e-15 * (1 + sizes) * (1 + len(numbers)))
    assert _core.sum_rows(np.stack([array, array])).tolist() == [_core.sum(array)] * 2
