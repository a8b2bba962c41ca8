"""Processes: one that answers by itself, or a supervisor with several workers that share the loaded models."""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from markone.errors import MarkoneWarning, SettingsError
from markone.server.settings import ServeSettings
from markone.web.safety import address_in_urls

if TYPE_CHECKING:
    from markone.server.metrics import Metrics
    from markone.server.shelf import Shelf

BACKLOG = 2048
SHORTEST_LIFE = 1.0
"""A worker that ends sooner, in seconds, is replaced only after a pause."""
TICK = 0.2
SHORTEST_TURN = 0.001
"""How long a thread may compute in Python while another one waits, in seconds, so that a request does not wait long for
a model that is being loaded."""
GENERATIONS = 2
"""While workers are replaced, the old and the new ones count requests in different places."""

Announce = Callable[[str, "Shelf"], None]


def check_installed() -> None:
    """Check that the packages of the extra `serve` are there."""
    try:
        import httptools
        import msgspec
        import uvicorn
    except ImportError as error:
        raise SettingsError(
            "serve", f"needs the package {error.name}; install it: pip install 'markone[serve]'"
        ) from None
    del httptools, msgspec, uvicorn


def serve(models: Sequence[str], settings: ServeSettings, announce: Announce) -> None:
    """Load the models and answer requests until SIGTERM or Ctrl-C; then finish the requests that have begun."""
    check_installed()
    from markone.server.shelf import Shelf

    shelf = Shelf(models)
    shelf.load()
    warnings.simplefilter("ignore", MarkoneWarning)  # answers say what is missing in their examples
    with open_socket(settings) as listening:
        host, port = listening.getsockname()[:2]
        address = f"http://{address_in_urls(host)}:{port}/"
        if settings.workers == 1:
            alone(shelf, settings, listening, lambda: announce(address, shelf))
        elif not hasattr(os, "fork"):
            raise SettingsError("workers", "must be 1 on this system, which has no fork")
        else:
            Supervisor(shelf, settings, listening).run(lambda: announce(address, shelf))


