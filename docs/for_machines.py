"""What programs read of the documentation: `llms.txt` for language models, and the description of each page for those
that show links to it (Open Graph).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

CARD = "card.png"
"""The picture of the project, which links show."""
LONGEST = 200
"""The longest description of a page, in characters."""


def description(doctree: nodes.document | None) -> str:
    """Return the first paragraph of a page, cut after a word if it is long."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree is not None else ():
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " ..."
    return ""


# ---- Open Graph


def meta_tags(page: str, title: str, described: str, base: str) -> str:
    """Return what describes a page. Addresses are complete only if the address of the documentation is known."""
    picture = base + CARD if base else "../" * page.count("/") + CARD
    facts = {
        "og:type": "website",
        "og:site_name": "Markone",
        "og:title": title,
        "og:description": described,
        "og:image": picture,
        "og:image:width": "1200",
        "og:image:height": "630",
        **({"og:url": f"{base}{page}.html"} if base else {}),
    }
    tags = [f'<meta property="{name}" content="{escape(value)}">' for name, value in facts.items() if value]
    if described:
        tags.append(f'<meta name="description" content="{escape(described)}">')
    return "\n".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])


def describe_page(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    title = app.env.titles[page].astext() if page in app.env.titles else app.config.project
    tags = meta_tags(page, title, description(doctree), app.config.html_baseurl)
    context["metatags"] = f"{context.get('metatags', '')}\n{tags}"


# ---- llms.txt


def llms_text(env: BuildEnvironment) -> str:
    """Return all pages by the groups of the navigation, each with its first paragraph."""
    root = env.config.root_doc
    lines = [f"# {env.titles[root].astext()}", "", f"> {description(env.get_doctree(root))}"]
    for tree in env.get_doctree(root).findall(addnodes.toctree):
        lines += ["", f"## {tree['caption']}", ""]
        for page in (page for _, first in tree["entries"] for page in family(env, first)):
            lines.append(f"- [{env.titles[page].astext()}]({page}.md): {description(env.get_doctree(page))}")
    return "\n".join(lines) + "\n"


def family(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield a page and the pages below it."""
    yield page
    for child in env.toctree_includes.get(page, ()):
        yield from family(env, child)


def write_for_machines(app: Sphinx, failure: Exception | None) -> None:
    """Write `llms.txt`, and beside each page its Markdown, to which it links."""
    if failure is None and app.builder.name == "html":
        Path(app.outdir, "llms.txt").write_text(llms_text(app.env), encoding="utf-8")
        for page in app.env.found_docs:
            shutil.copy(app.env.doc2path(page), Path(app.outdir, f"{page}.md"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", describe_page)
    app.connect("build-finished", write_for_machines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
