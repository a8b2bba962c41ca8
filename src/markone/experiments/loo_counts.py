"""Exact leave-one-out for rules that count: the counts of a row are subtracted from the counts of all rows."""

from __future__ import annotations

from typing import cast

import numpy as np

from markone import _core
from markone.experiments.contenders import ByRule, taught
from markone.experiments.folds import FoldRows
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.learning.naive_bayes import Counting
from markone.model.evaluation import log_probabilities

REMARK = "Each row was left out by subtracting its counts. The predictions are the same as with one training per row."


def answers(way: ByRule, rows: FoldRows, threads: int) -> LeftOutAnswers:
    learner = cast(Counting, way.learner(rows))
    taught(learner, rows)
    scores = learner.scorer().scores_left_out(learner.ready(rows.block))
    return LeftOutAnswers(
        _core.winners(scores, _core.Tie[way.settings.tie]), np.exp(log_probabilities(scores)), 1, [REMARK]
    )


SHORTCUT = Shortcut(answers=answers, has_probabilities=True)
