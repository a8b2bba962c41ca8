"""What a terminal sees while a command works."""

from __future__ import annotations

import io

from commands import TRAIN
from markone.cli import main
from markone.learning.progress import Bar
from markone.model.history import Pass
from markone.reporting import meter


def test_a_terminal_sees_progress(folder, monkeypatch, capsys):
    from rich.console import Console

    import markone.cli.console  # noqa: F401, before its base class is replaced

    told = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(meter, "PATIENCE", 0.0)
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


class Seen(meter.Meter):
    """Keeps what it would show."""

    def __init__(self) -> None:
        super().__init__("terminal", 0.0)
        self.said: list[tuple] = []

    def update(self, *what: object) -> None:
        self.said.append(what)


def test_the_bar_shows_the_share_where_it_is_known():
    seen = Seen()
    bar = Bar(seen)
    bar.read(100)
    bar.read(200, 0.25)
    assert [(what, done, total) for what, done, total, _ in seen.said] == [("reading", 0, None), ("reading", 0.25, 1.0)]
    assert seen.said[1][3].startswith("200 rows, ")


def test_the_bar_shows_the_last_pass_and_does_not_scroll(capsys):
    bar = Bar(meter.Meter("terminal", 0.0))
    bar.start(rows=10, epochs=200)
    for epoch in (1, 2):
        bar.finish_pass(Pass(epoch, 1234, 5, 0.5, 1.0, 0.1, holdout_last=0.875))
    assert bar.what == "pass 3 of 200, last 1,234 wrong, 87.5% held out"
    bar.close()
    assert "mistakes" not in capsys.readouterr().err


def test_quick_work_shows_nothing(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main([*TRAIN]) == 0
    assert capsys.readouterr().err == ""
