"""The examples of the page on query engines that need Spark or Ray Data; `make test-cluster` runs them."""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from pathlib import Path

import pytest

import markone

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "engines.md"

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def model():
    texts = ["free money now", "cheap free offer", "see you at lunch", "lunch with a friend"]
    return markone.train(texts, target=["spam", "spam", "ham", "ham"], rule="logistic")


def run_section(title, names):
    """Run the example of a section of the page."""
    section = re.search(rf"^## {title}$.*?^```text\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest(section[1], names, title, str(PAGE), 0)
    assert len(test.examples) >= 4
    found: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=found.append, clear_globs=False)
    assert not found, "".join(found)
    return test.globs


def test_spark(model, monkeypatch):
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none")
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[1] --conf spark.ui.enabled=false pyspark-shell")
    run_section("Spark", {"model": model})["spark"].stop()


def test_ray_data(model):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'markone[ray]'")
    ours = not ray.is_initialized()
    if ours:
        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        run_section("Ray Data", {"model": model})
    finally:
        if ours:
            ray.shutdown()
