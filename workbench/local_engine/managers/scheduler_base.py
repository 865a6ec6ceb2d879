"""What all schedulers share: one thread, an inbox, the outputs of requests, counters.

Everything that touches requests, pools or the device happens in `step`, in one thread. Calls from
other threads are put into the inbox and run between two steps. Without `start`, a test drives `step`
itself.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from ..logs import logger
from .interface import Emit, GenerateRequest, TokenOutput

T = TypeVar("T")


class SchedulerBase(ABC):
    """A scheduler's thread and the way into it."""

    def __init__(self) -> None:
        self._inbox: deque[Callable[[], None]] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; requests under way are aborted."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
        self.drain()  # whoever asked last waits for an answer
        self.abort_all()

    def submit(self, request: GenerateRequest, emit: Emit) -> None:
        """Queue a request."""
        self._post(lambda: self.accept(request, emit))

    def abort(self, rid: str) -> bool:
        """End a request early. False if it is not known."""
        return self._ask(lambda: self.drop(rid))

    def flush_cache(self) -> bool:
        """Empty all pools, if nothing is under way."""
        return self._ask(self.flush)

    @abstractmethod
    def accept(self, request: GenerateRequest, emit: Emit) -> None:
        """Take a request in, in the scheduler's thread."""

    @abstractmethod
    def drop(self, rid: str) -> bool:
        """Abort a request, in the scheduler's thread."""

    @abstractmethod
    def abort_all(self) -> None:
        """Abort every request."""

    @abstractmethod
    def flush(self) -> bool:
        """Empty all pools if idle, in the scheduler's thread."""

    @abstractmethod
    def step(self) -> bool:
        """Do what can be done now: a batch at most. False if there was nothing."""

    def drain(self) -> None:
        """Run what other threads have asked for."""
        while self._inbox:
            self._inbox.popleft()()

    def pace(self, virtual_seconds: float, began: float) -> None:
        """Keep the wall clock from running ahead of the device, so that queues form as they would.

        Args:
            virtual_seconds: What the device spent.
            began: Wall clock (`time.monotonic`) when it began.
        """
        rest = began + virtual_seconds - time.monotonic()
        if self._thread is not None and rest > 0:
            time.sleep(rest)

    def _run(self) -> None:
        try:
            while not self._stopping:
                self.drain()
                if not self.step():
                    with self._wake:
                        if not self._inbox and not self._stopping:
                            self._wake.wait(timeout=0.5)  # timeouts of rooms are looked after then
        except Exception:
            logger.exception("Scheduler hit an exception")
            self.abort_all()  # nobody shall wait for a thread that is gone
            raise

    def _post(self, call: Callable[[], None]) -> None:
        with self._wake:
            self._inbox.append(call)
            self._wake.notify()

    def _ask(self, call: Callable[[], T]) -> T:
        """Run a call in the scheduler's thread and give its result."""
        thread = self._thread
        if thread is None or thread is threading.current_thread() or not thread.is_alive():
            self.drain()
            return call()
        answer: Future[T] = Future()
        self._post(lambda: answer.set_result(call()))
        return answer.result()


def fail(rid: str, emit: Emit, reason: str, why: str) -> None:
    """End a request that will not be answered."""
    logger.warning("Request %s: %s", rid, why)
    emit(TokenOutput(rid=rid, token_ids=(), finished=True, finish_reason=reason, error=why))
