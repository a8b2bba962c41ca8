"""Features that the workers of a cluster fit: the same names and bytes as on one machine, which then reads no rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

import markone
from markone.cluster.dask import DaskEngine
from markone.cluster.engine import Threads
from markone.errors import DataError, SettingsError
from markone.features.files import Files
from markone.learning.partitions import distant, fitting
from markone.learning.reading import OwnFilling

distributed = pytest.importorskip("distributed")

WORDS = [f"w{number}" for number in range(60)] + ["straße", "日本語", "o'clock", "e-mail"]
HASHED = {"text": {"hash_bits": 9, "weight": "odds"}}
FEATURES = [
    None,
    {"text": {"words": [1, 3], "weight": "odds", "value": "binary", "min_count": 2, "max_features": 300}},
    {**HASHED, "degree": 2},
    {"text": {"words": [2, 3], "weight": "idf", "document": ["log-words"]}},
    {"text": {"words": [1, 2], "subwords": [3, 5], "weight": "none"}},
    {"text": {"characters": [2, 4]}, "categorical": {"min_count": 2}},
    {"text": {"hash_bits": 6, "weight": "none"}, "numeric": {"scale": "max-abs"}},
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Five files of different sizes, one of them empty, with gaps in all columns."""
    made = tmp_path_factory.mktemp("tables")
    chance = random.Random(7)
    for number, rows in enumerate([3, 400, 0, 900, 150]):
        lines = []
        for _ in range(rows):
            label = chance.choice(["no", "yes", "perhaps"][: 2 + (number > 2)])
            text = " ".join(chance.choices(WORDS, k=8)) + f" {label}{chance.randrange(20)}"
            facts = [chance.choice(["red", "green", f"c{chance.randrange(9)}"]), f"{chance.gauss(0, 3):.3g}"]
            cells = [*(one if chance.random() < 0.95 else "" for one in facts), text]
            lines.append(",".join([*cells, label if chance.random() < 0.97 else "", str(chance.choice([1, 2, 0.5]))]))
        header = "colour,size,text,label,weight\n" if rows else ""
        (made / f"{number}.csv").write_text(header + "".join(f"{line}\n" for line in lines))
    return made


def opened(tables, **more):
    return markone.read(f"{tables}/*.csv", target="label", kinds={"text": "text", "colour": "categorical"}, **more)


class InProcess(Threads):
    """Threads that stand for workers, so that a test can see what they do."""

    in_process = False

    def status(self):
        return ""


@pytest.fixture
def no_reading(monkeypatch):
    """This process must not read the rows itself, except for the first ones."""

    def refused(*_, **__):
        raise AssertionError("the driver reads the rows")

    monkeypatch.setattr(OwnFilling, "learn_features", refused)
    monkeypatch.setattr(OwnFilling, "add_rows", refused)


@pytest.mark.parametrize(
    "features", [*FEATURES[:3], *(pytest.param(one, marks=pytest.mark.slow) for one in FEATURES[3:])], ids=str
)
def test_workers_fit_the_same_features(cluster, tables, features, request):
    how = {"features": features, "partitions": 3, "epochs": 2, "holdout": 0.1}
    expected = markone.train(opened(tables, importance="weight"), **how)
    request.getfixturevalue("no_reading")
    found = markone.train(opened(tables, importance="weight"), cluster=cluster.scheduler_address, **how)
    assert found.features.names() == expected.features.names()
    assert found.digest == expected.digest


@pytest.mark.parametrize(
    "how",
    [
        {"rule": "naive-bayes"},
        {"rule": "hinge", "epochs": 3, "class_weight": "balanced"},
        {"rule": "logistic", "solver": "online", "epochs": 2, "threshold": None},
        {"rule": "perceptron", "epochs": 20, "patience": 2, "holdout": 0.2, "classes": ["perhaps", "yes", "no"]},
    ],
    ids=lambda how: how["rule"],
)
def test_all_rules_learn_from_them(cluster, tables, how, request):
    expected = markone.train(opened(tables), partitions=4, **how)
    request.getfixturevalue("no_reading")
    found = markone.train(opened(tables), partitions=4, cluster=cluster.scheduler_address, **how)
    assert found.digest == expected.digest
    assert found.history.unlabelled == expected.history.unlabelled > 0


