"""The container of a model file: what is written is read, to the bit, and what was tampered with is refused."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from forging import ODD, Forged, assemble, damaged, places, put, told
from markone import DataError, SettingsError
from markone.storage import container
from markone.storage.container import read_file, write_file
from markone.storage.saved import Saved

FACTS: dict[str, Any] = {"text": "é \ud800\x00", "numbers": [1, -2.5, 1e300], "nothing": None, "deep": {"a": [[True]]}}
ARRAYS = {
    "w": np.arange(10, dtype=np.float32).reshape(5, 2),
    "names": np.frombuffer(b"hello", np.uint8),
    "ends": np.array([2, 5], np.int64),
    "flags": np.array([True, False]),
    "one": np.array(3.5),
    "none": np.zeros((0, 3), np.uint32),
}


def same(one: Saved, other: Saved) -> bool:
    return (
        json.dumps(one.facts) == json.dumps(other.facts)
        and set(one.arrays) == set(other.arrays)
        and all(
            array.dtype == other.arrays[name].dtype
            and array.shape == other.arrays[name].shape
            and array.tobytes() == other.arrays[name].tobytes()
            for name, array in one.arrays.items()
        )
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_file(tmp_path / "m.model", FACTS, ARRAYS)
    return tmp_path / "m.model"


# ---- what is written is read


def test_round_trip(path: Path) -> None:
    saved = read_file(path)
    assert same(saved, Saved(FACTS, ARRAYS))
    for array in saved.arrays.values():
        assert array.flags.writeable and array.flags.c_contiguous and array.flags.aligned


def test_any_reader_of_safetensors_reads_it(path: Path) -> None:
    arrays = safetensors.numpy.load_file(path)
    assert same(Saved({}, arrays), Saved({}, ARRAYS))


def test_the_same_content_is_the_same_bytes(path: Path, tmp_path: Path) -> None:
    write_file(tmp_path / "again", FACTS, dict(reversed(ARRAYS.items())))
    saved = read_file(path)
    write_file(str(tmp_path / "once more"), saved.facts, saved.arrays)
    assert path.read_bytes() == (tmp_path / "again").read_bytes() == (tmp_path / "once more").read_bytes()


def test_arrays_of_any_layout(tmp_path: Path) -> None:
    matrix = np.arange(12, dtype=np.float64).reshape(3, 4)
    write_file(tmp_path / "m", {}, {"turned": matrix.T, "every other": matrix[:, ::2], "big": matrix.astype(">f8")})
    saved = read_file(tmp_path / "m").arrays
    for name, expected in (("turned", matrix.T), ("every other", matrix[:, ::2]), ("big", matrix)):
        np.testing.assert_array_equal(saved[name], expected)


def test_every_array_starts_where_its_type_wants_to(path: Path) -> None:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert length % 8 == 0
    header = json.loads(content[8 : 8 + length])
    for name, array in ARRAYS.items():
        assert header[name]["data_offsets"][0] % array.itemsize == 0


def test_json_has_no_infinity(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_file(tmp_path / "m", {"C": float("inf")}, {})
    assert os.listdir(tmp_path) == []


def test_what_readers_would_refuse_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(container, "LARGEST_HEADER", 100)
    with pytest.raises(DataError, match="cannot save .*m.model: classes, lexicons and settings need 0 MB"):
        write_file(path, FACTS, ARRAYS)
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", [3, None, b"m.model"])
def test_a_path_is_a_path(path: Any) -> None:
    for use in (lambda: write_file(path, {}, {}), lambda: read_file(path)):
        with pytest.raises(SettingsError, match="path must be the name of a file"):
            use()


# ---- what is no model


def refuse(path: Path, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as caught:
        read_file(path)
    assert str(path) in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "mail.model").write_bytes(b"")
    refuse(tmp_path / "mail.model", "is empty")
    refuse(tmp_path / "mial.model", "there is no model .*Did you mean 'mail.model'")
    refuse(tmp_path / "no" / "m.model", "There is no folder .*no either")
    refuse(tmp_path / "mail.model" / "m", "Not a directory")
    refuse(tmp_path, "is a folder, not a model")
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "is a pipe or a device, not a file")
    with pytest.raises(DataError, match="is not a valid file name"):
        read_file("a\0b")


def test_files_that_may_not_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*arguments: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", forbid)
    refuse(path, "cannot read the model .*: Permission denied")


@pytest.mark.parametrize(
    "content",
    [b"x", b"text,label\nfree money,spam\n", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(100), bytes(8), bytes(1000)],
    ids=["one byte", "csv", "pickle", "zip", "zeros", "more zeros"],
)
def test_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    refuse(tmp_path / "m", "is not a Markone model, or is damaged")


def test_safetensors_of_others(tmp_path: Path) -> None:
    safetensors.numpy.save_file(ARRAYS, tmp_path / "m", {"format": "pt"})
    refuse(tmp_path / "m", "is a safetensors file, but not one that Markone wrote")
    safetensors.numpy.save_file(ARRAYS, tmp_path / "m")
    refuse(tmp_path / "m", "is a safetensors file, but not one that Markone wrote")


def test_a_newer_format(path: Path) -> None:
    forged = Forged(path.read_bytes())
    forged.told |= {"format": 2, "version": "7.1", "more": True}
    path.write_bytes(forged.assembled())
    refuse(path, r"written by a newer Markone, '7.1', in format 2.* Install a newer one: pip install --upgrade markone")


# ---- what was tampered with


def forge_bool(forged: Forged) -> None:
    forged.array("flags")[0] = 2


def forge_half(forged: Forged) -> None:
    for said in (forged.header["w"], forged.told["tensors"]["w"]):
        said |= {"dtype": "F16", "shape": [5, 4]}


def forge_deep(forged: Forged) -> None:
    for _ in range(60):
        forged.told["facts"] = {"deeper": forged.told["facts"]}


FORGERIES: dict[str, Callable[[Forged], Any]] = {
    "format": lambda forged: forged.told.update(format=0),
    "format that is true": lambda forged: forged.told.update(format=True),
    "format that is a text": lambda forged: forged.told.update(format="1"),
    "something more": lambda forged: forged.told.update(more=1),
    "something less": lambda forged: forged.told.pop("facts"),
    "facts that are a list": lambda forged: forged.told.update(facts=[]),
    "tensors that are a list": lambda forged: forged.told.update(tensors=[]),
    "facts too deep": forge_deep,
    "array that is not listed": lambda forged: forged.told["tensors"].pop("w"),
    "array that is not there": lambda forged: forged.told["tensors"].update(v=forged.told["tensors"]["w"]),
    "array that is no object": lambda forged: forged.told["tensors"].update(w=5),
    "array without a sum": lambda forged: forged.told["tensors"]["w"].pop("xxh3"),
    "type that differs": lambda forged: forged.header["w"].update(dtype="I32"),
    "shape that differs": lambda forged: forged.header["w"].update(shape=[2, 5]),
    "type that we do not use": forge_half,
    "neither true nor false": forge_bool,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_with_right_checksums(path: Path, name: str) -> None:
    forged = Forged(path.read_bytes())
    path.write_bytes(forged.assembled())
    read_file(path)
    FORGERIES[name](forged)
    path.write_bytes(forged.assembled())
    refuse(path, "is damaged")


def test_wrong_checksums(path: Path) -> None:
    forged = Forged(path.read_bytes())
    forged.array("w")[0] ^= 1
    path.write_bytes(forged.assembled(sums=False))
    refuse(path, "the checksum of the array 'w' is wrong. Use an undamaged copy, or train it again")
    content = path.read_bytes().replace(b"hello", b"jello").replace(b"-2.5", b"-3.5")
    path.write_bytes(content)
    refuse(path, "the checksum of its header is wrong")


FRAME = '{"format": 1, "version": "0", "facts": %s, "tensors": {}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        FRAME % '{"a": NaN}',
        FRAME % '{"a": -Infinity}',
        FRAME % '{"a": 1e999}',
        FRAME % ('{"a": ' + "9" * 5000 + "}"),
        FRAME % '{"a": 1, "a": 2}',
        FRAME % ("[" * 100_000 + "]" * 100_000),
        FRAME % ('{"a":' * 900 + "1" + "}" * 900),
        FRAME % '{"a": "\\ud800"}' + "x",
    ],
)
def test_json_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "m").write_bytes(assemble(told(text)))
    refuse(tmp_path / "m", "is damaged")
    (tmp_path / "m").write_bytes(assemble(told(FRAME % "{}")))
    assert same(read_file(tmp_path / "m"), Saved())


def test_errors_of_reading_get_a_sentence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, sentence in (
        (OSError(errno.EIO, "Input/output error"), "cannot read the model .*: Input/output error"),
        (MemoryError(), "not enough memory"),
        (OverflowError("too large"), "is damaged"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "is damaged"),
    ):

        def fail(*arguments: Any, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(container, "read_arrays", fail)
        refuse(path, sentence)


def test_a_file_that_is_replaced_while_it_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = container.safe_open

    def replace_first(name: str, framework: str) -> Any:
        write_file(path, {"new": True}, {"v": np.zeros(1000)})
        return really(name, framework=framework)

    monkeypatch.setattr(container, "safe_open", replace_first)
    assert same(read_file(path), Saved(FACTS, ARRAYS))
    monkeypatch.undo()
    assert read_file(path).facts == {"new": True}


# ---- fuzzing


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A place for files, and the bytes of a good one."""
    path = tmp_path_factory.mktemp("fuzzed") / "m.model"
    write_file(path, FACTS, ARRAYS)
    return path, path.read_bytes()


