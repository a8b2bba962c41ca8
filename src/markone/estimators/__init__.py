"""Estimators with scikit-learn's interface and parameter names, on top of `markone.learning`."""

from markone.estimators.feature_transformer import FeatureTransformer
from markone.estimators.linear_regression import LinearRegression
from markone.estimators.logistic import LogisticRegression
from markone.estimators.mira import MIRA
from markone.estimators.mlp import MLP
from markone.estimators.naive_bayes import NaiveBayes
from markone.estimators.perceptron import Perceptron
from markone.estimators.svm import LinearSVM

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
