"""The base of the classifiers whose probabilities are the softmax of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.estimators.base import Classifier
from markone.learning.several_labels import LabelLearner
from markone.model.evaluation import log_probabilities
from markone.model.several_labels import SeveralLabels


class ProbabilisticClassifier(Classifier):
    """The base of the classifiers that have probabilities."""

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of each probability. It is exact even if the probability itself would round to 0."""
        scores = self._scores(X)
        if isinstance(self._learner, LabelLearner):
            return SeveralLabels.plain(len(self.classes_)).log_probabilities(scores)
        if len(self.classes_) < 2:
            return np.zeros_like(scores, np.float64)
        return log_probabilities(scores)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_`. If rows can have several labels, each label
        has a probability of its own."""
        return np.exp(self.predict_log_proba(X))
