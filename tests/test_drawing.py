"""Drawn trees: what is drawn is the tree that was given."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError
from markone.structured.drawing import (
    ARROW,
    BOXES,
    DOWN,
    LEFT,
    PLAIN_ARROW,
    PLAIN_BOXES,
    RIGHT,
    UP,
    levels_of,
    tree_svg,
    tree_text,
)

WORDS = ["Don't", "the", "big", "dogs", "bark", "?"]
HEADS = [5, 4, 4, 5, 0, 5]
LABELS = ["aux", "det", "amod", "nsubj", "root", "punct"]
SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def trees(draw: st.DrawFn) -> list[int]:
    """Heads without circles: each word hangs on one that comes earlier in some order, or on nothing."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 7)) + 1)))
    heads = [0] * len(order)
    for place, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([*order[:place], *([0] if place == 0 else [0, -1])]))
    return heads


def test_a_tree_in_a_terminal() -> None:
    assert tree_text(WORDS, HEADS, LABELS, ["AUX", "DET", "ADJ", "NOUN", "VERB", "PUNCT"]).split("\n") == [
        "┌───► Don't  AUX    aux",
        "│ ┌─► the    DET    det",
        "│ ├─► big    ADJ    amod",
        "├─┴─► dogs   NOUN   nsubj",
        "├──── bark   VERB   root",
        "└───► ?      PUNCT  punct",
    ]
    assert tree_text(["a", "b"], [2, 0], ascii=True) == "+-> a\n+-- b"
    assert tree_text(["alone"], [0]) == " alone" and tree_text([], []) == ""
    assert tree_text(["a", "b"], [-1, -1]).split("\n") == [" a", " b"]


@given(trees())
def test_the_lines_lead_from_words_to_their_heads(heads: list[int]) -> None:
    """Whoever follows the lines from a word, to the left and then along the first column that ends there, comes to a
    comb that holds just its head and that head's words."""
    drawn = tree_text([f"w{i}" for i in range(len(heads))], heads).split("\n")
    levels = levels_of(heads)
    wide = max((level for _, level in levels.values()), default=0)
    for i, head in enumerate(heads, 1):
        line = drawn[i - 1]
        assert line.endswith(f" w{i - 1}")
        art = line[: -len(f" w{i - 1}")] if wide else ""
        assert art.endswith(ARROW) == (head > 0)
        if head > 0:
            comb, level = levels[head]
            assert comb.first <= i <= comb.last
            at = 2 * (wide - level)
            assert BOXES.index(art[at]) & RIGHT and set(art[at + 1 : -1 : 2]) <= {"─"}
        for comb, level in levels.values():
            lines = BOXES.index(art[2 * (wide - level)])
            inside = comb.first <= i <= comb.last
            own_rows = [other for other, at in levels.values() if at == level and other.first <= i <= other.last]
            assert not inside or own_rows == [comb]
            assert bool(lines & UP) >= (inside and i > comb.first) and bool(lines & DOWN) >= (inside and i < comb.last)
    plain = tree_text([f"w{i}" for i in range(len(heads))], heads, ascii=True)
    for one, other in zip("\n".join(drawn), plain, strict=True):
        assert other == (PLAIN_ARROW if one == ARROW else PLAIN_BOXES[BOXES.index(one)] if one in BOXES else one)


def test_wide_and_hidden_characters() -> None:
    lines = tree_text(["犬", "a\x1b[31m"], [2, 0], ["x", "y"]).split("\n")
    assert lines[0].endswith("犬         x") and lines[1].endswith("a\\x1b[31m  y")


def test_a_picture_has_words_labels_and_arrows() -> None:
    root = ElementTree.fromstring(tree_svg(["<b>&", *WORDS[1:]], HEADS, LABELS, ["T"] * 6))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("T") == 6 and set(LABELS) <= set(texts) and "<b>&" in texts
    arcs = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == "none"]
    assert len(arcs) == 5
    assert root.find(f"{SVG}title") is not None
    width = float(root.get("width", "0"))
    numbers = [float(x) for text in root.iter(f"{SVG}text") for x in [text.get("x", "-1")]]
    assert all(0 < x < width for x in numbers)


@given(trees())
def test_arcs_end_at_their_words(heads: list[int]) -> None:
    words = [f"w{i}" for i in range(len(heads))]
    root = ElementTree.fromstring(tree_svg(words, heads))
    middle = {text.text: float(text.get("x", "0")) for text in root.iter(f"{SVG}text")}
    arcs = []
    heights = []
    for path in root.iter(f"{SVG}path"):
        if path.get("fill") == "none":
            numbers = list(map(float, re.findall(r"-?[\d.]+", path.get("d", ""))))
            arcs.append((numbers[0], numbers[-2]))
            heights.append(numbers[4])
    wanted = [(head, i) for i, head in enumerate(heads, 1) if head > 0]
    assert sorted(round(end, 3) for _, end in arcs) == sorted(round(middle[f"w{i - 1}"], 3) for _, i in wanted)
    by_end = {round(end, 3): begin for begin, end in arcs}
    for head, i in wanted:
        begin, end, own = by_end[round(middle[f"w{i - 1}"], 3)], middle[f"w{i - 1}"], middle[f"w{head - 1}"]
        assert abs(begin - own) < abs(end - own) and (begin > own) == (end > own)
    assert all(high > 0 for high in heights)
    assert [text.text for text in root.iter(f"{SVG}text")].count("root") == heads.count(0)


def test_the_same_tree_is_the_same_picture() -> None:
    assert tree_svg(WORDS, HEADS, LABELS) == tree_svg(tuple(WORDS), tuple(HEADS), tuple(LABELS))
    assert BOXES.index("─") == LEFT | RIGHT


@pytest.mark.parametrize("draw", [tree_text, tree_svg])
def test_what_is_no_tree(draw: object) -> None:
    assert callable(draw)
    with pytest.raises(DataError, match="there are 2 words, but 1 heads"):
        draw(["a", "b"], [0])
    with pytest.raises(DataError, match="there are 1 words, but 2 labels"):
        draw(["a"], [0], ["x", "y"])
    with pytest.raises(DataError, match="the head of word 1 is 3, but the sentence has 2 words"):
        draw(["a", "b"], [3, 0])
    with pytest.raises(DataError, match="the heads form a cycle: the path from word 1"):
        draw(["a", "b"], [2, 1])
