"""The report of a training, on one screen."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol

from markone.cli.messages import readable, tell, typed
from markone.cli.terminal import say, say_json
from markone.data.files import STANDARD_INPUT
from markone.data.kinds import written
from markone.data.source import BadLines, Source
from markone.data.tables import TableSource
from markone.errors import text_of
from markone.features.examples import Renamed, fitting
from markone.model.evaluation import no_better
from markone.model.model import Model
from markone.model.number_evaluation import NumberEvaluation
from markone.model.several_evaluation import SeveralEvaluation
from markone.model.several_labels import SeveralLabels
from markone.reporting.grids import SCREEN, cells, counted, feature_in_words, label_in_words, plain_number, shortened

if TYPE_CHECKING:
    from markone.experiments.inspecting import Remark
    from markone.experiments.trials import Tuning
    from markone.model.evaluation import Evaluation

BAD_SHOWN = 3
CLASSES_SHOWN = 6
FEATURES_SHOWN = 6
NAMES_SHOWN = 5
COLUMNS_SHOWN = 30
REMARKS_SHOWN = 3
ALREADY_SAID = ("id", "unlabelled")
"""What remarks are about that the report says in other words."""
OF_CLASSES = ("measurement", "target of ids", "one class", "rare classes", "imbalance", "different labels")
"""What remarks are about that do not matter if numbers or several labels are predicted."""
FEWEST_RARE, HARDLY = 10, 0.5
"""The fewest examples of a rare class, and the share of them that should be found, before something else is advised."""
MUCH = 50_000_000
MEASURED = 20_000
"""The largest number of training rows on which a model is evaluated if no rows are held out."""
NAME_WIDTH = 24


def print_json(facts: dict[str, Any]) -> None:
    say_json(in_json(facts))


def in_json(facts: dict[str, Any]) -> str:
    return json.dumps(finite(facts), ensure_ascii=False, default=str)


def finite(facts: Any) -> Any:
    """Return the facts with NaN and infinity as texts, since JSON has no such numbers."""
    if isinstance(facts, dict):
        return {name: finite(one) for name, one in facts.items()}
    if isinstance(facts, list | tuple):
        return list(map(finite, facts))
    return str(facts) if isinstance(facts, float) and not math.isfinite(facts) else facts


class Result(Protocol):
    def as_dict(self) -> dict[str, Any]: ...


def show(result: Result, source: Source, *, json: bool, more: Mapping[str, Any] | None = None) -> None:
    """Print a result and the bad lines of its source."""
    if json:
        print_json({**result.as_dict(), **(more or {}), "bad_lines": source.bad.count})
        return
    say(str(result))
    bad_lines(source.bad)


def bad_lines(bad: BadLines) -> None:
    """Report on standard error the lines that were skipped."""
    for line in about_bad_lines(bad):
        tell(line)


def about_rare_class(model: Model, evaluation: Evaluation) -> Iterator[str]:
    """If a rare class is hardly found, say so, and say what to set."""
    settings = model.settings
    if settings.class_weight is not None or model.threshold is not None or model.abstention is not None:
        return
    if model.predicts_numbers or model.several is not None:
        return
    support, recall = evaluation.support, evaluation.recall
    rare = (support >= FEWEST_RARE) & (support * len(support) < support.sum()) & (recall < HARDLY)
    if not rare.any():
        return
    worst = int((rare * support * (1 - recall)).argmax())
    label = model.classes[worst]
    advice = [typed("--positive", written(label), "--threshold", "f1")] if len(model.classes) == 2 else []
    if not advice or not settings.traits.online:  # steps that repeat until a row is right hardly depend on its weight
        rule = ("--rule", "logistic") if settings.traits.online else ()
        advice.append(typed(*rule, "--class-weight", "balanced"))
    found = f"{label_in_words(label)} is found in {recall[worst]:.0%} of {int(support[worst]):,} cases"
    said = f"{found}. To find it more often, train with {' or '.join(advice)}."
    yield from wrap(said, SCREEN, break_on_hyphens=False)


def about_bad_lines(bad: BadLines) -> Iterator[str]:
    if bad.count:
        yield f"{counted(bad.count, 'bad line was', 'bad lines were')} skipped:"
        yield from (f"  {shortened(sentence, 200)}" for sentence in bad.first[:BAD_SHOWN])


def listed(names: list[str], width: int = NAME_WIDTH) -> str:
    """Return the first few names in a list."""
    shown = ", ".join(shortened(name, width) for name in names[:NAMES_SHOWN])
    return shown + (", ..." if len(names) > NAMES_SHOWN else "")


def by_value(values: dict[str, str]) -> dict[str, list[str]]:
    """Return the keys of each value.

    >>> by_value({"age": "numeric", "job": "text", "pay": "numeric"})
    {'numeric': ['age', 'pay'], 'text': ['job']}
    """
    found: dict[str, list[str]] = {}
    for key, value in values.items():
        found.setdefault(value, []).append(key)
    return found


class Report:
    """The report at the end of a training."""

    def __init__(
        self,
        model: Model,
        source: Source,
        path: str,
        data: list[str],
        *,
        final: bool = False,
        tuning: Tuning | None = None,
        test: str | None = None,
        evaluation: Evaluation | NumberEvaluation | SeveralEvaluation | None = None,
    ) -> None:
        self.model = model
        self.final = final
        self.source = source
        self.path = path
        self.data = data
        self.tuning = tuning
        self.test = test
        self.evaluation = evaluation
        """The result on the test file, if there is one."""

    def tell(self, *, json: bool, quiet: bool) -> None:
        """Print the report, or the facts as JSON."""
        if json:
            print_json(self.facts())
        elif not quiet:
            say("\n".join(self.lines()))

    def facts(self) -> dict[str, Any]:
        """Return all facts for `--json`."""
        model, history = self.model, self.model.history
        return {
            "model": self.path,
            "bytes": os.path.getsize(self.path),
            "rows": history.rows,
            "held_out": history.held_out,
            "unlabelled": history.unlabelled,
            "bad_lines": self.source.bad.count,
            "columns": {column.name: column.kind for column in model.features.columns},
            "not_used": self.not_used(),
            "remarks": [str(one) for one in self.found_remarks()],
            "target": self.source.target,
            "classes": model.classes,
            "positive": model.positive,
            "features": model.features.width,
            "numbers": model.features.numbers_in_words(),
            "shapes": model.features.shapes_in_words(),
            "rule": model.settings.rule,
            "passes": [asdict(one) for one in history],
            "stopped": history.stopped,
            "holdout": self.held_out_accuracy(),
            "majority": history.majority,
            "strongest": {written(label): names for label, names in self.strongest()},
            **({} if model.threshold is None else {"threshold": model.threshold.as_dict()}),
            **({} if model.abstention is None else {"abstention": model.abstention.as_dict()}),
            **({} if model.several is None else {"labels": model.several.save().facts["labels"]}),
            **({} if history.bounds is None else {"bounds": history.bounds.as_dict()}),
            **({} if self.tuning is None else {"tuning": self.tuning.as_dict()}),
            **({} if self.evaluation is None else {"test": self.evaluation.as_dict()}),
        }

    def lines(self) -> Iterator[str]:
        yield from self.warning()
        yield from self.read()
        if self.tuning is not None:
            yield from ["", *str(self.tuning).split("\n"), ""]
        yield from self.learned()
        yield from self.tested()
        features = list(self.features())
        if features:
            yield "Strongest features"
        yield from features
        if stat.S_ISREG(os.stat(self.path).st_mode):
            yield f"Saved {readable(self.path)}, {size_in_words(os.path.getsize(self.path))}.{self.spare()}"
            yield from self.next_commands()
        else:
            yield f"The model was not saved: {readable(self.path)} is not a regular file."

    def warning(self) -> list[str]:
        """Return a warning if the model is no better than always predicting the most frequent class."""
        history = self.model.history
        if history.majority is None or not history.passes or self.model.predicts_numbers or self.model.several:
            return []
        other = f"--rule {self.model.settings.traits.alternative}"
        accuracy = self.held_out_accuracy()
        if accuracy is not None:
            rows = counted(history.held_out, "held-out row", "held-out rows")
            return wrap("".join(no_better(accuracy, history.majority, rows, other)), SCREEN)
        accuracy = self.training_accuracy(history.majority)
        said = [] if accuracy is None else no_better(accuracy, history.majority, "the training rows", other)
        return wrap("".join(said), SCREEN)

    def training_accuracy(self, majority: float) -> float | None:
        """Return the accuracy on the training rows.

        None if there are many rows, and the mistakes of the last pass already show that it is high enough.
        """
        history = self.model.history
        last = history[len(history) - 1].mistakes
        if history.rows > MEASURED and last is not None and last < (1 - majority) * history.rows:
            return None
        return self.model.accuracy(self.source)

    def spare(self) -> str:
        """Return a hint to use `--final`, if that would save much space."""
        resume = None if self.final else self.model.resume
        size = 0 if resume is None else sum(array.nbytes for array in resume.arrays.values())
        return f" {size_in_words(size)} of it are only for --resume; --final leaves them out." if size > MUCH else ""

    def read(self) -> Iterator[str]:
        history = self.model.history
        rows = counted(history.rows + history.held_out + history.unlabelled, "row", "rows")
        others = f" and {counted(len(self.data) - 1, 'other', 'others')}" if len(self.data) > 1 else ""
        name = "standard input" if self.data[0] == STANDARD_INPUT else shortened(self.data[0], 50)
        layout = f", {self.source.table.how}" if isinstance(self.source, TableSource) and self.source.table.how else ""
        start = f"Read {rows} from {name}{others}{layout}:"
        kinds = self.columns_by_kind()
        if cells(line := f"{start} {', '.join(f'{kind} ({names})' for kind, names in kinds)}.") <= SCREEN:
            yield line if [*self.used_kinds()] != ["rows"] else f"{start} rows of features."
        else:
            yield start
            for kind, names in kinds:
                yield from wrap(f"{kind}: {names}.", SCREEN, initial_indent="  ", subsequent_indent="    ")
        not_used = self.not_used()
        if not_used:
            reasons = [f"{listed(names)} ({why})" for why, names in by_value(not_used).items()]
            said = f"Not used: {listed(reasons, SCREEN)}."
            yield from wrap(said, SCREEN, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        if history.unlabelled:
            yield f"  {counted(history.unlabelled, 'row has', 'rows have')} no label and cannot be used."
        yield from (f"  {line}" for line in about_bad_lines(self.source.bad))
        yield from self.remarks()

    def used_kinds(self) -> dict[str, list[str]]:
        """Return the names of the used columns by their kinds."""
        return by_value({column.name: column.kind for column in self.model.features.columns})

    def columns_by_kind(self) -> list[tuple[str, str]]:
        """Return each kind with the number of its columns, and the names of these columns."""
        found = []
        for kind, names in self.used_kinds().items():
            more = f" and {counted(len(names) - COLUMNS_SHOWN, 'other')}" if len(names) > COLUMNS_SHOWN else ""
            shown = ", ".join(shortened(name, NAME_WIDTH) for name in names[:COLUMNS_SHOWN])
            found.append((f"{len(names):,} {kind}", shown + more))
        return found

    def remarks(self) -> Iterator[str]:
        """Return what looks wrong with the data, by the rows that were read first."""
        from markone.cli.app import options_of
        from markone.cli.messages import as_option

        found = [one for one in self.found_remarks() if one.about not in ALREADY_SAID]
        for one in found[:REMARKS_SHOWN]:
            said = text_of(one.words, lambda setting: as_option(options_of("train"), setting))
            yield from wrap(f"Note: {said}.", SCREEN, initial_indent="  ", subsequent_indent="    ")
        if len(found) > REMARKS_SHOWN:
            target = () if self.source.target is None else ("--target", self.source.target)
            more = counted(len(found) - REMARKS_SHOWN, "more note")
            yield f"  {more}: {typed('markone', 'inspect', *self.data, *target)}"

    def found_remarks(self) -> list[Remark]:
        from markone.experiments.inspecting import inspect_sample

        found = inspect_sample(self.source).remarks if isinstance(self.source, TableSource) else []
        left_out = {*OF_CLASSES} if self.model.predicts_numbers or self.model.several is not None else set()
        left_out |= set() if self.model.several is None else {"gives the target away"}
        return [one for one in found if one.about not in left_out]

    def not_used(self) -> dict[str, str]:
        """Return the columns that have no features, with the reasons."""
        used = {column.name for column in self.model.features.columns}
        others = [column.name for column in self.source.columns if column.name not in used]
        if others:
            found = fitting(self.source, self.model.features.columns)
            others = [name for name in others if not (isinstance(found, Renamed) and found.old == name)]
        ignored = self.source.ignored if isinstance(self.source, TableSource) else {}
        reasons = {name: why.removeprefix("no features are made from ") for name, why in ignored.items()}
        return {**dict.fromkeys(others, "not in the model"), **{n: why for n, why in reasons.items() if n not in used}}

    def learned(self) -> Iterator[str]:
        model, history = self.model, self.model.history
        what = "numbers" if model.predicts_numbers else counted(len(model.classes), "class", "classes")
        what = what if model.several is None else counted(len(model.classes), "label")
        what = f"{what} of {shortened(model.target or 'label', NAME_WIDTH)}"
        features = counted(model.features.width, "feature", "features")
        said = f"Learned {what} from {counted(history.rows, 'row', 'rows')} ({model.settings.rule}, {features})."
        yield from wrap(said, SCREEN, subsequent_indent="  ", break_on_hyphens=False)
        for sentence in model.features.shapes_in_words():
            yield from wrap(sentence, SCREEN, initial_indent="  ", subsequent_indent="  ")
        yield from self.positive()
        if history.passes:
            yield f"  {counted(len(history), 'pass', 'passes')}{self.mistakes()}."
            yield from self.optimum()
            if history.bounds is not None:
                numbers = self.model.features.numbers_in_words()
                sentences = [*history.bounds.sentences(), *([] if numbers is None else [f"Numbers are {numbers}."])]
                yield from (f"  {line}" for one in sentences for line in wrap(one, SCREEN - 2))
        accuracy = self.held_out_accuracy()
        if accuracy is not None and history.majority is not None:
            rows = counted(history.held_out, "held-out row", "held-out rows")
            what = "Accuracy" if model.settings.class_weight is None else "Accuracy, by class weights,"
            said = f"{what} {accuracy:.1%} on {rows} ({history.majority:.1%} for the most frequent class)."
            if model.several is not None:
                most = f"for the most frequent set, {history.majority:.1%}"
                said = f"At a score of 0, all labels are right in {accuracy:.1%} of {rows} ({most})."
            yield f"  {said}"
        yield from self.decided()

    def not_seen(self, rows: int) -> str:
        """Say on which rows a threshold was chosen."""
        if rows == self.model.history.held_out:
            return f" on {rows:,} rows that were not trained on"
        return f" on {rows:,} rows, each scored by a model that was not trained on it"

    def decided_labels(self, several: SeveralLabels) -> Iterator[str]:
        """Say how the thresholds of several labels were chosen."""
        chosen = [one.threshold for one in several.decisions if one.threshold is not None]
        if chosen:
            rows = self.not_seen(chosen[0].rows) if chosen[0].rows else ""
            what = f"The thresholds of {len(chosen):,} of {counted(len(several.decisions), 'label')}"
            said = f"{what} were chosen for {chosen[0].aim}{rows}."
            yield from wrap(said, SCREEN, initial_indent="  ", subsequent_indent="  ")

    def decided(self) -> Iterator[str]:
        """Say how the threshold was chosen, or what abstention promises."""
        threshold, abstention = self.model.threshold, self.model.abstention
        if self.model.several is not None:
            yield from self.decided_labels(self.model.several)
        if threshold is not None:
            what = f"{label_in_words(self.model.classes[1])} is predicted from a score of {threshold.score:.4g}"
            said = f"{what}, for {threshold.aim_in_words}"
            if threshold.precision is not None and threshold.recall is not None:
                measured = f"precision {threshold.precision:.1%}, recall {threshold.recall:.1%}"
                said += f": {measured}{self.not_seen(threshold.rows)}"
            yield from wrap(f"{said}.", SCREEN, initial_indent="  ", subsequent_indent="  ")
        if abstention is not None:
            shares = abstention.answered / abstention.rows, abstention.wrong / abstention.answered
            said = (
                f"Predicts {shares[0]:.1%} of {abstention.rows:,} held-out rows, with {shares[1]:.2%} errors: with 95% "
                f"confidence, at most {abstention.error:.2%} of the predictions are wrong."
            )
            yield from wrap(said, SCREEN, initial_indent="  ", subsequent_indent="  ")

    def positive(self) -> Iterator[str]:
        if self.model.positive is not None:
            yield f"  Positive class: {label_in_words(self.model.positive)}."

    def tested(self) -> Iterator[str]:
        if self.test is None or self.evaluation is None:
            return
        place = f"{counted(self.evaluation.total, 'row')} of {shortened(self.test, 50)}"
        if isinstance(self.evaluation, NumberEvaluation):
            low, high = self.evaluation.r2_interval
            said = (
                f"R² {self.evaluation.r2:.3f} on {place} (95% interval {low:.3f} to {high:.3f}), mean absolute error "
                f"{plain_number(self.evaluation.mae)}."
            )
        elif isinstance(self.evaluation, SeveralEvaluation):
            said = f"Micro F1 {self.evaluation.micro_f1:.1%}, macro F1 {self.evaluation.macro_f1:.1%} on {place}."
        else:
            low, high = self.evaluation.interval
            said = (
                f"Accuracy {self.evaluation.accuracy:.1%} on {place} (95% interval {low:.1%} to {high:.1%}), which "
                "were used only for this test."
            )
        yield from wrap(said, SCREEN, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        if not isinstance(self.evaluation, NumberEvaluation | SeveralEvaluation):
            yield from (f"  {line}" for line in about_rare_class(self.model, self.evaluation))

    def mistakes(self) -> str:
        first, last = self.model.history[0], self.model.history[len(self.model.history) - 1]
        if first.mistakes is None or last.mistakes is None:
            return ""
        if last.gap is not None:  # before the first step towards an optimum, all classes tie in every row
            return f": {counted(last.mistakes, 'mistake')} in the last"
        more = f", {last.mistakes:,} in the last" if last is not first else ""
        return f": {counted(first.mistakes, 'mistake')} in the first{more}"

    def optimum(self) -> Iterator[str]:
        """Say how close to the optimum the weights are, if the rule has an optimum."""
        last = self.model.history[len(self.model.history) - 1]
        if last.gap is not None and last.objective is not None:
            outcome = {"optimum": "converged", "converged": "converged as far as possible"}.get(
                self.model.history.stopped, "not yet converged"
            )
            gap = self.model.settings.family.gap_in_words.format(gap=last.gap, percent=100 * last.gap)
            yield f"  Objective {last.objective:.6g}, {gap}: {outcome}."

    def held_out_accuracy(self) -> float | None:
        """Return the held-out accuracy of the saved weights: those of the best pass with patience, else of the last."""
        history = self.model.history
        if not history.passes:
            return None
        best = self.model.settings.patience is not None and history.best_epoch is not None
        return history[(history.best_epoch or 0) - 1 if best else len(history) - 1].holdout

    def strongest(self) -> list[tuple[Any, list[str]]]:
        """Return the features with the largest weights for each class, if features have weights."""
        if not self.model.scorer.adds_up:
            return []
        features: list[tuple[Any, list[str]]] = self.model.explain(top=FEATURES_SHOWN).by_class(FEATURES_SHOWN)
        return features

    def features(self) -> Iterator[str]:
        strongest = [(label_in_words(label, NAME_WIDTH), names) for label, names in self.strongest() if names]
        strongest = [(label, [*map(feature_in_words, names)]) for label, names in strongest]
        width = max((cells(label) for label, _ in strongest[:CLASSES_SHOWN]), default=0)
        for label, names in strongest[:CLASSES_SHOWN]:
            words = f"  {label}{' ' * (width - cells(label))}  {shortened(names[0], NAME_WIDTH)}"
            for name in names[1:]:
                more = f"{words}, {shortened(name, NAME_WIDTH)}"
                if cells(more) > SCREEN:
                    break
                words = more
            yield words
        more_classes = len(strongest) - CLASSES_SHOWN
        if more_classes > 0:
            what = counted(more_classes, "more class", "more classes")
            yield f"  and {what}: {typed('markone', 'explain', self.path)}"

    def next_commands(self) -> Iterator[str]:
        first = self.data[0]
        ending = "" if first == STANDARD_INPUT else endings(first)
        yield f"Next:  {typed('markone', 'evaluate', self.path, f'TEST{ending}')}"
        explain = typed("markone", "explain", self.path)
        if [column.kind for column in self.model.features.columns] == ["text"]:
            yield f'       {explain} --text "..."'
        elif first != STANDARD_INPUT:
            yield f"       {explain} {typed('--row', 1, first)}"


class GivenReport(Report):
    """The report about a model that was made from given weights."""

    def __init__(
        self,
        model: Model,
        path: str,
        start: str,
        *,
        test: str | None = None,
        evaluation: Evaluation | NumberEvaluation | SeveralEvaluation | None = None,
    ) -> None:
        super().__init__(model, NoSource(), path, [STANDARD_INPUT], test=test, evaluation=evaluation)
        self.start = start

    def facts(self) -> dict[str, Any]:
        wanted = ("model", "bytes", "columns", "classes", "positive", "features", "rule", "strongest", "test")
        facts = super().facts()
        return {"start": self.start, **{name: facts[name] for name in wanted if name in facts}}

    def read(self) -> Iterator[str]:
        return iter(())

    def learned(self) -> Iterator[str]:
        model = self.model
        classes = counted(len(model.classes), "class", "classes")
        features = counted(model.features.width, "feature", "features")
        yield f"Made a model of {classes} from the weights in {shortened(self.start, 50)} ({features})."
        yield from self.positive()


class NoSource(Source):
    """Stands for training data that a model does not have."""

    def __init__(self) -> None:
        self.columns, self.target, self.labels, self.bad = (), None, [], BadLines()

    def batches(self) -> Iterator[Any]:
        return iter(())


def endings(path: str) -> str:
    """
    >>> endings("data/reviews.csv.gz"), endings("train-images-idx3-ubyte.gz")
    ('.csv.gz', '-images-idx3-ubyte.gz')
    """
    from markone.data.finding import format_of, name_without_compression

    name = os.path.basename(path)
    if format_of(name) == "idx" and "images" in name:  # the labels are in another file
        return f"-{name[name.rindex('images') :]}"
    stem = os.path.splitext(name_without_compression(path))[0]
    return name[len(stem) :]


def size_in_words(size: int) -> str:
    """
    >>> size_in_words(820), size_in_words(4321), size_in_words(12_345_678)
    ('820 bytes', '4.3 kB', '12.3 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    for unit, of in (("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
        if size < 1000 * of or unit == "GB":
            break
    return f"{size / of:,.1f} {unit}"
