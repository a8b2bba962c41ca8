"""The targets of exports, and the way to them: describe the model, write the file, check it, and save it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from markone.brief import Brief
from markone.errors import DataError, Setting, SettingsError, did_you_mean
from markone.exporting import to_c, to_js, to_json, to_onnx, to_sql
from markone.exporting.checking import Sample
from markone.exporting.document import Document, document_of
from markone.exporting.options import Dialect, Options, Ran
from markone.exporting.samples import Row
from markone.storage.atomic import writing

if TYPE_CHECKING:
    from markone.model.model import Model

To = Literal["json", "js", "sql", "c", "onnx"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A kind of export."""

    name: To
    ending: str
    """The ending of its files."""
    purpose: str
    """What it is, as in "a JSON document"."""
    write: Callable[[Document, Options], bytes]
    """Writes the file; a feature that it cannot have is a `ExportError`."""
    run: Callable[[bytes, Document, Sequence[Row], Options], Ran | None]
    """Runs a file on rows; None if nothing on this machine can run it."""
    needs: str = ""
    """What to install so that it can be run."""
    takes: frozenset[str] = frozenset()
    """The options that it has."""
    exact: bool = True
    """Whether it adds in the order of the model, so that even ties have the same label."""


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(name="json", ending=".json", purpose="a JSON document", write=to_json.write, run=to_json.run),
        Target(
            name="js",
            ending=".mjs",
            purpose="a JavaScript module",
            write=to_js.write,
            run=to_js.run,
            needs=to_js.INSTALL,
        ),
        Target(
            name="sql",
            ending=".sql",
            purpose="a table of weights and a query in SQL",
            write=to_sql.write,
            run=to_sql.run,
            needs=to_sql.INSTALL,
            takes=frozenset({"dialect", "name"}),
            exact=False,
        ),
        Target(
            name="c",
            ending=".h",
            purpose="a header of C99",
            write=to_c.write,
            run=to_c.run,
            needs=to_c.INSTALL,
            takes=frozenset({"name"}),
        ),
        Target(
            name="onnx",
            ending=".onnx",
            purpose="an ONNX graph",
            write=to_onnx.write,
            run=to_onnx.run,
            needs=to_onnx.INSTALL,
            exact=False,
        ),
    )
}


@dataclass(frozen=True, repr=False)
class Exported(Brief):
    """A file that was exported, and how it was checked."""

    path: str
    """The name of the file."""
    to: str
    """The target, such as `js`."""
    bytes: int
    """The size of the file."""
    rows: int
    """The number of sample rows for which it was compared with the model."""
    given: bool
    """Whether these rows were given; if not, they were made from the model."""
    engine: str | None
    """What ran the file on the sample rows; None if nothing on this machine could."""

    def in_brief(self) -> str:
        return f"{self.path}, {self.bytes:,} bytes, {'checked' if self.engine else 'not run'}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "to": self.to,
            "bytes": self.bytes,
            "rows": self.rows,
            "given": self.given,
            "engine": self.engine,
        }

    def __str__(self) -> str:
        target = TARGETS[self.to]
        sample = f"{self.rows:,} {'sample rows' if self.given else 'rows that were made from the model'}"
        if self.engine is not None:
            engine = self.engine[0].upper() + self.engine[1:]
            check = f"{engine} ran it on {sample}: its labels and scores are those of the model."
        else:
            check = (
                f"It was NOT run, because nothing here can run it ({target.needs}). Only its numbers were checked, by "
                f"an interpreter in Python, on {sample}."
            )
        return f"{self.path} is {target.purpose} of {self.bytes:,} bytes.\n{check}"


def target_of(to: str | None, path: str) -> Target:
    """Return the target that the user names, or that the name of the file says."""
    if to is None:
        ending = os.path.splitext(path)[1].lower()
        found = next(
            (one for one in TARGETS.values() if ending in (one.ending, *OTHER_ENDINGS.get(one.name, ()))), None
        )
        if found is None:
            raise SettingsError("to", f"must be {in_words(TARGETS)}, because the name {path!r} does not tell")
        return found
    if to not in TARGETS:
        raise SettingsError("to", f"must be {in_words(TARGETS)}, not {to!r}.{did_you_mean(str(to), TARGETS)}")
    return TARGETS[to]


OTHER_ENDINGS = {"js": (".js",)}


def path_for(model: str, to: str | None) -> str:
    """Return the name of a file beside a model's file, with the ending of the target."""
    if to is None:
        raise SettingsError("to", f"must say what to write, unless the name of the file does: {in_words(TARGETS)}")
    return os.path.splitext(model)[0] + target_of(to, "").ending


def in_words(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def export_model(
    model: Model,
    path: str | os.PathLike[str],
    *,
    to: To | None,
    sample: Any,
    dialect: Dialect | None,
    name: str | None,
    overwrite: bool,
) -> Exported:
    """Write a model in another form. See `Model.export`."""
    path = os.fspath(path)
    target = target_of(to, path)
    options = options_for(target, dialect=dialect, name=name)
    document = document_of(model)
    content = target.write(document, options)
    check_free(path, content, overwrite)
    tried = Sample(model, document, sample)
    ran = target.run(content, document, tried.rows, options)

    def run(rows: Sequence[Row]) -> Any:
        if ran is None:
            return to_json.interpret(document, rows)
        found = ran if rows is tried.rows else target.run(content, document, rows, options)
        assert found is not None  # because it could be run before
        return found.answers

    tried.check(run, target.purpose if ran is not None else "the document", exact=target.exact)
    with writing(path) as file:
        file.write(content)
    return Exported(path, target.name, len(content), len(tried.rows), tried.given, None if ran is None else ran.engine)


def options_for(target: Target, **given: Any) -> Options:
    for name, value in given.items():
        if value is not None and name not in target.takes:
            others = [one.name for one in TARGETS.values() if name in one.takes]
            raise SettingsError(name, f"is only for {' and '.join(others)}, not for {target.name}; leave it out")
    return Options(**given)


def check_free(path: str, content: bytes, overwrite: bool) -> None:
    """Check that no other file is overwritten. The same file may be written again."""
    place = Path(path)
    if overwrite or not place.exists() or (place.is_file() and place.read_bytes() == content):
        return
    advice = ("name another file, or replace it with ", Setting("overwrite", True))
    raise DataError(f"{path} exists already, with other content", advice=advice)


assert tuple(TARGETS) == get_args(To)
