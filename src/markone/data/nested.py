"""Nested values: an object within an object becomes columns such as `author.name`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flat(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of an object, with those of the objects within it. Empty objects stay.

    >>> flat({"id": 1, "by": {"name": "Ada", "of": {"town": "London"}}})
    {'id': 1, 'by.name': 'Ada', 'by.of.town': 'London'}
    """
    if not any(isinstance(value, Mapping) for value in fields.values()):
        return fields
    found: dict[str, Any] = {}
    waiting = [iter(fields.items())]  # not recursive, because objects may be nested deeply
    prefixes = [""]
    while waiting:
        for name, value in waiting[-1]:
            if isinstance(value, Mapping) and value:
                waiting.append(iter(value.items()))
                prefixes.append(f"{prefixes[-1]}{name}.")
                break
            found.setdefault(f"{prefixes[-1]}{name}", value)
        else:
            waiting.pop()
            prefixes.pop()
    return found


def leaves(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    """The columns that an Arrow array becomes: itself, or those of the fields of its structs."""
    import pyarrow as pa

    if not pa.types.is_struct(array.type) or array.type.num_fields == 0:
        yield name, array
        return
    for i, child in enumerate(array.flatten()):
        yield from leaves(f"{name}.{array.type.field(i).name}", child)


def all_leaves(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of Arrow arrays, with the fields of structs instead of structs."""
    found: dict[str, Any] = {}
    for name, array in columns.items():
        for leaf, values in leaves(name, array):
            found.setdefault(leaf, values)
    return found
