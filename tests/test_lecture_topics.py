"""The topics of the lectures: every topic runs and fits the screen, its commands run, and its figures are right."""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from functools import cache

import pytest

from markone import lecture, load
from markone.cli import main
from markone.cli.lecture import pictures, report, save_data
from markone.errors import DataError
from markone.lectures.averaging import INSEPARABLE, averaged, turned
from markone.lectures.decks import decks
from markone.lectures.planes import best_separator, boundary, length, product, run_of, weights_in
from markone.lectures.proofs import HARD, proof_of
from markone.lectures.topic import Deck, Demonstration, Shown, Topic, filled
from markone.reporting.charts import Bars, Chart, Line, Pixels, Points
from markone.reporting.grids import SCREEN, cells

TOPICS: dict[str, tuple[Deck, Topic]] = {}
"""Each topic once, although several lectures may have it, by the first lecture and its name."""
for each_deck in decks().values():
    for each_topic in each_deck.topics:
        if not any(other is each_topic for _, other in TOPICS.values()):
            TOPICS[f"{each_deck.number} {each_topic.name}"] = each_deck, each_topic
HERE = {topic.name: key for key, (deck, topic) in TOPICS.items() if deck.number in ("000", "001", "004")}
"""The topics of the lectures whose figures are tested below, by name only."""
TALLEST = 24
PLANES = ("000 hyperplane", "001 mark-one", "004 structured", "004 next-point")

every_topic = pytest.mark.parametrize("key", TOPICS)


@cache
def shown_by(key: str) -> Shown:
    return TOPICS[key][1].show()


def shown(name: str) -> Shown:
    return shown_by(HERE[name])


def numbers_in(text: str) -> list[list[str]]:
    """The cells of the lines of a text, which are separated by at least two spaces."""
    return [re.split(r" {2,}", line.strip()) for line in text.split("\n")]


# ---- every topic


@every_topic
def test_a_topic_is_complete_and_fits_the_screen(key: str) -> None:
    deck, one = TOPICS[key]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.name)
    assert one.claim.endswith((".", "?")) and one.question.endswith("?") and one.answer.endswith(".")
    assert len(one.terms) >= 3 and len(set(one.terms)) == len(one.terms)
    assert (one.data is None) <= (not any("{data}" in command for command in one.commands))
    found = shown_by(key)
    assert found.charts and found.text
    for line in found.text.split("\n"):
        # Sentences are wrapped, but the lines of a table must fit.
        assert cells(line) <= SCREEN or len(re.findall(r"\S {2,}\S", line)) < 2, line
    for text in (filled(f"{one.title}\n{one.claim}\n{found.text}"), *map(str, found.charts)):
        assert all(cells(line) <= SCREEN for line in text.split("\n"))
    assert str(Demonstration(deck, one, found)).startswith(filled(one.title))


@every_topic
def test_the_chart_of_a_topic_is_legible(key: str) -> None:
    for chart in shown_by(key).charts:
        assert chart.title and len(str(chart).split("\n")) <= TALLEST
        for part in chart.parts:
            if isinstance(part, Bars):
                assert len(part.names) == len(part.values) and any(part.values)
            elif isinstance(part, Pixels):
                assert len({value for row in part.rows for value in row}) > 1
            else:
                assert len(part.xs) == len(part.ys) > 0
                assert all(math.isfinite(one) for one in (*part.xs, *part.ys))
        planes = [part for part in chart.parts if isinstance(part, Points | Line)]
        drawn = "".join(line.split("│", 1)[1] for line in str(chart).split("\n") if "│" in line)
        assert not planes or drawn.strip()


@every_topic
def test_the_report_of_a_topic_fits_the_screen(key: str) -> None:
    deck, one = TOPICS[key]
    text = report(Demonstration(deck, one, shown_by(key)), "a.csv", picture=False, answer=True)
    assert all(cells(line) <= SCREEN for line in text.split("\n")), text
    assert filled(f"Answer: {one.answer}") in text


