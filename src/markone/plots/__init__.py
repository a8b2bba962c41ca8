"""Pictures: each function draws a result and returns a matplotlib `Figure`. It opens no window and has no global state.

matplotlib is an extra, `pip install 'markone[plot]'`. The pictures do not import what they draw: whatever has the
attributes of a validation or a comparison can be drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from markone.errors import MarkoneError

if TYPE_CHECKING:
    from markone.plots.charts import chart
    from markone.plots.comparison import accuracies
    from markone.plots.confusion_matrix import confusion
    from markone.plots.feature_weights import weight_images, weights
    from markone.plots.invariants import bounds
    from markone.plots.lectures import losses_curve, regressions
    from markone.plots.margin_histogram import margins
    from markone.plots.plane import boundary
    from markone.plots.probabilities import calibration, roc
    from markone.plots.separation import certificate
    from markone.plots.steps import animation, step
    from markone.plots.svg_text import svg
    from markone.plots.training_curve import curves

__all__ = [
    "accuracies",
    "animation",
    "boundary",
    "bounds",
    "calibration",
    "certificate",
    "chart",
    "confusion",
    "curves",
    "losses_curve",
    "margins",
    "regressions",
    "roc",
    "step",
    "svg",
    "weight_images",
    "weights",
]

# A module must not have the name of a function here, because importing it would replace the function.
HOMES = {
    "accuracies": "markone.plots.comparison",
    "animation": "markone.plots.steps",
    "boundary": "markone.plots.plane",
    "bounds": "markone.plots.invariants",
    "calibration": "markone.plots.probabilities",
    "certificate": "markone.plots.separation",
    "chart": "markone.plots.charts",
    "confusion": "markone.plots.confusion_matrix",
    "curves": "markone.plots.training_curve",
    "losses_curve": "markone.plots.lectures",
    "margins": "markone.plots.margin_histogram",
    "regressions": "markone.plots.lectures",
    "roc": "markone.plots.probabilities",
    "step": "markone.plots.steps",
    "svg": "markone.plots.svg_text",
    "weight_images": "markone.plots.feature_weights",
    "weights": "markone.plots.feature_weights",
}

if importlib.util.find_spec("matplotlib") is None:
    raise MarkoneError("plots need matplotlib, which is not installed: pip install 'markone[plot]'")


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'markone.plots' has no attribute {name!r}")
    value = getattr(importlib.import_module(HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
