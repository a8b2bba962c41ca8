"""Progress is shown where a person watches and the work takes more than two seconds, and nowhere else."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import markone
from markone.experiments.progress import NoSteps, StepBar, watching
from markone.learning.progress import Bar, PassLines, Silence, progress_of
from markone.reporting import meter

X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A notebook, as far as Markone sees it, and what it shows."""
    shown: list[str] = []

    class Handle:
        def update(self, content: str) -> None:
            shown.append(content)

    def display(content: str, display_id: bool) -> Handle:
        shown.append(content)
        return Handle()

    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(meter, "BETWEEN", 0.0)
    return shown


def test_where_a_person_watches(monkeypatch: pytest.MonkeyPatch, notebook: list[str]) -> None:
    assert meter.watched_place() == "notebook"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert meter.watched_place() is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert meter.watched_place() == "terminal"
    monkeypatch.setattr("sys.stderr", None)  # as in pythonw
    assert meter.watched_place() is None


def test_the_default_is_a_bar_only_where_a_person_watches(monkeypatch: pytest.MonkeyPatch, notebook: list[str]) -> None:
    assert isinstance(progress_of(None), Bar) and isinstance(progress_of(False), Silence)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert isinstance(progress_of(None), Silence) and isinstance(progress_of(True), PassLines)


def test_quick_work_shows_nothing_and_long_work_a_bar(monkeypatch: pytest.MonkeyPatch, notebook: list[str]) -> None:
    markone.train(X, target=y, rule="mira", epochs=2)
    markone.validate(X, target=y, folds=3, rule="mira")
    markone.certify(X, y)
    assert notebook == []
    monkeypatch.setattr(meter, "PATIENCE", 0.0)
    markone.train(X, target=y, rule="mira", epochs=2)
    assert any("pass 1 of 2" in one and "<progress" in one for one in notebook)
    assert "<progress" not in notebook[-1]  # it is removed at the end
    notebook.clear()
    markone.validate(X, target=y, folds=3, rule="mira")
    assert any("mira, fold 2 of 3" in one and 'value="0.333"' in one for one in notebook)
    notebook.clear()
    markone.certify(X, y)
    assert notebook
    notebook.clear()
    markone.train(X, target=y, rule="mira", epochs=2, progress=False)
    markone.compare(X, target=y, rules=["mira"], folds=2, contrasts=False, tune=True, progress=False)
    assert notebook == []


def test_work_inside_of_other_work_has_no_bar_of_its_own(notebook: list[str]) -> None:
    with watching(None, 2) as outer:
        assert isinstance(outer, StepBar) and isinstance(progress_of(None), Silence)
        with watching(None, 3) as inner:
            assert isinstance(inner, NoSteps)
    assert isinstance(progress_of(None), Bar)


def test_words_in_a_bar_are_escaped() -> None:
    shown = meter.in_html("<b>", 1, 2, "<i>", "0:01")
    assert "<b>" not in shown and "<i>" not in shown and "&lt;b&gt;" in shown


def test_a_real_notebook_shows_and_removes_the_bar() -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    code = """
    from markone.reporting import meter
    meter.PATIENCE = 0.0
    import markone, numpy as np
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = markone.train(X, target=np.arange(60) % 2, rule="mira", epochs=2)
    """
    import textwrap

    cells: list[Any] = [nbformat.v4.new_code_cell(textwrap.dedent(code))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    [output] = notebook.cells[0].outputs
    assert output.output_type == "display_data" and output.data["text/html"] == ""
