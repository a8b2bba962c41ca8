"""Texts in other languages: strings and numbers, written so that nothing in them can end a string or a program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

LINE = 116
ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
UNPRINTABLE = re.compile("[\ud800-\udfff]")


def in_json(value: Any) -> str:
    """Return a value as JSON in one line. Half of a surrogate pair, which UTF-8 does not have, is escaped.

    >>> in_json({"a": ["é\\n", 1.5]})
    '{"a": ["é\\\\n", 1.5]}'
    """
    text: str = ENCODE(value)
    return text if text.isascii() else UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_lines(value: Any, indent: str = "", write: Callable[[Any], str] = in_json) -> str:
    """Return a value as JSON with a line for each item, unless an item is short and has no objects within.

    >>> print(in_lines({"a": [1, 2], "b": [{"c": 3}, {"c": 4}]}))
    {
     "a": [1, 2],
     "b": [
      {"c": 3},
      {"c": 4}
     ]
    }
    """
    if not value or not isinstance(value, dict | list):
        return write(value)
    if indent and (is_numbers(value) or (is_flat(value) and len(whole := write(value)) <= LINE)):
        return write(value) if is_numbers(value) else whole
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{inner}{write(name)}: {in_lines(one, inner, write)}" for name, one in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    items = [write(one) if is_feature(one) else in_lines(one, inner, write) for one in value]
    return f"[\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}]"


def is_feature(value: Any) -> bool:
    """Whether it is a list of a text and numbers, as most features are. There may be millions of them, each with a
    weight for each class; a line for each weight would take five times the time."""
    return type(value) is list and len(value) > 1 and type(value[0]) is str and type(value[-1]) is float


def is_flat(value: Any) -> bool:
    """Whether a list or an object contains no other objects, and at most short lists."""
    inside = value.values() if isinstance(value, dict) else value
    return not any(isinstance(one, dict) or (isinstance(one, list) and not is_plain(value, one)) for one in inside)


def is_plain(outer: Any, inner: list[Any]) -> bool:
    return isinstance(outer, dict) and not any(isinstance(one, dict | list) for one in inner)


def is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, int | float) for one in value)


def in_script(value: Any) -> str:
    """Return a value as an expression of JavaScript that is safe within a page, too.

    >>> print(in_script("</script><!--\\u2028"))
    "\\u003c/script>\\u003c!--\\u2028"
    """
    text = in_json(value).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