def test_a_checkpoint_of_a_cluster_is_resumed_without_one(cluster, tables, tmp_path):
    how = {"partitions": 3, "epochs": 4, "checkpoint": tmp_path / "kept"}
    expected = markone.train(opened(tables), partitions=3, epochs=4)

    def stop(result):
        if result.epoch == 2:
            raise KeyboardInterrupt

    markone.train(opened(tables), callback=stop, cluster=cluster.scheduler_address, **how)
    assert markone.train(opened(tables), resume=True, **how).digest == expected.digest
    markone.train(opened(tables), callback=stop, partitions=3, epochs=4, checkpoint=tmp_path / "other")
    how["checkpoint"] = tmp_path / "other"
    found = markone.train(opened(tables), resume=True, cluster=cluster.scheduler_address, **how)
    assert found.digest == expected.digest


def test_training_goes_on_from_a_model(cluster, tables, request):
    first = markone.train(markone.read(f"{tables}/1.csv", target="label", kinds={"text": "text"}), epochs=2)
    how = {"from_model": first, "partitions": 2, "epochs": 2}
    expected = markone.train(opened(tables), **how)
    request.getfixturevalue("no_reading")
    assert markone.train(opened(tables), cluster=cluster.scheduler_address, **how).digest == expected.digest


def test_lines_that_were_skipped_are_counted(cluster, tmp_path):
    for number, text in enumerate(["+ good day\nbad\n- bad day\n", "- sad\nworse\n+ glad day\n"]):
        (tmp_path / f"{number}.txt").write_text(text.replace("+ ", "+\t").replace("- ", "-\t"))
    sources = [markone.read(f"{tmp_path}/*.txt", format="tab", skip_bad=True) for _ in range(2)]
    expected = markone.train(sources[0], partitions=2, epochs=1)
    found = markone.train(sources[1], partitions=2, epochs=1, cluster=cluster.scheduler_address)
    assert found.digest == expected.digest
    assert sources[1].bad == sources[0].bad and sources[0].bad.count == 2


def test_an_error_in_a_file_names_the_file(cluster, tmp_path):
    for number, text in enumerate(['{"text": "a", "label": "x"}\n', '{"text": "b", "label": "y"}\n{"text": \n']):
        (tmp_path / f"{number}.jsonl").write_text(text)
    source = markone.read(f"{tmp_path}/*.jsonl", target="label")
    with pytest.raises(DataError, match=r"1.jsonl, line 2") as caught:  # on a worker: nothing is chosen by this process
        markone.train(source, partitions=2, cluster=cluster.scheduler_address, features=HASHED)
    assert caught.value.line == 2


