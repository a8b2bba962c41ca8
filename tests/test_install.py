"""Installing from source: any Python from 3.11 on, and a sentence where something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import markone

ROOT = Path(__file__).parents[1]
NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python")
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def make(folder: Path, *pythons: str, run: bool = False, **more: str) -> subprocess.CompletedProcess[str]:
    """Make an environment in a folder, where only these names are a Python that is new enough."""
    programs = folder / "programs"
    programs.mkdir()
    for name in NAMES:
        if name in pythons:
            (programs / name).symlink_to(sys.executable)
        else:
            (programs / name).write_text("#!/bin/sh\nexit 1\n")
            (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", **more}
    target = folder / "environment" / "installed"
    command = ["make", *([] if run else ["-n"]), f"VENV={folder / 'environment'}", str(target)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("pythons", [("python3",), ("python3.12",), ("python3.13", "python3.11"), ("python",)])
def test_the_first_python_that_is_new_enough(tmp_path: Path, pythons: tuple[str, ...]) -> None:
    done = make(tmp_path, *pythons)
    assert done.returncode == 0 and f"{pythons[0]} -m venv {tmp_path}" in done.stdout


def test_warnings_are_errors_only_in_our_checks(tmp_path: Path) -> None:
    assert "MARKONE_WERROR=OFF" in make(tmp_path, "python3").stdout
    assert "make WERROR=ON " in (ROOT / ".ci" / "run").read_text()


def test_without_a_python(tmp_path: Path) -> None:
    done = make(tmp_path, run=True)
    assert done.returncode == 2 and "Markone needs Python 3.11 or newer, and there is none." in done.stdout
    assert not (tmp_path / "environment").exists()


def test_without_a_compiler(tmp_path: Path) -> None:
    done = make(tmp_path, "python3", run=True, CXX="/none/c++")
    assert done.returncode == 2 and "and there is no compiler. Install one" in done.stdout
    assert not (tmp_path / "environment").exists()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_cmake_without_a_compiler(tmp_path: Path) -> None:
    """What `pip install` of a source distribution says."""
    environment = {**os.environ, "CXX": "/none/c++"}
    command = ["cmake", "-S", str(ROOT), "-B", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and "Markone's core is written in C++20, and no compiler was found." in done.stderr


def test_wheels_are_built_for_the_declared_pythons() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    built = project["tool"]["cibuildwheel"]
    assert built["build"].split() == [f"cp3{minor}-*" for minor in range(11, 15)]
    assert project["project"]["requires-python"] == ">=3.11"
    assert (ROOT / built["test-command"].split("/", 1)[1]).is_file()
    assert "pypa/cibuildwheel" in (ROOT / ".github" / "workflows" / "wheels.yml").read_text()


def test_a_wheel_is_tested_by_this() -> None:
    """It is run here on the package itself."""
    done = subprocess.run([sys.executable, "tests/wheel.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and " works with Python 3." in done.stdout, done.stderr


# ---- what a release says of itself


def test_the_version_comes_from_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"] and project["project"]["dynamic"] == ["version"]
    assert project["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/markone/__init__.py"
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert citation is not None and citation[1] == markone.__version__
    assert f"version {markone.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_changelog_names_nothing_twice() -> None:
    items = re.findall(r"^- (.*(?:\n  .*)*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert len(items) > 50 and len(items) == len(set(items))


def test_licences_of_all_dependencies_are_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = set(re.findall(r"^\| ([a-z0-9-]+) \|", (ROOT / "LICENCES.md").read_text(), re.MULTILINE))
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in ("all", "sklearn", "plot", "excel") for one in extras[name])]
    wanted += [one for name in ("tables", "images", "serve", "onnx", "js") for one in extras[name]]
    for one in wanted:
        name = re.match(r"[\w-]+", one)
        assert name is not None and (name[0] in listed or name[0] == "markone"), one
    assert set(project["license-files"]) == {"LICENSE", "LICENCES.md"}


def test_a_release_runs_every_check() -> None:
    makefile = (ROOT / "Makefile").read_text()
    line = re.search(r"^release-check: (.*?) ##", makefile, re.MULTILINE)
    assert line is not None
    assert {"check", "links", "test", "test-slow", "oldest", "sanitize", "fuzz", "cross", "wheels", "bench"} == set(
        line[1].split()
    )
    for name in line[1].split():
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), name
