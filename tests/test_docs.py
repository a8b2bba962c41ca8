"""What the documentation says is so: its examples run, its commands exist, its lists are complete."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from sklearn import linear_model, svm

import markone
from markone.cli import main, make_app
from markone.features.spec import GROUPS, Features
from markone.model.settings import CHOICES

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]
}
BLOCK = re.compile(r"^```([^`\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)


def blocks(text: str, *languages: str) -> list[tuple[int, str]]:
    """The fenced blocks in these languages, each with the number of lines before it."""
    return [(text.count("\n", 0, m.start(2)), m[2]) for m in BLOCK.finditer(text) if m[1] in languages]


# ---- examples


def run_examples(page: str, text: str) -> None:
    """Runs a page's Python from top to bottom: sessions are checked for their output, programs just run."""
    names: dict[str, Any] = {"__name__": "example"}
    for line, code in blocks(text, "python"):
        if code.startswith(">>>"):
            session = doctest.DocTestParser().get_doctest(code, names, page, page, line)
            report: list[str] = []
            doctest.DocTestRunner(verbose=False).run(session, out=report.append, clear_globs=False)
            assert not report, "".join(report)
            names = session.globs
        else:
            exec(compile("\n" * line + code, page, "exec"), names)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if blocks(text, "python")])
def test_the_examples_run(page: str) -> None:
    run_examples(page, PAGES[page])


def test_an_example_that_is_wrong_is_found() -> None:
    right = "```python\n>>> x = 1 + 1\n>>> x\n2\n```\n\nand\n\n```python\nassert x == 2\n```\n"
    run_examples("page", right)
    for wrong in (right.replace("\n2\n", "\n3\n"), right.replace("== 2", "== 3")):
        with pytest.raises(AssertionError):
            run_examples("page", wrong)


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_is_seen(page: str) -> None:
    assert 2 * len(BLOCK.findall(PAGES[page])) == PAGES[page].count("```")


def test_the_readme_shows_what_the_demo_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["demo"]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    [(_, shown)] = blocks(PAGES["README.md"], "text")
    assert shown.splitlines() == printed


# ---- commands


def commands(text: str) -> list[list[str]]:
    """The commands in a page's shell blocks and in its running text, as words."""
    lines = [line.removeprefix("$ ") for _, code in blocks(text, "sh", "console") for line in code.splitlines()]
    lines += re.findall(r"`((?:markone|make)(?: [^`]*)?)`", BLOCK.sub("", text))
    words = [shlex.split(re.sub(r"^(\w+=\S* +)+", "", line), comments=True) for line in lines]
    return [command for command in words if command]


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if commands(text)])
def test_the_commands_exist(page: str) -> None:
    for words in commands(PAGES[page]):
        if words[0] == "markone":
            make_app().parse_args(words[1:], print_error=False, exit_on_error=False)
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= set(TARGETS)


def test_every_target_is_explained() -> None:
    assert {"demo", "test"} <= set(TARGETS)
    explained = re.findall(r"^\| `make ([a-z-]+)` \|", PAGES["CONTRIBUTING.md"], re.MULTILINE)
    assert explained == TARGETS


# ---- lists


def test_every_public_name_is_documented() -> None:
    directive = r"^\.\. auto(?:class|exception|function):: markone\.(\w+)$"
    documented = set(re.findall(directive, PAGES["docs/api.md"], re.MULTILINE))
    assert documented == set(markone.__all__) - {"__version__"}


@pytest.mark.parametrize("setting", CHOICES)
def test_every_choice_is_documented(setting: str) -> None:
    choices = ", ".join(f"`{choice}`" for choice in CHOICES[setting])
    assert f"| `{setting}` | {choices} |" in PAGES["docs/api.md"]


@pytest.mark.parametrize("group", [*GROUPS, "all"])
def test_every_setting_of_a_spec_is_documented(group: str) -> None:
    settings = [*{*Features.KEYS} - {*GROUPS, "columns"}] if group == "all" else [f.name for f in fields(GROUPS[group])]
    sections = PAGES["docs/features.md"].split("\n#")
    assert {*settings} in [{*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} for section in sections]


@pytest.mark.parametrize(
    "kind",
    [
        linear_model.Perceptron,
        linear_model.SGDClassifier,
        linear_model.LogisticRegression,
        svm.LinearSVC,
        markone.Perceptron,
        markone.MIRA,
        markone.LogisticRegression,
    ],
)
def test_every_parameter_has_its_line(kind: Any) -> None:
    first_cells = re.findall(r"^\| (`[a-zA-Z].*?) \|", PAGES["docs/coming-from-scikit-learn.md"], re.MULTILINE)
    spoken_of = set(re.findall(r"`(\w+)`", " ".join(first_cells)))
    assert set(inspect.signature(kind).parameters) <= spoken_of


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page]):
        assert ((ROOT / page).parent / target).is_file(), target


# ---- claims


def test_the_readme_claims_no_more_than_was_measured() -> None:
    claims = re.findall(r"\| more than (\d+) \| `(.*)` \|", PAGES["README.md"])
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    assert len(claims) == 3
    for times, case in claims:
        [cells] = [line.strip("| ").split(" | ") for line in results.splitlines() if line.startswith(f"| {case} |")]
        ratio, (ours, theirs) = float(cells[3].strip("*")), (float(a.strip(" %")) for a in cells[5].split("/"))
        assert ratio > float(times) and ours > theirs
