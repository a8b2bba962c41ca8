"""Curves and pairs: intervals, the penalty that keeps them smooth, the search with held-out rows, and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import markone
from markone import DataError, Features, SettingsError, reference
from markone.cli import main
from markone.data.blocks import Block
from markone.data.source import Batch, Column
from markone.features.curves import SAMPLE, Curves, Pair, cuts_of
from markone.features.map import FeatureMap
from markone.features.part import Neighbours
from markone.features.spec import Categorical, Numeric
from markone.learning.logistic import by_solver
from markone.learning.passes import teach
from markone.learning.smoothness import Smoothness
from markone.model.settings import Settings
from markone.model.shapes import shapes_of
from parts import named

CURVED = {"numeric": {"curves": True}, "pairs": True}


def curves_of(model: markone.Model) -> Curves:
    [part] = [part for part in model.features.parts if isinstance(part, Curves)]
    return part


def table(rows: int, chance: Any, seed: int = 0) -> tuple[pa.Table, list[str]]:
    """Columns a, b (numbers) and kind (categories), and labels with this chance of `yes`."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows))
    kind = random.choice(["x", "y", "z"], rows)
    labels = np.where(random.random(rows) < chance(a, b, kind), "yes", "no")
    return pa.table({"a": a, "b": b, "kind": kind}), labels.tolist()


def hill(a: Any, b: Any, kind: Any) -> Any:
    return np.where(abs(a) < 0.7, 0.9, 0.1)


def checkers(a: Any, b: Any, kind: Any) -> Any:
    return np.where((a > 0) == (b > 0), 0.9, 0.1)


def both(a: Any, b: Any, kind: Any) -> Any:
    return 1 / (1 + np.exp(2 * a**2 - 2 * abs(b) - 3 * np.sign(a * b)))


def line(a: Any, b: Any, kind: Any) -> Any:
    return 1 / (1 + np.exp(-a - 0.5 * b - (kind == "x")))


# ---- intervals


@given(st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=200), st.integers(2, 20))
def test_intervals_are_in_order_and_none_is_empty(values: list[float], most: int) -> None:
    numbers = np.array(values)
    cuts = cuts_of(numbers, most)
    assert (np.diff(cuts) > 0).all()
    counts = np.bincount(np.searchsorted(cuts, numbers, side="right"), minlength=len(cuts) + 1)
    assert (counts > 0).all() and len(counts) <= min(3 * most, len(np.unique(numbers)))


def test_a_frequent_number_has_its_own_interval_and_the_others_share_the_rest() -> None:
    cuts = cuts_of(np.array([0.0] * 90 + [float(i) for i in range(1, 11)]), 6)
    places = np.searchsorted(cuts, [0.0, 1.0, 10.0], side="right")
    assert places[0] == 0 and places[1] == 1 and len(cuts) == 5
    assert cuts_of(np.array([3.0, 3.0]), 5).tolist() == []
    assert cuts_of(np.array([17.3, 22.8]), 5).tolist() == [20.0]  # the shortest number between them


def part_of(columns: dict[str, Any], labels: list[int] | None = None) -> tuple[Curves, Batch]:
    arrays = {name: pa.array(values) for name, values in columns.items()}
    numeric = [
        (Column(n, "numeric"), Numeric(curves=True)) for n, a in arrays.items() if not pa.types.is_string(a.type)
    ]
    others = [(Column(n, "categorical"), Categorical()) for n, a in arrays.items() if pa.types.is_string(a.type)]
    part = Curves(numeric, others)
    batch = Batch(arrays, len(next(iter(arrays.values()))))
    part.absorb(part.collect(batch), None if labels is None else np.array(labels, np.int32))
    part.finish()
    return part, batch


def test_rows_have_one_interval_for_each_curve_and_one_cell_for_each_pair() -> None:
    part, batch = part_of({"age": [20, 30, 40, 50, None], "kind": ["x", "y", "x", "y", "x"]})
    part.shape(1.0, [Pair(0, 1)], 1.0)
    names = part.names()
    assert names[:4] == ["age < 30", "30 ≤ age < 40", "40 ≤ age < 50", "age ≥ 50"]
    assert len({*names}) == len(names) and "30 ≤ age < 40 × kind=y" in names
    rows = named(part, part.transform(batch))
    assert rows[1] == {"30 ≤ age < 40": 1.0, "30 ≤ age < 40 × kind=y": 1.0} and rows[4] == {}
    assert rows == named(part, part.refine(part.sample().draft))


