"""The verdict on a comparison in words. It only says what the numbers show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from markone.experiments.statistics import PairTest, lead_in_errors_of, mcnemar, p_of_lead
from markone.model.rules import RULES, Traits

if TYPE_CHECKING:
    from markone.experiments.comparing import Contender

SIGNIFICANT = 0.05
MUCH_FASTER = 3.0
LITTLE_WORSE = 0.02
EQUALS_NAMED = 3
CURVES = "curves"
"""The name of what `train` does with a table if no rule is chosen: logistic regression with curves and pairs."""
DEFAULTS = (CURVES, "mira")
"""What `train` does without settings: with curves where there are any, else by this rule."""
ERRORS = 1.0
"""The most accurate rule must lead by more standard errors than this, or the default is as good."""
LOSS_RATIO = 1.1
"""The log-loss of a rule that is as good may be larger by this factor."""


def recommended(rules: Sequence[Contender]) -> Contender | None:
    """Return the default if it is as good as the most accurate of the rules, which comes first; else the most accurate.

    A rule is as good if the lead is at most one standard error, and its log-loss is not much larger than that of others
    that are as accurate.
    """
    near = [one for one in rules if lead_in_errors(rules[0], one) <= ERRORS]
    losses = [one.log_loss for one in near if one.log_loss is not None]
    good = [one for one in near if one.log_loss is None or one.log_loss <= LOSS_RATIO * min(losses)]
    usual = default_of(rules)
    return next((one for one in good if one is usual), good[0] if good else None)


def default_of(rules: Sequence[Contender]) -> Contender | None:
    """Return what `train` does without settings, if it is among the rules."""
    return next((one for name in DEFAULTS for one in rules if one.name == name), None)


def lead_in_errors(better: Contender, worse: Contender) -> float:
    """Return the difference of two accuracies in standard errors, which are those of rules that are equally good."""
    if by_f1(better):
        return lead_in_errors_of(better.worth - worse.worth)
    test = pair_test(better, worse)
    return (test.wins - test.losses) / math.sqrt(max(1, test.wins + test.losses))


def with_settings(contender: Contender) -> str:
    """Return the name of a contender and, if it is not the name of a rule, the settings that it stands for."""
    if contender.name == CURVES:
        return f"{CURVES}, which are the default for tables"
    if contender.name == contender.rule and len(contender.settings) <= 1:
        return contender.name
    settings = [f"{name} {str(value).lower()}" for name, value in contender.settings.items()]
    return f"{contender.name} ({', '.join(settings)})" if settings else contender.name


def verdict_of(contenders: Sequence[Contender], separable: bool | None = None, plane: str = "plane") -> str:
    """Return which rule to use, the advantages of others, and facts about the data. The best contender comes first.

    `separable` says whether a plane separates all rows, if that is known. `plane` is the kind of planes in words.
    """
    rules = [contender for contender in contenders if contender.rule is not None]
    others = [contender for contender in contenders if contender.rule is None]
    if not rules:
        return "None of the rules could be trained on these data."
    chosen = recommended(rules) or rules[0]
    return " ".join(
        [
            *which_to_use(chosen, rules[0], others),
            *(about_equals(rules) if chosen is rules[0] else []),
            *(about_speed(rules) if chosen is rules[0] else []),
            *about_contrasts(rules, others),
            *about_layers(rules),
            *([] if by_f1(chosen) else about_separability(rules, separable, plane)),
            *([] if by_f1(chosen) else about_over_training(rules)),
        ]
    )


def traits_of(contender: Contender) -> Traits:
    """Return the traits of the contender's rule."""
    return RULES[str(contender.rule)]


def pair_test(better: Contender, worse: Contender) -> PairTest:
    """Return an exact McNemar test, which tells whether the difference may be chance. For micro F1, it is a test of the
    mean difference over the rows."""
    if by_f1(better):
        more = better.right.sum(axis=1) - worse.right.sum(axis=1)
        p = p_of_lead(better.worth - worse.worth)
        return PairTest(better.name, worse.name, int((more > 0).sum()), int((more < 0).sum()), p)
    wins = int((better.right & ~worse.right).sum())
    losses = int((worse.right & ~better.right).sum())
    return PairTest(better.name, worse.name, wins, losses, mcnemar(wins, losses))


