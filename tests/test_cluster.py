"""The engine of Dask, on a cluster of two processes: the same bytes as threads, whatever happens to the workers."""

from __future__ import annotations

import errno
import operator
import os
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import markone
from clusters import kill, wait_for
from markone.cluster import preflight, tasks, worker
from markone.cluster.dask import DaskEngine
from markone.cluster.engine import in_turn, reduce_in_tree
from markone.cluster.engines import engine_of
from markone.errors import DataError, MarkoneError, SettingsError
from markone.learning.progress import Bar

distributed = pytest.importorskip("distributed")
HASHED = {"text": {"hash_bits": 16}}


@pytest.fixture
def engine(cluster):
    with DaskEngine.at(cluster.scheduler_address) as made:
        yield made


def mails(folder):
    return markone.read(f"{folder}/mail*.jsonl", target="label")


# ---- the engine


def test_the_engine_runs_tasks_and_their_trees(engine):
    values = [engine.put(number) for number in range(7)]
    total = reduce_in_tree(engine, operator.add, values)
    assert engine.gather([total, values[3]]) == [21, 3]
    assert engine.wait([total], 0)
    assert engine.workers() == 2
    engine.free([total])


def test_the_engine_says_what_it_does(engine):
    engine.gather([engine.submit(np.negative, np.ones(1000)), engine.submit(operator.add, 1, 2)])
    assert engine.status() == "2 of 2 tasks, 2 workers, 0.0 MB moved"
    assert engine.moved == 2 * 8000


def test_progress_tells_of_the_workers(cluster, folder, monkeypatch):
    notes = []
    shown = Bar(None)
    shown.meter = SimpleNamespace(
        seconds=1.0, restart=lambda: None, close=lambda: None, update=lambda *one: notes.append(one[-1])
    )
    markone.train(
        mails(folder), cluster=cluster.scheduler_address, partitions=3, epochs=2, progress=shown, features=HASHED
    )
    assert any("of 3 tasks, 2 workers, " in note for note in notes)
    moved = [float(note.rpartition(", ")[2].removesuffix(" MB moved")) for note in notes if "MB" in note]
    assert moved == sorted(moved) and moved[-1] > 2 * 4 * 2**16 / 1e6  # the weights were sent twice


def test_the_error_of_a_task_is_that_of_the_user(engine):
    with pytest.raises(DataError, match=r"missing.jsonl, line 3: bad") as caught:
        engine.gather([engine.submit(raise_it, engine.put(DataError("bad", file="missing.jsonl", line=3)))])
    assert caught.value.line == 3


def raise_it(error):
    raise error


def test_a_killed_worker_changes_nothing(engine):
    kept = [engine.submit(operator.add, number, 1) for number in range(6)]
    engine.gather(kept)
    slow = [engine.submit(time.sleep, 0.2) for _ in range(4)]
    later = [engine.submit(operator.mul, one, 2) for one in kept]
    killed = engine.places()[0]
    kill(engine, killed)
    assert engine.gather(slow) == [None] * 4
    assert engine.gather(later) == [2, 4, 6, 8, 10, 12]
    wait_for(engine, killed)


def test_a_task_runs_where_its_argument_is(engine):
    for one in [engine.submit_to(place, bytes, 1000) for place in engine.places()]:
        engine.gather([one])
        own = engine._places_with(one.future)
        assert len(own) == 1
        assert engine.gather([engine.submit_near(one, place_with, one) for _ in range(6)]) == own * 6


def place_with(value):
    return worker.this_place()


def test_a_task_goes_elsewhere_if_its_argument_is_lost(engine):
    first = engine.submit(operator.add, 1, 2)
    engine.gather([first])
    killed = engine._places_with(first.future)[0]
    kill(engine, killed)
    assert engine.gather([engine.submit_near(first, operator.add, first, 1)]) == [4]
    wait_for(engine, killed)


