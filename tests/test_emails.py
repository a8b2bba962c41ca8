"""The built-in features of e-mails: what they find, also in hostile mails, and what a model keeps of them."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from forging import Forged
from markone.cli import main
from markone.data.source import Column
from markone.errors import DataError, SettingsError
from markone.features.emails import Emails, read_page, shows_another_host
from markone.features.spec import Features
from parts import batch_of, cut, learn

COLUMNS = [
    Column("From", "categorical"),
    Column("Reply-To", "text"),
    Column("to", "text"),
    Column("subject", "text"),
    Column("body", "text"),
    Column("age", "numeric"),
]
FRIEND, OTHER = "Ann Lee <ann@work.example>", "win@prize.example"
LINK = '<p>Log in:</p> <a class=x HREF="http://evil.example/login">www.bank.example</a>'


def mails(**columns: list[Any]) -> dict[str, list[Any]]:
    size = len(next(iter(columns.values())))
    usual: dict[str, list[Any]] = {column.name: [0 if column.kind == "numeric" else ""] * size for column in COLUMNS}
    return {**usual, **columns}


def rows_of(**columns: list[Any]) -> list[dict[str, float]]:
    return learn(Emails(COLUMNS), batch_of(mails(**columns)))


# ---- what they find


def test_capital_letters_are_a_share_of_the_words() -> None:
    rows = rows_of(subject=["", "FREE", "", ""], body=["free money", "money NOW I win", "I A 5", ""])
    assert [row.get("email:ALL CAPS") for row in rows] == [None, 0.5, None, None]


@pytest.mark.parametrize(
    ("text", "differs", "links"),
    [
        (LINK, True, 1),
        ("<a href='https://www.bank.example/x'>bank.example</a>", False, 1),
        ("<a href=http://bank.example>click <b>here</b></a>", False, 1),
        ("<a href='http://bank.example.evil.example'>http://bank.example/login</a>", True, 1),
        ("<a href='http://bank.example@evil.example/'>bank.example</a>", True, 1),
        ("<a href='javascript:go()'>bank.example</a>", True, 0),
        ("<a href='http://&#101;vil.example'>bank&#46;example</a>", True, 1),
        ("<a href='http://evil.example'>ban<i>k.exa</i>mple", True, 1),
        ("<a href='http://x.example'><a href='http://x.example'>x.example</a>", False, 2),
        ("see http://a.example and HTTPS://b.example", False, 2),
        ("<style>a { x: 'http://a.example' }</style><script>http://b.example</script>", False, 0),
        ("a < b > c, e.g. 3.14 <a>bank.example</a> <a name=x>b.example</a>", False, 0),
        ("<!-- <a href='http://evil.example'>bank.example</a>", True, 1),
    ],
)
def test_links_that_show_another_host(text: str, differs: bool, links: int) -> None:
    [row] = rows_of(body=[text])
    assert row.get("email:link differs", 0) == differs
    assert row.get("email:links", 0) == pytest.approx(math.log1p(links))


@pytest.mark.parametrize(
    ("source", "visible"),
    [
        ("Dear <title> Smith, see http://a.example", "Dear Smith, see http://a.example"),
        ("use <script> or <style> here", "use or here"),
        ("<title>News</title>Hello", "Hello"),
        ("<SCRIPT>x</b> y</Script >Hello<style>a", "Helloa"),
        ("</title>Dear <title> Smith", "Dear Smith"),
        ("<style>a</styles>b</style>c", "c"),
        ("fr<!-- viagra -->ee <!-- <script> -->tea", "free tea"),
        ("a <!--> b <!-- c --!> d <!-- e", "a b d <!-- e"),
        ("<script><!-- x --></script>Hello", "Hello"),
    ],
)
def test_what_is_visible_of_a_mail(source: str, visible: str) -> None:
    assert " ".join("".join(read_page(source).text).split()) == visible


def test_links_in_comments_do_not_count() -> None:
    [row] = rows_of(body=["<!-- http://a.example <a href='http://b.example'>c.example</a> --> WIN now"])
    assert row == {"email:ALL CAPS": 0.5}


def test_senders_are_known_by_their_address() -> None:
    part, before = Emails(COLUMNS), mails(From=[FRIEND, "ANN@work.example", OTHER, None])
    rows = learn(part, batch_of(before))
    assert [row.get("email:sender known", 0) for row in rows] == [1, 1, 0, 0]
    new = part.transform(batch_of(mails(From=["A. Lee <ann@WORK.example>", OTHER, "", "nobody@work.example"])))
    assert new[:, part.places["sender known"]].tolist() == [1, 0, 0, 0]


def test_mails_that_were_sent_before() -> None:
    rows = rows_of(body=["Buy <b>now</b>!", "buy  NOW!", "other", "", ""])
    assert [row.get("email:sent before", 0) for row in rows] == [1, 1, 0, 0, 0]


def test_the_reply_address_and_the_name() -> None:
    rows = rows_of(
        **{
            "From": [FRIEND, FRIEND, FRIEND, "no address"],
            "Reply-To": ["x@evil.example", "ann@mail.work.example", "", "x@evil.example"],
            "to": ["Bob Lee <b.lee@home.example>", "bob.stone7@home.example", "info@home.example", "Bo <b@x.example>"],
            "body": ["<p>Dear BOB,</p>", "hello " * 50 + " bob", "Dear customer", "Bo!"],
        }
    )
    assert [row.get("email:reply to another host", 0) for row in rows] == [1, 0, 0, 0]
    assert [row.get("email:addressed by name", 0) for row in rows] == [1, 0, 0, 0]


def test_which_features_there_are_depends_on_the_columns() -> None:
    assert [feature.name for feature in Emails([Column("Text", "text")]).features] == [
        "ALL CAPS", "links", "link differs", "sent before"
    ]  # fmt: skip
    assert len(Emails(COLUMNS).features) == 7
    assert [one.name for one in Emails([Column("subject", "text"), Column("From", "numeric")]).features] == ["ALL CAPS"]


# ---- hostile mails


HOSTILE = [
    "<a " * 350_000,
    "<a href=" * 125_000,
    '<a href="' * 120_000,
    "<" * 1_000_000,
    "<" + "a" * 1_000_000,
    "<a href='" + "x" * 1_000_000 + "'>y</a>",
    "<a href='http://x.example'>" * 40_000,
    "<a href=&#" + "1" * 1_000_000 + ";>a.example</a>",
    "<a href='http://x.example'>" + "&#" + "1" * 1_000_000,
    "a.b." * 250_000,
    "<a href='http://x.example'>" + "a." * 500_000 + "</a>",
    "<script>" * 125_000,
    "@" * 1_000_000,
    "href " * 200_000,
    "<a " + "href  =  " * 110_000 + ">",
    "\0\ud800 İ" * 200_000,
    "</a>" * 250_000,
    "<!--" * 250_000,
    "<!-->" * 200_000,
    "</script" * 125_000,
    "<title></title" * 70_000,
    "&amp" * 250_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_megabyte_of_anything_is_read_in_linear_time(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    columns = mails(**{name: [whole] for name in ("From", "Reply-To", "to", "subject", "body")})
    start = time.process_time()
    row = Emails(COLUMNS).transform(batch_of(columns))
    assert time.process_time() - start < 5
    assert np.isfinite(row).all()


@given(
    st.lists(st.sampled_from(["<a", " href=", "'", '"', ">", "</a>", "x.example", "http://", "&#", "1", "<b>", " "]))
)
def test_any_pieces_can_be_read(pieces: list[str]) -> None:
    page = read_page("".join(pieces))
    assert all(isinstance(shows_another_host(*link), bool) for link in page.links)


# ---- as a part


@given(st.lists(st.sampled_from([FRIEND, OTHER, ""]), min_size=1, max_size=8), st.lists(st.integers(0, 8)))
def test_batches_may_be_cut_anywhere(senders: list[str], ends: list[int]) -> None:
    batch = batch_of(mails(From=senders, body=[LINK] * len(senders)))
    assert learn(Emails(COLUMNS), batch) == learn(Emails(COLUMNS), *cut(batch, ends))


def test_what_is_kept_contains_no_address_and_is_checked() -> None:
    part = Emails(COLUMNS)
    learn(part, batch_of(mails(From=[FRIEND] * 2, body=["hello"] * 2)))
    saved = part.save()
    assert {name: len(array) for name, array in saved.arrays.items()} == {"sender_known": 1, "sent_before": 1}
    again = Emails(COLUMNS)
    again.restore(saved, part.width)
    new = batch_of(mails(From=[FRIEND, OTHER], body=["hello", "x"]))
    np.testing.assert_array_equal(again.transform(new), part.transform(new))
    other = Emails(COLUMNS)
    learn(other, batch_of(mails(From=[OTHER] * 2)))
    assert again.extend(other).tolist() == [*range(7)]
    assert again.transform(new)[:, again.places["sender known"]].tolist() == [1, 1]
    for wrong in (np.array([2, 1], np.uint64), np.array([1, 1], np.uint64), np.array([0], np.uint64), np.zeros(1)):
        with pytest.raises(DataError):
            Emails(COLUMNS).restore(type(saved)(saved.facts, {**saved.arrays, "sender_known": wrong}))


# ---- as features of a model


TABLE: dict[str, list[Any]] = {
    "from": [FRIEND, OTHER, FRIEND, "bank@safe.example"] * 3,
    "to": ["Bob Lee <bob@home.example>"] * 12,
    "body": [
        "Hi Bob, see you at the meeting", "YOU HAVE WON MONEY at http://prize.example", "Dear Bob, the plan", LINK
    ] * 3,
    "label": ["ham", "spam", "ham", "spam"] * 3,
}  # fmt: skip
KINDS: Any = {"from": "categorical", "to": "text", "body": "text"}


def train(**how: Any) -> markone.Model:
    return markone.train(markone.read(TABLE, target="label", kinds=KINDS), features="email", **how)


@pytest.mark.parametrize("rule", ["mira", "naive-bayes", "mlp"])
def test_a_model_of_mails(rule: Any, tmp_path: Path) -> None:
    model = train(rule=rule)
    assert "email:link differs" in model.features.names()
    examples = [{name: TABLE[name][i] for name in ("from", "to", "body")} for i in range(4)]
    assert model.predict(examples).tolist() == TABLE["label"][:4]
    path = tmp_path / "mails.model"
    model.save(path)
    loaded = markone.load(path)
    np.testing.assert_array_equal(loaded.scores(examples), model.scores(examples))
    assert loaded.features.spec.email and loaded.features.names() == model.features.names()
    final = tmp_path / "final.model"
    model.save(final, final=True)
    np.testing.assert_array_equal(markone.load(final).scores(examples), model.scores(examples))


def test_threads_and_memory_change_nothing(tmp_path: Path) -> None:
    files = []
    table = {name: values * 300 for name, values in TABLE.items()}  # too many to keep in so little memory
    for how in ({"threads": 1}, {"threads": 4}, {"memory": "1.1 MB"}):
        path = tmp_path / "mails.model"
        source = markone.read(table, target="label", kinds=KINDS)
        markone.train(source, features="email", epochs=2, **how).save(path)  # type: ignore[arg-type]
        files.append(path.read_bytes())
    assert len({*files}) == 1


def test_training_goes_on_with_new_mails(tmp_path: Path) -> None:
    model = train()
    source = markone.read({**TABLE, "from": ["new@work.example"] * 12}, target="label", kinds=KINDS)
    more = markone.train(source, from_model=model)
    example = {"from": "new@work.example", "to": "", "body": "x"}
    assert "email:sender known" in more.features.named(example)
    assert "email:sender known" not in model.features.named(example)


def test_a_weight_is_explained_by_name() -> None:
    explanation = train().explain({"from": OTHER, "to": "", "body": LINK})
    assert "email:link differs" in [row.feature for row in explanation.tables[0].rows]


def test_leave_one_out_does_not_take_a_short_cut() -> None:
    found = markone.validate(
        markone.read(TABLE, target="label", kinds=KINDS), features="email", method="loo", rule="naive-bayes"
    )
    assert found.tested == 12 and not any("closed form" in remark for remark in found.remarks)


def test_a_forged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mails.model"
    train().save(path)
    forged = Forged(path.read_bytes())
    [name] = [name for name in forged.header if name.endswith("sender_known")]
    forged.array(name)[:] = bytes(len(forged.array(name)))
    path.write_bytes(forged.assembled())
    with pytest.raises(DataError, match="the numbers of 'sender known' are not sorted"):
        markone.load(path)


# ---- names


def test_the_name_of_the_spec() -> None:
    assert Features.of("email") == Features(email=True) == Features.of({"email": True})
    assert "email = true" in str(Features.of("email")) and "email" not in Features().as_dict(full=True)
    with pytest.raises(DataError, match="cannot read the spec emial: No such file.* Did you mean 'email'"):
        Features.of("emial")
    with pytest.raises(DataError, match="cannot read the spec no.toml: No such file or directory$"):
        Features.of("no.toml")
    with pytest.raises(SettingsError, match="email must be True or False"):
        Features(email="yes")  # type: ignore[arg-type]


def test_a_file_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.toml").write_text("email = true\n[text]\nwords = [1, 1]\n")
    Path("email").write_text("degree = 2\n")
    assert Features.of("spec.toml").text.words == (1, 1) and Features.of("spec.toml").email
    assert Features.of("email").degree == 1 and Features.of("./email").degree == 2


def test_columns_that_are_missing_or_have_the_wrong_name() -> None:
    table = {"a": ["free money now", "see you soon"], "label": ["spam", "ham"]}
    with pytest.raises(SettingsError, match=r"email needs a text column with one of the names subject, .* a \(text\)"):
        markone.train(markone.read(table, target="label", kinds={"a": "text"}), features="email")
    table = {"email": table["a"], "to": ["x", "y"], "label": table["label"]}
    with pytest.raises(SettingsError, match="names of words of the column 'email'; rename the column"):
        markone.train(markone.read(table, target="label", kinds={"email": "text", "to": "text"}), features="email")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    pd.DataFrame(TABLE).to_csv("mails.csv", index=False)
    command = ["train", "mails.csv", "--target", "label", "--kinds", "body=text,to=text", "--features"]
    assert main([*command, "email", "-o", "a.model"]) == 0
    assert "email:link differs" in markone.load("a.model").features.names()
    assert main([*command, "emial", "-o", "b.model"]) == 2
    assert "Did you mean 'email'?" in capsys.readouterr().err
