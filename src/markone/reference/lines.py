"""The line formats. Invalid lines raise ValueError, and names are bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True)
class Example:
    """The example on a line."""

    label: bytes | None
    features: dict[bytes, float]
    importance: float = 1


Read = TypeVar("Read")


def read_lines(chunk: bytes, read: Callable[[bytes], Read | None]) -> tuple[list[Read], list[int]]:
    """The results of `read` for valid lines, and the numbers of invalid lines.

    >>> read_lines(b"ham\\tsee you\\nspam\\nspam\\tfree money", read_tab)
    ([(b'ham', b'see you'), (b'spam', b'free money')], [2])
    """
    good, bad = [], []
    for number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n") if chunk else [], start=1):
        try:
            found = read(line.removesuffix(b"\r"))
        except ValueError:
            bad.append(number)
        else:
            if found is not None:
                good.append(found)
    return good, bad


def read_libsvm(line: bytes) -> Example | None:
    """The example on a line of LIBSVM or SVMlight; None if the line is empty or a comment.

    >>> read_libsvm(b"+1 qid:7 3:1 12:-.5 # first")
    Example(label=b'+1', features={b'3': 1.0, b'12': -0.5}, importance=1)
    """
    line = line.lstrip(b" \t")
    if not line or line.startswith(b"#"):
        return None
    label, *rest = re.split(rb"[ \t]", line, maxsplit=1)
    if re.match(rb"([0-9]+|qid):", label):
        raise ValueError("no label")
    pieces = []
    for word in words_of(b"".join(rest).partition(b"#")[0]):
        if re.fullmatch(rb"qid:[0-9]+", word):
            continue
        index, colon, value = word.partition(b":")
        if not colon or not re.fullmatch(rb"[0-9]+", index):
            raise ValueError("not index:value")
        index = index.lstrip(b"0") or b"0"
        if len(index) > 10 or int(index) >= 2**31:
            raise ValueError("index too large")
        pieces.append((index, read_number(value)))
    return Example(label, add_up(pieces))


def read_vw(line: bytes) -> Example | None:
    """The example on a line of Vowpal Wabbit; None if the line is blank.

    >>> read_vw(b"yes 2 'tag|a:10 b c:.5 |d e | f")
    Example(label=b'yes', features={b'a^b': 10.0, b'a^c': 5.0, b'd^e': 1.0, b'f': 1.0}, importance=2.0)
    """
    if not line.strip(b" \t"):
        return None
    head, bar, body = line.partition(b"|")
    if not bar:
        raise ValueError("no bar")
    words = words_of(head)
    if words and (words[-1].startswith(b"'") or not head.endswith((b" ", b"\t"))):
        words.pop()
    label, importance = words[0] if words else None, 1.0
    if label is not None and (label.startswith(b"'") or b":" in label):
        raise ValueError("a tag before the end, or costs")
    numbers = [read_number(word) for word in words[1:]]
    if len(numbers) > 2:
        raise ValueError("too many words")
    if numbers:
        importance = numbers[0]
    if importance < 0:
        raise ValueError("negative importance")
    pieces = []
    for part in body.split(b"|"):
        first, *others = re.split(rb"[ \t]", part)
        space, scale = read_named(first, empty=True)
        for word in others:
            if word:
                feature, value = read_named(word)
                pieces.append((space + b"^" + feature if space else feature, scale * value))
    return Example(label, add_up(pieces), importance)


def read_fasttext(line: bytes, several: bool = False) -> tuple[bytes | None, bytes]:
    """The label and the text of a line of fastText; or several labels, as they are written.

    >>> read_fasttext(b"__label__spam free money")
    (b'spam', b'free money')
    >>> read_fasttext(b"__label__spam __label__urgent free money", several=True)
    (b'spam __label__urgent', b'free money')
    """
    label, text = None, line
    while found := re.match(rb"([ \t]*)__label__([^ \t]*)[ \t]*", text):
        if not found[2]:
            raise ValueError("no label")
        end = len(line) - len(text) + found.end(2)
        label, text = line[line.index(b"__label__") + len(b"__label__") : end], text[found.end() :]
        if not several:
            break
    if re.search(rb"(^|[ \t])__label__", text):
        raise ValueError("several labels, or not at the start")
    return label, text


def read_tab(line: bytes) -> tuple[bytes | None, bytes] | None:
    """The label before the first tab and the text after it; None if the line is empty.

    >>> read_tab(b'spam\\t"free" money')
    (b'spam', b'"free" money')
    """
    if not line:
        return None
    label, tab, text = line.partition(b"\t")
    if not tab:
        raise ValueError("no tab")
    return label or None, text


def read_table(chunk: bytes, separator: bytes, quote: bytes | None) -> tuple[list[tuple[int, list[bytes]]], list[int]]:
    """The rows of a table, each with the number of its first line, and the line numbers of invalid rows.

    >>> read_table(b"a, 'b, ''c'''\\n\\n'd' ,e", b",", b"'")
    ([(1, [b'a', b"b, 'c'"]), (3, [b'd', b'e'])], [])
    """
    rows, bad, line = [], [], 1
    while chunk:
        fields, size = read_row(chunk, separator, quote)
        if fields is None:
            bad.append(line)
        elif fields:
            rows.append((line, fields))
        line += chunk.count(b"\n", 0, size)
        chunk = chunk[size:]
    return rows, bad


def read_row(text: bytes, separator: bytes, quote: bytes | None) -> tuple[list[bytes] | None, int]:
    """The fields of the first row of a text (None if it is invalid), and the length of the row with its line end.

    A space as the separator stands for any amount of white space. A blank line has no fields.

    >>> read_row(b"  3.5   'a  b'\\nnext", b" ", b"'")
    ([b'3.5', b'a  b'], 15)
    """
    runs = separator == b" "
    between = b" \t" if runs else separator
    around = b"" if runs else b" \t".replace(separator, b"")
    fields: list[bytes] = []
    good, quoted, at = True, False, 0

    def skip(these: bytes) -> None:
        nonlocal at
        while at < len(text) and text[at] in these:
            at += 1

    def skip_to(these: bytes) -> None:
        nonlocal at
        while at < len(text) and text[at] not in these:
            at += 1

    def skip_return() -> None:
        nonlocal at
        at += text[at : at + 2] in (b"\r", b"\r\n")

    def at_end() -> bool:
        return text[at : at + 1] in (b"", b"\n")

    if runs:
        skip(between)
    while True:
        skip(around)
        start = at
        if quote is not None and text[at : at + 1] == quote:
            quoted = True
            at += 1
            skip_to(quote)
            while text[at : at + 2] == quote + quote:
                at += 2
                skip_to(quote)
            fields.append(text[start + 1 : at].replace(quote + quote, quote))
            good = good and at < len(text)
            at += 1
            skip(around)
            skip_return()
            start = at
            skip_to(between + b"\n")
            good = good and at == start
        else:
            skip_to(between + b"\n")
            field = text[start:at].removesuffix(b"\r") if at_end() else text[start:at]
            fields.append(field.rstrip(around) if around else field)
        if at_end():
            break
        at += 1
        if runs:
            skip(between)
            skip_return()
            if at_end():
                break
    if fields == [b""] and not quoted:
        fields = []
    return fields if good else None, min(at + 1, len(text))


def words_of(line: bytes) -> list[bytes]:
    return [word for word in re.split(rb"[ \t]", line) if word]


def read_number(text: bytes) -> float:
    """Read a finite decimal number.

    >>> read_number(b"-2.5e3"), read_number(b".5")
    (-2500.0, 0.5)
    """
    found = re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    if not found:
        raise ValueError("not a number")
    value = float(text)
    if math.isinf(value) or (value == 0 and found[1].strip(b"0.")):
        raise ValueError("out of range")
    return value


def read_named(word: bytes, empty: bool = False) -> tuple[bytes, float]:
    """A name and the number after its colon, or 1 if there is no colon. With `empty`, both may be missing.

    >>> read_named(b"height:1.5"), read_named(b"tall")
    ((b'height', 1.5), (b'tall', 1.0))
    """
    name, colon, number = word.partition(b":")
    if not name and not (empty and not colon):
        raise ValueError("no name")
    return name, read_number(number) if colon else 1.0


def add_up(pieces: Iterable[tuple[bytes, float]]) -> dict[bytes, float]:
    """The sum of the values of each feature, in the order of first occurrence. The sum of all absolute values must fit
    into a 32-bit float.

    >>> add_up([(b"free", 1.0), (b"money", 1.0), (b"free", 2.0)])
    {b'free': 3.0, b'money': 1.0}
    """
    features: dict[bytes, float] = {}
    total = 0.0
    for name, value in pieces:
        features[name] = features[name] + value if name in features else value
        total += abs(value)
    if total >= 2.0**128 - 2.0**103:  # half a step above the largest float
        raise ValueError("too large")
    return features
