"""Amounts: numbers that are written for people, such as `$1,234.56`, `1.234,56 €`, `12 %`, `3k` or `(45)`."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Literal

NumberKind = Literal["decimal-comma"]
"""Numbers with a decimal comma. The kind of all other numbers is `numeric`."""

SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ") | {ord("\u2212"): "-", ord("\u2019"): "'"}
SIGNS = r"[$€£¥₹₽₩₺₴₪₫฿₱₦₡]|(?:US|A|C|NZ|HK|R)\$"
CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|RUB|AUD|CAD|SEK|NOK|DKK|PLN|CZK"
CURRENCY = rf"(?:{SIGNS}|{CODES}|kr\.?|zł|Kč|Rs\.?)"
FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "mio": 1e6, "Mio": 1e6, "bn": 1e9, "Mrd": 1e9}


@cache
def pattern(comma: bool) -> re.Pattern[str]:
    """The pattern of amounts: a point between groups of three digits and a decimal comma, or the other way round."""
    group, point = (r"\.", ",") if comma else (",", r"\.")
    grouped = rf"\d{{1,3}}(?P<mark>[{group} '])\d{{3}}(?:(?P=mark)\d{{3}})*"
    digits = rf"(?P<digits>(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)"
    number = rf"(?P<sign>[+-])?\s?(?:{CURRENCY}\s?)?(?P<inner>[+-])?{digits}(?P<power>[eE][+-]?\d+)?"
    factors = "|".join(sorted(FACTORS, key=len, reverse=True))
    unit = rf"(?:\s?(?P<factor>{factors})\b)?(?:\s?(?P<percent>%)|\s?{CURRENCY})?"
    return re.compile(rf"(?P<open>\()?{number}{unit}(?(open)\))", re.ASCII)


def amount(text: str, *, comma: bool = False) -> float | None:
    """The number that is written, or None if it is none; `comma` means that the decimal point is a comma.

    >>> [amount(text) for text in ("$1,234.56", "12 %", "3k", "(45)", "1 234")]
    [1234.56, 0.12, 3000.0, -45.0, 1234.0]
    >>> amount("1.234,56 €", comma=True), amount("1,23"), amount("twelve")
    (1234.56, None, None)
    """
    found = pattern(comma).fullmatch(text.strip().translate(SPACES))
    if found is None or (found["sign"] and found["inner"]):
        return None
    digits = re.sub(r"[ ']" + (r"|\." if comma else "|,"), "", found["digits"]).replace(",", ".")
    number = float(digits + (found["power"] or ""))
    number *= FACTORS.get(found["factor"] or "", 1)
    number /= 100 if found["percent"] else 1
    negative = bool(found["open"]) ^ (found["sign"] == "-" or found["inner"] == "-")
    return (-number if negative else number) if math.isfinite(number) else None
