"""`markone.audit`: labels that are probably wrong, and repeated rows."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import markone
from files_of import as_idx
from markone import DataError, SettingsError
from markone.data.subsets import Held
from markone.experiments.auditing import FIRST_PASSES, doubts_of
from markone.experiments.duplicates import FEWEST_NGRAMS, SIMILAR, Fingerprints, pairs_of
from markone.experiments.findings import LIKELY
from markone.experiments.splits import Plan
from markone.model.margins import functional_margins

WORDS = [f"w{i}" for i in range(60)]


def points(rows: int = 600, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points around a centre for each class."""
    random = np.random.default_rng(seed)
    labels = np.arange(rows) % classes
    centres = random.normal(size=(classes, 8)) * 1.5
    return centres[labels] + random.normal(size=(rows, 8)), labels


def flipped(labels: np.ndarray, share: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    which = random.choice(len(labels), round(share * len(labels)), replace=False)
    changed, classes = labels.copy(), labels.max() + 1
    changed[which] = (labels[which] + random.integers(1, classes, len(which))) % classes
    return changed, which


def precision(found: markone.Audit, which: np.ndarray) -> float:
    return float(np.isin(found.ranking()[: len(which)] - 1, which).mean())


# ---- labels


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_changed_labels_are_found(classes: int, share: float) -> None:
    X, truth = points(classes=classes)
    labels, which = flipped(truth, share)
    found = markone.audit(X, target=labels)
    assert precision(found, which) > 0.85
    listed = found.of("label")
    assert 0.7 * len(which) < len(listed) < 1.4 * len(which)
    assert [one.doubt for one in listed] == sorted([one.doubt for one in listed], reverse=True)
    right = [one for one in listed if one.row - 1 in which]
    assert np.mean([one.suggestion == truth[one.row - 1] for one in right]) > 0.95
    assert all(one.label == labels[one.row - 1] for one in listed)


def test_doubts_are_those_of_models_trained_on_other_folds_without_doubtful_rows() -> None:
    X, truth = points(120)
    labels, _ = flipped(truth, 0.1)
    rows = scipy.sparse.csr_array(X.astype(np.float32))
    splits, _ = Plan(folds=3, seed=0).divide(len(labels), labels)

    def doubts(used: np.ndarray, epochs: int) -> np.ndarray:
        margins = np.zeros(len(labels))
        for split in splits:
            learned = split.learned[used[split.learned]]
            model = markone.train(rows[learned], target=labels[learned], rule="mira", holdout=0, epochs=epochs)
            margins[split.tested] = functional_margins(model.scores(rows[split.tested])[:, 1:], labels[split.tested])
        return -margins / margins[margins > 0].mean()

    first = doubts(np.ones(len(labels), bool), FIRST_PASSES)
    second = doubts(first <= LIKELY, 10)
    assert not np.allclose(first, second)
    np.testing.assert_allclose(markone.audit(rows, target=labels).doubts, second, rtol=1e-4, atol=1e-5)


def test_doubt_is_measured_by_the_mean_of_wins() -> None:
    doubts, better = doubts_of(np.array([[3.0], [1.0], [2.0]]), np.array([1, 1, 0]))
    assert doubts.tolist() == [-1.5, -0.5, 1.0] and better.tolist() == [1, 1, 1]
    assert doubts_of(np.array([[-3.0]]), np.array([1]))[0].tolist() == [3.0]  # nothing wins


def test_numbers_of_rows_count_those_without_a_label() -> None:
    X, truth = points(200)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame["y"] = np.where(truth == 1, "yes", "no")
    surest = 5 + int(np.argmin(markone.audit(frame, target="y").doubts[5:]))
    frame.loc[surest, "y"] = "no" if frame["y"][surest] == "yes" else "yes"
    frame.loc[:4, "y"] = None
    found = markone.audit(frame, target="y")
    assert found.of("label")[0].row == surest + 1 and found.rows == 195 and found.numbers[0] == 6
    assert found.remarks == ["5 rows have no label and cannot be used."]
    assert found.of("label")[0].text.startswith("a=")


def test_settings_change_something() -> None:
    X, truth = points(150)
    table = pd.DataFrame(X)
    labels, _ = flipped(truth, 0.1)
    usual = markone.audit(table, target=labels)
    assert usual.rule == "logistic"
    for changed in ({"rule": "perceptron"}, {"folds": 4}, {"seed": 1}, {"plain": True}, {"features": {"degree": 2}}):
        assert not np.array_equal(markone.audit(table, target=labels, **changed).doubts, usual.doubts), changed
    assert np.array_equal(markone.audit(table, target=labels, threads=2).doubts, usual.doubts)
    # Features that do not fit in memory are made twice.
    small = markone.audit(X, target=labels, memory=2**20)
    assert np.array_equal(small.doubts, markone.audit(X, target=labels).doubts)


def test_every_rule_can_judge() -> None:
    X, truth = points(200, classes=3)
    labels, which = flipped(truth, 0.1)
    for rule in ("perceptron", "mira", "hinge", "logistic", "svm", "mlp"):
        assert precision(markone.audit(X, target=labels, rule=rule), which) > 0.6, rule
    texts = [" ".join(["good" if one else "bad", f"w{i}"]) for i, one in enumerate(truth > 0)]
    assert markone.audit(texts, target=labels > 0, rule="naive-bayes").of("label")


def test_labels_that_do_not_depend_on_the_features_are_not_judged() -> None:
    random = np.random.default_rng(0)
    found = markone.audit(random.normal(size=(300, 5)), target=(random.random(300) < 0.2).astype(int))
    assert found.of("label") == [] and np.isnan(found.doubts).all() and len(found.ranking()) == 0
    assert "no better than always predicting the most frequent class" in found.remarks[0]


def test_classes_that_are_rare_or_unknown_to_the_model_are_not_judged() -> None:
    X, truth = points(400, classes=3)
    labels = np.array(["a", "b", "c"])[truth].astype(object)
    labels[:3] = "rare"
    labels[3:60:3] = "hidden"  # like any other of class a
    found = markone.audit(X, target=labels)
    assert {one.label for one in found.of("label")} <= {"a", "b", "c"}
    assert any("fewer than 5 rows and cannot be judged: rare" in one for one in found.remarks)
    assert any("cannot tell from others and cannot be judged: hidden" in one for one in found.remarks)


def test_a_class_may_have_more_wrong_labels_than_right_ones() -> None:
    X, truth = points(1000)
    rare = (truth == 1) & (np.arange(1000) < 200)
    X, labels = np.vstack([X[truth == 0], X[rare]]), np.repeat([0, 1], [500, rare.sum()])
    wrong = np.arange(0, 500, 4)  # 125 labels, and 100 rows are of class 1
    labels[wrong] = 1
    assert precision(markone.audit(X, target=labels), wrong) > 0.8


# ---- repeated rows


def ngrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1)}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 11), st.sampled_from(WORDS)), max_size=8),
)
def test_pairs_are_those_of_all_pairs(texts: list[list[str]], changes: list[tuple[int, int, str]]) -> None:
    """Every pair that is found is right, and all rows that are the same are found."""
    for row, place, word in changes:
        copy = list(texts[row % len(texts)])
        if copy:
            copy[place % len(copy)] = word
        texts.append(copy)
    joined = [" ".join(words) for words in texts]
    held = Held(markone.read(joined, target=[i % 2 for i in range(len(joined))]))
    pairs = pairs_of(Fingerprints.of(held.batches(), held.columns, 1))
    found = {(int(a), int(b)): s for a, b, s in zip(pairs.first, pairs.second, pairs.similarity, strict=True)}
    sets = [ngrams(text) for text in joined]
    for (a, b), similarity in found.items():
        assert similarity == pytest.approx(len(sets[a] & sets[b]) / len(sets[a] | sets[b]))
        assert similarity >= SIMILAR
    group = list(range(len(joined)))
    for a, b in found:
        group = [group[a] if one == group[b] else one for one in group]
    for a, b in combinations(range(len(joined)), 2):
        if sets[a] and sets[a] == sets[b]:
            assert group[a] == group[b]


