"""Options of the commands that are made from the library: from `Settings` and `markone.read`, with their help texts."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from cyclopts import Parameter, Token

from markone.data.formats import FORMATS, formats_in_words
from markone.data.options import ALL
from markone.data.options import MISSING as MISSING_WORDS
from markone.data.read import read
from markone.errors import SettingsError

# ---- converters of values, with stricter checks or clearer messages than those of Cyclopts


def whole_number(_: type, tokens: Sequence[Token]) -> int:
    """Cyclopts would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, not {tokens[0].value!r}") from None


def number(_: type, tokens: Sequence[Token]) -> float:
    try:
        return float(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a number, not {tokens[0].value!r}") from None


def as_given(_: type, tokens: Sequence[Token]) -> str:
    return tokens[0].value


if TYPE_CHECKING:
    FileName = str
else:
    # The commands use a text. Cyclopts sees a path, so that the shell completes file names.
    FileName = Annotated[Path, Parameter(converter=as_given)]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
"""An option without a value, which is off by default."""
WholeNumber = Annotated[int, Parameter(converter=whole_number)]
Number = Annotated[float, Parameter(converter=number)]


def words_in(text: str) -> list[str]:
    """
    >>> words_in("age, job")
    ['age', 'job']
    """
    return [word.strip() for word in text.split(",")]


def pairs_in(texts: Iterable[str]) -> dict[str, str]:
    """
    >>> pairs_in(["zip=text,age=numeric", "job=ignore"])
    {'zip': 'text', 'age': 'numeric', 'job': 'ignore'}
    """
    pairs = {}
    for text in texts:
        for pair in words_in(text):
            name, equals, value = pair.rpartition("=")
            if not equals:
                raise SettingsError("kinds", f"must be columns with their kinds, such as zip=text, not {pair!r}")
            pairs[name] = value
    return pairs


SIZES = {"hidden": "the sizes of one or two layers, such as 64,32", "sizes": "numbers of rows, such as 100,200"}


def sizes_in(text: str, name: str = "hidden") -> list[int]:
    """
    >>> sizes_in("64,32")
    [64, 32]
    """
    try:
        return [int(word) for word in words_in(text)]
    except ValueError:
        raise SettingsError(name, f"must be {SIZES[name]}, not {text!r}") from None


def priors_in(text: str) -> str | dict[str, float]:
    """
    >>> priors_in("uniform"), priors_in("ham=0.66,spam=0.34")
    ('uniform', {'ham': 0.66, 'spam': 0.34})
    """
    return numbers_by_label(text, "priors", "ham=0.66,spam=0.34")


def class_weights_in(text: str) -> str | dict[str, float]:
    """
    >>> class_weights_in("balanced"), class_weights_in("spam=5")
    ('balanced', {'spam': 5.0})
    """
    return numbers_by_label(text, "class_weight", "ham=1,spam=5")


def numbers_by_label(text: str, name: str, example: str) -> str | dict[str, float]:
    """Return the numbers of a setting by label, or the text itself if it is a single word."""
    if "=" not in text:
        return text
    try:
        return {label: float(number) for label, number in pairs_in([text]).items()}
    except ValueError:
        raise SettingsError(name, f"must be numbers by label, such as {example}, not {text!r}") from None


def sign_in(text: str) -> str | None:
    """Return a character, which may be written as a word if it is hard to type.

    >>> sign_in("tab"), sign_in(";"), sign_in("None")
    ('\\t', ';', None)
    """
    return {"tab": "\t", "\\t": "\t", "space": " ", "none": None}.get(text.lower(), text)


# ---- options


FROM_TEXT: dict[str, Any] = {
    "kinds": pairs_in,
    "columns": words_in,
    "inputs": words_in,
    "missing": words_in,
    "separator": sign_in,
    "quote": sign_in,
    "hidden": sizes_in,
    "priors": priors_in,
    "class_weight": class_weights_in,
}
START = " Written as zero, random, or the name of a JSON, TOML, CSV or TSV file of weights by feature."
"""The help of `--start` goes on so for commands that can start from given weights."""
WRITTEN = {
    "kinds": " Written as zip=text,age=numeric.",
    "columns": " Written as a,b,c.",
    "hidden": " Written as 64,32.",
    "priors": " Written as ham=0.66,spam=0.34.",
    "class_weight": " Written as balanced, or as ham=1,spam=5.",
    "missing": f" Written as ?,NA. [default: an empty field, {', '.join(filter(None, MISSING_WORDS))}]",
}
IN_PYTHON = (("None for", "By default"), ("None if", "none if"), (" in the source's `bad`", ""))
"""Phrases in docstrings that are different in the help of the command line."""
NOT_OPTIONS = {"what", "target", "importance", "threads", "keep", "once", "nan"}
"""Parameters of `read` that are not options of this group."""
BY_RULE_OR_DATA = {"rule", "holdout"}
"""Settings whose default values `train` chooses."""


def option(name: str) -> str:
    """
    >>> option("skip_bad")
    '--skip-bad'
    """
    return "--" + name.replace("_", "-")


def options(name: str, types: Mapping[str, Any], helps: Mapping[str, str], group: str) -> Any:
    """Return the type of a dictionary whose keys are options. It contains only the options that the user gives."""
    helps = {key: in_options(text, types.keys() - {*get_args(types.get(key))}) for key, text in helps.items()}
    annotated = {
        key: Annotated[
            option_type(key, kind),
            Parameter(
                name=option(key), help=helps.get(key), negative=negative(key, kind), show_choices=key != "format"
            ),
        ]
        for key, kind in types.items()
    }
    made = TypedDict(name, annotated, total=False)  # type: ignore[misc]
    return Annotated[made, Parameter(name="*", group=group)]


def in_options(text: str, names: Iterable[str]) -> str:
    """Return a help text with settings of these names, which are in backticks, written as options.

    >>> in_options('With `tol`, the `loss`, or `loss="hinge"`; with `schedule="inverse"`.', ["tol", "schedule"])
    'With `--tol`, the `loss`, or `loss="hinge"`; with `--schedule inverse`.'
    """

    def renamed(found: re.Match[str]) -> str:
        value = f" {found[2]}" if found[2] else ""
        return f"`{option(found[1])}{value}`" if found[1] in names else found[0]

    return re.sub(r'`(\w+)(?:="(\w+)")?`', renamed, text)


def option_type(name: str, kind: Any) -> Any:
    """Return the type that Cyclopts parses. `FROM_TEXT` converts texts further."""
    if name == "kinds":
        return list[str]
    if name in FROM_TEXT:
        return str
    return {int: WholeNumber, float: Number, int | None: WholeNumber, float | None: Number}.get(kind, kind)


def negative(name: str, kind: Any) -> str | None:
    return option("no_" + name) if kind in (bool, bool | None) and name != "skip_bad" else ""


def read_options(more_formats: Sequence[str] = ()) -> Any:
    """Return the options of `markone.read`, with additional formats for commands that also read sentences."""
    types = {name: kind for name, kind in get_type_hints(read).items() if name not in NOT_OPTIONS and name != "return"}
    helps = {}
    for name, text in parameter_docs(read).items():
        for library, command in IN_PYTHON:
            text = text.replace(library, command)
        helps[name] = text + WRITTEN.get(name, "")
    helps["format"] = f"The format, if the names of the files do not show it: {formats_in_words()}."
    if more_formats:
        helps["format"] += f" For sentences: {', '.join(more_formats)}."
    formats = tuple(dict.fromkeys((*FORMATS, *more_formats)))
    return options("Reading", types | {"format": Literal[formats]}, helps, "Reading")


def settings_options(
    usual: Mapping[str, Any],
    holdout: str = "0.05, or 0 for fewer than 1,000 rows",
    without: Sequence[str] = (),
    start: bool = True,
) -> Any:
    """Return the options of `Settings`, with the defaults `usual` of a command, and `without` some of them.

    With `start`, the command can start from weights in a file.
    """
    from markone.learning.arguments import USUAL_RULE
    from markone.learning.training import train
    from markone.model.settings import Settings

    helps = attribute_docs(Settings) | {"rule": parameter_docs(train)["rule"]}
    helps["rule"] = helps["rule"].replace(f"`{USUAL_RULE}` by default", f"`{usual.get('rule', USUAL_RULE)}` by default")
    for name in helps.keys() & WRITTEN.keys():
        helps[name] += WRITTEN[name]
    helps["start"] += START if start else ""
    for field in fields(Settings):
        value = usual.get(field.name, field.default)
        if field.name not in BY_RULE_OR_DATA and value not in (None, MISSING):
            helps[field.name] += usual_value(value)
    helps["holdout"] += f" [default: {holdout}]"
    types = {name: kind for name, kind in get_type_hints(Settings).items() if name not in without}
    return options("Learning", types | ({"start": str} if start else {}), helps, "Learning")


def usual_value(value: Any) -> str:
    """Return the end of a help text, which shows the default.

    >>> usual_value(True), usual_value(5)
    (' [default: yes]', ' [default: 5]')
    """
    return f" [default: {('yes' if value else 'no') if isinstance(value, bool) else value}]"


def tracing_options() -> Any:
    """Return the options of `markone trace`, which holds out no rows."""
    from markone.theory.tracing import USUAL_ORDER, USUAL_TRACED

    return settings_options(
        {"rule": USUAL_TRACED, "order": USUAL_ORDER}, without=("holdout", "patience", "partitions", "mixing")
    )


def validating_options() -> Any:
    """Return the options of `markone validate`, which holds out training rows only for `patience`."""
    return settings_options(
        {}, holdout="with `patience` 0.05, or 0 for fewer than 1,000 rows; without it 0", start=False
    )


def given(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options that the user gave, as arguments of the library."""
    return {name: FROM_TEXT[name](value) if name in FROM_TEXT else value for name, value in (values or {}).items()}


def columns_to_keep(keep: str | None) -> list[str] | str:
    return [] if keep is None else keep if keep == ALL else words_in(keep)


# ---- help texts from docstrings


def attribute_docs(of: type) -> dict[str, str]:
    """Return the docstrings below the attributes of a class, each of which is on one line.

    Python's parser would need a tenth of the time that a short training takes.
    """
    source = inspect.getsource(sys.modules[of.__module__])
    body = source.partition(f"\nclass {of.__name__}")[2].partition("\n\n\n")[0]
    found = re.findall(r'^    (\w+): [^\n]*\n    """(.*?)"""$', body, re.MULTILINE | re.DOTALL)
    return {name: inspect.cleandoc(text).replace("\n", " ") for name, text in found}


def parameter_docs(of: Any) -> dict[str, str]:
    """Return the descriptions of a function's parameters, from a docstring in NumPy's style.

    A general parser of docstrings would take longer to import than this command needs for everything else of its help.
    """
    section = (inspect.getdoc(of) or "").partition("\nParameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    return {
        name: " ".join(line.strip() for line in text.splitlines())
        for name, text in re.findall(r"^(\w+)\n((?:[ ]+.*\n?|\n)+)", section, re.MULTILINE)
    }


if TYPE_CHECKING:
    Reading = dict[str, Any]
    Learning = dict[str, Any]
    Tracing = dict[str, Any]
    Validating = dict[str, Any]
else:
    Reading = read_options()
    OF_SETTINGS = {
        "Learning": lambda: settings_options({}),
        "Tracing": tracing_options,
        "Validating": validating_options,
    }

    def __getattr__(name: str) -> Any:
        """Make these options when they are used: they import the core, which commands without training do not need."""
        if name not in OF_SETTINGS:
            raise AttributeError(name)
        globals()[name] = OF_SETTINGS[name]()
        return globals()[name]
