"""What the documentation says is so: its examples run, its commands exist, its lists are complete."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from sklearn import linear_model, naive_bayes, neural_network, svm

import markone
from markone.cli import demo
from markone.cli.app import COMMANDS, HYPHEN, make_app
from markone.cli.app import GROUPS as COMMAND_GROUPS
from markone.data.formats import FORMATS, Format
from markone.features.spec import GROUPS, Features
from markone.model.settings import Settings
from pages import BLOCK, blocks, commands_in, play, script_of_docs
from quickly import slow_but

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("**/*.md"))]
    if "_build" not in path.parts
}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE)
UPDATING = bool(os.environ.get("MARKONE_UPDATE_DOCS"))
"""Pages are changed to show what is printed now."""


def check_page(page: str, right: str) -> None:
    if UPDATING:
        (ROOT / page).write_text(right, encoding="utf-8")
    else:
        assert PAGES[page] == right, f"{page} shows something else; MARKONE_UPDATE_DOCS=1 puts it right"


# ---- examples and commands


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a reader is, with a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


PLAYED = [page for page, text in PAGES.items() if blocks(text, "python", "console", "sh")]
LONG = {"docs/experiments.md", "docs/pictures.md", *(f"docs/lectures/{number}.md" for number in ("001", "002", "003"))}
"""Pages that take seconds. What they show is tested quickly elsewhere: each topic, each picture, each experiment."""


@pytest.mark.parametrize("page", PLAYED if UPDATING else slow_but({*PLAYED} - LONG, PLAYED))
def test_a_page_shows_what_is_printed(page: str) -> None:
    if page == "README.md" or page.startswith("docs/tutorials/"):  # whose readers have run the demo
        demo.write_data(Path("markone-demo"), *demo.load_digits(), seed=0)
    check_page(page, play(page, PAGES[page]))


@pytest.mark.parametrize("path", sorted(script_of_docs("make_lectures").pages()), ids=lambda path: path.stem)
def test_the_pages_of_the_lectures_have_their_topics(path: Path) -> None:
    check_page(f"docs/lectures/{path.name}", script_of_docs("make_lectures").pages()[path])


RIGHT = """\
```sh
echo "spam,free money" > mail.csv  # a file
```

```python
>>> from pathlib import Path
>>> x = Path("mail.csv").read_text()
>>> x
'spam,free money\\n'
>>> print("a", "b", "c")
a ... c
```

```python
assert x
```

```console
$ cat mail.csv \\
  | tr a-z A-Z
SPAM,FREE MONEY
$ markone --version
markone ...
$ make nothing
$ markone dmeo
markone: ... Did you mean "demo"? ...
```
"""


def test_a_page_that_is_right_stays_as_it_is() -> None:
    assert play("page", RIGHT) == RIGHT


@pytest.mark.parametrize(
    ("shown", "other"),
    [
        ("'spam,free", "'ham,free"),
        ("a ... c\n", "a b d\n"),
        ("\nSPAM,FREE MONEY", ""),
        ("\nmarkone ...\n", "\nmark one ...\n"),
        ('"demo"?', '"demos"?'),
    ],
)
def test_what_a_page_shows_wrongly_is_put_right(shown: str, other: str) -> None:
    wrong = RIGHT.replace(shown, other)
    assert wrong != RIGHT
    right = play("page", wrong)
    assert right != wrong
    assert play("page", right) == right


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("assert x", "assert not x"), ("markone: ... Did", "Did"), ("cat mail", "cat male"), ("echo", "ecco")],
)
def test_what_fails_on_a_page_is_found(right: str, wrong: str) -> None:
    with pytest.raises(AssertionError):
        play("page", RIGHT.replace(right, wrong))


def test_an_error_that_a_page_shows_is_compared_by_its_last_line() -> None:
    session = "```python\n>>> int({!r})\nTraceback (most recent call last):\n...\n{}\n```\n"
    right = session.format("a", "ValueError: invalid literal for int() with base 10: 'a'")
    assert play("page", right) == right
    assert play("page", session.format("a", "ValueError: another")) == right


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_is_seen(page: str) -> None:
    assert 2 * len(BLOCK.findall(PAGES[page])) == PAGES[page].count("```")
    assert {found[1] for found in BLOCK.finditer(PAGES[page])} <= {
        *(
            "",
            "python",
            "py",  # programs that tests/test_query_engines.py runs
            "console",
            "sh",
            "text",
            "toml",
            "cpp",
            "{eval-rst}",
            "{toctree}",
            "{include} ../benchmarks/GROWTH.md",
            "{include} ../benchmarks/RESULTS.md",
            "{include} ../benchmarks/SERVING.md",
        )
    }


def commands(text: str) -> list[list[str]]:
    """The commands for make in a page's shell blocks, and all those in its running text, as words."""
    lines = [line for code in blocks(text, "sh") for line in code.splitlines()]
    lines += [command for code in blocks(text, "console") for command, _ in commands_in(code)]
    lines = [line for line in lines if line.startswith("make ")]
    lines += re.findall(r"`((?:markone|make)(?: [^`]*)?)`", BLOCK.sub("", text))
    return [shlex.split(re.split(r" (?:\\\||>|\|) ", line)[0], comments=True) for line in lines]


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if commands(text)])
def test_the_commands_exist(page: str) -> None:
    app = make_app()
    for words in commands(PAGES[page]):
        named = [name.split() for name in (*COMMANDS, *COMMAND_GROUPS)]
        if words[0] == "markone" and words[1:] not in [[], ["COMMAND", "--help"], *named]:
            words = [HYPHEN if word == "-" else word for word in words]
            app.parse_args(words[1:], print_error=False, exit_on_error=False)
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= set(TARGETS)


