"""Shows formulas as MathML, which browsers draw themselves: pages need no script and no font for them."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def show_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def show_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