@given(st.data())
def test_damage_is_found(kept: tuple[Path, bytes], data: st.DataObject) -> None:
    path, good = kept
    path.write_bytes(data.draw(damaged(good)))
    try:
        found = read_file(path)
    except DataError:
        return
    assert same(found, Saved(FACTS, ARRAYS))


@given(st.data())
def test_headers_with_odd_values(kept: tuple[Path, bytes], data: st.DataObject) -> None:
    """With right checksums: what is read may be something else, but what it says it is."""
    path, good = kept
    forged = Forged(good)
    del forged.header["__metadata__"]
    for _ in range(data.draw(st.integers(1, 2))):
        part = data.draw(st.sampled_from([forged.header, forged.told]))
        put(part, data.draw(st.sampled_from(places(part))), data.draw(ODD))
    try:
        path.write_bytes(forged.assembled())
    except (TypeError, ValueError, KeyError, IndexError):  # the forger's own business
        return
    try:
        found = read_file(path)
    except DataError:
        return
    assert {name: list(array.shape) for name, array in found.arrays.items()} == {
        name: said["shape"] for name, said in forged.told["tensors"].items()
    }


# ---- memory


def test_a_small_hostile_file_takes_little_memory(tmp_path: Path) -> None:
    """Under a limit that leaves 64 MB; each file says that it is huge, or unfolds when it is read."""
    files = {
        "length": (2**62).to_bytes(8, "little") + b"{}",
        "tensor": assemble({"w": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}),
        "overflow": assemble({"w": {"dtype": "F64", "shape": [2**32, 2**32], "data_offsets": [0, 0]}}),
        "empty": assemble({"w": {"dtype": "F64", "shape": [2**62, 0, 2**62], "data_offsets": [0, 0]}}),
        "nested": assemble(b"[" * 200_000),
        "lists": assemble(told(FRAME % ('{"a": [' + ",".join(["[]"] * 100_000) + "]}") + " ")),
        "number": assemble(told(FRAME % ('{"a": ' + "9" * 200_000 + "}"))),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    script = """
        import os, resource, sys
        from markone import DataError
        from markone.storage.container import read_file
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + (64 << 20), now + (64 << 20)))
        try:
            bytearray(100 << 20)
        except MemoryError:
            pass
        else:
            raise SystemExit("the limit does not hold")
        for path in sys.argv[1:]:
            try:
                read_file(path)
            except DataError as error:
                assert "not enough memory" not in str(error), error
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *(str(tmp_path / name) for name in files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
