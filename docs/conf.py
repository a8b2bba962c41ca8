"""The configuration of Sphinx: MyST for Markdown, autodoc for the docstrings."""

import os
import re
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import NumpyDocstring

import markone
from markone.play.server import PAGE

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # for the extensions below that are ours

project = "Markone"
author = "Markone contributors"
project_copyright = author
version = release = markone.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_copybutton",
    "docs.formulas",
    "docs.for_machines",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"Markone {release}"
html_static_path = ["_static"]
html_css_files = ["scheme.css"]
html_show_copyright = False
html_copy_source = False
html_baseurl = os.environ.get("MARKONE_DOCS_URL", "")
html_extra_path = ["_pictures/card.png"]
html_math_renderer = "mathml"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def translate(_app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Turns a docstring into Sphinx's language: code stands in single backticks, a name between bars is a size, and
    parameters may be listed.

    Napoleon as an extension would also take the words before a colon in an attribute's docstring for its type.
    """
    lines[:] = [re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``\\ ", line) for line in lines]
    lines[:] = [re.sub(r"\|(\w+)\|", r"\\|\1\\|", line) for line in lines]
    if what in ("class", "function"):
        lines[:] = NumpyDocstring(lines, Config(napoleon_use_param=False)).lines()  # type: ignore[arg-type]


def add_playground(app: Sphinx, failure: Exception | None) -> None:
    """Copies the page of the playground, which needs no server of ours, to the folder `play`."""
    if failure is None and app.builder.name == "html":
        shutil.copytree(PAGE, Path(app.outdir) / "play", dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", add_playground)
    app.connect("autodoc-process-docstring", translate)