def test_most_near_duplicates_of_long_texts_are_found() -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, 80)) for _ in range(300)]
    changed = []
    for text in texts:
        words = text.split()
        words[random.integers(80)] = "another"  # changes 6 of 237 n-grams
        changed.append(" ".join(words))
    held = Held(markone.read(texts + changed, target=[0, 1] * 300))
    pairs = pairs_of(Fingerprints.of(held.batches(), held.columns, 1))
    assert {*zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)} == {(i, 300 + i) for i in range(300)}


def test_case_and_punctuation_do_not_matter_but_the_order_does() -> None:
    texts = ["Free money, NOW!", "free money now", "now free money", "!!!", "???", ""]
    found = markone.audit([*texts, *WORDS], target=["a", "b", "a", "a", "b", "a", *["a", "b"] * 30])
    assert [(one.row, one.other, one.similarity) for one in found.of("conflict")] == [(2, 1, 1.0)]


def test_the_label_of_most_copies_is_suggested() -> None:
    text = "a long enough text to be compared with all the others of this list"
    texts = [f"{text} {word}" for word in ("one", "two", "three", "four")]
    found = markone.audit([*WORDS, *texts], target=["a", "b"] * 30 + ["b", "a", "a", "a"])
    [conflict] = found.of("conflict")
    assert (conflict.row, conflict.label, conflict.suggestion, conflict.other) == (61, "b", "a", 62)
    assert SIMILAR <= conflict.similarity < 1
    assert [one.row for one in found.of("repeat")] == [63, 64]


