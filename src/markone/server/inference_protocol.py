"""The Open Inference Protocol, version 2: health, metadata and inference, as Triton, KServe and MLServer have them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from markone import __version__
from markone.data.kinds import written
from markone.model.model import Model
from markone.server.examples import Given, of_columns, of_images, of_model, of_rows, of_texts
from markone.server.messages import (
    Datatype,
    InferenceAnswer,
    InferenceRequest,
    InputTensor,
    Live,
    ModelMetadata,
    OutputTensor,
    Ready,
    ServerMetadata,
    TensorMetadata,
)
from markone.server.predicting import model_of
from markone.server.problems import Problem
from markone.server.requests import Answer, Asked, in_json
from markone.server.shelf import Served

if TYPE_CHECKING:
    from markone.server.service import Service

INFERENCE = msgspec.json.Decoder(InferenceRequest)
PLATFORM = "markone"
NUMBERS: dict[str, Datatype] = {"numeric": "FP64", "boolean": "BOOL", "image": "UINT8"}
"""The data types of columns; all others are BYTES."""
TYPE_OF: dict[str, type | tuple[type, ...]] = {"BOOL": bool, "BYTES": str}


def live(service: Service, asked: Asked) -> Answer:
    """Whether the service runs."""
    return in_json(Live(True))


def ready(service: Service, asked: Asked) -> Answer:
    """Whether the service answers requests."""
    service.check_ready()
    return in_json(Ready(True))


def server_metadata(service: Service, asked: Asked) -> Answer:
    """The name and the version of the service."""
    return in_json(ServerMetadata(PLATFORM, __version__, []))


def model_ready(service: Service, asked: Asked) -> Answer:
    """Whether a model answers requests."""
    service.check_ready()
    service.shelf.find(*named(asked))
    return in_json(Ready(True))


def model_metadata(service: Service, asked: Asked) -> Answer:
    """The inputs and outputs of a model."""
    served = service.shelf.find(*named(asked), kind="classifier")
    model = model_of(served)
    inputs = [
        TensorMetadata(one.name, NUMBERS.get(one.kind, "BYTES"), [-1, -1, -1] if one.kind == "image" else [-1])
        for one in model.features.columns
        if one.kind != "rows"
    ]
    versions = [one.version for one in service.shelf.versions(served.name)]
    return in_json(ModelMetadata(served.name, versions, PLATFORM, inputs, output_facts(model)))


def output_facts(model: Model) -> list[TensorMetadata]:
    """Return the outputs of a model: the number of a regression, or a label with its scores and probabilities."""
    if model.predicts_numbers:
        return [TensorMetadata("prediction", "FP32", [-1])]
    classes = len(model.classes)
    outputs = [TensorMetadata("label", "BYTES", [-1]), TensorMetadata("scores", "FP32", [-1, classes])]
    if model.has_probabilities:
        outputs.append(TensorMetadata("probabilities", "FP64", [-1, classes]))
    return outputs


def infer(service: Service, asked: Asked) -> Answer:
    """Predict the examples in the tensors of a request."""
    wanted = INFERENCE.decode(asked.body)
    served = service.shelf.find(*named(asked), kind="classifier")
    model = model_of(served)
    given = given_in(service, served, wanted.inputs)
    numbers, scores = model.decide(of_model(model, given.examples))
    outputs = outputs_of(model, numbers, scores)
    names = list(outputs) if wanted.outputs is None else [one.name for one in wanted.outputs]
    for name in names:
        if name not in outputs:
            raise Problem(422, f"There is no output {name!r:.80}; there are {', '.join(outputs)}.")
    answer = InferenceAnswer(
        model_name=served.name,
        model_version=served.version,
        outputs=[outputs[name]() for name in names],
        id=wanted.id,
    )
    return in_json(answer, given.rows)


def outputs_of(
    model: Model, numbers: NDArray[Any], scores: NDArray[np.float32]
) -> dict[str, Callable[[], OutputTensor]]:
    """Return the outputs by name, each as a function that makes it if it is wanted."""
    if model.predicts_numbers:
        return {"prediction": lambda: tensor("prediction", "FP32", model.as_rows(scores))}
    labels = [named_label(one) for one in model.labels_of(numbers)]
    outputs = {
        "label": lambda: OutputTensor("label", "BYTES", [len(numbers)], labels),
        "scores": lambda: tensor("scores", "FP32", model.as_rows(scores)),
    }
    if model.has_probabilities:
        outputs["probabilities"] = lambda: tensor("probabilities", "FP64", np.exp(model.log_probabilities(scores)))
    return outputs


def named(asked: Asked) -> tuple[str, str | None]:
    """The name and version in the path."""
    name, *version = asked.parts
    return name, version[0] if version else None


def named_label(label: Any) -> str:
    """Return a label as a text: empty where the model abstains, and with semicolons between several labels."""
    return ";".join(map(written, label)) if isinstance(label, tuple) else "" if label is None else written(label)


def tensor(name: str, datatype: Datatype, matrix: Any) -> OutputTensor:
    return OutputTensor(name, datatype, list(matrix.shape), matrix.ravel().tolist())


def given_in(service: Service, served: Served, inputs: list[InputTensor]) -> Given:
    """Return the examples in the tensors: one tensor for each column of the model, by name."""
    limits = service.settings
    columns = model_of(served).features.columns
    kinds = {column.name: column.kind for column in columns}
    if len({one.name for one in inputs}) < len(inputs):
        raise Problem(422, "Two inputs have the same name.")
    values = {one.name: values_of(one, is_image=kinds.get(one.name) == "image") for one in inputs}
    if len(columns) == 1 and columns[0].kind in ("text", "image"):
        column = columns[0]
        if list(values) != [column.name]:
            raise Problem(422, f"The model has one input, {column.name!r}.")
        return (of_images if column.kind == "image" else of_texts)(values[column.name], limits)
    given = of_columns(values, limits)
    if len(columns) == 1 and columns[0].kind == "rows":
        return of_rows([dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)], limits)
    return given


def values_of(one: InputTensor, *, is_image: bool) -> list[Any]:
    """Return the values of a tensor, which may be nested or flat, as its shape says."""
    flat: list[Any] = one.data
    for _ in one.shape[1:]:
        if flat and all(isinstance(value, list) for value in flat):
            flat = [value for part in flat for value in part]
    if len(flat) != math.prod(one.shape):
        raise Problem(422, f"The input {one.name!r:.80} has {len(flat):,} values, but its shape is {one.shape}.")
    kind = TYPE_OF.get(one.datatype, (int, float))
    for value in flat:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise Problem(422, f"The input {one.name!r:.80} has a value that is not {one.datatype}: {value!r:.50}.")
    if is_image:
        are_bytes = all(0 <= value <= 255 and isinstance(value, int) for value in flat)
        if len(one.shape) != 3 or not flat or not are_bytes:
            raise Problem(422, f"The input {one.name!r:.80} must have the shape examples, height, width, and bytes.")
        return np.array(flat, np.uint8).reshape(one.shape).tolist()  # type: ignore[no-any-return]
    if len(one.shape) > 2 or (len(one.shape) == 2 and one.shape[1] != 1):
        raise Problem(422, f"The input {one.name!r:.80} must have the shape [n] or [n, 1], not {one.shape}.")
    return flat
