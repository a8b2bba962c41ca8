"""The command line: what it answers, and with which exit status."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys

import pytest

import markone
from markone.cli import demo as demo_module
from markone.cli import main
from markone.errors import DataError

RULES = ("perceptron", "mira", "logistic", "hinge")
ROW = re.compile(r"^ *(\w+) +(last|averaged) +[▁-█]* +([\d. ]+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, its output buffered as in any pipe."""
    command = [sys.executable, "-m", "markone", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def rows(output: str) -> dict[tuple[str, str], list[float]]:
    """The demo's table: numbers by rule and kind of weights."""
    return {(rule, weights): [float(n) for n in numbers.split()] for rule, weights, numbers in ROW.findall(output)}


def run_demo(capsys, *options: str) -> str:
    assert main(["demo", *options]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


# ---- the frame


def test_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr() == (f"markone {markone.__version__}\n", "")


def test_version_imports_nothing_heavy():
    program = "import sys; from markone.cli import main; main(['--version']); print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in answer.stdout.split()}
    assert "markone" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "cyclopts", "rich"}


def test_python_m_markone_is_the_command():
    process = start("--version")
    assert process.communicate() == (f"markone {markone.__version__}\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments, capsys):
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "Usage: markone COMMAND" in output
    assert re.search(r"\bdemo +Watch", output)


def test_help_of_a_command_has_an_example_that_works(capsys):
    assert main(["demo", "--help"]) == 0
    example = re.search(r"Example: markone (.*)", capsys.readouterr().out)
    assert example
    assert main(example[1].split()) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dmeo"], 'Did you mean "demo"?'),
        (["--verison"], "Did you mean '--version'?"),
        (["demo", "--epoch", "3"], "Did you mean --epochs?"),
        (["demo", "--epochs", "many"], "--epochs: must be a whole number, not 'many'"),
        (["demo", "--epochs", "1.5"], "--epochs: must be a whole number, not '1.5'"),
        (["demo", "--epochs", "0"], "epochs must be at least 1, not 0"),
        (["demo", "--seed", "-1"], "seed must be at least 0, not -1"),
        (["demo", "digits"], "'digits' is left over"),
    ],
)
def test_a_mistake_of_the_user_gets_a_line_and_status_2(arguments, sentence, capsys):
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert sentence in output.err
    assert output.err.startswith("markone: ")
    assert output.err.count("\n") == 1


def test_an_error_in_a_command_gets_a_line_and_status_2(monkeypatch, capsys):
    def fail():
        raise DataError("the digits have lost their labels")

    monkeypatch.setattr(demo_module, "load", fail)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "markone: the digits have lost their labels\n"


