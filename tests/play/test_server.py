"""The server of the playground: it answers this machine only, and runs the core on any file."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError
from markone.play.server import PAGE, Playground, open_playground
from markone.play.shown import COMPONENTS, Shown
from markone.web.safety import HEADERS

SETTINGS = {"rule": "perceptron", "eta": 1, "C": 1, "tie": "error", "form": "label", "order": "given", "seed": 0}


@contextmanager
def serving(shown: Shown | None = None) -> Iterator[Playground]:
    with open_playground(shown) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server: Playground, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, content, {**given, **{key.replace("_", "-"): one for key, one in headers.items()}})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = (answer.headers.get("Content-Type") or "").startswith("application/json")
    return answer.status, json.loads(text) if is_json else text, answer.headers


def rows_of(X: Any, y: Any) -> list[dict[str, Any]]:
    """Rows in the form of the page, without the zeros."""
    rows = [{i: float(one) for i, one in enumerate(row) if one != 0} for row in X]
    return [{"at": [*row], "value": [*row.values()], "y": int(k)} for row, k in zip(rows, y, strict=True)]


# ---- files


def test_every_file_of_the_page_is_served_with_strict_headers() -> None:
    with serving() as server:
        for path in sorted(PAGE.rglob("*.*")):
            status, content, headers = ask(server, "GET", f"/{path.relative_to(PAGE).as_posix()}")
            assert status == 200
            assert {name: headers[name] for name in HEADERS} == HEADERS
            if path.name != "index.html":
                assert content == path.read_bytes()
        assert b'data-server="core"' in ask(server, "GET", "/")[1]
        policy = HEADERS["Content-Security-Policy"]
        assert "unsafe" not in policy and "script-src 'self';" in policy
        for path in ("/../server.py", "/%2e%2e/server.py", "/nothing.js", "//etc/passwd", "/learn", "/__init__.py"):
            assert ask(server, "GET", path)[0] == 404
        assert ask(server, "HEAD", "/")[1] == b""


def test_the_page_has_no_inline_code() -> None:
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", html)
    addresses = re.findall(r"https?://[^\s\"'`<]+", "".join(path.read_text("utf-8") for path in PAGE.rglob("*.*")))
    assert {*addresses} <= {"http://www.w3.org/2000/svg", "http://localhost:8000"}


def test_it_listens_on_this_machine_only() -> None:
    with serving() as server, open_playground() as other:
        assert server.server_address[0] == "127.0.0.1"
        assert other.server_port != server.server_port
        with pytest.raises(SettingsError, match="cannot be used"):
            open_playground(port=server.server_port)
    for port in (-1, 70000, True, "80"):
        with pytest.raises(SettingsError, match="port must be"):
            open_playground(port=port)


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Host": "127.0.0.1"}]
)
def test_requests_from_elsewhere_are_refused(headers: dict[str, str]) -> None:
    with serving() as server:
        for method, path, body in (("GET", "/", None), ("GET", "/api/data", None), ("POST", "/api/trace", {})):
            status, content, _ = ask(server, method, path, body, **headers)
            assert status == 403 and "answers only requests to" in content["error"]
        own = f"http://localhost:{server.server_port}"
        assert ask(server, "GET", "/", None, Host=own[7:], Origin=own)[0] == 200


def test_wrong_requests_get_a_sentence() -> None:
    good = {"names": ["a"], "classes": 2, "bias": True, "settings": {**SETTINGS, "passes": 3}}
    good["rows"] = rows_of([[1], [2]], [0, 1])
    with serving() as server:
        assert ask(server, "POST", "/api/trace", good)[0] == 200
        wrong: list[Any] = [
            b"{",
            [],
            {},
            {**good, "settings": {"rule": "mlp"}},
            {**good, "settings": {**SETTINGS, "passes": 10**30, "eta": "x"}},
            {**good, "settings": {**SETTINGS, "passes": 3, "eta": -1}},
            {**good, "rows": []},
            {**good, "rows": [{"at": [5], "value": [1], "y": 0}]},
            {**good, "rows": [{"at": [0, 0], "value": [1, 2], "y": 0}]},
            {**good, "rows": rows_of([[1], [2]], [0, 0])},
            {**good, "rows": rows_of([[1], [2]], [0, 1]) * 2000},
            {**good, "classes": 99},
            {**good, "names": ["a"] * 20_001},
            b"[" * 100_000,
            {**good, "rows": [{"at": [0], "value": [1e999], "y": 0}, {"at": [0], "value": [1], "y": 1}]},
        ]
        for body in wrong:
            status, content, _ = ask(server, "POST", "/api/trace", body)
            assert status == 400 and content["error"], body
        assert ask(server, "POST", "/api/whole", {})[0] == 400
        assert ask(server, "POST", "/api/nothing", {})[0] == 404
        assert ask(server, "POST", "/api/trace", b"x", Content_Type="text/plain")[0] == 404
        assert ask(server, "POST", "/api/trace", b"x", Content_Length="8000001")[0] == 413
        assert ask(server, "GET", "/api/data")[1] == {"kind": "none"}
        assert ask(server, "POST", "/api/trace", good)[0] == 200


# ---- runs


@pytest.mark.parametrize("rule", ["perceptron", "mira", "logistic", "hinge"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("width", [2, 70])
def test_a_run_of_the_core_in_the_form_of_the_page(rule: str, classes: int, width: int) -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(20, width)) * (random.random((20, width)) < 0.5), np.arange(20) % classes
    X[:, 1] = 0 if width > 2 else X[:, 1]
    settings = {**SETTINGS, "rule": rule, "passes": 2, "eta": 0.5, "order": "each", "tie": "positive"}
    asked = {"names": [f"f{i}" for i in range(width)], "classes": classes, "bias": True, "settings": settings}
    with serving() as server:
        status, answer, _ = ask(server, "POST", "/api/trace", {**asked, "rows": rows_of(X, y)})
    assert status == 200
    own: dict[str, Any] = {"C": 1} if rule == "mira" else {"eta": 0.5}
    own |= {"solver": "online", "schedule": "constant"} if rule == "logistic" else {}
    same = scipy.sparse.csr_array(X) if width > 64 else X  # sums of sparse rows are rounded differently
    run = markone.trace(same, y.tolist(), rule=rule, epochs=2, order="each", tie="positive", **own)
    numbers = np.zeros(classes * (width + 1))
    assert len(answer["steps"]) == len(run)
    for mine, theirs in zip(answer["steps"], run, strict=True):
        numbers[mine["at"]] = mine["after"]
        assert [mine["row"]] == list(theirs.rows) and mine["said"] == theirs.predicted
        assert mine["wrong"] == (theirs.mistakes > 0) and mine["pass"] == theirs.epoch
        assert mine["scores"][-1] == [*theirs.scores.values()][-1] and len(mine["scores"]) == classes
    table = numbers.reshape(classes, -1)
    for label, weights in run.weights().items():
        for name, weight in weights.items():
            assert table[int(label), width if name == "BIAS" else int(name[1:])] == weight
    assert answer["stopped"] in ("passes", "converged")


# ---- files of the user


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 rows whose names and labels try to be code."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 3)).round(3)
    labels = np.where(X @ [1, 2, -1] > 0, "<b onclick=alert(1)>yes</b>", "</script>no")
    lines = [f"{a},{b},{c},{label}\n" for (a, b, c), label in zip(X.tolist(), labels, strict=True)]
    path.write_text("<img src=x onerror=alert(1)>,b,c,label\n" + "".join(lines))
    return path


@pytest.fixture(scope="module")
def shown(large: Path) -> Shown:
    return Shown.of(markone.read(large, target="label"))


def test_a_large_file_is_sampled_and_the_page_says_so(shown: Shown) -> None:
    with serving(shown) as server:
        _, data, _ = ask(server, "GET", "/api/data")
        assert data["rows"] == 100_000 and data["shown"] == len(data["points"]) == 2000
        assert "a random sample of 2,000 of its 100,000 rows" in data["sentence"]
        assert data["chosen"] == {"x": COMPONENTS[0], "y": COMPONENTS[1]}
        assert data["choices"] == [*COMPONENTS, "<img src=x onerror=alert(1)>", "b", "c"]
        _, chosen, _ = ask(server, "GET", "/api/data?x=b&y=c")
        assert chosen["columns"] == ["b", "c"] and chosen["points"] != data["points"]
        status, wrong, _ = ask(server, "GET", "/api/data?x=bb&y=c")
        assert status == 400 and "Did you mean 'b'?" in wrong["error"]
        whole = {"columns": chosen["chosen"], "features": ["x1", "x2", "x12"], "bias": True}
        status, answer, _ = ask(server, "POST", "/api/whole", {**whole, "settings": {**SETTINGS, "passes": 2}})
        assert status == 200 and answer["rows"] == 100_000 and len(answer["numbers"]) == 2 * 4
        assert answer["numbers"][:4] == [0] * 4 and 0.7 < answer["accuracy"] < 1
        assert ask(server, "POST", "/api/whole", {**whole, "features": ["evil"], "settings": SETTINGS})[0] == 400


def test_axes_are_the_scaled_columns(shown: Shown, large: Path) -> None:
    raw = np.loadtxt(large, delimiter=",", skiprows=1, usecols=[1])
    assert shown.along("b") == pytest.approx((raw - raw.mean()) / raw.std(), abs=1e-5)
    first, second = (shown.along(name) for name in COMPONENTS)
    assert np.var(first[shown.rows]) >= np.var(second[shown.rows]) > 0
    assert abs(np.corrcoef(first[shown.rows], second[shown.rows])[0, 1]) < 1e-6


def test_other_kinds_of_files(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text("spam\tfree money\nham\tsee you\n" * 300)
    mail = Shown.of(markone.read(tmp_path / "mail.txt")).as_dict()
    assert mail["kind"] == "text" and mail["shown"] == 300 and mail["rows"] == 600
    assert mail["classes"] == ["ham", "spam"] and {*map(tuple, mail["lines"])} == {("free money", 1), ("see you", 0)}
    assert mail["sentence"].endswith("a random sample of 300 of its 600 texts.")
    (tmp_path / "rows.libsvm").write_text("1 1:2 7:1\n-1 3:1\n1 1:1\n-1 3:2 7:2\n")
    rows = Shown.of(markone.read(tmp_path / "rows.libsvm")).as_dict({"x": "1", "y": "3"})
    assert [point[:2] for point in rows["points"]] == [[2, 0], [0, 1], [1, 0], [0, 2]]
    one = Shown.of([[1.0], [2.0], [3.0]], ["a", "b", "a"]).as_dict()
    assert one["chosen"] == {"x": "x0", "y": "x0"}
    with pytest.raises(DataError, match="9 classes, but the playground can show at most 8"):
        Shown.of(np.arange(9.0)[:, None], list("abcdefghi"))


# ---- the command


def test_the_command_serves_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text("spam\tfree money\nham\tsee you\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "markone", "play", str(tmp_path / "mail.txt"), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout
    assert process.stdout.readline().endswith("mail.txt: all 2 texts.\n")
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
    assert found
    with socket.create_connection(("127.0.0.1", int(found[1])), timeout=10) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{found[1]}\r\nConnection: close\r\n\r\n".encode())
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "\n", "")


def test_a_browser_is_opened_if_there_is_one(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    opened: list[str] = []

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Playground, "serve_forever", interrupted)
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["play"]) == 0
    assert opened[0] in capsys.readouterr().out
    assert main(["play", "--no-browser"]) == 0
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["play"]) == 0
    assert len(opened) == 1


def test_mistakes_of_the_command(tmp_path: Path, capsys: Any) -> None:
    assert main(["play", str(tmp_path / "none.csv"), "--target", "a"]) == 2
    assert main(["play", "--port", "99999"]) == 2
    assert "--port must be a whole number from 0 to 65535" in capsys.readouterr().err


def test_the_page_is_small() -> None:
    import gzip

    files = [path for path in PAGE.rglob("*.*") if path.suffix in (".html", ".css", ".js")]
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in files) < 100_000
