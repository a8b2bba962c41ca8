"""Three ways to begin a training, up to where its rows are in the store: anew, from a model, or where it was left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from markone.data.class_order import ClassOrder
from markone.data.labels import numbers_of
from markone.data.source import Label, Source
from markone.data.store import TrainingRows
from markone.errors import DataError, SettingsError
from markone.features.examples import fitting
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning import table_defaults
from markone.learning.arguments import check_patience
from markone.learning.class_weights import weigh
from markone.learning.learner import Learner
from markone.learning.learners import new_learner
from markone.learning.partitions.distant import examples_of
from markone.learning.passes import LearnerTraining
from markone.learning.reading import Filling, finish_store, finish_store_of_numbers, finish_store_of_sets
from markone.learning.run import other_data
from markone.learning.several_labels import LabelsInTurn, Sets
from markone.learning.shapes import find_shapes
from markone.learning.warm_start import grown
from markone.model.model import Model
from markone.model.settings import Settings


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
        raise DataError(other_data(LearnerTraining.visited))
    weigh(store, settings.class_weight, kept.classes)
    return Start(kept.features, kept.classes, new_learner(settings, kept.features, kept.classes))
