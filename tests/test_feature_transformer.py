"""The feature map in scikit-learn's pipelines, and models in other processes."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import markone
from markone import FeatureMap, Features, FeatureTransformer, Perceptron, SettingsError

TEXTS, LABELS = ["free money", "see you", "free tea", "see me"] * 6, ["spam", "ham"] * 12
WORDS = {"text": {"words": [1, 1]}}


@parametrize_with_checks([FeatureTransformer()])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([FeatureTransformer(sparse_output=False, n_jobs=1)])
def test_scikit_learns_own_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    age = random.integers(18, 80, 60).astype(float)
    age[::9] = np.nan
    city = random.choice(["Rome", "Oslo", "Bonn"], 60)
    return pd.DataFrame({"age": age, "city": city, "note": random.choice(TEXTS, 60)})


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # older scikit-learn does not know polars
def test_the_same_features_as_training_makes(frame: pd.DataFrame) -> None:
    labels = np.where(frame["city"] == "Rome", "y", "n")
    source = markone.read(frame, target=labels)
    expected = FeatureMap(Features(), source.columns).fit(source)
    found = FeatureTransformer().fit(frame, labels)
    assert found.get_feature_names_out().tolist() == expected.names()
    for rows in (frame, pl.from_pandas(frame), frame.to_dict("records")):
        matrix = found.transform(rows)
        assert sparse.issparse(matrix) and matrix.shape == (60, expected.width)
        named = expected.named(frame[3:4])[0]
        row = dict(zip(expected.names(), matrix[3].toarray()[0].tolist(), strict=True))
        assert {name: value for name, value in row.items() if value} == named
    assert found.n_features_in_ == 3 and found.feature_names_in_.tolist() == ["age", "city", "note"]


def test_texts_in_a_pipeline() -> None:
    pipeline = make_pipeline(FeatureTransformer(WORDS), Perceptron(random_state=0))
    for texts in (TEXTS, np.array(TEXTS), np.array(TEXTS, object), pd.Series(TEXTS)):
        assert pipeline.fit(texts, LABELS).predict(["free you", "see tea"]).tolist() == ["spam", "ham"]
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=3).tolist() == [1, 1, 1]
    assert "FeatureTransformer" in pipeline._repr_html_() and "Perceptron" in pipeline._repr_html_()


def test_output(frame: pd.DataFrame) -> None:
    """Sparse or dense as wished, or as a frame with the names of the features."""
    by_kind = {wish: FeatureTransformer(sparse_output=wish).fit_transform(frame) for wish in ("auto", True, False)}
    assert sparse.issparse(by_kind[True]) and isinstance(by_kind[False], np.ndarray)
    assert np.array_equal(by_kind[True].toarray(), by_kind[False]) and sparse.issparse(by_kind["auto"])
    numbers = FeatureTransformer().fit_transform(frame[["age"]].fillna(0))
    assert isinstance(numbers, np.ndarray)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        transformer = FeatureTransformer(sparse_output=False).set_output(transform=library)
        out = transformer.fit_transform(frame)
        assert isinstance(out, kind) and list(out.columns) == transformer.get_feature_names_out().tolist()
        by_itself = FeatureTransformer().set_output(transform=library).fit_transform(frame)
        assert isinstance(by_itself, kind) and by_itself.equals(out)
    with pytest.raises(SettingsError, match="sparse_output must be True, False or 'auto', not 'no'"):
        FeatureTransformer(sparse_output="no").fit(frame)


def test_beside_other_transformers(frame: pd.DataFrame) -> None:
    labels = np.where(frame["city"] == "Rome", "y", "n")
    columns = make_column_transformer((FeatureTransformer(), ["age", "city"]), (FeatureTransformer(WORDS), ["note"]))
    union = FeatureUnion([("a", FeatureTransformer()), ("b", FeatureTransformer(sparse_output=False))])
    for one in (columns, union):
        pipeline = make_pipeline(one, LogisticRegression()).fit(frame, labels)
        assert pipeline.score(frame, labels) == 1
        assert len(pipeline[0].get_feature_names_out()) == pipeline[0].transform(frame).shape[1]


def test_settings_change_something(frame: pd.DataFrame) -> None:
    plain = FeatureTransformer().fit(frame)
    assert not any("age=" in name for name in plain.get_feature_names_out())
    kinds = FeatureTransformer(kinds={"age": "categorical"}).fit(frame)
    assert any("age=" in name for name in kinds.get_feature_names_out())
    loud = FeatureTransformer(WORDS, functions={"loud": lambda row: {"loud": 1.0}}).fit(TEXTS)
    assert "loud" in "".join(loud.get_feature_names_out())
    one, two = (FeatureTransformer(n_jobs=n).fit_transform(frame) for n in (1, 2))
    assert (one != two).nnz == 0


def test_what_is_wrong_is_said(frame: pd.DataFrame) -> None:
    with pytest.raises(NotFittedError):
        FeatureTransformer().transform(frame)
    fitted = FeatureTransformer().fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame[["age"]])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        fitted.get_feature_names_out(["a", "b", "c"])


def test_metadata_routing() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(FeatureTransformer(WORDS), Perceptron().set_fit_request(sample_weight=True))
        weights = np.where(np.array(LABELS) == "spam", 1.0, 2.0)
        assert pipeline.fit(TEXTS, LABELS, sample_weight=weights).score(TEXTS, LABELS) == 1
        assert "sample_weight" in str(pipeline.get_metadata_routing())


def test_copies_and_files(tmp_path: Any, frame: pd.DataFrame) -> None:
    fitted = FeatureTransformer().fit(frame)
    joblib.dump(fitted, tmp_path / "features.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "features.joblib")):
        assert (again.transform(frame) != fitted.transform(frame)).nnz == 0
    assert not hasattr(clone(fitted), "feature_map_")


def test_search_in_several_processes() -> None:
    pipeline = make_pipeline(FeatureTransformer(WORDS), Perceptron(random_state=0))
    grid = {"featuretransformer__features": [WORDS, None], "perceptron__average": [False, True]}
    found = GridSearchCV(pipeline, grid, cv=2, n_jobs=2).fit(TEXTS, LABELS)
    assert found.best_score_ == 1 and np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_a_model_in_other_processes() -> None:
    """With joblib, and with both ways of starting processes."""
    model = markone.train(TEXTS, target=LABELS)
    parts = [TEXTS[:5], TEXTS[5:]]
    expected = [model.predict(part).tolist() for part in parts]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(model.predict)(part) for part in parts)
    assert [one.tolist() for one in found] == expected
    for way in ("spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert [one.tolist() for one in pool.map(model.predict, parts)] == expected
