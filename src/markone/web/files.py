"""The files of a page, by the paths under which a server answers with them."""

from __future__ import annotations

from pathlib import Path

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def page_files(folder: Path) -> dict[str, Path]:
    """Return the files of a page. No other path leads to a file, so no request can leave the folder."""
    return {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.suffix in TYPES}
