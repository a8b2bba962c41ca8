"""Training: from a source to a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from markone.checks import as_kept, check_named, switch
from markone.cluster.engine import Engine
from markone.data.blocks import Block, of_each
from markone.data.class_order import ClassOrder
from markone.data.labels import numbers_of
from markone.data.read import read
from markone.data.source import Column, Label, Source
from markone.data.store import RowStore, TrainingRows
from markone.errors import DataError, Setting, SettingsError, did_you_mean
from markone.features.choices import chosen_as
from markone.features.dependence import what_learns
from markone.features.examples import fitting
from markone.features.files import files_of
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.class_weights import weigh, weights_of_sets
from markone.learning.cross_fitting import Scored, cross_fitted, may_be_crossed, number_of_folds, scored_left_out
from markone.learning.deciding import calibrator_of, decisions_of_labels
from markone.learning.examples import StoredExamples
from markone.learning.learner import Learner
from markone.learning.learners import new_learner
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
    finish_store,
    finish_store_of_numbers,
    finish_store_of_sets,
    opened,
)
from markone.learning.run import Run, check_same_settings, other_data
from markone.learning.run_options import Callback, RunOptions
from markone.learning.several_labels import LabelLearner, LabelsInTurn, Sets
from markone.learning.shapes import find_shapes
from markone.learning.starting import check_given_start, start_from, with_start
from markone.learning.svm import Dual
from markone.learning.warm_start import check_growth, grown
from markone.learning.wishes import NO_DECISIONS, Decisions, Wishes
from markone.model.calibrator import Calibrator
from markone.model.counts import Counts, count_strongest
from markone.model.given_weights import GivenWeights, WeightsByName
from markone.model.history import History
from markone.model.model import Model, load
from markone.model.rules import SOLVERS, Rule, owners_of, predicts_numbers
from markone.model.settings import Settings, TrainSettings
from markone.model.settings import Start as NamedStart
from markone.model.several_labels import SeveralLabels
from markone.storage.container import Path
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.cluster.tasks import RemoteEngine

USUAL_RULE: Rule = "mira"
FROM_MODEL = "from a model"
OF_ANY_RULE = ("epochs", "average", "tie", "bias", "order", "class_weight", "seed")


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
    check_names(given)
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


# ---- three ways to start


@dataclass(frozen=True, slots=True)
class Start:
    """What passes start from, when the rows are in the store."""

    features: FeatureMap
    classes: list[Label]
    """The classes; empty if numbers are predicted."""
    learner: Learner
    numbers: NDArray[np.float64] | None = None
    """The number that each label stands for, if numbers are predicted."""
    sets: Sets | None = None
    """The classes that each label stands for, if rows can have several labels."""


def begin(
    spec: Features,
    filling: Filling,
    settings: Settings,
    order: ClassOrder,
    scaled: bool | None = None,
    straight: Settings | None = None,
) -> Start:
    """Start a new training with the features of the source. `scaled` is what the user wants, if it is known; `straight`
    are the settings for a table in which curves may not help."""
    features = FeatureMap(spec, filling.source.columns)
    if scaled is not None:
        features.check_scaled(scaled)
    features.of_numbers = filling.of_numbers
    drafts, store = filling.learn_features(features), filling.store
    if filling.of_numbers:
        numbers = numbers_of(filling.source.labels, filling.source.target)
        find_shapes(features, settings.seed, numbers)
        filling.add_rows(features, drafts)
        return begin_with_numbers(filling.source, store, settings, features)
    find_shapes(features, settings.seed)
    settings = with_holdout(table_defaults.after_search(features, settings, straight), filling)
    filling.add_rows(features, drafts)
    if filling.source.several:
        return begin_with_sets(filling.source, store, settings, features, [], order)
    classes = finish_store(store, filling.source, [], order)
    weigh(store, settings.class_weight, classes)
    rows = examples_of(store, settings).learned()
    return Start(features, classes, new_learner(settings, features, classes, rows))


def begin_with_numbers(source: Source, store: TrainingRows, settings: Settings, features: FeatureMap) -> Start:
    """Start a training whose labels are numbers, when the rows are in the store."""
    numbers = finish_store_of_numbers(store, source)
    rows = examples_of(store, settings).learned()
    return Start(features, [], new_learner(settings, features, [], rows, numbers), numbers)


def begin_with_sets(
    source: Source,
    store: TrainingRows,
    settings: Settings,
    features: FeatureMap,
    known: list[Label],
    order: ClassOrder | None = None,
) -> Start:
    """Start a training whose rows can have several labels, when they are in the store. The known labels are those of a
    training that is resumed."""
    labels, sets = finish_store_of_sets(store, source, known, order)
    rows = () if known else examples_of(store, settings).learned()
    return Start(features, labels, new_learner(settings, features, labels, rows, sets=sets), sets=sets)


def check_passes(learner: Learner, before: int | None) -> None:
    """Raise an error if a training whose labels are trained one after the other is resumed with more passes."""
    if isinstance(learner, LabelsInTurn) and learner.settings.epochs != before:
        raise SettingsError(
            "epochs",
            f"was {before}, and cannot change when a training with several labels a row is resumed by this rule; leave "
            "it out",
        )


def learn_on(base: Model, filling: Filling, settings: Settings) -> Start:
    """Start from a model, with its features and classes, and with those that are new in the source."""
    filling.source = fitting(filling.source, base.features.columns)
    fresh = FeatureMap(base.features.spec, base.features.columns)
    drafts, store = filling.learn_features(fresh, for_rows=False), filling.store
    settings = with_holdout(settings, filling)
    features = base.features.copy()
    moved = features.extend(fresh)
    filling.add_rows(features, drafts)
    sets = None
    if filling.source.several:
        classes, sets = finish_store_of_sets(store, filling.source, base.classes, ClassOrder())
    else:
        classes = finish_store(store, filling.source, base.classes)
        weigh(store, settings.class_weight, classes)
    rows = examples_of(store, settings).learned()
    learner = new_learner(settings, features, classes, rows, sets=sets)
    return Start(features, classes, grown(base, moved, learner, classes), sets=sets)


def with_holdout(settings: Settings, filling: Filling) -> Settings:
    """Return the settings with the share of held-out rows, which is known after the first reading."""
    assert filling.holdout is not None
    settings = replace(settings, holdout=filling.holdout)
    check_patience(settings)
    return settings


def take_up(kept: Model, filling: Filling, settings: Settings) -> Start:
    """Resume a training with the same features and rows."""
    check_patience(settings)
    store = filling.store
    filling.source = fitting(filling.source, kept.features.columns)
    filling.add_rows(kept.features)
    if filling.of_numbers:
        return begin_with_numbers(filling.source, store, settings, kept.features)
    if filling.source.several:
        start = begin_with_sets(filling.source, store, settings, kept.features, kept.classes)
        check_passes(start.learner, kept.settings.epochs)
        return start
    if finish_store(store, filling.source, kept.classes) != kept.classes:
        raise DataError(other_data(ClassifierTraining.visited))
    weigh(store, settings.class_weight, kept.classes)
    return Start(kept.features, kept.classes, new_learner(settings, kept.features, kept.classes))


# ---- arguments and settings


def check_for_numbers(**given: Any) -> None:
    """Raise an error for arguments that a rule that predicts numbers does not have."""
    for name, value in given.items():
        if value is not None and name in ("positive", "classes", "threshold", "abstain"):
            raise SettingsError(name, "is about classes, and the rule 'regression' predicts numbers; leave it out")
        if value is not None:
            raise SettingsError(
                name, "is not possible for the rule 'regression', which converges to one optimum from any start"
            )


def check_for_sets(settings: Settings, **given: Any) -> None:
    """Raise an error if rows with several labels cannot be learned by the rule, or with these arguments."""
    if not settings.traits.linear or settings.traits.counts or settings.traits.predicts_numbers:
        raise SettingsError(
            "rule",
            f"is {settings.rule!r}, which cannot learn several labels for each row; use 'perceptron', 'mira', 'hinge', "
            "'logistic' or 'svm'",
        )
    if settings.partitions > 1:
        given["partitions"] = settings.partitions
    for name, value in given.items():
        if value is not None and value is not False:
            raise SettingsError(name, "is for rows with one label each, but here a row can have several; leave it out")


def check_weights_of_words(spec: Features, columns: Sequence[Column]) -> None:
    """Raise an error if words are weighted by classes, which rows with several labels do not have."""
    if any(column.kind == "text" and spec.for_column(column).weight == "odds" for column in columns):
        raise SettingsError(
            "text.weight", "is 'odds', which needs one class for each row, but here a row can have several; use 'idf'"
        )


NOT_SETTINGS = {
    "calibrate": "is not needed: the probabilities of a model are calibrated where this makes them better",
    "cv": "is called folds, an argument of markone.validate and markone.compare",
    "tune": "is not a setting, but a function: train with the settings of markone.tune(...).settings",
}
"""Names that users of other libraries try, with what to do instead."""


def check_names(settings: dict[str, Any]) -> None:
    known = [field.name for field in fields(Settings)]
    for name in settings:
        if name not in known:
            if name in signature(read).parameters:
                raise SettingsError(name, f"is an argument of markone.read: train(markone.read(..., {name}=...))")
            if name in NOT_SETTINGS:
                raise SettingsError(name, NOT_SETTINGS[name])
            guess = did_you_mean(name, [*known, *signature(train).parameters])
            raise SettingsError(name, f"is unknown; there are {', '.join(known)}.{guess}")


def check_kept(kept: Model, given: dict[str, Any]) -> None:
    """Raise an error if the training of a model cannot be resumed with these settings."""
    if kept.resume is None or "digest" not in kept.resume.facts:
        raise DataError(
            "the file to resume from is a final model without its training state",
            advice=("to continue training from its weights, set ", Setting("from_model", ...)),
        )
    declared = {field.name: field for field in fields(Settings)}
    now = {name: as_kept(declared[name], value) for name, value in given.items()}
    check_same_settings(kept.settings, now, "; leave it out")


def settings_of(given: dict[str, Any], base: Model | None) -> Settings:
    """Return the given settings, completed from the model to start from, or by defaults."""
    settings = Settings(**{**usual_settings(given, base), **given}).before_rows()
    if "holdout" in given:
        check_patience(settings)
    if settings.traits.online and settings.tol is not None and settings.patience is None:
        raise SettingsError("tol", "is the smallest improvement for patience; set patience, too")
    if "strength" in given and settings.spelled_out().penalty is None and settings.schedule != "inverse":
        raise SettingsError("strength", "is that of a penalty, or of the schedule 'inverse'; set one of them, too")
    return settings


def going_on(given: dict[str, Any], base: Model) -> dict[str, Any]:
    """Return the settings for a training that starts from a model: `logistic` then uses the solver 'online' by default,
    because the other solvers would converge to the same optimum from any start."""
    rule = given.get("rule", base.settings.rule)
    return {**given, "solver": "online"} if rule in [*SOLVERS] and given.get("solver") is None else given


def usual_settings(given: dict[str, Any], base: Model | None) -> dict[str, Any]:
    """Return the settings of the model to start from; for another rule or solver, only those that all rules have."""
    if base is None:
        return {"rule": USUAL_RULE}
    rule, before = given.get("rule", base.settings.rule), base.settings
    if rule == before.rule and given.get("solver", before.solver) == before.solver:
        instead = {"alpha": "k", "k": "alpha"}  # only one of them can be set
        gone = {other for name, other in instead.items() if given.get(name) is not None}
        return {field.name: getattr(before, field.name) for field in fields(Settings) if field.name not in gone}
    return {"rule": rule} | {
        name: getattr(before, name)
        for name in OF_ANY_RULE
        if rule in owners_of(name) and getattr(before, name) != before.traits.usual.get(name)
    }


def check_patience(settings: Settings) -> None:
    if settings.patience is not None and settings.holdout == 0 and settings.tol is None:
        raise SettingsError("patience", "needs held-out accuracy, or with tol the loss; set holdout or tol, too")


def spec_of(
    features: Any,
    functions: Mapping[str, Function] | None,
    base: Model | None,
    *,
    countable: bool,
    scaled: bool = True,
    curved: bool = False,
    classless: bool = False,
) -> Features:
    if base is None:
        return Features.of(features, functions, countable=countable, scaled=scaled, curved=curved, classless=classless)
    if features is None:
        return base.features.spec
    columns = base.features.columns
    given = Features.of(features, functions, countable=countable, scaled=scaled, classless=classless).settled(columns)
    given = chosen_as(given, columns, base.features.spec)
    if given.as_dict() != base.features.spec.as_dict():
        raise SettingsError("features", "are already in the model that the training starts from; leave them out")
    return base.features.spec
