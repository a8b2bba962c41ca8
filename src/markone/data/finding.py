"""Files are found by name, pattern or folder, and their names show their format."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from markone.addresses import find_addresses, is_address, path_of_local
from markone.data.archives import is_zip, members_of
from markone.data.files import COMPRESSION_OF_ENDING, NamedFile, open_plain
from markone.data.foreign import foreign_at
from markone.data.formats import FORMATS, format_of_name
from markone.errors import DataError, Setting, Words, did_you_mean

TREEBANKS = (".conllu", ".conllx", ".conll")
LOOKED_AT = 1 << 16
"""The bytes of a file that show its format if its name does not."""
IDX_LABELS = ("idx1-ubyte", "idx1.ubyte")


def find(path: str) -> list[str]:
    """The files that match a path, a pattern or an address; the path itself if it is a folder."""
    if is_address(path):
        local = path_of_local(path)
        return find_addresses(path) if local is None else find(local)
    if os.path.exists(path):
        return [path]
    if os.path.islink(path):
        raise DataError(
            f"{path} is a symbolic link to {os.readlink(path)}, {why_broken(path)}; create it again, or name the file"
        )
    if glob.has_magic(path):
        found = sorted(name for name in matches(path) if os.path.isfile(name))
        if not found:
            raise DataError(f"no file matches {path}")
        return found
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        raise DataError(f"there is no folder {folder}, which should contain {name}")
    guess = did_you_mean(name, os.listdir(folder or "."))
    raise DataError(f"there is no file {path}.{guess}")


def find_each(names: str | Sequence[str], wanted: Callable[[str], Any]) -> list[str]:
    """Return the files that paths, patterns and folders stand for, each once. Of a folder these are the files that are
    wanted."""
    paths: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        for path in find(os.fspath(name)):
            paths += filter(wanted, files_in(path)[0]) if os.path.isdir(path) else [path]
    return list(dict.fromkeys(paths))


def why_broken(link: str) -> str:
    """Why a symbolic link does not lead to a file."""
    try:
        os.stat(link)
    except OSError as error:
        return "which is a loop of links" if error.errno == errno.ELOOP else "which does not exist"
    return "which exists again"


def matches(pattern: str) -> set[str]:
    """The names that match a pattern. `**` matches a folder and all folders below it, each once, even if links form a
    loop, in which Python's `glob` would run many times."""
    head, deep, tail = cut_pattern(pattern)
    if not deep:
        return set(glob.glob(pattern))
    tops = glob.glob(os.path.join(head, "")) if head else [""]
    folders = [folder for top in sorted(tops) for folder in folders_below(top)]
    return {name for folder in folders for name in matches(os.path.join(glob.escape(folder), tail or "*"))}


def cut_pattern(pattern: str) -> tuple[str, str, str]:
    """The parts of a path before, at and after its first `**` between two separators.

    >>> cut_pattern("data/**/*.csv"), cut_pattern("**.csv")
    (('data', '**', '*.csv'), ('**.csv', '', ''))
    """
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return pattern, "", ""
    at = parts.index("**")
    head = os.sep.join(parts[:at])
    return head or (os.sep if at else ""), "**", os.sep.join(parts[at + 1 :])


def folders_below(top: str) -> Iterator[str]:
    """A folder and all folders below it, without hidden ones."""
    seen = {os.path.realpath(top)}
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        for name in sorted(glob.glob(os.path.join(glob.escape(folder), "*", ""))):
            real = os.path.realpath(name)
            if real not in seen:
                seen.add(real)
                waiting.append(name)


def files_in(folder: str) -> tuple[list[str], list[str]]:
    """The files and the folders in a folder, sorted, without names that begin with a dot or an underscore."""
    files: list[str] = []
    folders: list[str] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.name.startswith((".", "_")):
            (folders if os.path.isdir(entry.path) else files).append(entry.path)
    return files, folders


def format_of(path: str) -> str | None:
    """The format that a file's name shows or, for a ZIP archive, the name of the only file in it; else None."""
    found = format_of_name(name_without_compression(path))
    if found is not None or not is_zip(path):
        return found
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            members = members_of(archive)
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    return format_of_name(os.path.basename(members[0].filename).lower()) if len(members) == 1 else None


def name_without_compression(path: str) -> str:
    name = os.path.basename(path).lower()
    stem, ending = os.path.splitext(name)
    return stem if ending in COMPRESSION_OF_ENDING else name


def unknown_format(path: str) -> DataError:
    """The error for a file whose name does not show its format, with a guess by its ending or its first lines."""
    from difflib import get_close_matches

    problem = f"the name of {path} does not show its format"
    ending = os.path.splitext(name_without_compression(path))[1]
    if ending in TREEBANKS:
        use = "taggers and parsers learn from them, with markone tag train and markone parse train"
        return DataError(f"{path} contains sentences, by its name", file=path, advice=use)
    formats = {one: format.name for format in FORMATS.values() for one in format.endings}
    similar = get_close_matches(ending, formats, 1)
    if similar:
        advice: Words = (f"if you meant {similar[0]}, set ", Setting("format", formats[similar[0]]))
    elif looks := format_of_lines(path):
        advice = (f"by its first lines, it is {FORMATS[looks].help}: set ", Setting("format", looks))
    else:
        advice = ("set it, for instance ", Setting("format", "csv"))
    return DataError(problem, file=path, advice=advice)


def format_of_lines(path: str) -> str | None:
    """The format that the first lines of a file look like, for advice; None if they look like no text format."""
    try:
        with open_plain(NamedFile(path)) as file:
            start = file.read(LOOKED_AT).decode("utf-8", "ignore")
    except (OSError, DataError):
        return None
    lines = [line for line in start[: start.rfind("\n") + 1].splitlines() if line.strip()]
    if not lines:
        return None
    if all(line.startswith("{") for line in lines):
        return "jsonl"
    if all("\t" in line for line in lines):
        return "tab" if 2 * len({line.partition("\t")[0] for line in lines}) <= len(lines) else "tsv"
    return "csv" if all("," in line for line in lines) else None


def common_format(paths: Sequence[str]) -> str:
    """The format of all these files, which their names show."""
    formats = {path: format_of(path) for path in paths}
    first, *others = dict.fromkeys(formats.values())
    if first is None or None in others:
        path = next(path for path, format in formats.items() if format is None)
        if name_without_compression(path).endswith(IDX_LABELS):
            raise DataError(
                f"{path} contains labels, by its name; read the file of images, whose name ends in "
                f"{FORMATS['idx'].endings[0]}: its labels are found beside it, or in the file that target names"
            )
        error = None if is_zip(path) else foreign_at(path)
        if error is not None:
            raise error
        if is_zip(path):
            open_plain(NamedFile(path)).close()  # an error if it is not an archive of one file
        raise unknown_format(path)
    if others:
        path = next(path for path, format in formats.items() if format == others[0])
        raise DataError(
            f"{paths[0]} is {first} but {path} is {others[0]}; files that are read together must have one format"
        )
    return first
