"""The page on query engines: what it shows of Spark and Ray Data, where these are installed, is so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "engines.md").read_text(encoding="utf-8")
MODEL = """
import markone
texts = ["free money now", "cheap free offer", "see you at lunch", "lunch with a friend"]
model = markone.train(texts, target=["spam", "spam", "ham", "ham"], rule="logistic")
"""
pytestmark = pytest.mark.cluster


def play(heading):
    """Run the program below a heading of the page, and compare what it prints."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    program, expected = re.findall(r"```(?:py|text)\n(.*?)```", section, re.DOTALL)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MODEL + program],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"},
    )
    assert found.stdout.splitlines()[-1:] == [expected.strip()], found.stderr[-2000:]


def test_spark():
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install pyspark")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    play("Spark")


def test_ray_data():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'markone[ray]'")
    play("Ray Data")
