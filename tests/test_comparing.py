"""Comparing: the same folds for all, what is not chance, a verdict that says what the numbers show, and a page."""

from __future__ import annotations

import importlib.util
import json
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError
from markone.experiments import comparing, contrasts, page
from markone.experiments.comparing import Comparison, Contender, compare, contender_of
from markone.experiments.validation import Fold, Validation
from markone.experiments.verdict import lead_in_errors, recommended, verdict_of
from markone.model.calibrator import calibrate
from markone.model.history import History, Pass
from markone.model.rules import COMPARED

ONLINE = ["perceptron", "averaged-perceptron", "mira", "hinge", "logistic"]


def points(rows: int = 300, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, (X[:, 0] - X[:, 1] + noise * random.normal(size=rows) > 0).astype(int)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    X, y = points()
    return compare(X, target=y, rules=ONLINE, folds=3)


# ---- the contest


def test_all_are_tested_on_the_same_folds(comparison):
    rows = [[fold.rows.tolist() for fold in one.validation.folds] for one in comparison.contenders]
    assert all(one == rows[0] for one in rows) and len(comparison.contenders) == 8
    assert sorted(row for fold in rows[0] for row in fold) == list(range(300))


def test_each_is_as_it_is_validated_alone(comparison):
    X, y = points()
    for name in ONLINE:
        alone = markone.validate(X, target=y, folds=3, **COMPARED[name])
        assert comparison[name].validation.predicted.tolist() == alone.predicted.tolist()
    for name, estimator in (
        ("1-nearest-neighbour", KNeighborsClassifier(1)),
        ("decision tree", DecisionTreeClassifier(random_state=0)),
    ):
        alone = markone.validate(X, target=y, folds=3, estimator=estimator)
        assert comparison[name].validation.predicted.tolist() == alone.predicted.tolist()


def test_the_best_comes_first_and_neighbours_are_tested(comparison):
    means = [contender.validation.mean for contender in comparison.contenders]
    names = [contender.name for contender in comparison.contenders]
    assert means == sorted(means, reverse=True)
    assert [(test.better, test.worse) for test in comparison.tests] == list(pairwise(names))
    first, second = comparison.contenders[:2]
    rights = [one.validation.predicted == one.validation.truth for one in (first, second)]  # in the order of the folds
    wins, losses = (rights[0] & ~rights[1]).sum(), (rights[1] & ~rights[0]).sum()
    assert (comparison.tests[0].wins, comparison.tests[0].losses) == (wins, losses)


def test_what_a_contender_cost_is_told(comparison, tmp_path):
    mira, logistic = comparison["mira"], comparison["logistic"]
    assert mira.passes == 10 and mira.rule == "mira" and mira.seconds > 0
    assert logistic.has_probabilities and logistic.calibration is not None and logistic.log_loss > 0
    assert mira.has_probabilities and mira.log_loss < 1.2 * logistic.log_loss  # learned from the other folds
    X, y = points()
    others = np.setdiff1d(np.arange(300), mira.validation.folds[0].rows)
    model = markone.train(X[others], target=y[others])
    model.save(tmp_path / "mira.model", final=True)
    # The names of the target and of the way the data were read, and how often features occur, are not in it.
    assert 0 < mira.bytes <= (tmp_path / "mira.model").stat().st_size < mira.bytes + 2000
    assert comparison["decision tree"].bytes is None and comparison["decision tree"].passes is None


def test_features_are_made_once_for_all_that_have_the_same(monkeypatch):
    made = []
    divided = comparing.divided

    def counted(sample, split, spec):
        made.append(spec)
        return divided(sample, split, spec)

    monkeypatch.setattr(comparing, "divided", counted)
    compare({"x": [1.0, 2.0, 3.0, 4.0] * 5}, target=[0, 0, 1, 1] * 5, rules=ONLINE, folds=2)
    assert len(made) == 2


def test_the_seed_decides(comparison):
    X, y = points()
    again = compare(X, target=y, rules=ONLINE, folds=3)
    for one in comparison.contenders:
        assert one.validation.predicted.tolist() == again[one.name].validation.predicted.tolist()
    other = compare(X, target=y, rules=["mira"], contrasts=False, folds=3, seed=1)
    assert other["mira"].validation.folds[0].rows.tolist() != again["mira"].validation.folds[0].rows.tolist()


@pytest.mark.parametrize(("method", "folds"), [("holdout", 1), ("loo", 1)])
def test_other_divisions_than_folds(method, folds):
    X, y = points(30)
    found = compare(X, target=y, rules=["perceptron"], method=method)
    assert {len(contender.validation.folds) for contender in found.contenders} == {folds}
    assert found["perceptron"].validation.predicted.tolist() == (
        markone.validate(X, target=y, rule="perceptron", average=False, method=method).predicted.tolist()
    )


def test_every_rule_takes_part():
    X, y = points(120)
    found = compare({f"x{i}": X[:, i] for i in range(4)}, target=y, folds=2)
    assert not found.failures and {one.name for one in found.contenders} > {*COMPARED, "curves"}
    for name in ("logistic", "logistic-online", "naive-bayes", "mlp"):
        assert found[name].has_probabilities and found[name].bytes > 0
    for name in ("perceptron", "averaged-perceptron", "mira", "hinge", "svm"):
        assert found[name].has_probabilities and found[name].log_loss < np.log(2) and found[name].bytes > 0
    assert min(found[name].validation.mean for name in COMPARED) > 0.75


def test_what_cannot_be_counted_leaves_the_others_in():
    X, y = points(60)
    found = compare(csr_matrix(X), target=y, rules=["mira", "naive-bayes"], folds=2)
    [failure] = found.failures
    assert failure.name == "naive-bayes" and failure.reason.startswith("Negative values in data")
    assert "mira" in {one.name for one in found.contenders}


def test_a_rule_that_cannot_learn_is_listed_with_its_reason(monkeypatch):
    X, y = points(40)
    answer = comparing.ByRule.answer

    def refused(way, rows, **rest):
        if way.name == "hinge":
            raise DataError("values must not be negative")
        return answer(way, rows, **rest)

    monkeypatch.setattr(comparing.ByRule, "answer", refused)
    found = compare(X, target=y, rules=["mira", "hinge"], folds=2)
    assert [(one.name, one.reason) for one in found.failures] == [("hinge", "values must not be negative")]
    assert "hinge could not be trained: values must not be negative" in str(found) and "hinge" in found.html()
    with pytest.raises(KeyError, match="there is no contender 'hinge'"):
        found["hinge"]
    with pytest.raises(DataError, match="no rule can be trained on these data: values must not be negative"):
        compare(X, target=y, rules=["hinge"], contrasts=False, folds=2)


def test_contrasts_that_would_take_long_learn_from_fewer_rows_and_say_so(monkeypatch):
    X, y = points(200)
    monkeypatch.setattr(contrasts, "MOST_COMPARED", 100 * 4 * 30)
    found = compare(X, target=y, rules=["mira"], folds=2)
    assert found.remarks == [
        "1-nearest-neighbour was trained on about 30 of 100 rows in each fold, since all would take too long.",
    ]
    assert found.remarks[0] in str(found).replace("\n", " ") and found.remarks[0] in found.html()


def test_contrasts_learn_without_importance_where_they_cannot_weigh():
    X, y = points(60)
    source = markone.read(X, target=y, importance=np.where(y, 2.0, 1.0))
    found = compare(source, rules=["mira"], folds=2)
    assert not found.failures and len(found.contenders) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rules": ["mirra"]}, "rules must be among perceptron, averaged-perceptron, mira"),
        ({"rules": []}, "rules must name at least one rule"),
        ({"folds": 1}, "folds must be a whole number of at least 2, not 1"),
    ],
)
def test_what_means_nothing_is_refused(options, sentence):
    X, y = points(40)
    with pytest.raises(SettingsError) as raised:
        compare(X, target=y, **options)
    assert str(raised.value).startswith(sentence)