@every_topic
def test_the_data_of_a_topic_work_with_its_commands(key: str, tmp_path, monkeypatch, capsys) -> None:
    _, one = TOPICS[key]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(SCREEN))
    if one.data is None:
        with pytest.raises(DataError, match="has no data"):
            save_data(one, "a.csv")
    else:
        save_data(one, "a.csv")
        table = one.data()
        read = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text())))
        assert read == [list(table.columns), *([str(cell) for cell in row] for row in table.rows)]
    for command in one.commands:
        capsys.readouterr()
        program, *words = shlex.split(command.format(**one.paths("a.csv")))
        assert program == "markone"
        assert main(words) == 0, capsys.readouterr().err
        assert capsys.readouterr().out


def output_of(key: str, command: int, capsys: pytest.CaptureFixture[str]) -> str:
    """Save the files of a topic in this folder, and return what one of its commands prints, in one line."""
    _, one = TOPICS[key]
    save_data(one, "a.csv")
    capsys.readouterr()
    assert main(shlex.split(one.commands[command].format(**one.paths("a.csv")))[1:]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("key", "command", "numbers"),
    [
        ("000 mistake-bound", 0, ["margin 0.311702", "at most 114"]),
        ("000 mistake-bound", 1, ["24 mistakes; the theory allows at most 114"]),
        ("000 induction", 0, ["24 mistakes; the theory allows at most 114"]),
        ("000 two-steps", 0, ["x1 0.4801 - 0.294 = 0.1861, x2 0.01993 - 0.441 = -0.421"]),
        ("000 multiclass-updates", 0, ["9 mistakes", "w[SPORTS] + x: win 1 + 1 = 2"]),
        ("000 trace", 0, ["x1 3 - 2 = 1, x2 2 - 3 = -1"]),
        ("000 inseparable", 1, ["8 passes: 12 mistakes in the first, 15 in the last"]),
        ("004 unknown", 0, ["10 mistakes", "a pass changed nothing"]),
        ("001 schema", 0, ["= 7.33", "= 3.58", "a pass changed nothing"]),
        ("002 stopping", 1, ["30 passes", "7 in the last"]),
        ("002 random-start", 0, ["a pass changed nothing"]),
        ("004 optimisation", 0, ["= 1.565, x2", "= -1.565"]),
        ("004 optimisation", 1, ["= 1.681, x2", "= -1.773"]),
        ("004 angle", 0, ["24 mistakes", "4.6°"]),
        ("001 tight", 0, ["margin 0.353553", "at most 8"]),
        ("001 tight", 1, ["8 mistakes; the theory allows at most 8"]),
        ("001 poll-parabola", 0, ["not separable"]),
        ("001 poll-parabola", 1, ["separable: 80 rows"]),
        ("001 not-separable", 1, ["40 passes", "Made 700 mistakes"]),
        ("002 learning-rate", 0, ["38 mistakes"]),
        ("002 learning-rate", 1, ["9 mistakes"]),
        ("003 win-the-vote", 0, ["SPORTS -2, POLITICS 3, TECH 0 POLITICS wrong", "2 mistakes"]),
        ("003 mira", 0, ["w[SPORTS] - 0.25·x", "w[SPORTS] + 0.1875·x"]),
    ],
)
def test_the_commands_of_a_topic_show_its_numbers(key, command, numbers, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    text = output_of(key, command, capsys)
    assert all(one in text for one in numbers), text
    assert text.startswith("not separable") == (numbers == ["not separable"])


def test_the_commands_of_overtraining_show_that_accuracy_falls(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    every, stopped = (output_of("000 overtraining", i, capsys) for i in range(2))
    accuracies = [float(re.search(r"Accuracy ([0-9.]+)%", text)[1]) for text in (every, stopped)]  # type: ignore[index]
    assert accuracies[0] + 1 < accuracies[1]


def test_the_command_of_the_automobiles_learns_the_weights_of_the_topic(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    output_of("000 automobiles", 0, capsys)
    learned = {name: float(values[1]) for name, values in load("a.model").weights().items()}
    assert learned["acceleration"] == pytest.approx(2.012, abs=1e-3) and learned["BIAS"] == -3


@pytest.mark.parametrize("key", ["000 svm", "003 support-vectors"])
def test_the_command_of_the_svm_learns_the_plane_of_the_topic(key, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (number,) = (i for i, command in enumerate(TOPICS[key][1].commands) if "train" in command)
    output_of(key, number, capsys)
    weights = load("a.model").weight_arrays()[0][:, 0]
    shown_weights = (0.4, 0.4) if key == "000 svm" else (2.2090, 2.2222)
    assert [*weights] == pytest.approx(shown_weights, rel=2e-3)


def test_files_with_other_content_are_not_overwritten(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lecture", "003", "mira", "--data", "a.csv"]) == 0
    assert main(["lecture", "003", "win-the-vote", "--data", "a.csv"]) == 0  # the same data
    (tmp_path / "a-start.json").write_text("{}")
    (tmp_path / "a.csv").unlink()
    capsys.readouterr()
    assert main(["lecture", "003", "mira", "--data", "a.csv"]) == 2
    assert "a-start.json exists already, with other content" in capsys.readouterr().err
    assert not (tmp_path / "a.csv").exists() and (tmp_path / "a-start.json").read_text() == "{}"


@pytest.mark.parametrize("option", [["--answer"], ["--brief"], ["--no-picture"], ["--data", "a"], ["--plot", "a.svg"]])
@pytest.mark.parametrize("deck", [[], ["000"]])
def test_options_of_a_topic_need_a_topic(option: list[str], deck: list[str], capsys) -> None:
    assert main(["lecture", *deck, *option]) == 2
    assert f"{option[0]} needs a topic: markone lecture 000 TOPIC" in capsys.readouterr().err


def test_a_narrow_terminal_gets_narrow_charts(monkeypatch) -> None:
    charts = shown("induction").charts
    monkeypatch.setenv("COLUMNS", "50")
    assert 40 < max(cells(line) for line in pictures(charts)[0].split("\n")) <= 50
    monkeypatch.setenv("COLUMNS", "200")
    assert pictures(charts) == [*map(str, charts)]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_pictures_are_left_out_if_they_cannot_be_printed(encoding: str, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    (line,) = pictures(shown("induction").charts)
    assert line.startswith("The picture is left out") and line.isascii()


def test_the_decks_have_their_topics_in_order() -> None:
    assert [*decks()] == ["000", "001", "002", "003", "004"]
    for deck in decks().values():
        names = [one.name for one in deck.topics]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("deck", "word"),
    [
        ("000", word)
        for word in (
            "generative", "discriminative", "mpg", "activation", "hyperplane", "bias", "inseparable case", "argmax",
            "multi-class perceptron", "linearly separable", "mistake bound", "lower bound", "upper bound", "sign⁰",
            "online vs. batch learning", "thrash", "averaged perceptron", "mediocre generalization", "overtraining",
            "support vector machine", "three views of classification", "error-driven", "one-hot", "decision boundary",
        )
    ]
    + [
        ("001", word)
        for word in (
            "credit card approval", "projective transformation", "inner product", "sign", "hypothesis set", "poll",
            "photocells", "patchboard", "potentiometers", "margin", "Cauchy-Schwartz", "is the bound tight",
            "non-separable data", "hinge", "target function", "final hypothesis", "generalization",
        )
    ]
    + [
        ("004", word)
        for word in (
            "one-hot representation", "1-NN classifier", "decision tree", "dimension", "constant feature", "XOR",
            "feature conjunctions", "on-line", "batch", "maximise likelihood", "margin of a data set", "angle",
            "best achievable margin", "convergence theorem", "structured perceptron", "tag sequence", "parse tree",
            "inductive bias", "hyperparameters", "running average",
        )
    ],
)  # fmt: skip
def test_the_words_of_a_lecture_are_terms_of_its_topics(deck: str, word: str) -> None:
    assert any(word in one.terms for one in decks()[deck].topics)


@pytest.mark.parametrize("key", PLANES)
def test_a_topic_is_drawn_as_a_figure(key: str) -> None:
    pytest.importorskip("matplotlib")
    number, name = key.split()
    figure = lecture(number, name).figure()
    assert len([axes for axes in figure.axes if axes.get_visible()]) == len(shown_by(key).charts)


@pytest.mark.slow
@every_topic
def test_every_topic_is_drawn_as_a_figure(key: str) -> None:
    pytest.importorskip("matplotlib")
    deck, one = TOPICS[key]
    assert Demonstration(deck, one, shown_by(key)).figure().axes


# ---- the figures of the lectures


def test_spam_and_the_hyperplane() -> None:
    assert "The activation is 3" in shown("spam").text
    rows = {row[0]: row[1:] for row in numbers_in(shown("hyperplane").text)}
    assert rows["free money"][2] == "3" and rows["free money"][4] == "+1"
    assert rows["money"][4] == "-1" and rows["money money"][4] == "+1" and rows["see you"][2] == "-3"


def test_the_three_points_converge_to_x2_equals_x1() -> None:
    text = shown("trace").text
    assert "x1 0 + 3 = 3, x2 0 + 2 = 2" in text and "x1 3 - 2 = 1, x2 2 - 3 = -1" in text
    assert "2 mistakes" in text and "a pass changed nothing" in text
    line = shown("trace").charts[0].parts[0]
    assert isinstance(line, Line) and [*line.xs] == pytest.approx([*line.ys])


def test_win_the_vote_has_the_activations_2_7_2() -> None:
    *_, last, winner = numbers_in(shown("multiclass").text)
    assert last == ["activation", "2", "7", "2"] and winner[0].startswith("POLITICS")


def test_the_multiclass_weights_sum_to_zero_and_win() -> None:
    text = shown("multiclass-updates").text
    rows = numbers_in(text[text.index("feature") :])[1:]
    assert rows and all(sum(map(int, row[1:])) == 0 for row in rows)


def test_ties_follow_each_lecture() -> None:
    rows = {row[0]: row[1:] for row in numbers_in(shown("sign").text)}
    assert rows["000"] == ["-1", "yes", "no", "2", "(3, 2), (1, -1)"]
    assert rows["001, 004"] == ["0", "yes", "yes", "2", "(3, 2), (1, -1)"]
    assert rows["002"] == ["+1", "no", "yes", "1", "(2, -2)"]


def test_the_projective_transformation_changes_no_activation() -> None:
    rows = numbers_in(shown("projective").text)[2:]
    assert [row[1] for row in rows] == [row[3] for row in rows] == [str(x - 2) for x in range(-1, 6)]
    assert [row[4] for row in rows] == ["deny"] * 3 + ["approve"] * 4
    line = shown("projective").charts[0].parts[0]
    assert isinstance(line, Line) and [2 * x for x in line.xs] == pytest.approx([*line.ys])


def test_the_product_with_a_unit_vector_is_a_distance() -> None:
    for row in numbers_in(shown("geometry").text)[1:5]:
        assert row[3] == row[4] and float(row[5]) == pytest.approx(2 * float(row[4]))
        assert float(row[1]) * math.cos(math.radians(float(row[2]))) == pytest.approx(float(row[3]), abs=0.01)


def test_the_margin_rises_by_the_squared_length() -> None:
    for row in numbers_in(shown("better").text)[1:3]:
        assert float(row[5]) - float(row[2]) == float(row[3]) == 13
    for row in numbers_in(shown("update").text)[1:3]:
        assert float(row[3]) == float(row[1]) + float(row[2]) and row[2] == "14"


def test_an_update_may_leave_its_row_misclassified() -> None:
    assert "2 of these 4 updates" in shown("unknown").text
    rows = numbers_in(shown("unknown").text)
    assert rows[2][0] == "1, 3" and float(rows[2][1]) < float(rows[2][4]) < 0


def test_the_proof_holds_at_every_mistake() -> None:
    proof = proof_of(HARD)
    assert 20 <= len(proof.w) <= proof.bound
    before = [0.0, *proof.squares]
    for k, w in enumerate(proof.w, 1):
        assert k * proof.gamma <= proof.aligned[k - 1] + 1e-9 <= length(w) + 2e-9
        assert k**2 * proof.gamma**2 <= proof.squares[k - 1] + 1e-9 <= k * proof.R**2 + 2e-9
        assert proof.squares[k - 1] - before[k - 1] <= proof.R**2 + 1e-9
    assert proof.angles[-1] < proof.angles[0] / 10
    assert all(y * product(proof.w[-1], x) > 0 for x, y in HARD)


def test_all_orders_and_separators_keep_the_bound() -> None:
    text = shown("mistake-bound").text
    rows = [row for row in numbers_in(text[text.index("visits") :])[1:] if len(row) == 3]
    assert len(rows) == 4 and all(int(row[1]) <= int(row[2]) for row in rows)
    made = len(proof_of(HARD).w)
    bounds = [float(row[3]) for row in numbers_in(shown("any-separator").text)[1:] if len(row) == 4]
    assert len(bounds) > 3 and min(bounds) >= proof_of(HARD).bound > made


def test_the_bound_is_reached_on_axes_and_only_there() -> None:
    rows = [row for row in numbers_in(shown("tight").text)[1:] if len(row) == 5]
    assert [row[0] for row in rows if row[3] == row[4]] == ["2 axes", "4 axes", "8 axes", "16 axes"]
    assert [row[4] for row in rows[:4]] == ["2", "4", "8", "16"]
    assert all(float(row[4]) < 0.5 * float(row[3]) for row in rows[4:])


def test_scaling_to_length_1_keeps_the_mistakes() -> None:
    given, scaled = (row for row in numbers_in(shown("convergence-theorem").text)[1:] if len(row) == 6)
    assert given[4:] == scaled[4:] and scaled[1] == "1" and scaled[3] == scaled[4]


def test_mistakes_never_end_without_a_separator() -> None:
    text = shown("not-separable").text
    assert text.startswith("not separable")
    rows = [list(map(float, row)) for row in numbers_in(text) if len(row) == 4 and row[0].isdigit()]
    made = [row[1] for row in rows]
    assert made == sorted(set(made)) and all(row[2] <= row[3] for row in rows)
    assert shown("xor").text.startswith("not separable") and "the weights 1, 1, 1, 1" in shown("xor").text


def test_the_average_hardly_depends_on_the_last_example() -> None:
    last, mean = map(float, re.findall(r"by ([0-9.]+)°", shown("last-example").text))
    assert mean < 2 and last > 10 * mean
    rows = {row[0]: row for row in numbers_in(shown("averaged").text)}
    assert float(rows["averaged"][1]) < float(rows["last"][1]) / 10
    assert float(rows["averaged"][4]) > float(rows["last"][4])
    assert turned(averaged(INSEPARABLE, 5)[-1], averaged(INSEPARABLE, 10)[-1]) < 10


def test_every_choice_of_a_misclassified_example_ends_without_mistakes() -> None:
    rows = numbers_in(shown("misclassified").text)[1:]
    assert len(rows) == 4 and all(row[3] == "0" for row in rows) and len({row[2] for row in rows}) > 1


def test_two_steps_lead_from_logistic_regression_to_the_perceptron() -> None:
    text = shown("two-steps").text
    factors = [row for row in numbers_in(text) if len(row) == 5 and row[0][0].isdigit()]
    assert [row[4] for row in factors] == ["1", "0", "1", "0", "0", "0"]
    assert [row[2] for row in factors[:3]] == ["0.5", "-0.5", "0.5"]
    assert factors[0][3] == "0.5" and factors[1][3] != "-0.5"
    ends = [row for row in numbers_in(text) if len(row) == 4 and row[0].isdigit()]
    assert ends[1][1:] == ["(0.3, -0.3)", "(0.19, -0.42)", "(1, -1)"]


def test_the_largest_margin_is_best_on_new_points() -> None:
    rows = {row[0]: float(row[2]) for row in numbers_in(shown("barely-separating").text)[1:] if len(row) == 3}
    assert rows["largest margin"] > max(rows["perceptron, averaged"], rows["perceptron, last"]) + 0.005
    rows = {row[0]: [*map(float, row[1:])] for row in numbers_in(shown("optimal").text)[1:]}
    assert all(row[0] == 0 and row[1] <= rows["largest margin"][1] for row in rows.values())


def test_the_support_vectors_win_by_exactly_1() -> None:
    rows = [row for row in numbers_in(shown("svm").text)[1:] if len(row) in (3, 4)]
    assert [row[2] == "1" for row in rows] == [row[-1] == "support vector" for row in rows]
    assert sum(row[-1] == "support vector" for row in rows) >= 2 and all(float(row[2]) >= 0.999 for row in rows)


def test_held_out_accuracy_rises_and_then_falls() -> None:
    rows = [
        list(map(float, row)) for row in numbers_in(shown("overtraining").text) if len(row) == 3 and row[0].isdigit()
    ]
    held_out = [row[2] for row in rows]
    best = held_out.index(max(held_out))
    assert 0 < best < len(rows) - 1 and held_out[best] > held_out[0] + 0.01 and held_out[best] > held_out[-1] + 0.01
    assert rows[-1][1] > rows[best][1] > rows[0][1]


def test_losses_change_with_the_length_of_the_weights() -> None:
    rows = {row[0]: [*map(float, row[1:])] for row in numbers_in(shown("losses").text)[1:]}
    w, twice, zero = rows["w, averaged perceptron"], rows["2w"], rows["(0, 0)"]
    assert w[0] == twice[0] and twice[1] == pytest.approx(2 * w[1], rel=1e-3) and twice[2] != w[2]
    assert zero == [len(INSEPARABLE), 0, len(INSEPARABLE)]


def test_a_transformation_makes_the_parabola_linear() -> None:
    rows = {row[0]: row[1:] for row in numbers_in(shown("poll-parabola").text)}
    assert rows["x1, x2"][0] == "no" and float(rows["x1, x2"][1]) < 0.9
    assert rows["x1², x2"] == ["yes", "1"]
    assert [row[2] for row in numbers_in(shown("poll-line").text)[1:6]] == ["1", "0", "-1", "0", "1"]
    assert "with x1, x2 and x1·x2:\nseparable" in shown("conjunctions").text


def test_the_mark_one_sees_sides_and_needs_its_patchboard() -> None:
    rows = {row[0]: row[-1] for row in numbers_in(shown("mark-one").text)}
    assert rows["photocells"] == "400" and float(rows["accuracy on 400 new images"]) > 0.98
    assert float(rows["sum of the weights of the left half"]) < 0 < float(rows["sum of the weights of the right half"])
    image, weights = (chart.parts[0] for chart in shown("mark-one").charts)
    assert all(isinstance(part, Pixels) and len(part.rows) == len(part.rows[0]) == 20 for part in (image, weights))
    tested = {(row[0], row[1]): float(row[3]) for row in numbers_in(shown("patchboard").text)[1:]}
    assert tested["upright or level", "400 photocells"] < 0.75 < 0.95 < tested["upright or level", "648 combinations"]


def test_the_features_of_tables_are_one_hot() -> None:
    rows = {row[0]: row[1:] for row in numbers_in(shown("features").text)}
    assert rows["34, true, baker"] == ["34", "1", "1", "0", "0"] and rows["28, true, nurse"][2:] == ["0", "0", "1"]
    text = shown("automobiles").text
    table = {row[0]: row[1:] for row in numbers_in(text) if len(row) == 5}
    assert [table[f"make={make}"][0] for make in ("asia", "europ", "ameri")] == ["1", "0", "0"]
    assert table.pop("feature")[1:] == ["x, scaled", "weight w", "product"] and table["weight"][0] == "2265"
    score = float(re.search(r"score\s+of the first row, ([0-9.]+)", text)[1])  # type: ignore[index]
    assert sum(float(row[1]) * float(row[2]) for row in table.values()) == pytest.approx(score, abs=0.01)
    assert sum(float(row[3]) for row in table.values()) == pytest.approx(score, abs=0.01)
    assert "12 of the 12 rows" in shown("automobiles").text


def test_joint_probabilities_and_three_algorithms() -> None:
    rows = [row for row in numbers_in(shown("probabilities").text)[1:] if len(row) == 5]
    assert sum(float(row[3]) for row in rows) == pytest.approx(1) and float(rows[0][4]) == 0.75
    rows = {row[0]: row[1:] for row in numbers_in(shown("three-views").text)}
    assert rows["naive Bayes"][1] == "1" and [row[2] for row in list(rows.values())[1:4]] == ["yes", "yes", "no"]


def test_structures_are_learned_by_hand() -> None:
    for name in ("structured", "structured-tree"):
        rows = [row for row in numbers_in(shown(name).text)[1:] if row[-1] in ("right", "wrong")]
        assert [row[-1] for row in rows[-3:]] == ["right"] * 3 and rows[0][-1] == "wrong"
        assert "the same answers" in shown(name).text
    assert "27 possible answers" in shown("structured").text and "9 possible answers" in shown("structured-tree").text


def test_a_boundary_contains_its_points() -> None:
    line = boundary((3.0, -4.0), 5.0)
    for x, y in zip(line.xs, line.ys, strict=True):
        assert 3 * x - 4 * y + 5 == pytest.approx(0, abs=1e-9)


def test_zero_weights_are_kept_in_runs() -> None:
    run = run_of([((1.0, 0.0), 1), ((0.0, 1.0), -1)])
    assert weights_in(run) == [(1.0, 0.0), (1.0, -1.0)]
    with pytest.raises(ValueError, match="not separable"):
        best_separator([((1.0, 1.0), 1), ((1.0, 1.0), -1)])


def test_a_legend_that_is_too_long_continues_on_the_next_line() -> None:
    parts = tuple(Points([i], [i], f"the class number {i}", i) for i in range(6))
    lines = str(Chart(parts)).split("\n")
    assert all(cells(line) <= SCREEN for line in lines)
    assert sum("the class number" in line for line in lines) == 2


def test_the_errors_of_the_lecture_stand_beside_ours() -> None:
    for key, errors in (
        ("002 test-set", ["2.4", "0.9", "2.2"]),
        ("002 leave-one-out", ["2.12", "0.962", "3.33"]),
        ("002 k-fold", ["2.05", "1.11"]),
    ):
        text = shown_by(key).text
        rows = [row for row in numbers_in(text) if row[0] in ("linear", "quadratic", "join-the-dots")]
        assert [row[-1] for row in rows][: len(errors)] == errors and "these points are our own" in text


def test_the_picture_of_the_svm_marks_its_support_vectors() -> None:
    (marked,) = (p for p in shown("svm").charts[0].parts if isinstance(p, Points) and p.name == "support vectors")
    assert [*zip(marked.xs, marked.ys, strict=True)] == [(3, 0.5), (1, 2.5), (0.5, -2), (-2, 0.5)]
    assert "3 of them are enough" in " ".join(shown("svm").text.split())
