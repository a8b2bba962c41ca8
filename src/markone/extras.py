"""Packages that are only needed for some work, and the extras that install them."""

from __future__ import annotations

import importlib.util
import sys

from markone.errors import MarkoneError

EXTRAS = {
    "pyarrow": ("pyarrow", "tables", "to read tables and files, and to train"),
    "sklearn": ("scikit-learn", "sklearn", "for the estimators and experiments"),
    "scipy": ("SciPy", "sklearn", "for certificates and experiments"),
    "distributed": ("Dask", "dask", "to work on a cluster of Dask"),
    "ray": ("Ray", "ray", "to work on a cluster of Ray"),
}
"""For each module the name of its package, the extra that installs it, and what it is for."""


def installed(module: str) -> bool:
    """Whether a module can be imported. It is not imported for this."""
    return module in sys.modules or importlib.util.find_spec(module) is not None


def need(*modules: str) -> None:
    """Raise an error that names the extra, if one of these modules is not installed."""
    for module in modules:
        if not installed(module):
            package, extra, purpose = EXTRAS[module]
            raise MarkoneError(
                f"{package} is needed {purpose}, and is not installed: pip install 'markone[{extra}]', or for "
                "everything: pip install 'markone[all]'"
            )