def test_tuning_happens_in_each_fold_from_its_own_rows(monkeypatch):
    X, y = points(200)
    seen = []
    tuned = comparing.Tuner.tuned

    def watched(tuner, way, sample, split):
        seen.append(set(split.learned))
        return tuned(tuner, way, sample, split)

    monkeypatch.setattr(comparing.Tuner, "tuned", watched)
    found = compare(X, target=y, rules=["mira"], contrasts=False, folds=2, tune=True)
    folds = found["mira"].validation.folds
    assert len(seen) == 2 and all(not seen[i] & set(folds[i].rows) for i in (0, 1))
    for fold in folds:
        assert fold.settings["rule"] == "mira" and fold.settings.keys() <= {"rule", "C", "epochs"}
    assert found.as_dict()["contenders"][0]["validation"]["folds"][0]["settings"] == folds[0].settings


# ---- the verdict


def contender(name: str, right: list[int], rule: str | None = None, **facts) -> Contender:
    """Who gets these of a hundred rows right."""
    truth = np.zeros(len(right), int)
    passes = facts.pop("history", None)
    fold = Fold(1, 1, 400, np.arange(len(right)), truth, 1 - np.array(right), None, np.mean(right), 1.0, passes)
    validation = Validation("holdout", name, "accuracy", ["a", "b"], [fold], 1)
    return replace(contender_of(name, rule, validation), **facts)


