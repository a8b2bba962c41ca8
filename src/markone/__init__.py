"""Markone trains linear models from labelled examples: fast, exact, and with the same bits in every run."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markone.data.read import read
    from markone.data.source import Source
    from markone.errors import DataError, LimitError, MarkoneError, MarkoneWarning, ModelFileError, SettingsError
    from markone.estimators import (
        MIRA,
        MLP,
        FeatureTransformer,
        LinearRegression,
        LinearSVM,
        LogisticRegression,
        NaiveBayes,
        Perceptron,
    )
    from markone.experiments.auditing import audit
    from markone.experiments.comparing import Comparison, compare
    from markone.experiments.curve import LearningCurve, learning_curve
    from markone.experiments.findings import Audit
    from markone.experiments.inspecting import Inspection, inspect
    from markone.experiments.trials import Tuning
    from markone.experiments.tuning import tune
    from markone.experiments.validating import validate
    from markone.experiments.validation import Validation
    from markone.features.map import FeatureMap
    from markone.features.spec import Features
    from markone.filtering.filtering import filter_files
    from markone.learning.training import train
    from markone.lectures.decks import lecture
    from markone.model.bounds import Bounds
    from markone.model.model import Model, load
    from markone.model.settings import Settings
    from markone.scoring.predicting import predict_files
    from markone.scoring.report import PartsReport
    from markone.structured.parser import Parser
    from markone.structured.perceptron import StructuredPerceptron
    from markone.structured.tagger import Tagger
    from markone.theory.certificate import Certificate
    from markone.theory.certifying import certify
    from markone.theory.invariants import Invariants
    from markone.theory.margins import Margins, margins
    from markone.theory.trace import Trace
    from markone.theory.tracing import trace

__version__ = "1.0.0rc1"

__all__ = [
    "MIRA",
    "MLP",
    "Audit",
    "Bounds",
    "Certificate",
    "Comparison",
    "DataError",
    "FeatureMap",
    "FeatureTransformer",
    "Features",
    "Inspection",
    "Invariants",
    "LearningCurve",
    "LimitError",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "Margins",
    "MarkoneError",
    "MarkoneWarning",
    "Model",
    "ModelFileError",
    "NaiveBayes",
    "Parser",
    "PartsReport",
    "Perceptron",
    "Settings",
    "SettingsError",
    "Source",
    "StructuredPerceptron",
    "Tagger",
    "Trace",
    "Tuning",
    "Validation",
    "__version__",
    "audit",
    "certify",
    "compare",
    "filter_files",
    "inspect",
    "learning_curve",
    "lecture",
    "load",
    "margins",
    "predict_files",
    "read",
    "trace",
    "train",
    "tune",
    "validate",
]

# The modules of the public names. Each is imported at its first use, so that `import markone` is fast.
HOMES = {
    "MIRA": "markone.estimators",
    "FeatureTransformer": "markone.estimators",
    "LinearRegression": "markone.estimators",
    "LinearSVM": "markone.estimators",
    "LogisticRegression": "markone.estimators",
    "MLP": "markone.estimators",
    "NaiveBayes": "markone.estimators",
    "Perceptron": "markone.estimators",
    "PartsReport": "markone.scoring.report",
    "predict_files": "markone.scoring.predicting",
    "Audit": "markone.experiments.findings",
    "audit": "markone.experiments.auditing",
    "Comparison": "markone.experiments.comparing",
    "compare": "markone.experiments.comparing",
    "LearningCurve": "markone.experiments.curve",
    "learning_curve": "markone.experiments.curve",
    "Inspection": "markone.experiments.inspecting",
    "inspect": "markone.experiments.inspecting",
    "Tuning": "markone.experiments.trials",
    "tune": "markone.experiments.tuning",
    "Validation": "markone.experiments.validation",
    "validate": "markone.experiments.validating",
    "FeatureMap": "markone.features.map",
    "Features": "markone.features.spec",
    "lecture": "markone.lectures.decks",
    "load": "markone.model.model",
    "Model": "markone.model.model",
    "filter_files": "markone.filtering.filtering",
    "Settings": "markone.model.settings",
    "Bounds": "markone.model.bounds",
    "Parser": "markone.structured.parser",
    "Tagger": "markone.structured.tagger",
    "Margins": "markone.theory.margins",
    "margins": "markone.theory.margins",
    "Trace": "markone.theory.trace",
    "trace": "markone.theory.tracing",
    "StructuredPerceptron": "markone.structured.perceptron",
    "train": "markone.learning.training",
    "Certificate": "markone.theory.certificate",
    "certify": "markone.theory.certifying",
    "Invariants": "markone.theory.invariants",
    "Source": "markone.data.source",
    "read": "markone.data.read",
    "DataError": "markone.errors",
    "LimitError": "markone.errors",
    "MarkoneError": "markone.errors",
    "MarkoneWarning": "markone.errors",
    "ModelFileError": "markone.errors",
    "SettingsError": "markone.errors",
}


def __getattr__(name: str) -> Any:
    if name == "plots":  # a room whose functions are not public names of the package
        return importlib.import_module("markone.plots")
    if name not in HOMES:
        raise AttributeError(f"module 'markone' has no attribute {name!r}")
    value = getattr(importlib.import_module(HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