def test_calls_in_turn_go_on_with_fewer_workers(engine, monkeypatch):
    """As many calls as for four workers are under way when there is only one."""
    workers = iter([4, 4])
    monkeypatch.setattr(engine, "workers", lambda: next(workers, 1))
    assert [*in_turn(engine, operator.add, ((number, 1) for number in range(20)))] == [*range(1, 21)]


def test_results_that_were_freed_are_made_again(engine):
    first = engine.submit(operator.add, 1, 2)
    second = engine.submit(operator.mul, first, 2)
    engine.gather([second])
    engine.free([first])
    second.future.cancel()  # as if all its workers had been lost
    assert engine.gather([second]) == [6]
    assert engine.made_again == 1


def test_a_full_disk_is_the_trouble_of_one_worker(engine, tmp_path):
    assert engine.gather([engine.submit(fails_once, str(tmp_path / "there"))]) == ["done"]
    with pytest.raises(DataError, match=r"also when it was begun again: the worker tcp.*No space left on device"):
        engine.gather([engine.submit(os_error, errno.ENOSPC)])
    with pytest.raises(FileNotFoundError):
        engine.gather([engine.submit(os_error, errno.ENOENT)])


def fails_once(path):
    if os.path.exists(path):
        return "done"
    Path(path).touch()
    raise OSError(errno.ENOSPC, "No space left on device")


def os_error(number):
    raise OSError(number, os.strerror(number))


def test_a_cluster_without_workers_is_an_error_in_time(monkeypatch):
    monkeypatch.setattr(tasks, "SILENT", 1.0)
    monkeypatch.setattr(tasks, "LOOK", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1", silence_logs=50) as empty,
        DaskEngine.at(empty.scheduler_address) as engine,
    ):
        with pytest.raises(DataError, match="has no workers; start some"):
            preflight.check_workers(engine, [])
        with pytest.raises(DataError, match="has had no worker for 1 seconds; start workers, and resume"):
            engine.gather([engine.submit(operator.add, 1, 2)])


# ---- before any work


def test_an_address_that_answers_nothing_is_an_error_in_five_seconds(monkeypatch):
    monkeypatch.setattr("markone.cluster.dask.ANSWER", 0.3)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(DataError, match=r"no scheduler of Dask answers at tcp://127.* within"):
            engine_of(f"tcp://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("host:8786", "must be the address of a Dask scheduler, such as tcp://host:8786, or of a Ray cluster"),
        (8786, "must be an address, a dask.distributed.Client, or the module ray, not int"),
    ],
)
def test_other_values_are_no_clusters(given, problem):
    with pytest.raises(SettingsError, match=problem):
        engine_of(given)


def test_a_worker_must_see_the_same_files(engine, folder, tmp_path, monkeypatch):
    path = tmp_path / "seen.jsonl"
    path.write_text("abc\n")
    preflight.check_workers(engine, [str(path)])
    mine = preflight.facts_of(str(path))
    for facts, problem in (
        ((5, mine[1]), "has another file .*: it has 4 bytes there, and 5 here"),
        ((mine[0], mine[1] + 1), None),
    ):
        monkeypatch.setattr(preflight, "look", look_with(facts))
        if problem is None:  # a copy with another date is the same file
            preflight.check_workers(engine, [str(path)])
            monkeypatch.setattr(preflight, "digest_of", lambda _: "another")
            problem = "it has the same size there, but other bytes"
        with pytest.raises(DataError, match=problem):
            preflight.check_workers(engine, [str(path)])
    monkeypatch.undo()
    path.unlink()
    monkeypatch.setattr(preflight, "look", look_with(mine))
    with pytest.raises(
        DataError, match="cannot read .*seen.jsonl: No such file or directory; files must have the same"
    ):
        preflight.check_workers(engine, [str(path)])