def first(count: int, of: int = 1000) -> list[int]:
    return [1] * count + [0] * (of - count)


def last(count: int, of: int = 1000) -> list[int]:
    return first(count, of)[::-1]


def test_the_best_is_named_with_what_it_is_worth():
    text = verdict_of([contender("mira", first(900), "mira"), contender("majority class", first(600))])
    assert text.startswith("Use mira: its accuracy on test rows is 90.0% (95% interval 88.0% to 91.7%), ")
    assert "against 60.0% for the most frequent class." in text


def test_a_lead_that_may_be_chance_is_called_so_and_only_that():
    text = verdict_of(
        [
            contender("mira", first(905), "mira"),
            contender("svm", first(900, 1000)[:990] + [1] * 10, "svm"),
            contender("hinge", first(700), "hinge"),
        ]
    )
    assert "Its lead over svm (p = 0.30) may be due to chance." in text and "hinge" not in text


def test_who_is_as_good_is_not_said_to_be_behind():
    text = verdict_of([contender(name, first(900), name) for name in ("mira", "svm", "hinge")])
    assert "Svm and hinge have the same accuracy." in text and "lead" not in text


def test_what_the_equals_have_is_told():
    text = verdict_of(
        [
            contender("mira", first(905), "mira", seconds=6.0, bytes=4000),
            contender("logistic", first(904), "logistic", seconds=1.0, bytes=1000, has_probabilities=True),
        ]
    )
    assert "Logistic also has probabilities, trains 6 times as fast and has a model 4 times smaller." in text


def test_the_default_is_recommended_if_it_is_as_good():
    mlp, mira = contender("mlp", first(905), "mlp"), contender("mira", first(904), "mira")
    text = verdict_of([mlp, mira])
    assert text.startswith("Use mira: its accuracy on test rows is 90.4%")
    assert "Mlp is 0.1 points more accurate, which may be chance, but mira is the default." in text
    assert recommended([mlp, mira]) is mira and recommended([]) is None
    assert recommended([mlp, contender("logistic", first(904), "logistic")]) is mlp  # which is no default
    worse = contender("mira", first(850), "mira")
    assert recommended([mlp, worse]) is mlp
    curves = contender("curves", first(904), "logistic")
    assert recommended([mlp, mira, curves]) is curves and recommended([mlp, mira, replace(curves, name="svm")]) is mira
    assert recommended([mlp, contender("curves", first(850), "logistic"), mira]) is mlp
    clear, vague = replace(mlp, log_loss=0.2), replace(mira, log_loss=0.3)
    assert recommended([clear, vague]) is clear
    assert (
        recommended([replace(mlp, log_loss=0.3), replace(contender("svm", first(904), "svm"), log_loss=0.2)]).name
        == "svm"
    )


@pytest.mark.parametrize(("wins", "losses"), [(13, 4), (14, 8), (9, 9), (16, 15)])
def test_a_lead_is_measured_in_standard_errors(wins: int, losses: int):
    same = [1] * 100
    better = contender("svm", same + [1] * wins + [0] * losses, "svm")
    worse = contender("mira", same + [0] * wins + [1] * losses, "mira")
    expected = (wins - losses) / np.sqrt(wins + losses)
    assert lead_in_errors(better, worse) == pytest.approx(expected)
    chance = np.random.default_rng(0).binomial(wins + losses, 0.5, 10_000) * 2.0 - (wins + losses)
    assert lead_in_errors(better, worse) == pytest.approx((wins - losses) / chance.std(), abs=0.05)
    assert (recommended([better, worse]) is worse) == (expected <= 1)


def test_names_that_are_no_rules_are_shown_with_their_settings():
    how = {"rule": "perceptron", "average": False}
    text = verdict_of([contender("perceptron", first(900), "perceptron", settings=how)])
    assert text.startswith("Use perceptron (rule perceptron, average false): its accuracy")
    how = {"rule": "logistic", "solver": "online"}
    text = verdict_of([contender("logistic-online", first(900), "logistic", settings=how)])
    assert text.startswith("Use logistic-online (rule logistic, solver online): its accuracy")


