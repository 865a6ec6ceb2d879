"""A scheduler that answers when a test says so, and a server around it in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from tests.local_engine.processes import PATIENCE
from workbench.local_engine import sockets
from workbench.local_engine.entrypoints.common import EngineServer
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.interface import Emit, GenerateRequest, TokenOutput
from workbench.local_engine.server_args import ServerArgs


class ManualScheduler:
    """Keeps requests until a test lets tokens come."""

    def __init__(self) -> None:
        self.requests: dict[str, tuple[GenerateRequest, Emit]] = {}
        self.aborted: list[str] = []
        self._changed = threading.Condition()

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def submit(self, request: GenerateRequest, emit: Emit) -> None:
        with self._changed:
            self.requests[request.rid] = (request, emit)
            self._changed.notify_all()

    def abort(self, rid: str) -> bool:
        with self._changed:
            known = self.requests.pop(rid, None)
            self.aborted.append(rid)
            self._changed.notify_all()
        if known:
            output = TokenOutput(
                rid=rid, token_ids=(), finished=True, finish_reason="abort", error="Aborted by AbortReq"
            )
            known[1](output)
        return known is not None

    def flush_cache(self) -> bool:
        return not self.requests

    def counters(self) -> dict[str, float]:
        return {"num_running_reqs": len(self.requests), "hicache_loaded_pages_total": 3}

    def describe(self) -> dict[str, object]:
        return {"index_k_dtype": "double"}

    def wait_for(self, count: int) -> list[str]:
        """Wait until so many requests are here; give their ids."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, PATIENCE)
            return list(self.requests)

    def wait_for_abort(self, rid: str) -> None:
        """Wait until a request was aborted."""
        with self._changed:
            assert self._changed.wait_for(lambda: rid in self.aborted, PATIENCE)

    def answer(self, rid: str, *ids: int, reason: str = "", error: str = "", cached: int = 0) -> None:
        """Let tokens of a request come; with a reason, the last ones."""
        _, emit = self.requests.pop(rid) if reason else self.requests[rid]
        emit(
            TokenOutput(
                rid=rid,
                token_ids=ids,
                finished=bool(reason),
                finish_reason=reason,
                error=error,
                cached_tokens=cached,
            )
        )


@contextmanager
def serving(scheduler: ManualScheduler, args: ServerArgs | None = None) -> Iterator[str]:
    """Serve a scheduler in a thread; give the URL."""
    with serving_app(EngineServer(scheduler, args or ServerArgs(), Environment()).app()) as url:
        yield url


@contextmanager
def serving_app(app: ASGIApp) -> Iterator[str]:
    """Serve an app in a thread; give the URL."""
    listener = sockets.listen("127.0.0.1", 0, "test")
    config = uvicorn.Config(
        app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield sockets.url_of(listener)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()