def look_with(facts):
    """Return a look that sees these facts in this process, and the real ones in a worker."""
    here = os.getpid()
    real = preflight.look

    class Look:
        __name__ = "look"

        def __call__(self, paths):
            return preflight.Sight(worker.this_build(), [facts for _ in paths]) if os.getpid() == here else real(paths)

        def __reduce__(self):
            return getattr, (preflight, "look")

    return Look()


def test_a_worker_must_have_the_same_versions(engine, monkeypatch):
    other = worker.this_build()._replace(numpy="1.0")
    monkeypatch.setattr(preflight, "this_build", lambda: other)
    with pytest.raises(DataError, match=r"the worker tcp.* has NumPy .*, and this process has 1.0; all machines must"):
        preflight.check_workers(engine, [])
    assert "another program" in other.difference(other._replace(code="0"))
    assert "Markone 0" in other.difference(other._replace(markone="0"))
    engine.build = other  # a worker that has joined later
    with pytest.raises(DataError, match="has NumPy"):
        engine.gather([engine.submit(operator.add, 1, 2)])


# ---- training


@pytest.mark.parametrize("rule", ["mira", "perceptron", "naive-bayes", "svm"])
def test_a_cluster_learns_the_same_bytes_as_threads(cluster, folder, rule):
    settings = {"rule": rule, "partitions": 5} | ({} if rule == "naive-bayes" else {"epochs": 3})
    expected = markone.train(mails(folder), threads=1, **settings)
    found = markone.train(mails(folder), cluster=cluster.scheduler_address, **settings)
    assert found.digest == expected.digest


def test_counts_are_calibrated_by_leave_one_out_on_a_cluster(cluster, folder):
    settings = {"rule": "naive-bayes", "partitions": 5, "features": {"text": {"hash_bits": 16, "weight": "none"}}}
    made = markone.train(mails(folder), **settings)
    assert made.calibrator is not None
    assert markone.train(mails(folder), cluster=cluster.scheduler_address, **settings).digest == made.digest


def test_rows_that_are_in_no_file_are_sent(cluster):
    texts = ["free money", "see you", "free offer", "lunch now"] * 5
    given = {"target": ["spam", "ham"] * 10, "partitions": 3, "epochs": 2, "holdout": 0.2}
    expected = markone.train(texts, **given)
    with distributed.Client(cluster) as client:
        assert markone.train(texts, cluster=client, **given).digest == expected.digest


@pytest.mark.parametrize("rule", ["mira", "svm"])
def test_a_worker_that_dies_between_passes_changes_nothing(cluster, folder, rule):
    settings = {"rule": rule, "partitions": 4, "epochs": 4}
    expected = markone.train(mails(folder), **settings)
    with DaskEngine.at(cluster.scheduler_address) as engine:
        killed = engine.places()[1]

        def murder(result):
            if result.epoch == 2:
                kill(engine, killed)

        found = markone.train(mails(folder), cluster=engine.client, callback=murder, **settings)
        wait_for(engine, killed)
    assert found.digest == expected.digest


@pytest.mark.parametrize("rule", ["mira", "svm"])
def test_a_training_is_resumed_on_a_cluster(cluster, folder, tmp_path, rule):
    settings = {"rule": rule, "partitions": 3, "epochs": 4}
    expected = markone.train(mails(folder), **settings)
    kept = {"checkpoint": tmp_path / "kept", "cluster": cluster.scheduler_address}

    def stop(result):
        if result.epoch == 2:
            raise KeyboardInterrupt

    interrupted = markone.train(mails(folder), callback=stop, **kept, **settings)
    assert len(interrupted.history) == 2 and interrupted.history.stopped == "interrupted"
    assert markone.train(mails(folder), resume=True, **kept, **settings).digest == expected.digest


def test_a_cluster_needs_partitions(folder):
    with pytest.raises(SettingsError, match="cluster needs at least two partitions; set partitions=8"):
        markone.train(mails(folder), cluster="tcp://127.0.0.1:1")