def test_a_part_without_shapes_has_no_features_and_rows_stay_dense() -> None:
    data, labels = table(400, line)
    model = markone.train(data, target=labels, features=CURVED, rule="logistic")
    assert model.features.width == 2 + 4  # a, b, three kinds, and another
    numbers = markone.train(data.select(["a", "b"]), target=labels, features=CURVED, rule="logistic")
    assert isinstance(numbers.features.transform(next(numbers.features.batches(data.select(["a", "b"])))), np.ndarray)


def test_the_sample_is_from_all_parts_of_the_data_and_not_larger_than_allowed() -> None:
    part = Curves([(Column("a", "numeric"), Numeric(curves=True))], [])
    for start in range(0, 5 * SAMPLE, 1000):
        batch = Batch({"a": pa.array(np.arange(start, start + 1000, dtype=np.float64))}, 1000)
        part.absorb(part.collect(batch), np.zeros(1000, np.int32))
    kept = part.sample().draft.numbers[0]
    assert SAMPLE / 3 < len(kept) <= SAMPLE and (np.diff(kept) == part.every).all() and kept[0] == 0


# ---- the penalty


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_the_penalty_is_that_of_the_reference(down: int, across: int, seed: int) -> None:
    w = np.random.default_rng(seed).normal(size=(down * across + 5, 1))
    chain, grid = Neighbours(0, (5,), 2.0), Neighbours(5, (down, across), 3.0, (0, 1))
    smoothness = Smoothness.of([chain, grid]).shared_by(10.0)
    cells = w[5:, 0].reshape(down, across).tolist()
    expected = (2 * reference.bending(w[:5, 0].tolist()) + 3 * reference.roughness(cells)) / 10
    pulled = smoothness.pull(w)
    assert float((w * pulled).sum()) / 2 == pytest.approx(expected, rel=1e-12)
    at, values = smoothness.lower_half
    matrix = np.zeros((len(w), len(w)))
    np.add.at(matrix, (at[:, 0], at[:, 1]), values)
    matrix += np.tril(matrix, -1).T
    np.testing.assert_allclose(matrix @ w, pulled, atol=1e-12)
    np.testing.assert_allclose(smoothness.diagonal(len(w)), np.diag(matrix), atol=1e-12)
    assert np.linalg.eigvalsh(matrix).max() <= smoothness.largest + 1e-12


def test_categories_have_no_neighbours() -> None:
    w = np.arange(6.0)[:, None]
    along_numbers = Smoothness.of([Neighbours(0, (2, 3), 1.0, (0,))])
    assert along_numbers.pull(w).ravel().tolist() == [-3.0, -3.0, -3.0, 3.0, 3.0, 3.0]


