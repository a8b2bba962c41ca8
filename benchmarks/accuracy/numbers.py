"""Tables with a number to predict; the accuracy is R² on the test rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets as generated
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

import markone
from benchmarks.accuracy import tables
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.datasets import Dataset, Split, folder

# ---- data sets


def with_number(target: str, split: Split) -> Split:
    """The table of a classification, with one of its columns as the target. The classes are not used."""
    train, test = split.train.dropna(subset=[target]), split.test.dropna(subset=[target])
    numbers = [part[target].to_numpy().astype(np.float64) for part in (train, test)]
    return Split(train.drop(columns=target), numbers[0], test.drop(columns=target), numbers[1])


def divided(table: pd.DataFrame, numbers: Any) -> Split:
    """A random quarter of the rows is the test."""
    train, test, truth, test_truth = train_test_split(
        table, np.asarray(numbers, np.float64), test_size=tables.TEST_SHARE, random_state=0
    )
    return Split(train.reset_index(drop=True), truth, test.reset_index(drop=True), test_truth)


def of_suite(name: str, number: str, target: str, unused: tuple[str, ...] = ()) -> Split:
    return with_number(number, tables.of_suite(name, target, unused))


def diabetes() -> Split:
    found = generated.load_diabetes(as_frame=True, scaled=False)
    return divided(found.data, found.target)


def mileage() -> Split:
    names = ["mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "origin", "name"]
    path = folder("auto_mpg") / "auto-mpg.data"
    table = pd.read_csv(path, header=None, names=names, sep=r"\s+", na_values="?").drop(columns="name")
    return divided(table, table.pop("mpg"))


def made(make: Callable[..., Any], **settings: Any) -> Split:
    points, numbers = make(random_state=0, **settings)
    return divided(pd.DataFrame(points, columns=[f"x{i + 1}" for i in range(points.shape[1])]), numbers)


HOTEL = ("reservation_status_date", "company", "agent", "country")
SETS = [
    Dataset("diabetes", "progression, scikit-learn", diabetes),
    Dataset("automobiles", "mileage, UCI", mileage),
    Dataset("abalone", "rings by measures, UCI", partial(of_suite, "abalone", "v8", "target")),
    Dataset("german credit", "the amount, UCI", partial(of_suite, "german", "v4", "target")),
    Dataset("telco", "monthly charges", lambda: with_number("MonthlyCharges", tables.telco())),
    Dataset("hotel", "the price of a night", partial(of_suite, "hotel_raw", "adr", "is_canceled", HOTEL)),
    Dataset("adult", "hours of work in a week, UCI", lambda: with_number("hours_per_week", tables.adult())),
    Dataset(
        "sum of curves",
        "generated, Friedman's first",
        partial(made, generated.make_friedman1, n_samples=2_000, noise=2),
    ),
    Dataset(
        "product", "generated, Friedman's second", partial(made, generated.make_friedman2, n_samples=2_000, noise=50)
    ),
    Dataset(
        "straight",
        "generated, without curves",
        partial(made, generated.make_regression, n_samples=500, n_features=20, noise=50),
    ),
]


# ---- contestants


def ours(split: Split, **settings: Any) -> Any:
    source = markone.read(split.train, target=split.train_labels)
    return markone.train(source, rule="regression", **settings).predict(split.test)


def same_features(split: Split) -> Any:
    """Ridge on the features that Markone makes without curves."""
    source = markone.read(split.train, target=split.train_labels)
    features = markone.FeatureMap(markone.Features.of({}, classless=True), source.columns).fit(source)
    rows = [
        np.vstack([as_dense(features.transform(batch)) for batch in features.batches(part)])
        for part in (split.train, split.test)
    ]
    return Ridge().fit(rows[0], split.train_labels).predict(rows[1])


def as_dense(matrix: Any) -> NDArray[np.float64]:
    from markone.data.blocks import as_scipy

    rows = as_scipy(matrix)
    dense: NDArray[np.float64] = (rows.toarray() if hasattr(rows, "toarray") else rows).astype(np.float64)
    return dense


def ridge(split: Split) -> Any:
    train, test = tables.encoded(split)
    return Ridge().fit(train, split.train_labels).predict(test)


def trees(split: Split) -> Any:
    train, test = tables.encoded(split, ordinal=True)
    names = tables.categories_of(split.train)
    few = [i < len(names) and split.train[names[i]].nunique() < 250 for i in range(train.shape[1])]
    boosting = HistGradientBoostingRegressor(random_state=0, categorical_features=few)
    return boosting.fit(train, split.train_labels).predict(test)


SUITE = Suite(
    "numbers",
    SETS,
    [
        Contestant("Markone", '`markone.train(table, target=numbers, rule="regression")` without other settings', ours),
        Contestant("plain", "the same with `plain=True`: straight lines", partial(ours, plain=True)),
        Contestant("Ridge, same features", "scikit-learn's Ridge on the features of `plain`", same_features),
        Contestant("Ridge", "scikit-learn's, scaled numbers and one-hot categories", ridge),
        Contestant("boosted trees", "scikit-learn's HistGradientBoostingRegressor", trees),
    ],
    measure=lambda predicted, truth: float(r2_score(truth, predicted)),
)