def test_short_texts_are_only_compared_exactly() -> None:
    short = ["we are here now too", "we are here now also"]
    assert len(ngrams(short[0])) == FEWEST_NGRAMS
    found = markone.audit([*WORDS, *short], target=["a", "b"] * 31)
    assert found.of("conflict") == found.of("repeat") == []


def test_rows_of_tables_are_the_same_if_all_columns_are() -> None:
    table = pd.DataFrame(
        {
            "n": [0.0, -0.0, 1.5, 1.5, np.nan, np.nan, *range(10, 74)],
            "c": ["x", "x", "y", "z", "u", "u", *["x", "y"] * 32],
            "d": pd.to_datetime(["2024-01-01"] * 6 + ["2024-02-02"] * 64),
            "b": [True] * 70,
        }
    )
    found = markone.audit(table, target=["p", "q"] * 35)
    assert [(one.row, one.other) for one in found.of("conflict")] == [(2, 1), (6, 5)]


def test_dense_and_sparse_rows_and_images_are_compared(tmp_path: Path) -> None:
    X, labels = points(100)
    X[50] = X[3]
    for rows in (X, scipy.sparse.csr_array(X)):
        assert [(one.row, one.other) for one in markone.audit(rows, target=labels).of("conflict")] == [(51, 4)]
    images = np.random.default_rng(0).integers(0, 255, (60, 4, 4)).astype(np.uint8)
    images[30] = images[2]
    (tmp_path / "images-idx3-ubyte").write_bytes(as_idx(images))
    (tmp_path / "labels-idx1-ubyte").write_bytes(as_idx(np.array([0, 1] * 30, np.uint8)))
    found = markone.audit(tmp_path / "images-idx3-ubyte")
    assert [(one.row, one.other, one.text) for one in found.of("repeat")] == [(31, 3, "")]
    str(found)


# ---- training and test