@pytest.mark.parametrize("solver", ["newton", "ascent"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_optimum_is_that_of_the_penalised_loss(solver: Any, classes: int) -> None:
    random = np.random.default_rng(3)
    X, y = (random.random((60, 8)) < 0.3).astype(float), random.integers(0, classes, 60)
    smoothness = Smoothness.of([Neighbours(0, (8,), 5.0)])
    settings = Settings(rule="logistic", solver=solver, strength=0.02, tol=1e-9, epochs=100_000, balance=0.0)
    learner = by_solver(settings, features=8, classes=classes, smoothness=smoothness)
    teach(learner, Block.of(X, y))
    columns = 1 if classes == 2 else classes

    def objective(flat: Any) -> float:
        w = flat.reshape(9, columns)
        scores = X @ w[:-1] + w[-1]
        if classes == 2:
            scores = np.column_stack([np.zeros(60), scores])
        loss = (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(60), y]).mean()
        rough = sum(reference.bending(w[:-1, k].tolist()) for k in range(columns))
        return float(loss + 0.01 * (w[:-1] ** 2).sum() + 5 / 60 * rough)

    best = minimize(objective, np.zeros(9 * columns), method="BFGS", options={"gtol": 1e-7})
    weights = learner.weights()
    found = objective(np.vstack([weights.matrix(), weights.bias()]).ravel())
    assert found == pytest.approx(best.fun, abs=1e-8)
    without = by_solver(settings, features=8, classes=classes)
    teach(without, Block.of(X, y))
    assert abs(np.diff(without.weights().matrix(), 2, axis=0)).max() > abs(np.diff(weights.matrix(), 2, axis=0)).max()


# ---- the search


def test_lines_stay_where_lines_are_right() -> None:
    data, labels = table(1500, line)
    part = curves_of(markone.train(data, target=labels))
    assert part.smoothness is None and part.pairs == () and part.width == 0


def test_curves_are_found_where_lines_are_wrong() -> None:
    data, labels = table(1500, hill)
    test, truth = table(1000, hill, seed=1)
    model = markone.train(data, target=labels)
    assert curves_of(model).smoothness is not None
    assert model.accuracy(test, truth) > 0.86
    assert markone.train(data, target=labels, plain=True).accuracy(test, truth) < 0.65


def test_the_right_pair_is_found() -> None:
    data, labels = table(1500, checkers)
    test, truth = table(1000, checkers, seed=1)
    model = markone.train(data, target=labels)
    assert curves_of(model).pair_name(curves_of(model).pairs[0]) == "a × b"
    assert model.accuracy(test, truth) > 0.8
    without = markone.train(data, target=labels, features={"pairs": False})
    assert without.accuracy(test, truth) < 0.6 and curves_of(without).pairs == ()


def test_a_column_can_be_excluded_from_curves() -> None:
    data, labels = table(1500, hill)
    model = markone.train(data, target=labels, features={"columns": {"a": {"curves": False}}, "pairs": False})
    assert not any("a <" in name for name in model.features.names())


def test_the_labels_of_held_out_rows_are_not_used() -> None:
    data, labels = table(1500, hill)
    features = FeatureMap(Features.of(CURVED), markone.read(data).columns)
    [batch] = markone.read(data, target=labels).batches()
    assert batch.labels is not None
    hidden = np.where(np.arange(1500) % 2, batch.labels, -1).astype(np.int32)
    features.absorb(features.collect(batch), hidden)
    features.finish()
    [part] = [part for part in features.parts if isinstance(part, Curves)]
    assert (part.sample().labels == hidden).all()


def test_the_same_seed_gives_the_same_bytes_and_resuming_too(tmp_path: Path) -> None:
    data, labels = table(1500, checkers)
    source = markone.read(data, target=labels)
    paths = [tmp_path / name for name in ("first", "second", "interrupted", "resumed")]
    markone.train(source).save(paths[0])
    markone.train(source, threads=1).save(paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    markone.train(source, callback=lambda result: result.epoch == 2).save(paths[2])
    markone.train(source, resume=paths[2]).save(paths[3])
    found, expected = markone.load(paths[3]), markone.load(paths[0])
    np.testing.assert_array_equal(found.scores(data), expected.scores(data))


def test_a_training_can_continue_with_other_rows() -> None:
    data, labels = table(1500, hill)
    more, more_labels = table(500, hill, seed=5)
    base = markone.train(data, target=labels)
    continued = markone.train(more, target=more_labels, from_model=base)
    assert continued.features.names() == base.features.names()
    assert continued.accuracy(more, more_labels) > 0.85


# ---- defaults


def test_tables_have_their_own_default_unless_something_else_is_asked_for() -> None:
    data, labels = table(300, line)
    assert markone.train(data, target=labels).settings.rule == "logistic"
    assert markone.train(data, target=labels, seed=3, holdout=0.1).settings.rule == "logistic"
    for asked in ({"plain": True}, {"C": 0.1}, {"epochs": 2}, {"rule": "mira"}, {"scaled": True}):
        model = markone.train(data, target=labels, **asked)
        assert model.settings.rule == "mira" and not any(isinstance(part, Curves) for part in model.features.parts)
    assert markone.train(["free money", "see you"], target=["spam", "ham"]).settings.rule == "mira"
    for useless in ({"rule": "mira"}, {"C": 0.1}):
        with pytest.raises(SettingsError, match="plain is about tables"):
            markone.train(data, target=labels, plain=True, **useless)
    with pytest.raises(SettingsError, match="plain is about tables"):
        markone.train(["free money", "see you"], target=["spam", "ham"], plain=True)


def test_a_table_with_dates_and_sets_has_curves_too() -> None:
    days = np.arange(600)
    table = {
        "when": [str(np.datetime64("2024-01-01") + day) for day in days],
        "tags": ["a;b" if day % 3 else "b;c" for day in days],
        "label": np.where((days > 200) & (days < 400), "inside", "outside").tolist(),
    }
    model = markone.train(markone.read(table, target="label", kinds={"tags": "set"}))
    assert {column.name: column.kind for column in model.features.columns} == {"when": "date", "tags": "set"}
    assert model.settings.rule == "logistic" and "when.days" in str(model.features.names())
    assert any("≤ when.days <" in name for name in model.features.names())
    assert model.evaluate(table).accuracy > 0.95


def test_validation_tests_what_train_does() -> None:
    data, labels = table(600, hill)
    assert markone.validate(data, target=labels, folds=3).mean > 0.83
    assert markone.validate(data, target=labels, folds=3, plain=True).mean < 0.65
    assert markone.validate(data, target=labels, folds=3).name == "logistic"


# ---- files


def test_saved_curves_predict_the_same(tmp_path: Path) -> None:
    data, labels = table(1500, checkers)
    model = markone.train(data, target=labels)
    model.save(tmp_path / "model")
    loaded = markone.load(tmp_path / "model")
    np.testing.assert_array_equal(model.scores(data), loaded.scores(data))
    assert loaded.features.names() == model.features.names()
    assert loaded.features.neighbours() == model.features.neighbours()


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": [1]},
        {"sizes": [-1, 5]},
        {"smoothness": -1.0},
        {"smoothness": float("inf")},
        {"pair_smoothness": float("nan")},
        {"curved": 1},
        {"cuts": np.array([2.0, 1.0, 3.0, 4.0])},
        {"cuts": np.array([np.nan, 1.0, 3.0, 4.0])},
        {"bounds": np.zeros((1, 2))},
        {"pairs": np.array([[1, 0]])},
        {"pairs": np.array([[0, 9]])},
        {"pairs": np.array([[0, 1], [0, 1]])},
    ],
)
def test_damaged_curves_are_refused(change: dict[str, Any]) -> None:
    part, _ = part_of({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    part.shape(1.0, [Pair(0, 1)], 1.0)
    saved = part.save()
    for name, value in change.items():
        (saved.arrays if isinstance(value, np.ndarray) else saved.facts)[name] = value
    fresh = Curves([(Column(name, "numeric"), Numeric(curves=True)) for name in ("a", "b")], [])
    with pytest.raises(DataError, match="damaged"):
        fresh.restore(saved, part.width)


def test_old_specs_do_not_mention_curves() -> None:
    full = Features().as_dict(full=True)
    assert "curves" not in full["numeric"] and "pairs" not in full
    curved = Features.of(CURVED)
    assert Features.of(curved.as_dict(full=True)) == curved


# ---- explanations


@pytest.mark.parametrize("classes", [2, 3])
def test_drawn_heights_add_up_to_the_scores(classes: int) -> None:
    data, labels = table(1500, both)
    if classes == 3:
        labels = [
            label if kind != "z" else "maybe" for label, kind in zip(labels, data["kind"].to_pylist(), strict=True)
        ]
    model = markone.train(data, target=labels)
    part = curves_of(model)
    assert part.curves and part.pairs
    matrix, bias = model.weight_arrays()
    shapes = shapes_of(model.features, model.classes, matrix)
    label = model.classes[-1]
    for row in data.slice(0, 20).to_pylist():
        expected = float(bias[-1])
        for curve in shapes.curves:
            x = row[curve.column]
            i = int(np.searchsorted(part.cuts[0 if curve.column == "a" else 1], x, side="right"))
            ends, heights = curve.xs[2 * i : 2 * i + 2], curve.heights[label][2 * i : 2 * i + 2]
            expected += float(np.interp(x, ends, heights))
        named = model.features.named(row)
        names = model.features.names()
        chosen = {names.index(name) for name in named if "×" in name or "=" in name}
        expected += sum(float(matrix[i, -1]) for i in chosen)
        found = np.atleast_1d(model.scores([row])[0])[-1]
        assert found == pytest.approx(expected, abs=1e-4)


def test_an_explanation_still_adds_up_and_names_intervals() -> None:
    data, labels = table(1500, both)
    model = markone.train(data, target=labels)
    row = data.slice(7, 1).to_pylist()[0]
    explanation = model.explain(row)
    total = sum(one.product for one in explanation.difference.rows)
    assert total == pytest.approx(explanation.difference.score, rel=1e-6)
    assert any("×" in one.feature for one in explanation.difference.rows)


def test_explanations_draw_curves_and_heat_maps() -> None:
    data, labels = table(1500, both)
    found = markone.train(data, target=labels).explain()
    text, page = str(found), found.html()
    assert "a: contribution to the score of yes" in text and "a × b: contribution to the score of yes" in text
    assert "│" in text and "█" in text and page.count("<svg") == len(found.shapes.curves)
    assert page.count("<figure>") == len(found.shapes.curves) + len(found.shapes.pairs)
    facts = json.loads(json.dumps(found.as_dict()))
    assert {one["column"] for one in facts["curves"]} == {"a", "b"}
    assert facts["pairs"][0]["columns"] == ["a", "b"] and len(facts["pairs"][0]["weights"]["yes"]) == 8
    plain = markone.train(data, target=labels, plain=True).explain()
    assert not plain.shapes and "curves" not in plain.as_dict() and "contribution" not in str(plain)


def test_curves_are_drawn_as_pictures() -> None:
    pytest.importorskip("matplotlib")
    from markone import plots

    data, labels = table(1500, both)
    model = markone.train(data, target=labels)
    shapes = model.explain().shapes
    figure = plots.chart(list(shapes.charts()))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert sum("contribution" in title.replace("\n", " ") for title in titles) == len(shapes.curves) + len(shapes.pairs)


def test_texts_beside_columns_have_curves_only_if_they_help() -> None:
    data, labels = table(1500, both)
    notes = [f"note{i % 7} about{i % 11} thing{i}" for i in range(1500)]
    mixed = data.append_column("notes", pa.array(notes))
    assert {column.name: column.kind for column in markone.read(mixed, target=labels).columns}["notes"] == "text"
    curved = markone.train(mixed, target=labels)
    assert curved.settings.rule == "logistic"
    assert "contribution to the score of yes, before rows are scaled" in str(curved.explain())
    by_note = ["yes" if i % 7 < 3 else "no" for i in range(1500)]
    straight = markone.train(mixed, target=by_note)
    assert straight.settings.rule == "mira" and not straight.explain().shapes
    assert straight.settings == markone.train(mixed, target=by_note, plain=True).settings
    assert markone.train(pa.table({"notes": notes}), target=labels).settings.rule == "mira"
    assert markone.validate(mixed, target=by_note, folds=3).mean == 1.0
    assert markone.validate(mixed, target=labels, folds=3).mean > 0.75


def test_the_commands_have_plain_and_say_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, labels = table(1500, both)
    path = tmp_path / "table.csv"
    rows = zip(*(data[name].to_pylist() for name in data.column_names), labels, strict=True)
    path.write_text("a,b,kind,label\n" + "\n".join(",".join(map(str, row)) for row in rows))

    def run(*arguments: object) -> str:
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    model = tmp_path / "table.model"
    said = run("train", path, "--target", "label", "-o", model)
    assert "2 columns have curves" in said and "Pairs: a × b" in said and "(logistic," in said
    assert "a × b: contribution to the score of yes" in run("explain", model)
    run("explain", model, "--html", tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text()
    said = run("train", path, "--target", "label", "-o", model, "--plain")
    assert "(mira," in said and "curves" not in said
    assert '"name": "mira"' in run("validate", path, "--target", "label", "--plain", "--json", "--folds", "3")