def open_socket(settings: ServeSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if settings.host != "localhost":
            ipaddress.ip_address(settings.host)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except ValueError:
        listening.close()
        raise SettingsError("host", f"must be an address such as 0.0.0.0, not {settings.host!r:.80}") from None
    except OSError as error:
        listening.close()
        raise SettingsError("port", f"{settings.port} of {settings.host} cannot be used: {error.strerror}") from None
    return listening


def alone(shelf: Shelf, settings: ServeSettings, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Answer in this process."""
    from markone.server.learning import Learning
    from markone.server.service import Service

    learning = Learning(shelf) if settings.learn else None
    service = Service(shelf, settings, port=listening.getsockname()[1], learning=learning)
    keep_from_collector()
    answer(service, settings, listening, announce)


def keep_from_collector() -> None:
    """Keep all objects that there are now from the garbage collector. It would look at all of them again and again,
    which delays requests, and write to the pages that workers share."""
    gc.collect()
    gc.freeze()


def answer(service: Any, settings: ServeSettings, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Run uvicorn until a signal ends it."""
    import uvicorn

    from markone.server.connections import Connection

    sys.setswitchinterval(SHORTEST_TURN)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.access").disabled = True
    config = uvicorn.Config(
        service,
        http=Connection,
        ws="none",
        lifespan="on",
        loop=best_loop(),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, int(settings.seconds)),
    )
    server_class()(config, announce).run(sockets=[listening])


def best_loop() -> str:
    try:
        import uvloop
    except ImportError:
        return "asyncio"
    del uvloop
    return "uvloop"


def server_class() -> Any:
    """Return the class of our server, whose base is imported only where it is used."""
    import uvicorn

    class Announcing(uvicorn.Server):
        """A server that says when it is ready, and for which a signal is the usual end."""

        def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
            super().__init__(config)
            self.announce = announce

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            self.announce()

        def handle_exit(self, sig: int, frame: Any) -> None:
            if self.should_exit:
                self.force_exit = sig == signal.SIGINT
            self.should_exit = True

    return Announcing


class Supervisor:
    """A process that loads the models, and forks workers, which share its memory. It replaces them if files change."""

    def __init__(self, shelf: Shelf, settings: ServeSettings, listening: socket.socket) -> None:
        from markone.server.metrics import Metrics
        from markone.server.routes import ROUTES
        from markone.server.service import ELSEWHERE

        self.shelf, self.settings, self.listening = shelf, settings, listening
        paths = [*dict.fromkeys(route.path for route in ROUTES), ELSEWHERE]
        self.metrics: Metrics = Metrics(paths, settings.workers * GENERATIONS)
        self.workers: dict[int, tuple[int, float]] = {}
        """The place of each worker, and when it began, by its process number."""
        self.leaving: set[int] = set()
        """Older workers, which finish their requests."""
        self.generation = 0
        self.is_ending = False
        self.life = os.pipe()
        """A pipe that only this process could write to. If it is killed, the workers find the pipe closed."""

    def run(self, announce: Callable[[], None]) -> None:
        """Keep the workers alive until a signal; then let them finish."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        self._start_all()
        announce()
        looked = time.monotonic()
        while not self.is_ending:
            time.sleep(TICK)
            self._bury()
            if self.settings.reload and time.monotonic() - looked >= self.settings.reload:
                self._look()
                looked = time.monotonic()
        self._stop([*self.workers, *self.leaving], signal.SIGTERM)
        deadline = time.monotonic() + self.settings.seconds + 5
        while (self.workers or self.leaving) and time.monotonic() < deadline:
            time.sleep(TICK / 4)
            self._bury()
        self._stop([*self.workers, *self.leaving], signal.SIGKILL)

    def _end(self, *_: Any) -> None:
        self.is_ending = True

    def _look(self) -> None:
        from markone.server.shelf import give_way, refreshed

        before = self.shelf.changes
        with ThreadPoolExecutor(1, initializer=give_way) as loader:
            said = loader.submit(refreshed, self.shelf).result()
        for sentence in said:
            print(sentence, file=sys.stderr, flush=True)
        if self.shelf.changes > before:
            old = list(self.workers)
            self.leaving.update(old)
            self.workers.clear()
            self.generation = 1 - self.generation
            self._start_all()
            self._stop(old, signal.SIGTERM)

    def _start_all(self) -> None:
        """Fork all workers, and wait until they answer."""
        keep_from_collector()
        for place in range(self.settings.workers):
            self._fork(place)

    def _fork(self, place: int) -> None:
        ready, tell = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os.close(ready)
            status = 1
            try:
                status = self._work(place, tell)
            except BaseException as error:
                print(f"A worker has ended: {error!r}", file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        os.close(tell)
        self.workers[process] = place, time.monotonic()
        select.select([ready], [], [], self.settings.seconds)
        os.close(ready)

    def _work(self, place: int, tell: int) -> int:
        from markone.server.service import Service

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the supervisor decides
        reading, writing = self.life
        os.close(writing)
        Thread(target=end_with, args=[reading], daemon=True).start()
        self.metrics.worker = place + self.settings.workers * self.generation
        port = self.listening.getsockname()[1]
        service = Service(self.shelf, self.settings, port=port, metrics=self.metrics, watches=False)
        answer(service, self.settings, self.listening, lambda: os.close(tell))
        return 0

    def _bury(self) -> None:
        """Take note of workers that have ended, and replace those that have crashed."""
        while True:
            try:
                process, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self.leaving.discard(process)
            place, began = self.workers.pop(process, (-1, 0.0))
            if place >= 0 and not self.is_ending:
                if time.monotonic() - began < SHORTEST_LIFE:
                    time.sleep(SHORTEST_LIFE)
                self._fork(place)

    def _stop(self, processes: list[int], number: int) -> None:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)


def end_with(pipe: int) -> None:
    """End this process as SIGTERM does, when the process with the other end of a pipe has ended."""
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)
