"""Texts in the C export: tables of characters and of n-grams, and the functions of `runtime_text.h` that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markone.exporting.c_strings import c_string, lines
from markone.exporting.interpreter import narrow
from markone.exporting.parts import ExportError
from markone.exporting.tokens import ROLES, Characters, hash_of, hash_of_ngram, splitter

if TYPE_CHECKING:
    from markone.exporting.to_c import Header

MOST_NGRAMS = 2_000_000
"""A compiler needs gigabytes for more of them."""
VALUES = {"count": "value[i]", "binary": "1.0", "log": "@_narrow(log1p(value[i]))"}


def runtime() -> str:
    return files("markone.exporting").joinpath("runtime_text.h").read_text(encoding="utf-8")


def tables_of(tables: Mapping[str, Any]) -> Iterator[str]:
    """Return the tables of characters."""
    characters = Characters(dict(tables))
    ascii_kinds = [("gap", "words", "signs").index(characters.kind(point)) for point in range(128)]
    yield f"static const unsigned char @_of_ascii[] = {{\n    {lines([*map(str, ascii_kinds)])}}};"
    for name in ("words", "signs", "capitals", *ROLES, "foldings"):
        yield f"static const uint32_t @_of_{name}[] = {{\n    {lines([*map(str, tables[name])])}}};"


def how_of(tokens: Mapping[str, Any], signs: bool | None = None) -> str:
    """Return how a part makes tokens. Each field is a number, in the order of `@_how`."""
    runs, choice = tokens["runs"], tokens["choice"]
    within = runs is not None and tokens["within_words"]
    keep = tokens["signs"] if signs is None else signs
    negation = tokens["negation"] and not within
    flags = (
        tokens["fold"] and not (within and choice == "lower"),
        choice == "lower" and not within,
        choice == "negated" and not within,
        negation,
        keep and choice == "all",
        keep or negation or choice == "negated",
        tokens["unspaced"] and not (runs and not within),
        tokens["emoji"],
        within,
    )
    return "{" + ", ".join(str(int(one)) for one in (*flags, *(runs or (0, 0)))) + "}"


def add_ngrams(header: Header, part: Mapping[str, Any]) -> None:
    """Add the n-grams of a text."""
    names = [feature[0] for feature in part["features"]]
    first = 2 if part["weighted"] else 1
    start = len(header.weights)
    header.weights += [feature[first:] for feature in part["features"]]
    factors = [narrow(feature[1]) for feature in part["features"]] if part["weighted"] else None
    hashed = None
    if part["hash_bits"] is not None:
        split = splitter(part["tokens"]["runs"] is not None)
        hashed = part["hash_bits"], [hash_of_ngram(split(name)) for name in names], {*part["shared"]}
    grams = add_grams(header, how_of(part["tokens"]), part["lengths"], names, hashed)
    made = VALUES[part["value"]]
    if factors is not None:
        table = header.table("double ", [repr(one) for one in factors] or ["0.0"])
        made = f"@_narrow({made} * {table}[feature[i]])"
    if part["presence"]:
        made = f"({made}) != 0"
    header.statements += [
        "    i = n;",
        f"    if ((n = @_add_grams(&{grams}, row->{header.column_of(part)}, to, n, @@room@@)) < 0) return -1;",
        "    feature = to->feature, value = to->value;",
        f"    for (; i < n; ++i) value[i] = {made}, feature[i] += {start};",
    ]


def add_document(header: Header, part: Mapping[str, Any]) -> None:
    """Add the features of a whole text: how often entries of lexicons occur, and its length."""
    entries = [*dict.fromkeys(entry for feature in part["features"] for entry in feature["entries"])]
    number = {entry: i for i, entry in enumerate(entries)}
    longest = max((len(entry.split(" ")) for entry in entries), default=1)
    field = f"row->{header.column_of(part)}"
    counts = f"c{len(header.statements)}"
    grams = add_grams(header, how_of(part["tokens"], True), (1, longest), entries, None)
    words = add_grams(header, how_of(part["tokens"], False), (1, 0), [], None)
    counting = f"    if (!@_count_entries(&{grams}, {field}, {counts}, {len(entries)})) return -1;"
    header.statements += [f"    double {counts}[{len(entries) + 1}], l{counts}[1], s{counts};", counting]
    if any(feature["value"] == "log-words" for feature in part["features"]):
        header.statements.append(f"    if (!@_count_entries(&{words}, {field}, l{counts}, 0)) return -1;")
    for feature in part["features"]:
        header.weights.append(feature["weights"])
        if feature["value"] == "log-words":
            header.put(part, str(len(header.weights) - 1), f"@_narrow(log(l{counts}[0] > 1 ? l{counts}[0] : 1))")
            continue
        own = header.table("int ", [str(number[entry]) for entry in feature["entries"]] or ["0"])
        header.statements.append(
            f"    for (i = 0, s{counts} = 0; i < {len(feature['entries'])}; ++i) s{counts} += {counts}[{own}[i]];"
        )
        total = f"s{counts}" if feature["value"] == "count" else f"(s{counts} > 0 ? 1.0 : 0.0)"
        header.put(part, str(len(header.weights) - 1), total)


def add_grams(
    header: Header, how: str, lengths: Sequence[int], names: list[str], hashed: tuple[int, list[int], set[int]] | None
) -> str:
    """Add the names or hashes of n-grams with their hash table; return the name of the record."""
    if len(names) > MOST_NGRAMS:
        words = f"is one of {len(names):,} n-grams, and C gets at most {MOST_NGRAMS:,}; train with a larger min_count"
        raise ExportError(names[0], words)
    bits, hashes, shared = hashed if hashed is not None else (0, [], set())
    starts = [one >> (64 - bits) for one in hashes] if hashed else [hash_of(encoded(name)) for name in names]
    mask = (1 << (2 * len(names) + 1).bit_length()) - 1
    slots = [0] * (mask + 1)
    for i, start in enumerate(starts):
        at = start & mask
        while slots[at]:
            at = (at + 1) & mask
        slots[at] = i + 1
    tables = {"names": "NULL", "hashes": "NULL", "shared": "NULL"}
    if hashed:
        tables["hashes"] = header.table("uint64_t ", [f"{one:#x}u" for one in hashes] or ["0"])
        tables["shared"] = header.table("unsigned char ", [str(int(i in shared)) for i in range(len(names))] or ["0"])
    else:
        tables["names"] = header.table("char *const ", [*map(c_string, names)] or ["NULL"])
    tables["slots"] = header.table("int ", [*map(str, slots)])
    fields = [how, *map(str, lengths), *tables.values(), str(mask), str(bits)]
    name = f"{header.prefix}_table_{len(header.tables)}"
    header.tables.append(f"static const {header.prefix}_grams {name} = {{{', '.join(fields)}}};")
    return name


def encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
