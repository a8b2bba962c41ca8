"""The command line: what it answers, and with which exit status."""

from __future__ import annotations

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


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, its output buffered as in any pipe."""
    command = [sys.executable, "-m", "markone", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


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


def test_import_markone_imports_no_large_library():
    program = "import sys, markone; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in answer.stdout.split()}
    assert not loaded & {"numpy", "scipy", "sklearn", "pyarrow", "pandas", "cyclopts", "rich"}


def test_quiet_training_imports_only_what_it_needs(tmp_path):
    (tmp_path / "a.tsv").write_text("pos\tgood\nneg\tbad\n")
    command = ["train", str(tmp_path / "a.tsv"), "--format", "tab", "--quiet", "-o", str(tmp_path / "a.model")]
    program = f"import sys; from markone.cli import main; main({command}); print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in answer.stdout.split()}
    assert "numpy" in loaded
    assert not loaded & {"pyarrow", "scipy", "sklearn", "pandas", "rich", "docstring_parser", "matplotlib"}


def test_short_commands_do_not_look_for_garbage():
    program = (
        "import gc, sys; from markone.__main__ import program; sys.argv = ['markone', '--version']; "
        "sys.exit(program() or gc.get_threshold()[0] != 100_000 or not gc.get_freeze_count())"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL).returncode == 0


def test_python_m_markone_is_the_command():
    process = start("--version")
    assert process.communicate() == (f"markone {markone.__version__}\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments, capsys):
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "Usage: markone COMMAND" in output
    assert re.search(r"\bdemo +Show", output)


def test_help_of_a_command_has_an_example_that_works(capsys, monkeypatch):
    monkeypatch.setattr("markone.cli.demo.TRAINING_REVIEWS", 200)  # with more, it only takes longer
    assert main(["demo", "--help"]) == 0
    example = re.search(r"Example: markone (.*)", capsys.readouterr().out)
    assert example
    assert main(example[1].split()) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dmeo"], 'Did you mean "demo"?'),
        (["--verison"], "Did you mean '--version'?"),
        (["tune", "reviews.csv"], "there is no command tune; see markone train DATA --tune."),
        (["demo", "--epoch", "3"], "Did you mean --epochs?"),
        (["demo", "--epochs", "many"], "--epochs: must be a whole number, not 'many'"),
        (["demo", "--epochs", "1.5"], "--epochs: must be a whole number, not '1.5'"),
        (["demo", "--epochs", "0"], "epochs must be a whole number of at least 1, not 0"),
        (["demo", "--seed", "-1"], "seed must be a whole number of at least 0, not -1"),
        (["demo", "digits"], "'digits' is not expected here"),
        (["\x1b[31m"], r'"\x1b[31m"'),
        (["x" * 5000], "x" * 60 + "…" + "x" * 60),
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

    monkeypatch.setattr(demo_module, "load_digits", fail)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "markone: the digits have lost their labels\n"


def test_a_defect_is_shown_and_asked_to_be_reported(monkeypatch):
    monkeypatch.setattr(demo_module, "load_digits", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        main(["demo"])
    assert "bug in Markone" in caught.value.__notes__[0]


def test_ctrl_c_ends_quietly():
    with start("demo", "--epochs", "1000000") as process:
        process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr.read() == "markone: interrupted\n"


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


CLOSED = [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]
QUICK = {("--version", ">&-"), ("--version", CLOSED[-1]), ("--help", ">&-"), ("dmeo", CLOSED[-1])}


@pytest.mark.parametrize(
    ("command", "status", "closed"),
    [
        pytest.param(command, status, closed, marks=() if (command, closed) in QUICK else pytest.mark.slow)
        for command, status in (("--version", 0), ("--help", 0), ("dmeo", 2))
        for closed in CLOSED
    ],
)
def test_a_stream_that_is_closed_is_no_error(command, status, closed):
    found = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m markone {command} {closed}"], capture_output=True, text=True, timeout=60
    )
    assert found.returncode == status
    assert "Traceback" not in found.stderr and "Error" not in found.stderr
