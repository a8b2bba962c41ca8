"""The routes: one record for each path, with its handler and the types of its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markone.server import facts, inference_protocol, learned, mlflow, predicting, sentences
from markone.server.messages import (
    Examples,
    Explained,
    InferenceAnswer,
    InferenceRequest,
    Invocation,
    Invoked,
    LabelledExamples,
    Learned,
    Live,
    ModelMetadata,
    Models,
    Parsed,
    PredictedNumbers,
    Predictions,
    Ready,
    Sentences,
    ServerMetadata,
    Tagged,
    ToExplain,
)
from markone.server.requests import CONLLU, CSV, JSON, LINES, PLAIN, Answer, Asked

if TYPE_CHECKING:
    from markone.server.service import Service

CHOICE = ("model", "version")
"""The parameters that choose a model."""


@dataclass(frozen=True)
class Route:
    """What happens at a path."""

    method: str
    path: str
    """Parts in braces are variable."""
    handle: Callable[[Service, Asked], Answer]
    gives: Mapping[str, Any] = field(default_factory=dict)
    """The content types of the answer, each with its type, or several in a tuple; None for a text."""
    reads: Any = None
    """The type of a request in JSON."""
    takes: tuple[str, ...] = ()
    """The content types of requests."""
    parameters: tuple[str, ...] = ()
    is_open: bool = False
    """Whether no token is needed."""
    small: int = 2**15
    """Requests up to this many bytes are answered at once; larger ones in another thread, while others are answered."""
    streams: bool = False
    """Whether lines are answered while they arrive."""

    @property
    def summary(self) -> str:
        return (self.handle.__doc__ or "").splitlines()[0]


def get(path: str, handle: Callable[[Service, Asked], Answer], gives: Any, **more: Any) -> Route:
    return Route("GET", path, handle, gives if isinstance(gives, Mapping) else {JSON: gives}, **more)


def post(path: str, handle: Callable[[Service, Asked], Answer], reads: Any, gives: Any, **more: Any) -> Route:
    more = {"takes": (JSON,), "parameters": CHOICE, **more}
    return Route("POST", path, handle, gives if isinstance(gives, Mapping) else {JSON: gives}, reads, **more)


OF_MODEL, OF_VERSION = "/v2/models/{name}", "/v2/models/{name}/versions/{version}"
ROUTES = (
    post(
        "/predict",
        predicting.predict,
        Examples,
        {JSON: (Predictions, PredictedNumbers), CSV: None, LINES: None},
        takes=(JSON, LINES),
        streams=True,
    ),
    post("/explain", predicting.explain, ToExplain, Explained),
    post("/tag", sentences.tag, Sentences, {JSON: Tagged, CONLLU: None}, takes=(JSON, PLAIN, CONLLU)),
    post("/parse", sentences.parse, Sentences, {JSON: Parsed, CONLLU: None}, takes=(JSON, PLAIN, CONLLU), small=2**10),
    post("/learn", learned.learn, LabelledExamples, Learned, small=-1),
    get("/models", facts.models, Models),
    get("/metrics", facts.metrics, {PLAIN: None}),
    get("/openapi.json", facts.description, dict[str, Any]),
    get("/ping", mlflow.ping, {PLAIN: None}, is_open=True),
    post("/invocations", mlflow.invoke, Invocation, Invoked, takes=(JSON, CSV)),
    get("/v2", inference_protocol.server_metadata, ServerMetadata),
    get("/v2/health/live", inference_protocol.live, Live, is_open=True),
    get("/v2/health/ready", inference_protocol.ready, Ready, is_open=True),
    *(get(path, inference_protocol.model_metadata, ModelMetadata) for path in (OF_MODEL, OF_VERSION)),
    *(get(f"{path}/ready", inference_protocol.model_ready, Ready) for path in (OF_MODEL, OF_VERSION)),
    *(
        post(f"{path}/infer", inference_protocol.infer, InferenceRequest, InferenceAnswer, parameters=())
        for path in (OF_MODEL, OF_VERSION)
    ),
    *(Route("GET", path, facts.page_file, is_open=True) for path in facts.PAGE),
)
