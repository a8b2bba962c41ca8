"""`markone serve`: answers requests over HTTP with models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Number, WholeNumber, words_in

if TYPE_CHECKING:
    from markone.server.shelf import Shelf

MODELS = (
    "Model files, or folders with files that end in .model, .tagger or .parser. The name of a file is the name of the "
    "model; NAME=FILE gives it another one. A name may end in a version, as in reviews@2.model."
)


def serve(
    *models: Annotated[FileName, Parameter(help=MODELS)],
    host: str = "127.0.0.1",
    port: WholeNumber = 8080,
    hosts: str | None = None,
    token_file: FileName | None = None,
    workers: WholeNumber = 1,
    learn: Flag = False,
    reload: Number = 2.0,
    most_bytes: WholeNumber = 8_000_000,
    most_rows: WholeNumber = 10_000,
    longest_text: WholeNumber = 1_000_000,
    most_requests: WholeNumber = 256,
    seconds: Number = 30.0,
) -> None:
    """Answer requests over HTTP with models: predictions, explanations, tags and trees, and a page to try them.

    The address is printed, and its page shows what the models say about a text or a row. `/openapi.json` describes all
    requests. Only this machine can reach the service unless --host says otherwise. It then needs a token, from the
    environment variable MARKONE_TOKEN or from a file. A model file that changes is loaded beside the old one, checked,
    and used from then on. SIGTERM or Ctrl-C ends the service after the requests that have begun. The service needs
    more packages: pip install 'markone[serve]'.

    For example:

    `markone serve reviews.model`

    `markone serve models/ --workers 4 --port 8000`

    `MARKONE_TOKEN=... markone serve reviews.model --host 0.0.0.0 --hosts models.example`

    `markone serve reviews.model --learn`

    Parameters
    ----------
    host
        The address to listen on. Any other than 127.0.0.1 needs a token.
    port
        The port to listen on; 0 for any free port.
    hosts
        More names under which clients reach the service, written as a.example,b.example. Requests to other names are
        refused.
    token_file
        A file with the token, as an alternative to the environment variable MARKONE_TOKEN.
    workers
        The number of processes that answer. They share the memory of the models.
    learn
        Allow `POST /learn`, with which models learn more examples. They are kept in a journal beside the model file.
    reload
        How often to look for changed model files, in seconds; 0 for never.
    most_bytes
        The largest body of a request, and the longest line of a stream, in bytes.
    most_rows
        The largest number of examples in a request. A stream may have more.
    longest_text
        The largest number of characters in a text.
    most_requests
        The largest number of requests that a process answers at the same time.
    seconds
        The longest time for a request, or for the next lines of a stream.
    """
    import os

    from markone.server.process import serve as serve_models
    from markone.server.settings import ServeSettings

    settings = ServeSettings(
        host=host,
        port=port,
        hosts=tuple(words_in(hosts)) if hosts else (),
        token=token_of(token_file, os.environ.get("MARKONE_TOKEN")),
        workers=workers,
        learn=learn,
        reload=reload,
        most_bytes=most_bytes,
        most_rows=most_rows,
        longest_text=longest_text,
        most_requests=most_requests,
        seconds=seconds,
    )
    serve_models(models, settings, tell)


def token_of(file: str | None, environment: str | None) -> str | None:
    """Return the token. It is no option of its own, because other users can see the options of a process."""
    if file is None:
        return environment or None
    from markone.errors import DataError

    try:
        with open(file, encoding="ascii") as opened:
            return opened.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the token in {file} cannot be read: {error}") from None


def tell(address: str, shelf: Shelf) -> None:
    """Say where the service is, and what it has."""
    for one in shelf:
        print(f"{one.name}, version {one.version}: {one.model.in_brief()}")
    print(f"The service is at {address} (Ctrl-C ends it).", flush=True)
