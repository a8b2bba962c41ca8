"""The documentation as a site: what programs read of it, its formulas, and its pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from pages import script_of_docs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INDEX = """\
# A & B

What it is about.

$$
k \\le \\frac{R^2}{\\gamma^2}
$$

```{toctree}
:caption: Learn

first
```

```{toctree}
:caption: Reference

Short <folder/second>
```
"""
SETTINGS = """
extensions = ["myst_parser", "docs.formulas", "docs.for_machines"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
html_theme = "basic"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site that is built as ours."""
    pytest.importorskip("myst_parser", reason="needs the extra `docs`")
    pytest.importorskip("latex2mathml", reason="needs the extra `docs`")
    from sphinx.application import Sphinx

    folder = tmp_path_factory.mktemp("site")
    (folder / "folder").mkdir()
    (folder / "conf.py").write_text(SETTINGS)
    (folder / "index.md").write_text(INDEX)
    (folder / "first.md").write_text("# First\n\n" + "Many words. " * 40)
    (folder / "folder" / "second.md").write_text("# Second\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nAbout `<it>` & all.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        Sphinx(
            folder,
            folder,
            folder / "out",
            folder / "trees",
            "html",
            confoverrides={"html_baseurl": "https://docs.example/"},
            status=None,
            warning=None,
        ).build()
    return folder / "out"


def test_llms_txt_lists_all_pages_by_their_groups(site: Path) -> None:
    head, learn, reference = re.split(r"\n## ", (site / "llms.txt").read_text())
    assert head.split("\n\n") == ["# A & B", "> What it is about.\n"]
    assert learn.startswith("Learn\n\n- [First](first.md): Many words.") and len(learn) < 250 and "..." in learn
    assert reference == "Reference\n\n- [Second](folder/second.md): About <it> & all.\n"
    for page in ("first.md", "folder/second.md"):
        assert (site / page).read_bytes() == (site.parent / page).read_bytes()


def test_pages_describe_themselves(site: Path) -> None:
    page = (site / "folder" / "second.html").read_text()
    facts = dict(re.findall(r'<meta property="([^"]*)" content="([^"]*)">', page))
    assert facts["og:title"] == "Second" and facts["og:description"] == "About &lt;it&gt; &amp; all."
    assert facts["og:image"] == "https://docs.example/card.png"
    assert facts["og:url"] == "https://docs.example/folder/second.html"
    assert '<meta property="og:title" content="A &amp; B">' in (site / "index.html").read_text()


def test_without_an_address_pictures_are_found_from_the_page() -> None:
    pytest.importorskip("docutils")
    tags = script_of_docs("for_machines").meta_tags("folder/second", "Second", "", "")
    assert 'content="../card.png"' in tags and "og:url" not in tags and "description" not in tags


def test_formulas_are_drawn_by_the_browser(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert re.search(r'<div class="formula"><math [^>]*display="block">.*<mfrac>.*</math></div>', page)
    assert not re.search(r"src=\"[^\"]*mathjax", page, re.IGNORECASE)


# ---- pictures


def test_every_picture_of_a_page_is_drawn() -> None:
    script = script_of_docs("make_pictures")
    drawn = {f"{name}.svg" for name in script.PICTURES} | {"structured-tree.svg"}
    drawn |= set(re.findall(r"\]\(_pictures/(.*?)\)", (DOCS / "pictures.md").read_text(encoding="utf-8")))
    shown = set()
    for path in [*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), *DOCS.glob("comparisons/*.md")]:
        shown |= set(re.findall(r"_pictures/([\w-]+\.svg)", path.read_text(encoding="utf-8")))
    assert shown == drawn


def test_charts_of_results() -> None:
    charts, cases = script_of_docs("charts_of_results"), script_of_docs("results").cases()
    figure = charts.speed("speed-files")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    widths = [1 + bar.get_width() for bar in figure.axes[0].patches]
    shown = dict(zip(names, widths, strict=True))
    assert shown["text to model: imdb.tsv, fastText"] == cases["text to model (fastText): imdb.tsv"].times
    assert shown["text to model: imdb.tsv"] == cases["text to model (scikit-learn): imdb.tsv"].times
    assert "command: one line to its label: imdb.tsv" not in shown  # the other side is a limit of time
    figure = charts.dots("Texts")
    assert [line.get_label() for line in figure.axes[0].lines][:2] == ["Markone", "tf-idf + SVM"]
    assert figure.axes[0].lines[0].get_xdata()[0] == 91.94


def test_the_chart_of_growth() -> None:
    found = script_of_docs("results").growth()
    figure = script_of_docs("charts_of_results").growth()
    assert len(figure.axes) == 2 * len(found) == 4
    for grown, axes in zip(found.values(), figure.axes[::2], strict=True):
        assert [axes.lines[side].get_ydata().tolist() for side in (0, 1)] == [*grown.seconds]
        assert axes.get_xlabel() == grown.unit


def test_a_case_is_in_one_chart() -> None:
    charts, cases = script_of_docs("charts_of_results"), script_of_docs("results").cases()
    groups = [charts.group_of(name) for name, case in cases.items() if case.has_peer]
    assert set(groups) == {*charts.GROUPS, None} and groups.count(None) < 10
    assert charts.group_of("text to naive Bayes (scikit-learn): imdb.tsv") == "speed-bayes"
    assert charts.group_of("perceptron: imdb") == "speed-rows"


@pytest.mark.parametrize("name", ["features-curves", "tutorial-products"])
def test_pictures_of_pages(name: str) -> None:
    figure: Any = script_of_docs("make_pictures").PICTURES[name]()
    assert isinstance(figure, Figure) and figure.axes


def test_the_tree_suits_dark_pages() -> None:
    tree = script_of_docs("make_pictures").tree()
    assert "prefers-color-scheme: dark" in tree and "garden" in tree
