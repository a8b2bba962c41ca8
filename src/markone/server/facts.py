"""What the service says about itself: its models, metrics, its description, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markone.model.explaining import plain_label
from markone.model.model import Model
from markone.play.server import PAGE as PLAYGROUND
from markone.server import metrics as counts
from markone.server.messages import ColumnFacts, ModelFacts, Models
from markone.server.openapi import openapi_of
from markone.server.requests import Answer, Asked, in_json
from markone.server.shelf import Served
from markone.structured.tagger import Tagger
from markone.web.files import TYPES, page_files

if TYPE_CHECKING:
    from markone.server.service import Service

SHARED = ("/style.css", "/icon.svg", "/words.js", "/draw/shapes.js")
"""The files of the playground's page that this page uses, too, so that both look the same."""
PAGE: dict[str, Path] = {
    **page_files(Path(__file__).with_name("page")),
    **{path: file for path, file in page_files(PLAYGROUND).items() if path in SHARED},
}
PAGE["/"] = PAGE["/index.html"]


def models(service: Service, asked: Asked) -> Answer:
    """The models that the service has."""
    return in_json(Models([facts_of(service, served) for served in service.shelf]))


def facts_of(service: Service, served: Served) -> ModelFacts:
    model = served.model
    labels = model.classes if isinstance(model, Model) else model.tags if isinstance(model, Tagger) else model.labels
    columns = model.features.columns if isinstance(model, Model) else ()
    return ModelFacts(
        name=served.name,
        version=served.version,
        digest=model.digest,
        kind=served.role,
        in_brief=model.in_brief(),
        classes=[plain_label(label) for label in labels],
        columns=[ColumnFacts(column.name, column.kind) for column in columns],
        has_probabilities=isinstance(model, Model) and model.has_probabilities,
        learns=service.learning is not None and service.learning.learns(served),
    )


def metrics(service: Service, asked: Asked) -> Answer:
    """Counts of requests and examples, and facts of the models, for Prometheus."""
    lines = list(service.metrics.lines())
    lines += counts.head("markone_model_info", "gauge", "The models, with their versions.")
    for served in service.shelf:
        labels = {"model": served.name, "version": served.version, "kind": served.role}
        lines.append(counts.sample("markone_model_info", labels, 1))
    if service.learning is not None:
        lines += service.learning.metrics()
    return Answer("".join(f"{line}\n" for line in lines).encode(), counts.KIND)


def description(service: Service, asked: Asked) -> Answer:
    """This description, in OpenAPI 3.1."""
    routes = [route for route in service.routes if service.learning is not None or route.path != "/learn"]
    return in_json(openapi_of(routes, has_token=service.settings.token is not None))


def page_file(service: Service, asked: Asked) -> Answer:
    """A file of the page."""
    [path] = asked.parts
    file = PAGE[path]
    return Answer(file.read_bytes(), f"{TYPES[file.suffix]}; charset=utf-8")