def test_a_defect_is_shown_and_asked_to_be_reported(monkeypatch):
    monkeypatch.setattr(demo_module, "load", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        main(["demo"])
    assert "defect of Markone" in caught.value.__notes__[0]


def test_ctrl_c_ends_quietly():
    with start("demo", "--epochs", "1000000") as process:
        process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        # A shell shows 130 for both. Python chooses the second where the import of a library met the signal in `exec`.
        assert process.wait(timeout=20) in (130, -signal.SIGINT)
        assert process.stderr.read() == ""


def test_an_interrupted_training_ends_the_command_with_130(monkeypatch):
    from markone.learning import passes

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(passes.Run, "looks", interrupt)  # training itself ends and keeps the weights so far
    assert main(["demo"]) == 130


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_reader_who_has_gone_is_no_error(argument):
    with start(argument) as process:
        process.stdout.close()
        assert process.wait(timeout=20) == 141
        assert process.stderr.read() == ""


# ---- demo


def test_demo_shows_every_learner_twice(capsys):
    table = rows(run_demo(capsys))
    assert list(table) == [(rule, weights) for rule in RULES for weights in ("last", "averaged")]
    for first, second, fifth, final, best in table.values():
        assert best >= max(first, second, fifth, final)
        assert 85 < final <= 100


def test_demo_shows_what_training_measured(capsys):
    from sklearn.datasets import load_digits

    from markone.data.blocks import Block
    from markone.learning.linear import Linear
    from markone.learning.passes import train_linear
    from markone.model.settings import Settings

    X, y = load_digits(return_X_y=True)
    linear = Linear(Settings(rule="mira", epochs=12, holdout=0.3), features=64, classes=10)
    history = train_linear(linear, Block.of(X / 16, y))
    expected = [round(100 * history[epoch - 1].holdout_averaged, 1) for epoch in (1, 2, 5, 12)]
    assert rows(run_demo(capsys))["mira", "averaged"][:4] == expected


def test_demo_concludes_from_its_numbers(capsys):
    output = run_demo(capsys)
    table = rows(output)
    text = " ".join(output.split())
    for rule in RULES:
        gain = table[rule, "averaged"][3] - table[rule, "last"][3]
        assert (f"{abs(gain):.1f} ({rule})" in text) == (abs(gain) > 0.05)
    top = max(numbers[3] for numbers in table.values())
    ending = text[text.index("Best in the end: ") : text.index(f", {top}% right.")]
    for (rule, weights), numbers in table.items():
        assert (f"{rule} ({weights})" in ending) == (numbers[3] == top)


def test_demo_says_when_averaging_lowers_accuracy():
    curves = [
        demo_module.Curve("mira", "last", [90.0, 95.0]),
        demo_module.Curve("mira", "averaged", [93.0, 94.0]),
        demo_module.Curve("hinge", "last", [91.0, 95.0]),
        demo_module.Curve("hinge", "averaged", [91.0, 95.0]),
    ]
    assert list(demo_module.conclude(curves)) == [
        "Averaging lowered the accuracy after the last pass by 1.0 (mira) points.",
        "From one pass to the next, accuracy moved by up to 5.0 points with the last weights, "
        "by up to 4.0 with the averaged ones.",
        "Best in the end: mira (last), hinge (last) and hinge (averaged), 95.0% right.",
    ]


def test_demo_repeats_itself_and_its_options_change_it(capsys):
    usual = run_demo(capsys)
    assert run_demo(capsys) == usual
    assert run_demo(capsys, "--seed", "0", "--epochs", "12") == usual
    assert rows(run_demo(capsys, "--seed", "1")) != rows(usual)
    for rule_and_weights, numbers in rows(run_demo(capsys, "--epochs", "2")).items():
        assert numbers[:2] == rows(usual)[rule_and_weights][:2]
        assert len(numbers) == 3


@pytest.mark.parametrize("epochs", ["1", "12", "100"])
def test_demo_fits_into_80_columns_without_colours(epochs, capsys):
    output = run_demo(capsys, "--epochs", epochs)
    assert "\x1b" not in output
    assert "…" not in output
    assert max(map(len, output.splitlines())) <= 80
    assert len(rows(output)) == 8


def test_demo_needs_neither_width_nor_unicode(monkeypatch, capsys):
    wide = run_demo(capsys)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run_demo(capsys)
    assert rows(narrow) == rows(wide)
    assert demo_module.SNIPPET in narrow
    assert set(demo_module.BARS) & set(wide)
    assert not set(demo_module.BARS) & set(narrow)
    monkeypatch.setenv("COLUMNS", "80")
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with contextlib.redirect_stdout(plain):
        assert main(["demo"]) == 0
    assert b"97.0" in plain.buffer.getvalue()


def test_demo_ends_with_a_program_that_runs(capsys):
    program = run_demo(capsys).split("in Python:\n\n")[1]
    assert len(program.splitlines()) == 3
    exec(program, {})
    assert float(capsys.readouterr().out) > 0.85


def test_sparkline_has_a_bar_for_each_pass_up_to_a_limit():
    assert demo_module.sparkline([80, 85, 90], low=80, high=90) == "▁▅█"
    assert demo_module.sparkline([90, 90], low=90, high=90) == "▁▁"
    many = demo_module.sparkline(range(100), low=0, high=99)
    assert len(many) == demo_module.MOST_BARS
    assert many == "".join(sorted(many))
    assert many[-1] == "█"