# ---- predictions for many files


@pytest.fixture(scope="session")
def model(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "mail.model"
    markone.train(mails(folder), epochs=2).save(path)
    return path


@pytest.mark.parametrize("output", ["parquet", "jsonl", "csv", "labels"])
def test_parts_are_the_same_on_a_cluster(cluster, folder, model, tmp_path, output):
    more = {} if output == "labels" else {"keep": ["text"], "scores": True}
    by_threads = markone.predict_files(model, str(folder), tmp_path / "a", output=output, **more)
    on_cluster = markone.predict_files(
        model, str(folder), tmp_path / "b", output=output, cluster=cluster.scheduler_address, **more
    )
    assert by_threads.rows == on_cluster.rows == 1 + 150 + 300 + 450
    assert on_cluster.workers == 2
    for a, b in zip(by_threads.files, on_cluster.files, strict=True):
        assert Path(a).read_bytes() == Path(b).read_bytes()


def test_parts_have_the_predictions_of_their_files(folder, model, tmp_path):
    import pyarrow.parquet as pq

    kept = markone.load(model)
    seen = []
    report = markone.predict_files(
        kept, f"{folder}/mail[23].jsonl", tmp_path / "a", keep=["text"], seen=lambda *one: seen.append(one)
    )
    assert [Path(one).name for one in report.files] == ["part-00000.parquet", "part-00001.parquet"]
    assert seen == [(300, 0.5), (750, 1.0)]
    rows = pq.read_table(report.files[1]).to_pylist()
    assert [row["prediction"] for row in rows] == list(kept.predict([row["text"] for row in rows]))


def test_parts_that_are_there_are_not_made_again(folder, model, tmp_path):
    out = tmp_path / "out"
    first = markone.predict_files(model, str(folder), out, output="csv")
    marked, removed = Path(first.files[1]), Path(first.files[2])
    before = removed.read_bytes()
    marked.write_text("marked")
    removed.unlink()
    again = markone.predict_files(model, str(folder), out, output="csv")
    assert (again.before, again.made, again.rows) == (3, 1, 300)
    assert removed.read_bytes() == before and marked.read_text() == "marked"
    assert "3 parts were there before" in str(again)
    with pytest.raises(DataError, match="has predictions with another output; name another folder"):
        markone.predict_files(model, str(folder), out, output="jsonl")
    with pytest.raises(DataError, match="has predictions with other files"):
        markone.predict_files(model, f"{folder}/mail1.jsonl", out, output="csv")
    with pytest.raises(DataError, match="is not empty, and has no predictions to go on with"):
        markone.predict_files(model, str(folder), tmp_path, output="csv")


def test_an_empty_file_has_an_empty_part(model, tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "in").mkdir()
    for number, text in enumerate(['{"text": "free money"}\n', ""]):
        (tmp_path / "in" / f"{number}.jsonl").write_text(text)
    report = markone.predict_files(model, str(tmp_path / "in"), tmp_path / "out", scores=True)
    full, empty = map(pq.read_table, report.files)
    assert empty.num_rows == 0 and empty.schema == full.schema


def test_a_failed_part_is_not_there(folder, model, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.jsonl").write_text('{"text": "one"}\n')
    (tmp_path / "in" / "1.jsonl").write_text('{"text": "one"}\n{"text": \n')
    with pytest.raises(MarkoneError, match=r"1.jsonl, line 2"):
        markone.predict_files(model, str(tmp_path / "in"), tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["part-00000.parquet", "parts.journal"]


def test_a_part_that_appears_elsewhere_is_noticed(folder, model, tmp_path, monkeypatch):
    monkeypatch.setattr("markone.scoring.predicting.make_part", lambda *_: 0)
    with pytest.raises(DataError, match="part-00000.parquet was written by a worker, but is not here"):
        markone.predict_files(model, str(folder), tmp_path / "out")