def test_test_rows_that_are_in_training_are_found() -> None:
    texts = [
        f"{a} {b} and quite a few other words to make it a longer text, so that one word matters little {a}"
        for a, b in pairwise(WORDS)
    ]
    labels = (["a", "b"] * 30)[: len(texts)]
    tests = ["something new", texts[4].upper(), texts[7].replace("quite", "really"), "w1 w2"]
    found = markone.audit(texts, target=labels, against=tests)
    assert [(one.row, one.other, one.label, one.suggestion) for one in found.of("leak")] == [
        (2, 5, None, None),
        (3, 8, None, None),
    ]
    assert found.tested == 4
    labelled = markone.read(tests, target=["a", "a", "a", "a"])
    leaks = markone.audit(texts, target=labels, against=labelled).of("leak")
    assert [(one.label, one.suggestion) for one in leaks] == [("a", None), ("a", "b")]
    assert "50.0%" in str(found) and "No row of" in str(markone.audit(texts, target=labels, against=["new"]))


def test_test_rows_of_tables_have_the_kinds_of_the_training_rows() -> None:
    table = pd.DataFrame(
        {"zip": [f"{i:05d}" for i in range(60)], "n": [i % 7 for i in range(60)], "y": ["a", "b"] * 30}
    )
    train = markone.read(table, target="y", kinds={"zip": "categorical"})
    found = markone.audit(train, against=pd.DataFrame({"n": [3, 4], "zip": ["00003", "99999"]}))
    assert [(one.row, one.other) for one in found.of("leak")] == [(1, 4)]
    assert markone.audit(train, against=table).of("leak")[0].label == "a"
    with pytest.warns(markone.MarkoneWarning, match="lacks the column 'zip'"):
        markone.audit(train, against=pd.DataFrame({"n": [3]}))


# ---- the result, and bad input


def test_report_and_json() -> None:
    X, truth = points(300)
    labels, _ = flipped(truth, 0.1)
    found = markone.audit(X, target=labels)
    report = str(found)
    assert (
        f"{len(found.of('label'))} labels are probably wrong" in report
        and "Read these rows from the top" in " ".join(report.split())
    )
    assert f"and {len(found.of('label')) - 10} more" in report
    assert max(map(len, report.splitlines())) <= 80
    facts = json.loads(json.dumps(found.as_dict(), default=str))
    assert facts["counts"]["label"] == len(found.of("label")) and facts["findings"][0]["row"] == found.findings[0].row
    assert repr(found).startswith("<Audit: ") and "<table" in found.html()
    clean = markone.audit(
        np.vstack([X * 0 - 1, X * 0 + 1]) + np.random.default_rng(0).normal(0, 0.01, (600, 8)),
        target=[0] * 300 + [1] * 300,
    )
    assert clean.findings == [] and str(clean).endswith("Nothing looks wrong.")


def test_wrong_arguments() -> None:
    with pytest.raises(DataError, match="2 rows cannot be divided into 3 folds"):
        markone.audit(["a", "b"], target=["x", "y"])
    with pytest.raises(DataError, match="training needs at least two classes"):
        markone.audit(["a", "b", "c"], target=["x", "x", "x"])
    with pytest.raises(DataError, match="there is nothing to predict"):
        markone.audit(["a", "b", "c"])
    with pytest.raises(SettingsError, match="folds must be a whole number of at least 2"):
        markone.audit(["a", "b"], target=["x", "y"], folds=1)
    with pytest.raises(SettingsError, match="rule must be one of"):
        markone.audit(["a", "b"], target=["x", "y"], rule="bayes")
    with pytest.raises(SettingsError, match="plain"):
        markone.audit(["a", "b"] * 10, target=["x", "y"] * 10, plain=True)
    X, labels = points(50)
    with pytest.raises(DataError, match="needs the column"):
        markone.audit(pd.DataFrame(X).rename(columns=str), target=labels, against=pd.DataFrame({"z": [1]}))


def test_the_source_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,label\n" + "".join(f"{word},{'ab'[i % 2]}\n" for i, word in enumerate(WORDS * 2)))
    assert markone.audit(path, target="label").of("repeat")
