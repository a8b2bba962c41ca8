"""Dates and times: how they are written, in which order day and month come, and their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal, get_args

DateKind = Literal[
    "date",
    "datetime",
    "day-first-date",
    "day-first-datetime",
    "month-first-date",
    "month-first-datetime",
    "excel-date",
    "excel-datetime",
]
"""The kinds of columns with dates: with or without the time of day, and the meaning of what is written."""
Order = Literal["year-first", "day-first", "month-first", "excel"]

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONTH = rf"(?P<name>{'|'.join(name[:3] for name in MONTHS)})[a-z]*\.?"
TIME = (
    r"(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?:\s?(?P<half>[ap])\.?m\.?)?(?:\s?(?:z|utc|gmt|[+-]\d{2}:?(?:\d{2})?))?"
)
WEEKDAY = rf"(?:(?:{'|'.join(name[:3] for name in WEEKDAYS)})[a-z]*\.?,?\s+)?"
WAYS = (
    r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})",
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second_>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})",
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[\s-]{MONTH}[\s,-]*(?P<year>\d{{4}}|\d{{2}})",
    rf"{MONTH}[\s-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s,-]+(?P<year>\d{{4}})",
    rf"{MONTH}[\s-]+(?P<year>\d{{4}})",
    r"(?P<year>\d{4})[-/](?P<month>\d{2})",
)
"""How a date is written; a time may follow. Years come first, or the order of day and month is that of the column."""
MAIL_WAY = rf"{MONTH}\s+(?P<day>\d{{1,2}})\s+{TIME}\s+(?P<year>\d{{4}})"
COMPACT = re.compile(r"(?:19|20)\d{6}", re.ASCII)
EARLIEST, LATEST = 1700, 2262
"""The years of dates. A number outside of them is another number."""
EXCEL_START = datetime(1899, 12, 30)
UNIX_START = datetime(1970, 1, 1)
CENTURY = 69
"""Years of two digits from this one on belong to the 20th century."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a kind of date says about the way of writing."""

    order: Order
    has_time: bool


STYLES: dict[str, Style] = {
    kind: Style(
        next((order for order in get_args(Order) if kind.startswith(order)), "year-first"), kind.endswith("datetime")
    )
    for kind in get_args(DateKind)
}


def kind_of_style(order: Order, has_time: bool) -> DateKind:
    kinds: tuple[DateKind, ...] = get_args(DateKind)
    return next(kind for kind in kinds if STYLES[kind] == Style(order, has_time))


# ---- values


def parser(kind: str) -> Callable[[Any], datetime | None]:
    """A function that turns a value into a date, or into None if it is not one of this kind."""
    order = STYLES[kind].order

    def change(value: Any) -> datetime | None:
        try:
            if isinstance(value, datetime):
                return value.replace(tzinfo=None)
            if hasattr(value, "year"):
                return datetime(value.year, value.month, value.day)
            if isinstance(value, str):
                return read_text(value.strip(), order)
            return from_number(float(value), order)
        except (ValueError, OverflowError, TypeError):
            return None

    return change


def read_text(text: str, order: Order) -> datetime | None:
    """The date that is written in a text, in local time: an offset such as +02:00 does not change it.

    >>> read_text("5/3/2024 2:30 pm", "day-first"), read_text("Mar 5, 2024", "year-first")
    (datetime.datetime(2024, 3, 5, 14, 30), datetime.datetime(2024, 3, 5, 0, 0))
    """
    if order == "excel" or (text.isdecimal() and not COMPACT.fullmatch(text)):
        return from_number(float(text), order)
    found = match(text)
    if found is None:
        return None
    parts = found.groupdict()
    if parts.get("first") is not None:
        if order == "year-first":
            return None
        month, day = (parts["first"], parts["second_"])[:: 1 if order == "month-first" else -1]
    else:
        month = parts.get("month") or 1 + next(
            i for i, name in enumerate(MONTHS) if name[:3] == parts["name"].capitalize()
        )
        day = parts.get("day") or 1
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= CENTURY else 2000
    if not EARLIEST <= year < LATEST:
        return None
    hour, minute, second = time_of(parts)
    return datetime(year, int(month), int(day), hour, minute, second)


def match(text: str) -> re.Match[str] | None:
    return next((found for pattern in patterns() if (found := pattern.fullmatch(text))), None)


@cache
def patterns() -> list[re.Pattern[str]]:
    """The ways of writing, compiled when the first date is read."""
    ways = (*(rf"{way}(?:(?:t|,?\s+|_){TIME})?" for way in WAYS), MAIL_WAY)
    return [re.compile(WEEKDAY + way, re.ASCII | re.IGNORECASE) for way in ways]


def time_of(parts: dict[str, Any]) -> tuple[int, int, int]:
    """The hour, minute and second; an hour with am or pm is from 1 to 12."""
    if parts.get("hour") is None:
        return 0, 0, 0
    hour, half = int(parts["hour"]), (parts.get("half") or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError(hour)
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return hour, int(parts["minute"]), int(parts["second"] or 0)


def from_number(number: float, order: Order) -> datetime | None:
    """The date of a serial number of Excel, a number such as 20240305, or a Unix time in seconds, milliseconds or
    microseconds."""
    if order == "excel":
        date = EXCEL_START + timedelta(days=number)
        return (date + timedelta(milliseconds=500)).replace(microsecond=0) if number >= 0 else None
    if number.is_integer() and COMPACT.fullmatch(text := str(int(number))):
        return read_text(text, order)
    size = abs(number)
    return UNIX_START + timedelta(seconds=number / (1 if size < 1e11 else 1e3 if size < 1e14 else 1e6))


# ---- guesses


def guess_date(texts: Iterable[str]) -> tuple[DateKind, str] | None:
    """The kind of a column whose values are written in these ways, and the reason; None if not all of them are dates.

    >>> guess_date(["3/14/2024", "4/1/2024"]), guess_date(["14.3.2024 18:00"])
    (('month-first-date', "dates; the day is second in '3/14/2024'"), ('day-first-datetime', "dates with times; the \
day is first in '14.3.2024 18:00'"))
    """
    day_first = month_first = ambiguous = None
    has_time = False
    for text in texts:
        found = match(text := text.strip())
        if found is None or (text.isdecimal() and not COMPACT.fullmatch(text)):
            return None
        parts = found.groupdict()
        has_time = has_time or parts.get("hour") is not None
        if parts.get("first") is None:
            order: Order = "year-first"
        elif int(parts["first"]) > 12:
            order, day_first = "day-first", day_first or text
        elif int(parts["second_"]) > 12:
            order, month_first = "month-first", month_first or text
        else:
            order, ambiguous = "day-first", ambiguous or text
        try:
            if read_text(text, order) is None:
                return None
        except ValueError:
            return None
    if day_first and month_first:
        return None
    what = "dates with times" if has_time else "dates"
    if day_first:
        return kind_of_style("day-first", has_time), f"{what}; the day is first in {day_first!r}"
    if month_first:
        return kind_of_style("month-first", has_time), f"{what}; the day is second in {month_first!r}"
    if ambiguous is None:
        return kind_of_style("year-first", has_time), what
    # No value shows the order. A slash is common where the month is first, a full stop or a dash where the day is.
    order = "month-first" if "/" in ambiguous else "day-first"
    first = "month" if order == "month-first" else "day"
    return kind_of_style(order, has_time), f"{what}; no value shows the order, so the {first} is first in {ambiguous!r}"
