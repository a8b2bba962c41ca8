"""What a terminal sees while a command works."""

from __future__ import annotations

import io

from commands import TRAIN
from markone.cli import main


def test_a_terminal_sees_progress(folder, monkeypatch, capsys):
    from rich.console import Console

    told = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=told, force_terminal=True, width=100))
    for command in (
        [*TRAIN],
        ["evaluate", "reviews.model", "test.csv"],
        ["predict", "l.model", "new.csv", "-o", "o.csv"],
    ):
        told.truncate(0)
        assert main([*command, "--quiet"]) == 0
        assert told.getvalue() == ""
        assert main(command) == 0
        assert "rows" in told.getvalue()
    assert main(["predict", "l.model", "new.csv"]) == 0


def test_the_bar_shows_the_share_where_it_is_known():
    from markone.learning.progress import Bar

    bar = Bar()
    bar.read(100)
    [task] = bar._progress.tasks
    assert task.total is None
    bar.read(200, 0.25)
    assert (task.total, task.completed) == (1.0, 0.25) and task.fields["speed"].startswith("200 rows, ")
    bar.close()


def test_the_bar_shows_the_last_pass_and_does_not_scroll(capsys):
    from markone.learning.progress import Bar
    from markone.model.history import Pass

    bar = Bar()
    bar.start(rows=10, epochs=200)
    for epoch in (1, 2):
        bar.finish_pass(Pass(epoch, 1234, 5, 0.5, 1.0, 0.1, holdout_last=0.875))
    [task] = bar._progress.tasks
    assert task.description == "pass 3 of 200, last 1,234 wrong, 87.5% held out"
    bar.close()
    assert "mistakes" not in capsys.readouterr().err