def by_f1(contender: Contender) -> bool:
    """Return whether rows have several labels, so that micro F1 is compared."""
    return contender.validation.metric == "micro F1"


def may_be_chance(better: Contender, worse: Contender) -> bool:
    return pair_test(better, worse).p >= SIGNIFICANT


def p_in_words(p: float) -> str:
    """
    >>> p_in_words(0.3127), p_in_words(0.0401), p_in_words(1e-9)
    ('0.31', '0.040', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.0995 else f"{p:.2f}"


def with_p(p: float) -> str:
    return f"p {p_in_words(p)}" if p < 0.001 else f"p = {p_in_words(p)}"


def which_to_use(chosen: Contender, best: Contender, others: Sequence[Contender]) -> Iterator[str]:
    def measured(one: Contender) -> str:
        low, high = one.validation.interval
        return f"{one.validation.mean:.1%} (95% interval {low:.1%} to {high:.1%})"

    majority = next((contender for contender in others if contender.name == "majority class"), None)
    if majority is not None and may_be_chance(best, majority):
        yield (
            f"No rule is significantly better than always predicting the most frequent class, whose accuracy is "
            f"{majority.validation.mean:.1%}. The accuracy of the best rule, {best.name}, is {measured(best)}."
        )
        return
    against = "" if majority is None else f", against {majority.validation.mean:.1%} for the most frequent class"
    many, measure = chosen.name == CURVES, chosen.validation.metric
    whose = "their" if many else "its"
    yield f"Use {with_settings(chosen)}: {whose} {measure} on test rows is {measured(chosen)}{against}."
    if chosen.calibration is not None:
        yield f"{capitalised(whose)} probabilities are off by {chosen.calibration.error:.1%} on average."
    if chosen is not best:
        points = 100 * (best.validation.mean - chosen.validation.mean)
        more = "more accurate" if measure == "accuracy" else f"better in {measure}"
        lead = f"has the same {measure}" if points == 0 else f"is {points:.1f} points {more}, which may be chance"
        smaller = f"{'have' if many else 'has'} a much smaller log-loss"
        why = f"{'are' if many else 'is'} the default" if chosen.name in DEFAULTS else smaller
        yield f"{capitalised(best.name)} {lead}, but {chosen.name} {why}."


def about_equals(rules: Sequence[Contender]) -> Iterator[str]:
    """Yield sentences about the rules that may be as good, and the advantages of the first that has any."""
    best = rules[0]
    tests = [(contender, pair_test(best, contender)) for contender in rules[1:]]
    equals = [(contender, test) for contender, test in tests if test.p >= SIGNIFICANT]
    if not equals:
        return
    level = [one.name for one, _ in equals if one.validation.mean == best.validation.mean]
    behind = [f"{one.name} ({with_p(test.p)})" for one, test in equals if one.validation.mean != best.validation.mean]
    if level:
        yield f"{capitalised(some_of(level))} {'has' if len(level) == 1 else 'have'} the same {best.validation.metric}."
    if behind:
        yield f"Its lead over {some_of(behind)} may be due to chance."
    for contender, _ in equals:
        gains = list(advantages(contender, best))
        if gains:
            yield f"{capitalised(contender.name)} {listed(gains)}."
            return


def advantages(contender: Contender, best: Contender) -> Iterator[str]:
    if contender.has_probabilities and not best.has_probabilities:
        off = "" if contender.calibration is None else f", off by {contender.calibration.error:.1%} on average"
        yield f"also has probabilities{off}"
    times = best.seconds / contender.seconds if contender.seconds > 0 else 0.0
    if times >= MUCH_FASTER:
        yield f"trains {times:.0f} times as fast"
    if contender.bytes and best.bytes and best.bytes / contender.bytes >= MUCH_FASTER:
        yield f"has a model {best.bytes / contender.bytes:.0f} times smaller"


def about_speed(rules: Sequence[Contender]) -> Iterator[str]:
    """Yield a sentence about the fastest rule that is significantly worse, but not by much."""
    best = rules[0]
    near = [
        contender
        for contender in rules[1:]
        if best.validation.mean - contender.validation.mean <= LITTLE_WORSE
        and 0 < contender.seconds * MUCH_FASTER <= best.seconds
        and not may_be_chance(best, contender)
    ]
    if near:
        fastest = min(near, key=lambda contender: contender.seconds)
        points = 100 * (best.validation.mean - fastest.validation.mean)
        yield (
            f"If time matters, {fastest.name} trains {best.seconds / fastest.seconds:.0f} times as fast, and is "
            f"{points:.1f} points {'worse' if by_f1(best) else 'less accurate'}."
        )


def about_contrasts(rules: Sequence[Contender], others: Sequence[Contender]) -> Iterator[str]:
    best = rules[0]
    if not others or others[0].validation.mean <= best.validation.mean:
        return
    first, test = others[0], pair_test(others[0], best)
    if test.p >= SIGNIFICANT:
        yield f"The {first.name} is a little better, which may be due to chance ({with_p(test.p)})."
    else:
        yield (
            f"But the {first.name} is better than every rule: {first.validation.mean:.1%} ({with_p(test.p)}). The "
            "classes depend on combinations of features. Conjunctions of columns may help."
        )


def about_layers(rules: Sequence[Contender]) -> Iterator[str]:
    """Yield a sentence if a hidden layer is significantly better than linear rules."""
    best = rules[0]
    linear = [contender for contender in rules if not traits_of(contender).has_layers]
    if traits_of(best).has_layers and linear:
        test = pair_test(best, linear[0])
        if test.p < SIGNIFICANT:
            points = 100 * (best.validation.mean - linear[0].validation.mean)
            yield (
                f"Its hidden layer helps: the best rule without one, {linear[0].name}, is {points:.1f} points less "
                f"accurate ({with_p(test.p)})."
            )


def about_separability(rules: Sequence[Contender], separable: bool | None, plane: str) -> Iterator[str]:
    """Yield what the training mistakes of a perceptron show, unless the theory has already shown the opposite."""
    plain = next((contender for contender in rules if traits_of(contender).has_mistake_bound), None)
    if plain is None:
        return
    histories = [fold.history for fold in plain.validation.folds if fold.history is not None and len(fold.history)]
    if not histories:
        return
    separated = sum(history.stopped == "converged" for history in histories)
    if separated:
        folds = "every fold" if separated == len(histories) else f"{separated} of {len(histories)} folds"
        not_all = ", though not all rows together" if separable is False else ""
        yield (
            f"In {folds} the perceptron learned the training rows without a mistake, so a {plane} separates these "
            f"rows{not_all}."
        )
        return
    shares = [
        (history[len(history) - 1].mistakes or 0) / fold.learned
        for fold, history in zip(plain.validation.folds, histories, strict=True)
    ]
    why = {
        True: f"a {plane} separates them, but finding one takes more passes.",
        False: f"no {plane} separates all rows together.",
        None: f"either no {plane} separates them, or finding one takes more passes.",
    }[separable]
    share = f"{np.mean(shares):.1%}"
    yield f"In its last pass, the perceptron still made mistakes on {share} of the training rows: {why}"


def about_over_training(rules: Sequence[Contender]) -> Iterator[str]:
    rules_worse = [
        f"{contender.name} (best after pass {contender.validation.over_training} of {contender.passes:.0f})"
        for contender in rules
        if contender.validation.over_training is not None and contender.passes is not None
    ]
    if rules_worse:
        yield f"Later passes reduced the accuracy of {listed(rules_worse)}."


def capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


def some_of(words: Sequence[str]) -> str:
    """
    >>> some_of(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(words) - EQUALS_NAMED
    return listed([*words[:EQUALS_NAMED], *([f"{more} more"] if more > 0 else [])])


def listed(words: Sequence[str]) -> str:
    """
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
