"""The files in deploy/: the commands in them exist, and they keep to the rules of a safe service."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from markone.cli.app import options_of
from markone.server.connections import MOST_CONNECTIONS

FOLDER = Path(__file__).parents[1] / "deploy"
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
UNIT = FOLDER / "markone.service"


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=True)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string(UNIT.read_text(encoding="utf-8"))
    return found


def check_options(words: list[str]) -> None:
    known = {name for names in options_of("serve").values() for name in names}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_image_has_two_stages_and_a_user_without_rights() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?$", DOCKERFILE, re.MULTILINE)
    assert len(stages) == 2 and stages[0][1] == "build"
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "COPY --from=build" in last and "g++" not in last
    user = re.search(r"^USER (\d+)$", last, re.MULTILINE)
    assert user is not None and int(user[1]) > 0
    assert last.index("USER ") > last.rindex("RUN ")
    assert "HEALTHCHECK" in last and "/ping" in last
    assert not re.search(r"^(ENV|ARG) .*TOKEN", DOCKERFILE, re.MULTILINE)


def test_the_image_is_built_from_the_sources_alone() -> None:
    lines = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    let_in = [rule[1:] for rule in rules if rule.startswith("!")]
    assert rules[0] == "*" and sorted(let_in) == let_in
    root = FOLDER.parent
    assert all((root / name).exists() for name in let_in)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {"pyproject.toml", "CMakeLists.txt", project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {path.partition("/")[0] for path in project["tool"]["scikit-build"]["wheel"]["packages"]}
    assert needed <= {*let_in} and "core" in let_in


def test_the_image_runs_a_command_that_exists() -> None:
    found = re.search(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    words = json.loads(found[1])
    assert words[:2] == ["markone", "serve"]
    check_options(words)


def test_the_unit_runs_a_command_that_exists_with_few_rights() -> None:
    service = unit()["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[0].endswith("/markone") and words[1] == "serve" and "TOKEN" not in service["ExecStart"]
    check_options(words)
    for name in ("DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp", "RestrictNamespaces"):
        assert service[name] == "yes"
    assert int(service["LimitNOFILE"]) > 2 * MOST_CONNECTIONS
    assert service["ProtectSystem"] == "strict" and service["CapabilityBoundingSet"] == ""


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_unit() -> None:
    done = subprocess.run(["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True)
    complaints = [
        line for line in done.stderr.splitlines() if "markone.service" in line and "not executable" not in line
    ]
    assert complaints == []