def test_curves_of_tables_take_part_as_train_has_them():
    random = np.random.default_rng(0)
    table = {"a": random.normal(size=400), "b": random.normal(size=400)}
    labels = np.where(table["a"] ** 2 > 0.5, "far", "near")
    found = compare(table, target=labels, rules=["curves", "mira"], folds=3, contrasts=False)
    assert found.best.name == "curves" and found.best.settings == {} and found["mira"].validation.mean < 0.7
    assert "Use curves, which are the default for tables: their accuracy" in found.verdict
    alone = markone.validate(table, target=labels, folds=3)
    assert found["curves"].validation.predicted.tolist() == alone.predicted.tolist()
    with pytest.raises(SettingsError, match="rules must not contain 'curves', which are for tables"):
        compare(["a b", "c d"] * 20, target=[0, 1] * 20, rules=["curves"], folds=2)


def test_log_loss_is_that_of_probabilities_from_the_other_folds():
    X, y = points(900, noise=2.0)
    found = compare(X, target=y, rules=["svm", "logistic", "naive-bayes"], contrasts=False, folds=3)
    svm, logistic = found["svm"], found["logistic"]
    assert svm.log_loss == pytest.approx(logistic.log_loss, rel=0.05)
    fold = svm.validation.folds[0]
    others = svm.validation.folds[1:]
    scores, truth = (np.concatenate([getattr(one, name) for one in others]) for name in ("scores", "truth"))
    expected = calibrate(scores, truth, None, [0, 1]).log_probabilities(fold.scores)
    np.testing.assert_allclose(np.log(fold.probabilities), expected, rtol=1e-9)


def test_a_fast_one_that_is_surely_but_little_worse_is_told():
    text = verdict_of(
        [
            contender("mira", first(905), "mira", seconds=8.0),
            contender("naive-bayes", first(890), "naive-bayes", seconds=1.0),
        ]
    )
    assert "If time matters, naive-bayes trains 8 times as fast, and is 1.5 points less accurate." in text


def test_no_rule_is_recommended_that_is_no_better_than_the_commonest_class():
    text = verdict_of([contender("mira", first(602), "mira"), contender("majority class", first(600))])
    assert (
        text.startswith("No rule is significantly better than always predicting the most frequent class")
        and "Use" not in text
    )


def test_a_contrast_that_is_better_is_told():
    tree = contender("decision tree", first(950))
    text = verdict_of([tree, contender("mira", first(900), "mira")])
    assert "But the decision tree is better than every rule: 95.0% (p < 0.001)" in text
    text = verdict_of([contender("decision tree", first(901)), contender("mira", first(900), "mira")])
    assert "The decision tree is a little better, which may be due to chance (p = 1.00)." in text


def test_a_hidden_layer_that_pays_is_told():
    text = verdict_of([contender("mlp", first(950), "mlp"), contender("svm", first(900), "svm")])
    assert "Its hidden layer helps: the best rule without one, svm, is 5.0 points less accurate (p < 0.001)." in text


def test_what_the_perceptron_shows_is_told():
    def trained(mistakes: int, stopped: str) -> History:
        return History([Pass(1, mistakes, mistakes, 0.0, 0.0, 0.0, 0.9)], stopped=stopped)

    text = verdict_of([contender("perceptron", first(900), "perceptron", history=trained(0, "converged"))])
    assert (
        "In every fold the perceptron learned the training rows without a mistake, so a plane separates these rows."
        in text
    )
    text = verdict_of([contender("perceptron", first(900), "perceptron", history=trained(40, "epochs"))])
    assert "the perceptron still made mistakes on 10.0% of the training rows" in text and "separates these" not in text
    for separable, expected in ((True, "a plane separates them, but"), (False, "no plane separates all rows together")):
        text = verdict_of([contender("perceptron", first(900), "perceptron", history=trained(40, "epochs"))], separable)
        assert expected in text


def test_over_training_is_told_with_its_pass():
    history = History([Pass(i, 9, 9, 0.0, 0.0, 0.0, one) for i, one in enumerate([0.7, 0.9, 0.6], 1)])
    text = verdict_of([contender("hinge", first(600), "hinge", history=history)])
    assert "Later passes reduced the accuracy of hinge (best after pass 2 of 3)." in text


