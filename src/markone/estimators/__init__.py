"""Estimators with scikit-learn's interface and parameter names, on top of `markone.learning`."""

from markone.extras import need

need("sklearn", "scipy")

from markone.estimators.feature_transformer import FeatureTransformer  # noqa: E402
from markone.estimators.linear_regression import LinearRegression  # noqa: E402
from markone.estimators.logistic import LogisticRegression  # noqa: E402
from markone.estimators.mira import MIRA  # noqa: E402
from markone.estimators.mlp import MLP  # noqa: E402
from markone.estimators.naive_bayes import NaiveBayes  # noqa: E402
from markone.estimators.perceptron import Perceptron  # noqa: E402
from markone.estimators.svm import LinearSVM  # noqa: E402

__all__ = [
    "MIRA",
    "MLP",
    "FeatureTransformer",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "NaiveBayes",
    "Perceptron",
]