def test_every_target_is_explained() -> None:
    assert {"demo", "test"} <= set(TARGETS)
    explained = re.findall(r"^\| `make ([a-z-]+)` \|", PAGES["CONTRIBUTING.md"], re.MULTILINE)
    assert explained == TARGETS


# ---- the reference of the command line


def make_cli() -> ModuleType:
    """The script of that name."""
    return script_of_docs("make_cli")


def test_the_reference_says_what_the_program_says() -> None:
    check_page("docs/cli.md", make_cli().page())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_reference(command: str) -> None:
    text = PAGES["docs/cli.md"]
    section = text.partition(f"\n## `markone {command}`\n")[2].partition("\n## ")[0]
    assert section
    for group in ("reading", "learning", "reading sentences"):
        if f"#options-for-{group.replace(' ', '-')})" in section:
            section += text.partition(f"\n## Options for {group}\n")[2].partition("\n## ")[0]
    for argument in make_cli().command_named(command, make_app()).assemble_argument_collection():
        for name in argument.names if argument.show else ():
            assert re.search(rf"^\|.*`{re.escape(name)}(?: [A-Z]+)?`.* \|", section, re.MULTILINE), name


# ---- lists


def test_every_public_name_is_documented() -> None:
    directive = r"^\.\. auto(?:class|exception|function):: markone\.(\w+)$"
    documented = set(re.findall(directive, PAGES["docs/api.md"], re.MULTILINE))
    assert documented == set(markone.__all__) - {"__version__"}


def choices_of(hint: Any) -> tuple[Any, ...]:
    """What a type allows, where it is a choice of words: None first, if it may be None."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    none = NoneType in get_args(hint)
    words = [word for one in get_args(hint) for word in choices_of(one)]
    return (*([None] if none else []), *words) if words else ()


CHOICES = {name: found for name, hint in get_type_hints(Settings).items() if (found := choices_of(hint))}


@pytest.mark.parametrize("setting", CHOICES)
def test_every_choice_is_documented(setting: str) -> None:
    choices = ", ".join(f"`{choice}`" for choice in CHOICES[setting])
    assert f"| `{setting}` | {choices} |" in PAGES["docs/api.md"]


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_every_format_is_documented(format: Format) -> None:
    for word in (format.name, *format.endings):
        assert f"`{word}`" in PAGES["docs/reading-data.md"]


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
        naive_bayes.MultinomialNB,
        naive_bayes.BernoulliNB,
        naive_bayes.GaussianNB,
        naive_bayes.CategoricalNB,
        neural_network.MLPClassifier,
        markone.Perceptron,
        markone.MIRA,
        markone.LogisticRegression,
        markone.LinearSVM,
        markone.NaiveBayes,
        markone.MLP,
    ],
)
def test_every_parameter_has_its_line(kind: Any) -> None:
    first_cells = re.findall(r"^\| (`[a-zA-Z].*?) \|", PAGES["docs/coming-from-scikit-learn.md"], re.MULTILINE)
    spoken_of = set(re.findall(r"`(\w+)`", " ".join(first_cells)))
    assert set(inspect.signature(kind).parameters) <= spoken_of


def headings_of(text: str) -> set[str]:
    """The names by which links find the headings of a page, and those that it gives itself."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", one) for one in re.findall(r"^#+ (.*)", outside, re.MULTILINE)]
    named = set(re.findall(r"^\(([\w-]+)\)=$", outside, re.MULTILINE))
    return named | {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", PAGES[page]):
        if "_pictures" in Path(target).parts:  # which `make docs` draws
            continue
        to = (ROOT / page).parent / target if target else ROOT / page
        assert to.is_file(), target
        if heading and to.suffix == ".md":
            assert heading in headings_of(to.read_text(encoding="utf-8")), f"{target}#{heading}"


# ---- claims


CLAIM = re.compile(r"\| more than ([\d.]+) \| ([\d.]+) / (\S+) \| `(.*)` \|$", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "ours and theirs | case |" in text])
def test_a_page_claims_no_more_than_was_measured(page: str) -> None:
    claims, cases = CLAIM.findall(PAGES[page]), script_of_docs("results").cases()
    assert len(claims) == PAGES[page].count("| more than ")
    for times, ours, theirs, name in claims:
        case = cases[name]
        assert case.times > float(times), name
        assert float(ours) == pytest.approx(case.accuracy, abs=0.06), name
        assert (theirs == "–") == (case.their_accuracy is None), name
        assert theirs == "–" or float(theirs) == pytest.approx(case.their_accuracy, abs=0.06), name


@pytest.mark.parametrize("heading", ["Texts", "Tables"])
def test_our_mean_rank_is_the_best(heading: str) -> None:
    programs, table = script_of_docs("results").accuracies(heading)
    assert programs[0] == "Markone" and len(programs) == 7
    assert table["mean rank"][0] == min(table["mean rank"])


def test_accuracies_on_other_pages_are_those_that_were_measured() -> None:
    """Of tables with a column for Markone and one for another program."""
    of_two = re.compile(r"^\| data \| Markone \| (\w+) \|\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)
    programs, measured = script_of_docs("results").accuracies("Texts")
    found = 0
    for page, text in PAGES.items():
        for program, table in of_two.findall(text):
            for data, *both in (line.strip("| ").split(" | ") for line in table.splitlines()):
                shown = [measured[data][programs.index(name)] for name in ("Markone", program)]
                assert list(map(float, both)) == shown, (page, data)
                found += 1
    assert found == 6


def test_the_chart_of_speed_shows_the_results() -> None:
    script = script_of_docs("make_speed_chart")
    if UPDATING:
        script.DRAWING.write_text(script.draw(), encoding="utf-8")
    assert script.DRAWING.read_text(encoding="utf-8") == script.draw(), "run docs/make_speed_chart.py"
