"""An environment in which only the packages of the slim core are installed: a folder with links to them."""

from __future__ import annotations

import importlib.metadata as metadata
import re
import subprocess
import sys
from pathlib import Path

SLIM = ("numpy", "safetensors", "xxhash", "cyclopts", "docstring-parser", "rich")
"""What `pip install markone` installs; `test_the_slim_core_is_what_is_declared` compares it with pyproject.toml."""


def with_their_own(names: tuple[str, ...]) -> set[str]:
    """The names of packages, and of those that they need without extras."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # it is for another Python or another system
            continue
        found.add(name)
        todo += [re.split(r"[ ;<>=!~\[(]", one)[0] for one in needed if "extra ==" not in one]
    return found


def make_environment(folder: Path) -> list[str]:
    """Fill a folder with links, and return a command that runs Python code with nothing else installed."""
    for name in with_their_own(SLIM):
        files = metadata.files(name) or []
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            link = folder / top
            if not link.exists():
                link.symlink_to(metadata.distribution(name).locate_file(top))
    import markone._core

    package = folder / "markone"
    package.mkdir()
    for path in Path(markone.__file__).parent.iterdir():
        (package / path.name).symlink_to(path)
    core = Path(markone._core.__file__)
    if not (package / core.name).exists():
        (package / core.name).symlink_to(core)
    return [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(folder)!r}); exec(sys.stdin.read())",
    ]


def run(command: list[str], code: str, folder: Path) -> str:
    """Run code and return what it prints. An exception is an assertion that fails."""
    done = subprocess.run(command, input=code, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
