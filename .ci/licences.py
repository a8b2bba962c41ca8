"""Writes LICENCES.md: what a wheel contains that others wrote, and what it depends on, each with its licence.

`python .ci/licences.py` writes it anew from the packages that are installed here; with `--check` it only compares. The
licences of what a wheel contains are copied in full, as they ask.
"""

from __future__ import annotations

import importlib.metadata as metadata
import re
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "LICENCES.md"
CONTAINED = ("nanobind",)
"""Packages whose code is compiled into the core. robin_map, by Thibaut Goetghebuer-Planchon, comes with nanobind."""
ROBIN_MAP = "nanobind/ext/robin_map/include/tsl/robin_hash.h"
"""Its licence is the comment at the top."""
LINE = 88
"""Longer licences are whole texts: the classifier is what counts."""


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def needed(requirements: list[str], extras: dict[str, list[str]]) -> set[str]:
    """The packages that these need, and what those need in turn, extras of Markone's own resolved."""
    found: set[str] = set()
    left = list(requirements)
    while left:
        one = left.pop()
        name = name_of(one)
        if name == "markone":
            inside = re.search(r"\[(.*?)\]", one)
            left += [more for extra in (inside[1].split(",") if inside else []) for more in extras[extra.strip()]]
            continue
        if name in found or not is_installed(name):
            continue
        found.add(name)
        left += [more for more in metadata.requires(name) or [] if "extra ==" not in more]
    return found


def is_installed(name: str) -> bool:
    """Whether the package is here. Markers such as `sys_platform == "win32"` name some that are not."""
    try:
        metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def licence_of(name: str) -> str:
    told = metadata.metadata(name)
    expression = told.get("License-Expression")
    if expression:
        return expression
    kinds = [one.split(" :: ")[-1] for one in told.get_all("Classifier") or [] if one.startswith("License ::")]
    plain = (told.get("License") or "").strip()
    if plain and len(plain) < LINE and "\n" not in plain:
        return plain
    return ", ".join(kinds) or "not in its metadata"


def texts() -> str:
    parts = []
    for name in CONTAINED:
        files = [
            one for one in metadata.files(name) or [] if one.name.startswith("LICENSE") and "dist-info" in str(one)
        ]
        parts += [f"### {name}\n\n```text\n{Path(str(one.locate())).read_text().strip()}\n```\n" for one in files]
    comment = re.match(r"/\*\*(.*?)\*/", (Path(sysconfig.get_paths()["purelib"]) / ROBIN_MAP).read_text(), re.DOTALL)
    assert comment is not None
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment[1].strip("\n ").splitlines()]
    parts.append("### robin_map\n\n```text\n" + "\n".join(lines).strip() + "\n```\n")
    return "\n".join(parts)


def page() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    core = needed(project["dependencies"], extras)
    every = core | needed(["markone[all]"], extras)
    rows = [f"| {name} | {licence_of(name)} | {'always' if name in core else 'extra'} |" for name in sorted(every)]
    return (
        "# Licences\n\nMarkone has the Apache License 2.0, which is in the file LICENSE. "
        "`.ci/licences.py` makes this list.\n\n"
        "## What Markone depends on\n\nThe packages of `markone[all]`, on Linux. "
        "They are installed beside Markone, and are not part of it.\n\n"
        "| package | licence | needed |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n\n"
        "## What a wheel contains\n\nThe compiled core contains nanobind, which contains robin_map.\n\n" + texts()
    )


if __name__ == "__main__":
    made = page()
    if "--check" in sys.argv:
        if not FILE.is_file() or FILE.read_text() != made:
            sys.exit("LICENCES.md is not what the installed packages say: python .ci/licences.py writes it anew.")
    else:
        FILE.write_text(made)
