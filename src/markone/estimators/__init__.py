"""Estimators: scikit-learn's interface, in scikit-learn's words, over what `markone.learning` does."""

from markone.estimators.logistic import LogisticRegression
from markone.estimators.mira import MIRA
from markone.estimators.mlp import MLP
from markone.estimators.naive_bayes import NaiveBayes
from markone.estimators.perceptron import Perceptron
from markone.estimators.svm import LinearSVM

__all__ = ["MIRA", "MLP", "LinearSVM", "LogisticRegression", "NaiveBayes", "Perceptron"]
