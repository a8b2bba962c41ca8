"""The description of the service in OpenAPI 3.1, made from the table of routes and the types of their messages."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from markone import __version__
from markone.server.problems import PROBLEM, ProblemAnswer
from markone.server.requests import JSON

if TYPE_CHECKING:
    from markone.server.routes import Route

REFERENCES = "#/components/schemas/{name}"
COMMON = (400, 401, 403, 404, 406, 413, 415, 422, 429, 503)
DESCRIPTION = "Predictions of Markone's models. Errors have a sentence, in the form of RFC 9457."


def openapi_of(routes: Iterable[Route], *, has_token: bool) -> dict[str, Any]:
    """Return the description of all routes except those of the page."""
    shown = [route for route in routes if route.gives]
    types = [one for route in shown for given in (route.reads, *route.gives.values()) for one in alternatives(given)]
    schemas, components = msgspec.json.schema_components([*types, ProblemAnswer], ref_template=REFERENCES)
    schema_of = dict(zip(map(id, [*types, ProblemAnswer]), schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in shown:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, schema_of)
    described: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Markone", "version": __version__, "description": DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components},
    }
    if has_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def operation(route: Route, schema_of: dict[int, Any]) -> dict[str, Any]:
    problem = {"content": {PROBLEM: {"schema": schema_of[id(ProblemAnswer)]}}}
    answers = {kind: {"schema": schema(one, schema_of)} for kind, one in route.gives.items()}
    described: dict[str, Any] = {
        "summary": route.summary,
        "responses": {
            "200": {"description": "The answer.", "content": answers},
            **{str(status): {"description": HTTPStatus(status).phrase, **problem} for status in COMMON},
        },
    }
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    parameters = [parameter(name, "path", True) for name in names]
    parameters += [parameter(name, "query", False) for name in route.parameters]
    if parameters:
        described["parameters"] = parameters
    if route.takes:
        content = {kind: {"schema": schema(route.reads if kind == JSON else None, schema_of)} for kind in route.takes}
        described["requestBody"] = {"required": True, "content": content}
    if route.is_open:
        described["security"] = []
    return described


def schema(one: Any, schema_of: dict[int, Any]) -> Any:
    """The schema of a type, or of one of several. Lines and CSV are texts."""
    if isinstance(one, tuple):
        return {"anyOf": [schema_of[id(each)] for each in one]}
    return {"type": "string"} if one is None else schema_of[id(one)]


def alternatives(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else () if given is None else (given,)


def parameter(name: str, where: str, required: bool) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": {"type": "string"}}
