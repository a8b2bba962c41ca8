"""Every algorithm in plain Python, as in the lectures. It is the specification, and the tests compare the core with it.

Nothing here is fast or lazy: each step visits every weight, and the average is the sum of all weight vectors divided by
their number. Vectors are dictionaries from a feature's name to its value. Numbers may have any type: with `Fraction`s
the perceptron and MIRA are exact.

>>> spam = {"BIAS": -3, "free": 4, "money": 2}
>>> dot(spam, {"BIAS": 1, "free": 1, "money": 1})
3
"""

from __future__ import annotations

from markone.reference.features import (
    ENDS,
    NEGATIONS,
    ascii_lower,
    conjunction,
    mark_negated,
    negated,
    ngrams,
    one_hot,
    parts,
    patches,
    products,
    runs,
    tokenize,
    without_capitals,
)
from markone.reference.leave_one_out import leave_one_out
from markone.reference.lines import (
    Example,
    Read,
    add_up,
    read_fasttext,
    read_libsvm,
    read_lines,
    read_named,
    read_number,
    read_row,
    read_tab,
    read_table,
    read_vw,
    words_of,
)
from markone.reference.logistic import (
    ascend,
    bending,
    logistic_gradient,
    logistic_objective,
    newton,
    probabilities,
    roughness,
)
from markone.reference.mixing import mixed_pass, mixed_pass_of_parser, mixed_pass_of_tagger
from markone.reference.naive_bayes import NaiveBayes, interpolated, laplace, maximum_likelihood
from markone.reference.network import Memory, Network, Node, adagrad, adam, sgd
from markone.reference.online import Learner, Tally, mira, perceptron, winner
from markone.reference.regression import least_squares, quantile_loss, regression_objective
from markone.reference.sequences import TagLearner, known_of_others, known_tags
from markone.reference.several_labels import best_micro_f1, learn_labels, measures_of_labels
from markone.reference.structured import StructuredLearner, structured_perceptron
from markone.reference.svm import SVM, one_versus_rest
from markone.reference.vectors import (
    BIAS,
    Number,
    Vector,
    cosine,
    cross_entropy,
    dot,
    length2,
    sigmoid,
    softmax,
    squared_error,
)

__all__ = [
    "BIAS",
    "ENDS",
    "NEGATIONS",
    "SVM",
    "Example",
    "Learner",
    "Memory",
    "NaiveBayes",
    "Network",
    "Node",
    "Number",
    "Read",
    "StructuredLearner",
    "TagLearner",
    "Tally",
    "Vector",
    "adagrad",
    "adam",
    "add_up",
    "ascend",
    "ascii_lower",
    "bending",
    "best_micro_f1",
    "conjunction",
    "cosine",
    "cross_entropy",
    "dot",
    "interpolated",
    "known_of_others",
    "known_tags",
    "laplace",
    "learn_labels",
    "least_squares",
    "leave_one_out",
    "length2",
    "logistic_gradient",
    "logistic_objective",
    "mark_negated",
    "maximum_likelihood",
    "measures_of_labels",
    "mira",
    "mixed_pass",
    "mixed_pass_of_parser",
    "mixed_pass_of_tagger",
    "negated",
    "newton",
    "ngrams",
    "one_hot",
    "one_versus_rest",
    "parts",
    "patches",
    "perceptron",
    "probabilities",
    "products",
    "quantile_loss",
    "read_fasttext",
    "read_libsvm",
    "read_lines",
    "read_named",
    "read_number",
    "read_row",
    "read_tab",
    "read_table",
    "read_vw",
    "regression_objective",
    "roughness",
    "runs",
    "sgd",
    "sigmoid",
    "softmax",
    "squared_error",
    "structured_perceptron",
    "tokenize",
    "winner",
    "without_capitals",
    "words_of",
]
