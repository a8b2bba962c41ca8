"""Sentences: as columns, from lists, files and pipes, and back to CoNLL-U as they were."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markone import DataError, SettingsError, Tagger, _core
from markone.data.chunks import CHUNK
from markone.data.strings import Strings
from markone.structured.corpora import check_trees, guess_format, open_corpus, read_sentences
from markone.structured.sentences import Sentences
from markone.structured.writing import append_column, write_conllu

ROOT = Path(__file__).parents[1]
DATA = ROOT / os.environ.get("MARKONE_DATA", "../shared/data")

DOGS = """\
# sent_id = 1
# text = Don't the dogs bark?
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t5\taux\t5:aux\t_
2\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_
4\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t5\tnsubj\t_\t_
5\tbark\tbark\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5.1\tloudly\tloudly\tADV\tRB\t_\t_\t_\t5:advmod\t_
6\t?\t?\tPUNCT\t.\t_\t5\tpunct\t_\t_

# a comment
1\tJa\tja\tINTJ\tUH\t_\t0\troot\t_\t_

"""
CHUNKS = "He PRP B-NP\nreckons VBZ B-VP\nso RB B-ADVP\n. . O\n\n\nYes UH B-INTJ\n"


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def dogs(folder: Path, *changes: tuple[str, str]) -> str:
    text = DOGS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return write(folder, "dogs.conllu", text)


# ---- strings and lists

strings = st.lists(st.text(max_size=4), max_size=6)


@given(strings, st.data())
def test_strings_are_a_list(words: list[str], data: st.DataObject) -> None:
    kept = Strings.of(words)
    assert len(kept) == len(words) and list(kept) == kept.tolist()
    shown = [word.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace") for word in words]
    assert kept.tolist() == shown == [kept[i] for i in range(len(words))]
    begin = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(begin, len(words)))
    assert kept.some(begin, end).tolist() == shown[begin:end]
    assert Strings.joined([kept.some(0, begin), kept.some(begin, end), kept.some(end, len(words))]).tolist() == shown


def test_the_last_string_is_minus_1() -> None:
    words = Strings.of(["a", "b"])
    assert words[-1] == "b"
    for i in (2, -3):
        with pytest.raises(IndexError):
            words[i]


def test_sentences_come_from_lists() -> None:
    plain = Sentences.of([["the", "dog"], [], ["barks"]])
    assert plain.starts.tolist() == [0, 2, 2, 3] and plain.lists() == [["the", "dog"], [], ["barks"]]
    assert Sentences.of(["the", "dog"]).lists() == [["the", "dog"]]
    assert len(Sentences.of([])) == 0 and Sentences.of([]).lists() == []
    pairs = Sentences.of([[("the", "DET"), ("dog", "NOUN")], []])
    assert pairs.lists("tag") == [["DET", "NOUN"], []]
    threes = Sentences.of([[("the", "DT", "B-NP")]])
    assert list(threes.columns) == ["form", "1", "2"]
    named = Sentences.of([[("the", "DT", "B-NP")]], columns=["form", "pos", "chunk"])
    assert named.lists("chunk") == [["B-NP"]]
    trees = Sentences.of([{"form": ["dogs", "bark"], "head": [2, 0], "deprel": ["nsubj", "root"]}])
    assert trees.head_lists() == [[2, 0]] and trees.lists("deprel") == [["nsubj", "root"]]
    assert trees.heads is not None and trees.heads.dtype == np.int32


WORDS_OF_ALL_KINDS = st.text(st.characters(), max_size=4)  # with surrogates and line ends


@given(st.lists(st.lists(st.tuples(WORDS_OF_ALL_KINDS, WORDS_OF_ALL_KINDS), max_size=4), max_size=5))
@example([[("a\nb", ""), ("\ud800", "ö")], [], [("日本", "\U0001f600")]])
def test_the_core_reads_lists_as_strings_are_written(pairs: list[list[tuple[str, str]]]) -> None:
    columns = {
        "form": [[one for one, _ in words] for words in pairs],
        "tag": [[one for _, one in words] for words in pairs],
    }
    dicts = [{"form": form, "tag": tag} for form, tag in zip(*columns.values(), strict=True)]
    same = [Sentences.of(pairs), Sentences.of(dicts), Sentences.of([tuple(words) for words in pairs])]
    if not any(pairs):
        assert _core.read_lists(list(pairs)) is None
        return
    for batch in same:
        assert np.diff(batch.starts).tolist() == list(map(len, pairs))
        for name, lists in columns.items():
            expected = [one.encode("utf-8", "surrogatepass") for words in lists for one in words]
            assert [batch.column(name).bytes_of(i) for i in range(batch.words)] == expected


@pytest.mark.parametrize(
    "given", [[["a", 1]], [["a", ("b",)]], [[("a", "b"), ("c",)]], [["a"], "b"], [[]], [], [[("a", None)]]]
)
def test_the_core_reads_only_lists_of_strings(given: list[Any]) -> None:
    assert _core.read_lists(given) is None


def test_numbers_become_lists_of_names() -> None:
    numbers, starts = np.array([1, 0, 1], np.int32), np.array([0, 2, 2, 3])
    assert _core.lists_of_names(numbers, starts, ["no", "yes"]) == [["yes", "no"], [], ["yes"]]
    with pytest.raises(IndexError):
        _core.lists_of_names(numbers, starts, ["no"])
    for wrong in ([0, 2], [1, 3], [0, 4, 3], []):
        with pytest.raises(ValueError, match="ascend"):
            _core.lists_of_names(numbers, np.array(wrong, np.int64), ["no", "yes"])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("a dog", "sentences must be lists of words"),
        (7, "sentences must be lists of words"),
        ([["a"], "dog"], "sentence 2 is 'dog', not a list of words"),
        ([["a", 7]], "sentence 1: 'form' of word 2 is 7, not a string"),
        ([[("a", "DET"), ("dog",)]], "sentence 1 has words with 1 and words with 2 fields"),
        ([[("a", "DET")], ["dog"]], "sentence 2: the column 'tag' is missing, which other sentences have"),
        ([{"form": ["a"], "tag": []}], "sentence 1: there are 1 words, but 0 values of 'tag'"),
        ([{"tag": ["DET"]}], "sentence 1: the column of words, 'form', is missing"),
        ([{"form": ["a"], "head": ["1"]}], "sentence 1: 'head' of word 1 is '1', not a number"),
        ([{"form": ["a"], "head": [-2]}], "sentence 1: -2 is not a valid head"),
    ],
)
def test_lists_that_are_no_sentences(given: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        Sentences.of(given)


def test_a_column_that_is_not_there_is_guessed() -> None:
    with pytest.raises(DataError, match="there is no column 'tags', only 'form', 'tag'. Did you mean 'tag'?"):
        Sentences.of([[("a", "DET")]]).lists("tags")


def test_new_columns_have_a_string_for_each_word() -> None:
    batch = Sentences.of([["a", "dog"]])
    assert batch.with_columns({"tag": Strings.of(["DET", "NOUN"])}).lists("tag") == [["DET", "NOUN"]]
    with pytest.raises(DataError, match="the column 'tag' has 1 strings for 2 words"):
        batch.with_columns({"tag": Strings.of(["DET"])})
    with pytest.raises(DataError, match="there are 1 heads for 2 words"):
        batch.with_columns({}, np.zeros(1, np.int32))


# ---- CoNLL-U


def test_conllu_is_read(tmp_path: Path) -> None:
    batch = read_sentences(dogs(tmp_path))
    assert batch.lists() == [["Do", "n't", "the", "dogs", "bark", "?"], ["Ja"]]
    assert batch.lists("upos")[0] == ["AUX", "PART", "DET", "NOUN", "VERB", "PUNCT"]
    assert batch.lists("xpos")[1] == ["UH"] and batch.lists("lemma")[1] == ["ja"]
    assert batch.lists("feats")[0][3] == "Number=Plur" and batch.lists("deprel")[0][0] == "aux"
    assert batch.head_lists() == [[5, 5, 4, 5, 0, 5], [0]]
    check_trees(batch)
    assert [batch.place_of(word).rpartition(" ")[2] for word in range(7)] == ["4", "5", "6", "7", "8", "10", "13"]
    assert list(read_sentences(dogs(tmp_path), columns=["xpos"]).columns) == ["form", "xpos"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllu_is_written_back_as_it_was(tmp_path: Path, end: str) -> None:
    text = DOGS.replace("\n", end)
    batch = read_sentences(write(tmp_path, "dogs.conllu", text))
    assert write_conllu(batch) == text.encode()
    assert write_conllu(batch.some(1, 2)) == f"# a comment{end}1\tJa\tja\tINTJ\tUH\t_\t0\troot\t_\t_{end}{end}".encode()
    assert write_conllu(batch.some(1, 1)) == b""
    same = {name: batch.columns[name] for name in batch.columns}
    assert write_conllu(batch, same) == text.encode()
    # With heads, even the same, the graph in DEPS is gone, that of words which are not said, too.
    gone = text.replace("5:aux", "_").replace("5:advmod", "_")
    assert write_conllu(batch, same, batch.heads) == gone.encode()


def test_columns_take_the_place_of_others(tmp_path: Path) -> None:
    batch = read_sentences(dogs(tmp_path))
    tags = Strings.of(["A", "B", "C", "D", "E", "", "G"])
    found = write_conllu(batch, {"upos": tags}, np.array([-1, 0, 1, 2, 3, 4, 0], np.int32)).decode()
    again = read_sentences(write(tmp_path, "new.conllu", found))
    assert again.lists("upos") == [["A", "B", "C", "D", "E", "_"], ["G"]]
    assert again.head_lists() == [[-1, 0, 1, 2, 3, 4], [0]]
    changed = [i for i, (a, b) in enumerate(zip(DOGS.split("\n"), found.split("\n"), strict=True)) if a != b]
    assert changed == [3, 4, 5, 6, 7, 8, 9, 12]
    assert found.split("\n")[3] == "1\tDo\tdo\tA\tVB\tMood=Imp\t_\taux\t_\t_"


def test_sentences_of_other_files_become_conllu() -> None:
    batch = Sentences.of(
        [{"form": ["dogs", "bark"], "tag": ["N", "V"], "head": [2, 0]}, {"form": ["yes"], "tag": ["U"], "head": [0]}]
    )
    wanted = "1\tdogs\t_\t_\t_\t_\t2\t_\t_\t_\n2\tbark\t_\t_\t_\t_\t0\t_\t_\t_\n\n1\tyes\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    assert write_conllu(batch).decode() == wanted
    with pytest.raises(DataError, match=r"'a\\tb' has a tab or the end of a line in it"):
        write_conllu(Sentences.of([["a\tb"]]))
    with pytest.raises(DataError, match="CoNLL-U has no column 'ups'. Did you mean 'upos'?"):
        write_conllu(batch, {"ups": batch.form})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_files_that_do_not_end_stay_apart_when_written(tmp_path: Path, missing: int, end: str) -> None:
    without = DOGS.removesuffix("\n" * missing).replace("\n", end)
    paths = [Path(write(tmp_path, name, without)) for name in ("a.conllu", "b.conllu")]
    assert write_conllu(read_sentences(paths)).decode() == DOGS.replace("\n", end) + without
    without = "dogs NNS\n\nbark VB\n\n".removesuffix("\n" * missing).replace("\n", end)
    paths = [Path(write(tmp_path, name, without)) for name in ("a.iob", "b.iob")]
    whole, tail = ("dogs NNS x\n\nbark VB x" + "\n" * count for count in (2, 2 - missing))
    found = append_column(read_sentences(paths), Strings.of(["x"] * 4)).decode()
    assert found == (whole + tail).replace("\n", end)


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (("3\tthe\tthe", "3\tthe"), 6, "there are 9 columns, not 10"),
        (("3\tthe\tthe", "3 the the"), 6, "there are 8 columns, not 10"),
        (
            ("3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_", "3 the DET"),
            6,
            "there is 1 column, not 10; they are separated by tabs",
        ),
        (("3\tthe", "4\tthe"), 6, "the number of the word is '4', not 3"),
        (("3\tthe", "\tthe"), 6, "the number of the word is '', not 3"),
        (("3\tthe", "99999999999999999999\tthe"), 6, "the number of the word is '99999999999999999999', not 3"),
        (("1-2\tDon't", "2-3\tDon't"), 3, "the number of the line is '2-3', which does not stand before the word 1"),
        (("1-2\tDon't", "1-9\tDon't"), 3, "words up to 9 are written together, but the sentence has 6"),
        (("5.1\tloudly", "4.1\tloudly"), 9, "the number of the line is '4.1'"),
        (("5.1\tloudly", "5x1\tloudly"), 9, "the number of the line is '5x1'"),
        (("\t4\tdet", "\tfour\tdet"), 6, "the head is 'four', not the number of a word"),
        (("\t4\tdet", "\t-4\tdet"), 6, "the head is '-4', not the number of a word"),
        (("\t4\tdet", "\t7\tdet"), 6, "the head is word 7, but the sentence has 6"),
        (("3\tthe\tthe\tDET", "3\tthe\tthe\t"), 6, "the column UPOS is empty; what is unknown is an underscore"),
    ],
)
def test_conllu_that_is_wrong(tmp_path: Path, change: tuple[str, str], line: int, problem: str) -> None:
    path = dogs(tmp_path, change)
    with pytest.raises(DataError) as error:
        read_sentences(path)
    assert str(error.value).startswith(f"{path}, line {line}: {problem}")


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (("\t4\tdet", "\t_\tdet"), 6, "the word has no head"),
        (("\t4\tdet", "\t0\tdet"), 8, "the sentence has two roots, the words 3 and 5"),
        (
            ("\t0\troot\t_\tSpace", "\t6\troot\t_\tSpace"),
            8,
            "the heads go in a circle: from word 5 upwards one comes to word 5 again",
        ),
        (("\t4\tdet", "\t3\tdet"), 6, "the heads go in a circle"),
    ],
)
def test_heads_that_are_no_tree(tmp_path: Path, change: tuple[str, str], line: int, problem: str) -> None:
    path = dogs(tmp_path, change)
    with pytest.raises(DataError) as error:
        check_trees(read_sentences(path))
    assert str(error.value).startswith(f"{path}, line {line}: {problem}")


def test_trees_need_heads() -> None:
    with pytest.raises(DataError, match="the sentences have no heads"):
        check_trees(Sentences.of([["a"]]))
    with pytest.raises(DataError, match="sentence 2, word 1: the heads go in a circle"):
        check_trees(Sentences.of([{"form": ["a"], "head": [0]}, {"form": ["a"], "head": [1]}]))


def is_tree(heads: list[int]) -> bool:
    """By definition: one root, and from each word upwards it is reached."""
    roots = [i for i, head in enumerate(heads, 1) if head == 0]

    def reaches(word: int) -> bool:
        for _ in heads:
            word = heads[word - 1] if word else 0
        return word == 0

    return (
        len(roots) == 1
        and all(0 <= head <= len(heads) for head in heads)
        and all(map(reaches, range(1, len(heads) + 1)))
    )


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.integers(-1, n + 1), min_size=n, max_size=n)))
@example([2, 3, 1])
@example([2, 0, 2])
def test_trees_are_trees(heads: list[int]) -> None:
    found = _core.find_bad_tree(np.array([0, len(heads)]), np.array(heads, np.int32))
    assert (found is None) == is_tree(heads)


fields = st.text(st.characters(exclude_characters="\t\n\r", codec="utf-8"), min_size=1, max_size=4)
columns = st.text("abc_|=é", min_size=1, max_size=4)


@st.composite
def treebanks(draw: st.DrawFn) -> tuple[bytes, list[list[str]], list[list[int]]]:
    """Text, words and heads."""
    lines: list[str] = []
    words: list[list[str]] = []
    heads: list[list[int]] = []
    comments = st.lists(fields.map(lambda text: f"#{text}"), max_size=2)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    for size in draw(st.lists(st.integers(1, 4), max_size=4)):
        lines += draw(comments)
        words.append(draw(st.lists(fields, min_size=size, max_size=size)))
        heads.append(draw(st.lists(st.integers(-1, size), min_size=size, max_size=size)))
        together = 0
        for i, (word, head) in enumerate(zip(words[-1], heads[-1], strict=True), 1):
            if i > together and draw(st.integers(0, 4)) == 0:
                together = draw(st.integers(i, size))
                lines.append("\t".join([f"{i}-{together}", *draw(st.lists(columns, min_size=9, max_size=9))]))
            some = draw(st.lists(columns, min_size=7, max_size=7))
            lines.append("\t".join([str(i), word, *some[:4], "_" if head < 0 else str(head), *some[4:]]))
            if draw(st.integers(0, 4)) == 0:
                lines.append(
                    "\t".join([f"{i}.{draw(st.integers(1, 9))}", *draw(st.lists(columns, min_size=9, max_size=9))])
                )
        lines += [""] * draw(st.integers(1, 2))
    text = end.join([*lines, ""])
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return text.encode(), words, heads


@given(treebanks())
def test_any_treebank_is_written_back_as_it_was(bank: tuple[bytes, list[list[str]], list[list[int]]]) -> None:
    text, words, heads = bank
    read = _core.read_conllu(text, [1], True)
    assert len(read.starts) - 1 == len(read.ends) == len(words)
    batch = Sentences(read.starts, {"form": Strings(*read.columns[0])}, read.heads)
    assert batch.lists() == words and batch.head_lists() == heads
    form = (1, *read.columns[0])
    assert _core.rewrite_conllu(text, read.places, [form], None).tobytes() == text
    new = _core.rewrite_conllu(text, read.places, [form], read.heads).tobytes()
    assert new.split(b"\n") == [without_graph(line) for line in text.split(b"\n")]


def without_graph(line: bytes) -> bytes:
    """A line of a word, said or not, without what is in DEPS."""
    fields = line.split(b"\t")
    is_word = len(fields) == 10 and not line.startswith(b"#") and b"-" not in fields[0]
    return b"\t".join([*fields[:8], b"_", fields[9]]) if is_word else line


@given(st.binary(max_size=60))
@example(b"1\t2\t3\t4\t5\t6\t7\t8\t9\t10")
@example(b"1-" + b"\t_" * 9)
@example(b"\r")
@example(b"#\xff\n1\t\xff\t_\t_\t_\t_\t_\t_\t_\t_\n")
def test_hostile_bytes_are_read_or_refused(data: bytes) -> None:
    lines = data.replace(b"t", b"\t").replace(b"n", b"\n")
    for some in (data, lines, b"1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n" + lines):
        for read in (
            lambda some=some: _core.read_conllu(some, [1, 3, 9], True),
            lambda some=some: _core.read_columns(some, 0, True),
            lambda some=some: _core.read_columns(some, 0, False),
            lambda some=some: _core.read_text(some, False),
            lambda some=some: _core.read_text(some, True),
        ):
            try:
                found = read()
            except _core.BadLine as error:
                refused = error
            else:
                refused = None
            if refused is not None:
                assert 1 <= refused.line <= some.count(b"\n") + 1 and 0 <= refused.offset <= len(some)
                continue
            assert found.starts[0] == 0 and (np.diff(found.starts) > 0).all()
            assert found.starts[-1] == len(found.places) == len(found.columns[0][1]) - 1 if found.columns else True
            assert len(found.ends) == len(found.starts) - 1 and (np.diff(found.ends) > 0).all()
            assert (np.diff(found.places) > 0).all() and (found.places < len(some)).all()


def test_the_core_refuses_places_outside_of_a_chunk() -> None:
    line = b"1" + b"\t_" * 9
    forms = Strings.of(["a"])
    for where in (-1, len(line), 2**60):
        with pytest.raises(ValueError, match="a word is not where it should be"):
            _core.rewrite_conllu(line, np.array([where]), [], None)
    with pytest.raises(ValueError, match="there are 9 columns, not 10"):
        _core.rewrite_conllu(line, np.array([2]), [], None)
    for wrong in (
        Strings.of([]),
        Strings.of(["a", "b"]),
        Strings(forms.data, np.array([0, 2])),
        Strings(forms.data, np.array([1, 0])),
    ):
        with pytest.raises(ValueError, match="more or fewer strings"):
            _core.rewrite_conllu(line, np.array([0]), [(1, wrong.data, wrong.offsets)], None)
    with pytest.raises(ValueError, match="there is no such column"):
        _core.rewrite_conllu(line, np.array([0]), [(10, forms.data, forms.offsets)], None)
    with pytest.raises(ValueError, match="more or fewer heads"):
        _core.rewrite_conllu(line, np.array([0]), [], np.zeros(2, np.int32))
    for starts in ([], [1], [0, 2, 1], [0, 2]):
        with pytest.raises(ValueError, match="do not start within their words"):
            _core.find_bad_tree(np.array(starts, np.int64), np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="there is no such column"):
        _core.read_conllu(line, [10], False)


# ---- other files


def test_columns_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "chunks.txt", CHUNKS)
    batch = read_sentences(path)
    assert batch.lists() == [["He", "reckons", "so", "."], ["Yes"]]
    assert list(batch.columns) == ["form", "1", "2"] and batch.lists("2")[1] == ["B-INTJ"]
    assert batch.heads is None and batch.place_of(4) == f"{path}, line 7"
    named = read_sentences(path, columns=["form", "pos", "chunk"])
    assert named.lists("chunk") == batch.lists("2")
    with pytest.raises(DataError, match="line 1: there are 3 columns, not 2, which is the number of names"):
        read_sentences(path, columns=["form", "pos"])


def test_documents_and_tabs_in_columns(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\n-DOCSTART- -X-\nrejects VBZ B-VP O\n"
    batch = read_sentences(write(tmp_path, "eng.conll", text))
    assert batch.lists() == [["EU"], ["rejects"]] and batch.lists("3") == [["B-ORG"], ["O"]]
    tabs = "New York\tB-LOC\nsings\tO\n"
    assert read_sentences(write(tmp_path, "tabs.conll", tabs)).lists() == [["New York", "sings"]]
    with pytest.raises(DataError, match="line 2: there are 2 columns, not 3 as on the lines before"):
        read_sentences(write(tmp_path, "tabs.conll", tabs), separator=" ")
    with pytest.raises(DataError, match="line 1: column 2 is empty"):
        read_sentences(write(tmp_path, "tabs.conll", "New York\t\n"))


def test_a_column_is_added_to_a_file(tmp_path: Path) -> None:
    batch = read_sentences(write(tmp_path, "chunks.txt", CHUNKS))
    added = append_column(batch, Strings.of(["A", "B", "C", "D", "E"])).decode()
    assert added == "He PRP B-NP A\nreckons VBZ B-VP B\nso RB B-ADVP C\n. . O D\n\n\nYes UH B-INTJ E\n"
    tabs = read_sentences(write(tmp_path, "tabs.conll", "New York\tB\r\nsings\tO"))
    assert append_column(tabs, Strings.of(["1", "2"])) == b"New York\tB\t1\r\nsings\tO\t2"
    with pytest.raises(DataError, match="'a b' is no field of a column"):
        append_column(tabs, Strings.of(["1", "a b"]))
    with pytest.raises(DataError, match="only to sentences from a file of columns"):
        append_column(Sentences.of(["a"]), Strings.of(["b"]))


def test_json_lines_are_read(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "tokens": ["a", "dog"], "tags": ["DET", "NOUN"], "heads": [2, 0]},
        {"tokens": [], "tags": [], "heads": []},
    ]
    path = write(tmp_path, "s.jsonl", "\n".join(map(json.dumps, rows)))
    batch = read_sentences(path)
    assert batch.lists() == [["a", "dog"], []] and batch.lists("tag") == [["DET", "NOUN"], []]
    assert batch.head_lists() == [[2, 0], []] and batch.place_of(1) == f"{path}, line 1"
    loose = read_sentences(write(tmp_path, "l.jsonl", '{"tokens": ["a", "b"], "spans": [[0, 1]], "upos": ["X", "Y"]}'))
    assert list(loose.columns) == ["form", "upos"]
    with pytest.raises(DataError, match="line 1: there are 2 words, but 1 values of 'tag'"):
        read_sentences(write(tmp_path, "l.jsonl", '{"tokens": ["a", "b"], "tags": ["X"]}'))
    for line, problem in {
        "[1]": "a line must be an object",
        "{": "this is not valid JSON",
        '{"token": ["a"]}': "there is no list of \"tokens\". Did you mean 'token'?",
        '{"tokens": ["a"]}': "the column 'tag' is missing, which other sentences have",
        '{"tokens": ["a"], "tags": [1], "heads": [0]}': "'tag' of word 1 is 1, not a string",
        '{"tokens": ["a"], "tags": ["b"], "heads": [-9]}': "-9 is not a valid head",
    }.items():
        with pytest.raises(DataError, match="line 3: ") as error:
            read_sentences(write(tmp_path, "s.jsonl", "\n".join([*map(json.dumps, rows), line])))
        assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The dog barks. It's loud!", ["The dog barks .", "It 's loud !"]),
        ("I don’t know… we’ll see.", ["I do n’t know … we ’ll see ."]),
        (
            "Mr. Smith of the U.S. paid $3.50, i.e. 1,000 times.",
            ["Mr. Smith of the U.S. paid $ 3.50 , i.e. 1,000 times ."],
        ),
        (
            '"Who?!" he asked. (Nobody.) Then -- silence...',
            ['" Who ? ! " he asked .', "( Nobody . )", "Then -- silence ..."],
        ),
        ("One line\nand the next\n\nA paragraph", ["One line and the next", "A paragraph"]),
        ("See http://a.b/c?d=e. Write to me@x.org!", ["See http://a.b/c?d=e .", "Write to me@x.org !"]),
        ("これは犬です。猫です。", ["これは犬です 。", "猫です 。"]),
        ("Größe? Ёлка! Да.", ["Größe ?", "Ёлка !", "Да ."]),
        ("DON'T", ["DO N'T"]),
        ("", []),
    ],
)
def test_text_is_cut_into_sentences_and_words(text: str, sentences: list[str]) -> None:
    found = _core.read_text(text.encode(), False)
    batch = Sentences(found.starts, {"form": Strings(*found.columns[0])})
    assert [" ".join(words) for words in batch.lists()] == sentences


@given(st.text(max_size=40))
@example("a'b’s n't 's")
def test_text_is_words_and_blanks(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    found = _core.read_text(data, False)
    words, behind = Strings(*found.columns[0]), Strings(*found.columns[1])
    sizes = np.diff(words.offsets)
    for i, place in enumerate(found.places.tolist()):
        assert data[place : place + sizes[i]] == words.data[words.offsets[i] : words.offsets[i + 1]].tobytes()
        touches = i + 1 < len(words) and place + sizes[i] == found.places[i + 1]
        assert behind[i] == ("SpaceAfter=No" if touches else "_")
    taken = np.zeros(len(data), bool)
    for place, size in zip(found.places.tolist(), sizes.tolist(), strict=True):
        taken[place : place + size] = True
    left = bytes(byte for byte, is_taken in zip(data, taken.tolist(), strict=True) if not is_taken)
    assert not any(c.isalnum() and c.isprintable() for c in left.decode("utf-8", "ignore"))


def test_text_files_and_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "plain.txt", "the dog\nbarks loudly now")
    assert read_sentences(path).lists() == [["the", "dog", "barks", "loudly", "now"]]
    assert read_sentences(path, format="lines").lists() == [["the", "dog"], ["barks", "loudly", "now"]]
    assert write_conllu(read_sentences(path, format="lines").some(0, 1)).startswith(b"1\tthe\t_\t_")


@pytest.mark.parametrize(
    ("start", "format"),
    [
        (DOGS, "conllu"),
        (CHUNKS, "columns"),
        ('{"tokens": []}', "jsonl"),
        ("The dog barks.\nIt is loud now.", "text"),
        ("", "text"),
    ],
)
def test_the_first_lines_tell_the_format(start: str, format: str) -> None:
    assert guess_format(start.encode()) == format


def test_files_are_compressed_or_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read_sentences(dogs(tmp_path)).lists()
    assert read_sentences(write(tmp_path, "a.conllu.gz", gzip.compress(DOGS.encode()))).lists() == plain
    assert read_sentences(write(tmp_path, "a.conllu.bz2", bz2.compress(DOGS.encode()))).lists() == plain
    assert read_sentences([Path(dogs(tmp_path)), Path(dogs(tmp_path))]).lists() == plain * 2
    assert read_sentences(str(tmp_path / "*.conllu*")).lists() == plain * 3
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(DOGS.encode())))
    assert read_sentences("-").lists() == plain
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(DOGS.encode())))
    assert [batch.lists() for batch in open_corpus("-", once=True)] == [plain]


def test_files_have_other_encodings(tmp_path: Path) -> None:
    path = write(tmp_path, "a.conll", "gro\xdf ADJ\nsein AUX\n".encode("latin-1"))
    assert read_sentences(path, encoding="latin-1").lists() == [["groß", "sein"]]
    with pytest.raises(DataError, match=r"a\.conll, line 1, byte 4: b'\\xdf' is not UTF-8; .* encoding='latin-1'"):
        read_sentences(path)
    with pytest.raises(SettingsError, match="encoding must be the name of an encoding"):
        read_sentences(path, encoding="klingon")


@pytest.mark.parametrize("format", ["conllu", "columns", "jsonl", "text", "lines"])
@pytest.mark.parametrize(("bad", "problem"), [(b"\xff", "is not UTF-8"), (b"\0", "there is a byte 0")])
def test_bytes_that_are_no_text_are_shown_in_every_format(
    tmp_path: Path, format: str, bad: bytes, problem: str
) -> None:
    lines = {"conllu": "1\tö?\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "columns": "ö? X\n\n", "jsonl": '{"tokens": ["ö?"]}\n'}
    line = lines.get(format, "ö?\n\n").encode()
    path = write(tmp_path, "x", line + line.replace(b"?", bad))
    place = rf"x, line {1 + line.count(10)}, byte {line.index(b'?') + 1}: "
    with pytest.raises(DataError, match=place + f".*{problem}"):
        read_sentences(path, format)


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (("3\tthe", "# late\n3\tthe"), 6, "a comment stands within a sentence"),
        (("3\tthe", "03\tthe"), 6, "the number of the word is '03', not 3"),
        (("2\tn't", "2-3\tn'tthe" + "\t_" * 8 + "\n2\tn't"), 5, "are written together, but others up to 2"),
        (("1-2\tDon't", "1-02\tDon't"), 3, "which does not stand before the word 1"),
        (("6\t?\t?\tPUNCT\t.\t_\t5", "6\t?\t?\tPUNCT\t.\t_\t05"), 10, "the head is"),
    ],
    ids=str,
)
def test_what_conllu_does_not_allow_is_refused(
    tmp_path: Path, change: tuple[str, str], line: int, problem: str
) -> None:
    with pytest.raises(DataError, match=rf"dogs.conllu, line {line}: .*{problem}"):
        read_sentences(dogs(tmp_path, change))


def test_heads_that_nobody_wants_may_be_anything(tmp_path: Path) -> None:
    path = dogs(tmp_path, ("VB\t_\t0\troot", "VB\t_\t99\troot"), ("DT\t_\t4", "DT\t_\tnone"))
    with pytest.raises(DataError, match="the head is"):
        read_sentences(path)
    assert read_sentences(path, heads=False).heads is None
    tagger = Tagger.train(path, epochs=1)
    assert len(tagger.tag(path)[0]) == 6


def test_large_files_come_in_batches(tmp_path: Path) -> None:
    text = DOGS * (2 * CHUNK // len(DOGS))
    corpus = open_corpus(write(tmp_path, "large.conllu", text))
    batches = list(corpus)
    assert len(batches) > 1 and sum(map(len, batches)) == text.count("\n\n")
    assert b"".join(map(write_conllu, batches)) == text.encode()
    whole = corpus.read()
    assert write_conllu(whole) == text.encode()
    assert whole.place_of(whole.words - 1) == f"{corpus.name}, line {text.count(chr(10)) - 1}"
    assert write_conllu(whole.some(1, len(whole))) == text.split("\n\n", 1)[1].encode()


def test_what_is_before_the_first_and_behind_the_last_sentence_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# first\n\n\n# second\n\n" + DOGS + "\n\n# last\n\n"
    path = write(tmp_path, "blanks.conllu", text)
    for longest in (8, 40, 1000, 2**20):
        corpus = open_corpus(path)
        monkeypatch.setattr("markone.data.chunks.CHUNK", longest)
        assert b"".join(map(write_conllu, corpus)) == text.encode(), longest
        assert corpus.read().place_of(6) == f"{path}, line 18"
        once = open_corpus(path, once=True)
        assert b"".join(map(write_conllu, once)).startswith(text.encode().rstrip().removesuffix(b"# last"))


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file .*dog.conllu. Did you mean 'dogs.conllu'?"):
        read_sentences(str(Path(dogs(tmp_path)).parent / "dog.conllu"))
    with pytest.raises(DataError, match="is a folder; name the files in it"):
        read_sentences(tmp_path)
    with pytest.raises(DataError, match="is empty"):
        read_sentences(write(tmp_path, "empty.conllu", ""))
    with pytest.raises(DataError, match="has no sentences"):
        read_sentences(write(tmp_path, "none.conllu", "# nothing\n\n"))
    with pytest.raises(SettingsError, match="format must be one of 'conllu', .*, not 'conll'"):
        open_corpus(dogs(tmp_path), format="conll")
    with pytest.raises(SettingsError, match="columns must be among 'form', .*, not 'upps'. Did you mean 'upos'?"):
        open_corpus(dogs(tmp_path), columns=["upps"])
    with pytest.raises(SettingsError, match="separator has no meaning for the format 'conllu'"):
        open_corpus(dogs(tmp_path), separator=" ")
    with pytest.raises(SettingsError, match="separator must be a tab or a blank"):
        open_corpus(dogs(tmp_path), separator=",")
    with pytest.raises(SettingsError, match="columns must contain 'form'"):
        open_corpus(write(tmp_path, "c.conll", CHUNKS), columns=["a", "b", "c"])


# ---- real treebanks


@pytest.mark.slow
@pytest.mark.parametrize("part", ["dev", "test", "train"])
def test_a_real_treebank_is_written_back_as_it_was(part: str) -> None:
    path = DATA / "ewt" / f"en_ewt-ud-{part}.conllu.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    batch = read_sentences(path)
    check_trees(batch)
    written = gzip.decompress(path.read_bytes())
    assert (
        write_conllu(batch) == write_conllu(batch, {name: batch.columns[name] for name in ("form", "upos")}) == written
    )
    # New heads make the enhanced dependencies of words invalid.
    with_heads = write_conllu(batch, {"deprel": batch.columns["deprel"]}, batch.heads)
    assert with_heads == re.sub(rb"(?m)^([\d.]+(?:\t[^\t\n]*){7}\t)[^\t\n]*", rb"\1_", written)


@given(st.lists(st.text(max_size=5), max_size=8))
def test_strings_come_back_whatever_is_in_them(strings: list[str]) -> None:
    made = Strings.of(strings)
    assert made.tolist() == list(made) == strings == [made[i] for i in range(len(made))]
    padded = Strings(np.concatenate([[7], made.data, [7]]).astype(np.uint8), made.offsets + 1)
    assert padded.tolist() == strings
    which = np.arange(len(strings))[::-2]
    assert made.take(which).tolist() == strings[::-2]


def test_strings_that_are_no_text_are_shown() -> None:
    assert Strings(np.array([104, 255], np.uint8), np.array([0, 1, 2])).tolist() == ["h", "\\xff"]