@pytest.mark.parametrize("rule", ["mira", "hinge", "naive-bayes"])
def test_more_partitions_than_rows_are_refused(cluster, tmp_path, rule):
    (tmp_path / "0.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    source = markone.read(tmp_path / "0.jsonl", target="label")
    with pytest.raises(SettingsError, match="partitions is 3, but there are only 2 rows"):
        markone.train(source, rule=rule, partitions=3, cluster=cluster.scheduler_address)


def test_partitions_may_be_all_held_out(cluster, tmp_path):
    """Some partitions have nothing to learn from, and mix nothing."""
    lines = [f'{{"text": "w{number % 5} v{number % 3}", "label": "{"xy"[number % 2]}"}}\n' for number in range(16)]
    (tmp_path / "0.jsonl").write_text("".join(lines[:5]))
    (tmp_path / "1.jsonl").write_text("".join(lines[5:]))
    how = {"partitions": 14, "epochs": 3, "holdout": 0.5, "rule": "perceptron"}
    expected = markone.train(markone.read(f"{tmp_path}/*.jsonl", target="label"), **how)
    source = markone.read(f"{tmp_path}/*.jsonl", target="label")
    assert markone.train(source, cluster=cluster.scheduler_address, **how).digest == expected.digest


def test_partitions_may_differ_in_size(cluster, tmp_path):
    """They have the same number of rows, but those of the last ones are a hundred times as long."""
    chance = random.Random(5)
    for number in range(4):
        texts = [" ".join(chance.choices(WORDS, k=200 if number == 3 else 2)) for _ in range(60)]
        lines = [f'{{"text": "{text}", "label": "{chance.choice("xy")}"}}\n' for text in texts]
        (tmp_path / f"{number}.jsonl").write_text("".join(lines))
    how = {"partitions": 4, "epochs": 3}
    expected = markone.train(markone.read(f"{tmp_path}/*.jsonl", target="label"), **how)
    source = markone.read(f"{tmp_path}/*.jsonl", target="label")
    assert markone.train(source, cluster=cluster.scheduler_address, **how).digest == expected.digest


@pytest.mark.parametrize("features", [FEATURES[2], FEATURES[5]], ids=str)
@pytest.mark.parametrize("memory", [2**22, 2**40])
def test_workers_read_files_again_if_their_memory_is_small(cluster, tables, features, memory, monkeypatch):
    """With much memory they read each file once."""
    how = {"features": features, "partitions": 3, "epochs": 2, "holdout": 0.1}
    expected = markone.train(opened(tables, importance="weight"), **how)
    monkeypatch.setattr(distant, "memory_budget", lambda _: memory)
    monkeypatch.setattr(distant, "LEAST", 2**10)
    monkeypatch.setattr(distant, "DRAFTS_SHARE", 2**15)
    files: list[str] = []
    open_one = Files.source_or_none

    def watched(own, path):
        files.append(path)
        return open_one(own, path)

    monkeypatch.setattr(Files, "source_or_none", watched)
    with InProcess(2) as engine:
        monkeypatch.setattr("markone.cluster.engines.engine_of", lambda _: engine)
        monkeypatch.setattr("markone.cluster.engines.check_workers", lambda *_: None)
        found = markone.train(opened(tables, importance="weight"), cluster="here", **how)
    assert found.digest == expected.digest
    assert (len(files) == 5) == (memory == 2**40)


@pytest.mark.parametrize("features", [*FEATURES, {"text": {"words": [2, 2]}}], ids=str)
def test_drafts_of_one_file_become_the_rows_of_all_features(features, tmp_path):
    chance = random.Random(3)
    for number in range(2):
        lines = ["colour,tags,size,text,label"]
        for _ in range(80):
            tags = ";".join(chance.sample(["red", "blue", "old", f"t{number}"], k=chance.randrange(1, 3)))
            text = " ".join(chance.choices(WORDS[number * 20 :], k=6))
            size = chance.choice(["", f"{chance.random():.3f}"])
            lines.append(f"{chance.choice('abcdef')},{tags},{size},{text},{chance.choice('xy')}")
        (tmp_path / f"{number}.csv").write_text("\n".join(lines) + "\n")
    kinds = {"text": "text", "colour": "categorical", "tags": "set"}
    source = markone.read(f"{tmp_path}/*.csv", target="label", kinds=kinds)
    fitted = markone.FeatureMap(markone.Features.of(features), source.columns)
    spec = fitted.fit(source).spec
    files = fitting.files_of(source)
    for number, path in enumerate(files.paths):
        reading = distant.read_files(spec, source.columns, files.some(number, number + 1), 1, True)
        found = distant.refine_rows(distant.SentFeatures(fitted), reading, 3, 70)
        expected = [fitted.transform(batch) for batch in files.batches(path)]
        assert len(found) == len(expected) == 1
        a, b = found[0], expected[0][np.arange(3, 70)]
        assert a.shape == b.shape
        for name in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(a, name), getattr(b, name))


def test_a_file_that_changes_is_noticed(cluster, tables):
    with DaskEngine.at(cluster.scheduler_address) as engine:
        source = opened(tables)
        features = markone.FeatureMap(markone.Features(), source.columns)
        files = fitting.files_of(source)
        for keep in (True, False):
            what = (features.spec, features.columns, files.some(0, 1))
            reading = engine.submit(distant.read_files, *what, 1, keep)
            counting = engine.submit(fitting.count_features, *what, reading, np.zeros(9, "i4"))
            with pytest.raises(DataError, match="0.csv has changed during training: it had 9 rows, and then 3"):
                engine.gather([counting])


def test_a_vocabulary_that_is_too_large_is_an_error(monkeypatch, tables):
    monkeypatch.setattr(distant, "memory_budget", lambda _: 1000)
    source = opened(tables)
    files = fitting.files_of(source)
    with pytest.raises(markone.MarkoneError, match="after 3 rows the vocabulary needs more than"):
        distant.read_files(markone.Features(text={"words": [1, 2]}), source.columns, files.some(0, 1), 1, True)
