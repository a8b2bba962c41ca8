"""The types of requests and answers. The handlers decode and encode them, and `/openapi.json` is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Label = str | bool | int | float
Number = float | None
"""JSON has no infinite numbers: null is the score of an impossible class."""


# ---- predictions


class Chosen(Struct, forbid_unknown_fields=True, kw_only=True):
    """Which model answers."""

    model: str | None = None
    version: str | None = None


class Examples(Chosen, forbid_unknown_fields=True, kw_only=True):
    """Examples to predict. Exactly one of `text`, `texts`, `row`, `rows`, `columns` and `images` is given."""

    text: str | None = None
    texts: list[str] | None = None
    row: dict[str, Any] | None = None
    rows: list[dict[str, Any]] | None = None
    columns: dict[str, list[Any]] | None = None
    images: list[list[list[Annotated[int, Meta(ge=0, le=255)]]]] | None = None


class Prediction(Struct, omit_defaults=True):
    """The answer for one example. The label is null if the model abstains, and a list if an example can have several
    labels."""

    label: Label | list[Label] | None
    scores: dict[str, Number]
    probabilities: dict[str, float] | UnsetType = UNSET


class Answered(Struct, kw_only=True):
    """Which model has answered."""

    model: str
    version: str


class Predictions(Answered, omit_defaults=True, kw_only=True):
    """The predictions for all examples, in their order."""

    predictions: list[Prediction]
    missing: list[str] | UnsetType = UNSET
    """Columns of the model that the examples lack; their values count as missing."""


class PredictedNumber(Struct):
    """The answer of a regression for one example."""

    prediction: Number


class PredictedNumbers(Answered, omit_defaults=True, kw_only=True):
    """The numbers that a regression predicts for all examples, in their order."""

    predictions: list[PredictedNumber]
    missing: list[str] | UnsetType = UNSET
    """As in the answer of a classifier."""


class StreamedPrediction(Struct, omit_defaults=True, kw_only=True):
    """A line of a streamed answer: a prediction, or why there is none for this line."""

    label: Label | list[Label] | UnsetType = UNSET
    scores: dict[str, Number] | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    error: str | UnsetType = UNSET
    line: int | UnsetType = UNSET


# ---- explanations


class ToExplain(Chosen, forbid_unknown_fields=True, kw_only=True):
    """An example to explain: `text` or `row`. `label` chooses one of several labels; by default it is the best one."""

    text: str | None = None
    row: dict[str, Any] | None = None
    label: Label | None = None
    top: Annotated[int, Meta(ge=1, le=1000)] = 20


class ExplainedFeature(Struct):
    """What a feature contributes to a score."""

    feature: str
    value: Number
    weight: Number
    product: Number


class ExplainedScore(Struct):
    """A score as a sum over features: the largest contributions, and how many features there are."""

    label: Label
    score: Number
    rows: list[ExplainedFeature]
    features: int


class MarkedPiece(Struct):
    """A piece of a text, and how much it supports the class that positive marks support."""

    text: str
    mark: Number


class ExplainedText(Struct):
    column: str
    pieces: list[MarkedPiece]


class Explained(Answered, kw_only=True):
    """Why the model makes its prediction. A regression has no runner-up, and its only table adds up to the number."""

    prediction: Label
    runner_up: Label | None
    supports: Label
    against: Label
    tables: list[ExplainedScore]
    texts: list[ExplainedText]


# ---- sentences


class Sentences(Chosen, forbid_unknown_fields=True, kw_only=True):
    """Sentences to tag or parse: a plain text, the words of one or of several sentences, columns such as form and upos
    of each sentence, or CoNLL-U."""

    text: str | None = None
    words: list[str] | None = None
    sentences: list[list[str]] | None = None
    columns: list[dict[str, list[str]]] | None = None
    conllu: str | None = None


class TaggedSentence(Struct):
    tokens: list[str]
    tags: list[str]


class Tagged(Answered, kw_only=True):
    sentences: list[TaggedSentence]


class ParsedSentence(Struct):
    tokens: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]


class Parsed(Answered, kw_only=True):
    sentences: list[ParsedSentence]


# ---- learning


class LabelledExamples(Chosen, forbid_unknown_fields=True, kw_only=True):
    """Examples to learn, with a label for each."""

    texts: list[str] | None = None
    rows: list[dict[str, Any]] | None = None
    labels: list[Label]


class Learned(Answered, kw_only=True):
    """What was learned: it is on disk, and answers use it from now on."""

    learned: int
    """The number of examples that the service has learned in all."""
    predictions: list[Label]
    """What the model predicted for each example before it learned it."""
    accuracy: float
    """The share of right predictions among all learned examples."""
    drift: bool
    """Whether one of these examples has raised the alarm: the error rate has changed."""


# ---- the models


class ColumnFacts(Struct):
    name: str
    kind: str


class ModelFacts(Struct, kw_only=True):
    """A model that the service has."""

    name: str
    version: str
    digest: str
    kind: str
    in_brief: str
    classes: list[Label]
    columns: list[ColumnFacts]
    has_probabilities: bool
    learns: bool


class Models(Struct):
    models: list[ModelFacts]


# ---- Open Inference Protocol, version 2

Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"
]


class ServerMetadata(Struct):
    name: str
    version: str
    extensions: list[str]


class TensorMetadata(Struct):
    name: str
    datatype: Datatype
    shape: list[int]


class ModelMetadata(Struct):
    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


class Ready(Struct):
    ready: bool


class Live(Struct):
    live: bool


class InputTensor(Struct, kw_only=True):
    name: str
    shape: Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=1, max_length=3)]
    datatype: Datatype
    data: list[Any]
    parameters: dict[str, Any] = {}


class RequestedOutput(Struct, kw_only=True):
    name: str
    parameters: dict[str, Any] = {}


class InferenceRequest(Struct, kw_only=True):
    inputs: list[InputTensor]
    id: str | None = None
    parameters: dict[str, Any] = {}
    outputs: list[RequestedOutput] | None = None


class OutputTensor(Struct):
    name: str
    datatype: Datatype
    shape: list[int]
    data: list[Any]


class InferenceAnswer(Struct, omit_defaults=True, kw_only=True):
    model_name: str
    model_version: str
    outputs: list[OutputTensor]
    id: str | None = None


# ---- MLflow


class SplitFrame(Struct, forbid_unknown_fields=True, kw_only=True):
    columns: list[str] | None = None
    data: list[list[Any]]
    index: list[Any] | None = None


class Invocation(Struct, forbid_unknown_fields=True, kw_only=True):
    """Rows for MLflow's protocol: exactly one of the first four fields."""

    dataframe_split: SplitFrame | None = None
    dataframe_records: list[dict[str, Any]] | None = None
    instances: list[Any] | dict[str, list[Any]] | None = None
    inputs: list[Any] | dict[str, list[Any]] | None = None
    params: dict[str, Any] | None = None


class Invoked(Struct):
    predictions: list[Label | None]
