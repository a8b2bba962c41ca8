"""No module of the package imports itself by way of others, not even within functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import markone

ROOT = Path(markone.__file__).parent


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("markone", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a program that run: all but what is there for type checkers only."""
    yield node
    if not isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
        return  # no statement is within an expression
    is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for child in node.orelse if isinstance(node, ast.If) and is_for_types else ast.iter_child_nodes(node):
        yield from running(child)


def imported(text: str, known: set[str]) -> set[str]:
    """The modules among these that a program imports, at its top or in a function."""
    found: set[str] = set()
    for node in running(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & known or {node.module}
    return found & known


def cycle_in(graph: dict[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


def test_there_is_no_cycle_of_imports() -> None:
    paths = modules()
    graph = {name: imported(path.read_text(), set(paths)) - {name} for name, path in paths.items()}
    assert cycle_in(graph) is None


def test_late_imports_count_and_those_for_types_do_not() -> None:
    known = {"a.b", "a.c", "a.d", "a.e"}
    program = """
import a.b
from a import c, other
def f():
    from a.d import g
if TYPE_CHECKING:
    from a.e import h
"""
    assert imported(program, known) == {"a.b", "a.c", "a.d"}
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}}) is not None
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": set()}) is None