def test_separable_rows_are_seen_to_be_so():
    X, _ = points(200)
    text = compare(X, target=(X[:, 0] > 0).astype(int), rules=["perceptron"], folds=2).verdict
    far = X[abs(X[:, 0]) > 0.3]
    separable = compare(far, target=(far[:, 0] > 0).astype(int), rules=["perceptron"], folds=2).verdict
    assert "a plane separates these rows" in separable
    assert "Use perceptron" in text


# ---- what people and machines read


def test_the_table_fits_a_terminal(comparison):
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "8 ways to learn from 300 rows of 2 classes, by 3 folds."
    assert lines[2].split() == ["accuracy", "interval", "log-loss", "off", "by", "seconds", "size"]


class Balanced(HTMLParser):
    """Whether every element is closed, and nothing comes from elsewhere."""

    VOID = ("meta", "br", "hr", "img", "link", "use", "path")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        links = [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        self.outside += [link for link in links if not link.startswith(("#", "data:"))]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_complete_in_itself(comparison):
    text = comparison.html()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == [] and parser.outside == []
    assert text.startswith("<!DOCTYPE html>") and "@import" not in text and "url(http" not in text
    for one in comparison.contenders:
        assert f"<td>{one.name}</td>" in text and f"<td>{one.validation.mean:.2%}</td>" in text
    assert comparison.verdict.replace("<", "&lt;") in text
    assert ("<svg" in text) == (importlib.util.find_spec("matplotlib") is not None)


def test_without_matplotlib_the_page_says_what_is_missing(comparison, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(page.importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    text = comparison.html()
    assert "matplotlib is not installed: pip install &#x27;markone[plot]&#x27;" in text and "<svg" not in text


def test_names_on_the_page_are_escaped():
    X, y = points(40)
    found = compare({"<b>x</b>": X[:, 0]}, target=[f"<i>{label}</i>" for label in y], rules=["mira"], folds=2)
    text = replace(found, source="<script>").html()
    assert "<script>" not in text and "<i>" not in text and "&lt;script&gt;" in text


@pytest.fixture
def people(tmp_path):
    X, y = points(120)
    path = tmp_path / "people.csv"
    path.write_text(
        "a,b,income\n" + "".join(f"{x[0]},{x[1]},{'high' if one else 'low'}\n" for x, one in zip(X, y, strict=True))
    )
    return path


def test_the_command_speaks_json_and_writes_a_page(people, capsys):
    html = people.with_name("page.html")
    command = ["compare", str(people), "--target", "income", "--rules", "mira, logistic", "--folds", "3"]
    assert main([*command, "--json", "--html", str(html)]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    expected = compare(people, target="income", rules=["mira", "logistic"], folds=3)
    assert printed.err == ""
    assert [one["name"] for one in found["contenders"]] == [one.name for one in expected.contenders]
    assert [one["validation"]["mean"] for one in found["contenders"]] == [
        c.validation.mean for c in expected.contenders
    ]
    assert found["tests"] == [test.as_dict() for test in expected.tests]
    assert found["rows"] == 120 and found["design"] == "3 folds"
    assert html.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", [*COMPARED, "curves"])
def test_the_recommended_command_can_be_typed_as_it_stands(name, people, capsys, monkeypatch):
    monkeypatch.chdir(people.parent)
    options = ["--rules", name, "--folds", "2", "--seed", "3", "--no-contrasts"]
    assert main(["compare", "people.csv", "--target", "income", *options]) == 0
    words = shlex.split(capsys.readouterr().out.partition("Next:")[2])
    assert words[:5] == ["markone", "train", "people.csv", "--target", "income"] and "--seed" in words
    assert main([*words[1:], "-o", "people.model"]) == 0
    model = markone.load("people.model")
    wanted = COMPARED.get(name, {"rule": "logistic"})
    assert {key: getattr(model.settings, key) for key in wanted} == wanted and model.settings.seed == 3


def test_the_command_prints_a_table_and_the_verdict(people, capsys):
    assert (
        main(["compare", str(people), "--target", "income", "--rules", "mira", "--no-contrasts", "--folds", "3"]) == 0
    )
    printed = capsys.readouterr().out
    assert "Use mira: its accuracy on test rows is" in printed and "majority" not in printed


def test_the_command_refuses_in_its_own_words(people, capsys):
    assert main(["compare", str(people), "--target", "income", "--rules", "mirra"]) == 2
    assert "--rules must be among perceptron" in capsys.readouterr().err
    assert main(["compare", str(people), "--target", "income", "--html", str(people)]) == 2
    assert "is an input file; name another file" in capsys.readouterr().err
    assert main(["compare"]) == 2
    assert "no file was given; name a file" in capsys.readouterr().err
