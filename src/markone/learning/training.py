"""Training: from a source to a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack

from markone.checks import check_named, switch
from markone.cluster.engine import Engine
from markone.data.blocks import Block, of_each
from markone.data.class_order import ClassOrder
from markone.data.source import Label, Source
from markone.data.store import RowStore, TrainingRows
from markone.errors import DataError, Setting, SettingsError
from markone.features.dependence import what_learns
from markone.features.files import files_of
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import (
    check_for_numbers,
    check_for_sets,
    check_kept,
    check_names,
    check_weights_of_words,
    going_on,
    settings_of,
    spec_of,
)
from markone.learning.beginning import Start, begin, learn_on, take_up
from markone.learning.class_weights import weights_of_sets
from markone.learning.cross_fitting import Scored, cross_fitted, may_be_crossed, number_of_folds, scored_left_out
from markone.learning.deciding import calibrator_of, decisions_of_labels
from markone.learning.examples import StoredExamples
from markone.learning.logistic import BatchLearner
from markone.learning.mistake_bounds import Bounding, check_theory, not_bounded, wanted
from markone.learning.naive_bayes import Counting
from markone.learning.online import Linear
from markone.learning.partitions.distant import DistantRows, examples_of, parts_on
from markone.learning.passes import LearnerTraining
from markone.learning.progress import Bar, Progress
from markone.learning.reading import (
    Filling,
    OwnFilling,
    opened,
)
from markone.learning.run import Run, other_data
from markone.learning.run_options import Callback, RunOptions
from markone.learning.several_labels import LabelLearner, Sets
from markone.learning.starting import check_given_start, start_from, with_start
from markone.learning.svm import Dual
from markone.learning.warm_start import check_growth
from markone.learning.wishes import NO_DECISIONS, Decisions, Wishes
from markone.model.calibrator import Calibrator
from markone.model.counts import Counts, count_strongest
from markone.model.given_weights import GivenWeights, WeightsByName
from markone.model.history import History
from markone.model.model import Model, load
from markone.model.rules import SOLVERS, Rule, predicts_numbers
from markone.model.settings import Settings, TrainSettings
from markone.model.settings import Start as NamedStart
from markone.model.several_labels import SeveralLabels
from markone.storage.container import Path
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.cluster.tasks import RemoteEngine

FROM_MODEL = "from a model"


def train(
    source: Any,
    target: Any = None,
    *,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    positive: Label | None = None,
    classes: Sequence[Label] | None = None,
    threshold: float | str | None = None,
    abstain: float | str | None = None,
    start: NamedStart | WeightsByName | Path | None = None,
    from_model: Any = None,
    checkpoint: Any = None,
    resume: Any = False,
    threads: int | None = None,
    memory: int | str | None = None,
    callback: Callback | None = None,
    progress: Progress | bool | None = None,
    cluster: Any = None,
    bounds: bool | float = False,
    scaled: bool | None = None,
    plain: bool = False,
    **settings: Unpack[TrainSettings],
) -> Model:
    """Train a model on a source, or on anything that `markone.read` opens.

    Parameters
    ----------
    source
        A source, or anything that `markone.read` accepts: a path, a frame, a list of texts.
    target
        The target, as for `markone.read`, if `source` is not yet a source. If it has a list of labels for each row, the
        model predicts several labels.
    rule
        The learning rule: `perceptron`, `mira` or `hinge`, which take a step at each example; `logistic` or `svm`,
        which converge to an optimum; `naive-bayes`, which counts; `mlp`, a network with hidden layers; or `regression`,
        which predicts numbers instead of classes. `mira` by default.
    features
        The specification of the features: a `Features`, a dict, the name of a TOML file, or "email" for mails. By
        default every column is used, in a way that depends on its kind.
    functions
        Python functions that compute more features, by name.
    positive
        The label of the positive class, if there are two classes. It becomes the second class, which positive scores
        support. By default it is a label such as `+`, `yes`, `positive` or `spam`; or the label that the other one
        negates, as `not spam` negates `spam`; or else the second label in the order of sorting.
    classes
        The labels of all classes, in their order, if you do not want them sorted. With two classes, the second is the
        positive one. Classes that the data do not have are possible.
    threshold
        When the positive class of two is predicted: a probability from which it is, such as 0.3; or "f1" for the best
        F1, "recall=0.9" for the best precision with at least this recall, "precision=0.9" for the best recall, or
        "cost=1:5" if a missed positive row costs five times as much as a false positive. The threshold is chosen on
        rows that the model was not trained on. If rows have several labels, each label has a threshold; the default is
        then "micro-f1", for the best F1 of all labels together.
    abstain
        The largest share of wrong predictions, such as 0.01 or "1%". The model then makes no prediction where its
        margin is too small. Held-out rows, by default one of five, show which margin is large enough; with 95%
        confidence, the promise holds for new rows of the same kind.
    start
        The first weights: "zero" (the default), "random", or weights that you give, by feature for two classes or by
        class and feature, as for `Model.from_weights`; or the path of a JSON, TOML, CSV or TSV file with them. `BIAS`
        is the bias. Only for rules that take a step at each example.
    from_model
        A model, or its path, to continue training from: with its features, settings and weights, and with the new
        features and classes of the data. The held-out rows are chosen again.
    checkpoint
        The path of a file in which the training is saved after every pass, and when Ctrl-C or SIGTERM interrupts it;
        or `Checkpoints`, which also set how often.
    resume
        True to resume the training from the checkpoint, if the file exists. The model will have the same bits as
        without the interruption. Source and settings must be the same; only `epochs` may be larger. It can also be the
        path of another file to resume from, such as a model: with more epochs, the result is the same as if it had been
        trained with them from the start.
    threads
        The number of threads that read and count; by default, the number of cores. The result is the same.
    memory
        If the rows need more memory than this, they are stored in a temporary file: bytes, or a text such as "2 GB";
        by default, half of the machine's memory. The result is the same.
    callback
        A function that is called with each pass; training ends when it returns True.
    progress
        By default, a bar is shown on a terminal or in a notebook if the work takes more than two seconds. True shows
        it at once, or prints lines elsewhere. False shows nothing. Or an object with the methods of `Progress`.
    cluster
        The workers of a cluster learn the partitions: the address of a Dask scheduler such as "tcp://host:8786", a
        `dask.distributed.Client`, the address of a Ray cluster such as "ray://host:10001", or the module `ray`. They
        read the files themselves, which must have the same path on all machines. The result is the same. Set
        `partitions`, too.
    bounds
        True to compute the mistake bound of the perceptron, as `model.history.bounds`: how many mistakes the theory
        allows, and the largest possible margin. It can also be the margin of a plane that you know. This needs the rule
        `perceptron` with its default settings. Numeric columns are then used as they are, without scaling.
    scaled
        Whether numeric columns are scaled, if `features` does not say it. By default they are, but not with `bounds`.
    plain
        By default, a table of numbers and categories is learned by `logistic`, with curves of numeric columns and pairs
        of columns, as far as they help on held-out training rows, if no rule is chosen, and no other setting than
        `holdout`, `class_weight`, `seed`, `tie` and `bias`. With columns of text beside them, this is so only if curves
        or pairs help. True for `mira` and straight lines, as in the lectures. `regression` has curves and pairs, too,
        for tables without texts, unless there are other settings than its loss, `seed` and `bias`.
    settings
        All other settings, as in `markone.Settings`: `epochs`, `C`, `holdout` and so on. By default, one row of twenty
        is held out, or none if there are few rows.

    Examples
    --------
    >>> model = train(["free money", "see you soon"], target=["spam", "ham"])
    >>> model.predict("money for free")
    'spam'
    """
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    given, weights = with_start(given, start)
    check_names(given, signature(train).parameters)
    order = ClassOrder.of(positive, classes)
    if predicts_numbers(rule):
        named = {"positive": positive, "classes": classes, "threshold": threshold, "abstain": abstain}
        check_for_numbers(**named, start=weights, from_model=from_model)
    options = RunOptions.of(
        checkpoint=checkpoint, resume=resume, callback=callback, progress=progress, threads=threads, memory=memory
    )
    kept, base = earlier_models(options, from_model, functions)
    if kept is not None:
        check_kept(kept, given)
    if base is not None:
        given = going_on(given, base)
    if (earlier := kept or base) is not None:
        order.check_model(earlier.classes)
    checked = settings_of(given, earlier)
    watched = wanted(bounds) or (kept is not None and kept.history.bounds is not None)
    check_start(checked, base, weights, watched)
    usual = not watched if scaled is None else check_named("scaled", switch, scaled)
    if features is None and scaled is not None:
        features = {}
    of_numbers = checked.traits.predicts_numbers
    source = opened(source, target, threads)
    if source.several:
        check_for_sets(checked, positive=positive, abstain=abstain, start=weights, bounds=watched)
    if kept is not None and source.several != (kept.several is not None):
        raise DataError(other_data(ClassifierTraining.visited))
    if base is not None and source.several != (base.several is not None):
        has, have = ("one label", "lists of labels") if source.several else ("several labels", "one label each")
        raise DataError(f"the model to start from predicts {has} for each row, and these rows have {have}")
    classless = of_numbers or source.several
    spec = spec_of(features, functions, earlier, countable=checked.traits.counts, scaled=usual, classless=classless)
    if source.several and earlier is None:
        check_weights_of_words(spec, source.columns)
    free = earlier is None and weights is None and not watched and scaled is None and not source.several
    curved = free and table_defaults.suits(source.columns, given)
    table_defaults.check_plain(check_named("plain", switch, plain), curved)
    straight = None
    if curved and not plain:
        if not of_numbers:
            checked, straight = settings_of({"rule": table_defaults.RULE, **given}, None), checked
        spec = spec_of(features, functions, None, countable=False, curved=True, classless=of_numbers)
    wishes = Wishes.of(threshold, abstain, earlier)
    wishes.check(checked, given)
    holdout = checked.holdout if kept or "holdout" in given or of_numbers else wishes.holdout
    with engine_on(cluster, checked, source, spec.functions) as engine, ExitStack() as stack:
        if engine is not None and isinstance(options.progress, Bar):
            options.progress.elsewhere = engine.status
        reading = (source, holdout, checked.seed, options.threads, options.memory, options.progress, of_numbers)
        filling: Filling
        if engine is not None and workers_can_read(source, spec, earlier):
            from markone.learning.partitions.fitting import DistantFilling

            distant = stack.enter_context(DistantRows(engine, checked.partitions, options.memory))
            filling = DistantFilling(*reading, engine=engine, store=distant)
        else:
            filling = OwnFilling(*reading, store=stack.enter_context(RowStore(options.memory)))
        if kept is not None:
            begun = take_up(kept, filling, checked)
        elif base is not None:
            begun = learn_on(base, filling, checked)
        else:
            begun = begin(spec, filling, checked, order, scaled, straight)
        if weights is not None:
            start_from(weights, begun.learner, begun.features, begun.classes)
        training = ClassifierTraining(
            filling.source, begun, filling.store, digest_of_start(weights, kept, base), options.threads, wishes, engine
        )
        run = Run(training)
        if watched:
            training.watch(run.history, bounds, kept)
        if kept is not None:
            run.go_on(kept)
        return run.train(options)


def engine_on(
    cluster: Any, settings: Settings, source: Source, functions: Mapping[str, Function]
) -> AbstractContextManager[RemoteEngine | None]:
    """Return the engine of a cluster, after a look at its workers; None without a cluster."""
    if cluster is None:
        return nullcontext()
    if settings.partitions == 1:
        raise SettingsError(
            "cluster", ("needs at least two partitions; set ", Setting("partitions", 8), ", for example")
        )
    if settings.rule in SOLVERS and settings.solver != "online":
        raise SettingsError(
            "cluster", ("needs rules whose partitions learn on their own; set ", Setting("solver", "online"))
        )
    files = files_of(source)
    from markone.cluster.engines import opened as opened_engine

    return opened_engine(cluster, () if files is None else files.paths, functions)


def workers_can_read(source: Source, spec: Features, earlier: Model | None) -> bool:
    """Return whether workers can read the rows and fit the features, so that this process need not do it."""
    if files_of(source) is None:
        return False
    columns = source.columns if earlier is None else earlier.features.columns
    return FeatureMap(spec, columns).mergeable


def earlier_models(
    options: RunOptions, from_model: Any, functions: Mapping[str, Function] | None
) -> tuple[Model | None, Model | None]:
    """Return the model whose training is resumed, and the model to start from. At most one of them is not None."""
    if functions and isinstance(from_model, Model):
        raise SettingsError("functions", "are already in the model; leave them out")
    if options.resume_from is not None:
        return load(options.resume_from, functions), None
    return None, from_model if from_model is None or isinstance(from_model, Model) else load(from_model, functions)


def check_start(settings: Settings, base: Model | None, weights: GivenWeights | None, watched: bool) -> None:
    """Raise an error if a training cannot start from the base model or the given weights, or if its mistake bound
    cannot be computed."""
    if watched and base is not None:
        raise not_bounded("the weights start from a model")
    if watched and weights is not None:
        raise not_bounded("the first weights are given")
    if weights is not None:
        check_given_start(settings)
        if base is not None:
            raise SettingsError("start", "has the first weights, but they are already those of a model; leave one out")
    if base is not None:
        check_growth(base, settings)
    if watched:
        check_theory(settings)


def digest_of_start(weights: GivenWeights | None, kept: Model | None, base: Model | None) -> str:
    """Return the digest of the given first weights; empty if there are none. A training that is resumed keeps its own,
    and cannot be given others."""
    if base is not None:
        return FROM_MODEL
    if kept is None or kept.resume is None:
        return "" if weights is None else weights.digest()
    own = str(kept.resume.facts.get("digest", "")).partition(" ")[2]
    if weights is not None and weights.digest() != own:
        raise SettingsError("start", "has other weights than the training that is to be resumed; leave it out")
    return own


class ClassifierTraining(LearnerTraining[Model]):
    """The training of a classifier on the rows of a store."""

    def __init__(
        self,
        source: Source,
        start: Start,
        store: TrainingRows,
        given_start: str = "",
        threads: int = 1,
        wishes: Wishes | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.stored = examples_of(store, start.learner.settings)
        if engine is not None:
            start.learner.engine = engine  # type: ignore[attr-defined]  # `engine_on` has checked the rule
        if engine is not None and isinstance(store, RowStore) and isinstance(self.stored, StoredExamples):
            self.stored.distant = partial(parts_on, engine, source, start.features, store)
        if isinstance(start.learner, LabelLearner | Linear | Counting | BatchLearner | Dual):
            start.learner.threads = threads
        super().__init__(start.learner, self.stored)
        self.source = source
        self.start = start
        self.store = store
        self.given_start = given_start
        """The digest of the first weights, if they were given."""
        self.threads = threads
        self.wishes = wishes or Wishes()
        self.wishes.check_classes(start.classes, store, several=start.sets is not None)
        self.bounding: Bounding | None = None

    def watch(self, history: History, bounds: bool | float, kept: Model | None) -> None:
        """Compute the mistake bound of the perceptron during the run."""
        given = None if isinstance(bounds, bool) else float(bounds)
        self.bounding = Bounding(self.learner, history, given)
        if kept is None:
            self.bounding.begin(self.rows_here())
        else:
            self.bounding.go_on(kept.history.bounds, given, self.rows_here())

    def rows_here(self) -> Iterator[Block]:
        """Return all rows, which are here, because a bound is about one partition."""
        assert isinstance(self.stored, StoredExamples)
        return self.stored.learned()

    def new_history(self) -> History:
        return replace(super().new_history(), unlabelled=self.store.unlabelled)

    def digest(self) -> str:
        """Return a digest of the rows, and of the first weights if they were given."""
        digest = self._digest_of_rows
        if self.start.numbers is not None:
            digest += sha256(self.start.numbers.tobytes()).hexdigest()
        return f"{digest} {self.given_start}" if self.given_start else digest

    @cached_property
    def _digest_of_rows(self) -> str:
        return self.stored.digest(self.learner.settings.partitions)

    def unfinished(self, best: Saved | None, history: History, resume: Saved) -> Model:
        return self.model(history, resume, decisions=self.wishes.unfulfilled())

    def finished(self, best: Saved | None, history: History, resume: Saved | None) -> Model:
        if self.bounding is not None:
            self.bounding.finish(self.rows_here())
        self.use_best(best)
        if self.start.numbers is not None:
            return self.model(history, resume)
        weights, counts = self.learner.scorer().weights, None
        if self.start.sets is not None:
            return self.model(history, resume, several=self.decisions(self.start.sets))
        if weights is not None:
            counts = count_strongest(weights, self.stored.learned(), len(self.start.classes), self.start.features)
        scored = self.scored()
        calibrator = None
        if scored is not None:
            calibrator = calibrator_of(scored, self.learner.settings, self.start.classes)
        decisions = self.wishes.fulfilled(self.learner.settings, scored, calibrator, self.held_out())
        return self.model(history, resume, counts, calibrator, decisions)

    def decisions(self, sets: Sets) -> SeveralLabels:
        """Learn for each label how scores become probabilities and, if the user wants it, a threshold."""
        found, names, class_weight = self.scored(), self.start.classes, self.learner.settings.class_weight
        scored, weights = [], None
        if found is not None:
            if class_weight is not None:
                weights = weights_of_sets(class_weight, names, sets, found.truth, found.importance)
            scored = [found.of_label(sets, label, weights) for label in range(len(sets))]
        return decisions_of_labels(scored, self.learner.settings, self.wishes, len(sets))

    def scored(self) -> Scored | None:
        """Return rows with scores of models that were not trained on them: all rows if there are few values, by exact
        leave-one-out where it needs no training, and else by cross-fitting; and otherwise the held-out rows."""
        asked = self.wishes.needs_rows
        start = self.start
        if not self.given_start and may_be_crossed(self.learner.settings, self.store, asked=asked):
            if isinstance(self.learner, Counting) and what_learns(start.features) is None:
                return self.left_out(self.learner)
            spec, folds = start.features.spec, number_of_folds(self.store)
            settings = self.learner.settings
            return cross_fitted(self.source, spec, settings, start.classes, folds, self.threads, start.sets)
        return self.held_out()

    def held_out(self) -> Scored | None:
        """Return the held-out rows with their scores."""
        parts = [Scored.of(block, self.learner.scores(block.rows)) for block in self.stored.held_out()]
        return Scored.joined(parts) if parts else None

    def left_out(self, counting: Counting) -> Scored:
        """Return all rows: the counted ones with scores without their own counts, and those that are held out."""
        counted = [*of_each(self.stored.learned(), scored_left_out, counting)]
        apart = self.held_out()
        return Scored.joined(counted if apart is None else [*counted, apart])

    def model(
        self,
        history: History,
        resume: Saved | None,
        counts: Counts | None = None,
        calibrator: Calibrator | None = None,
        decisions: Decisions = NO_DECISIONS,
        several: SeveralLabels | None = None,
    ) -> Model:
        if self.start.sets is not None and several is None:
            several = self.wishes.unfulfilled_of_labels(len(self.start.sets))
            decisions = NO_DECISIONS
        return Model(
            features=self.start.features,
            classes=self.start.classes,
            scorer=self.learner.scorer(),
            settings=self.learner.settings,
            history=history,
            target=self.source.target,
            reading=dict(self.source.reading),
            counts=counts,
            resume=resume,
            calibrator=calibrator,
            threshold=decisions.threshold,
            abstention=decisions.abstention,
            several=several,
        )
