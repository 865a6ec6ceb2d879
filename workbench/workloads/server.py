"""What `single`, `sessions` and `replay` share: a session of requests to a server, one after another.

Such a workload says what a session asks (`asks`); options, the arm's fields and load, the client and
its connections are dealt with here. There is one client for all sessions of a job, made in the loop
that runs them, and it asks for no place in a queue: what is in flight is what was asked for.

A session ends with its first exchange that is not whole: what followed would be sent to an engine in an
unknown state, and its answer blamed on the wrong request.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from workbench.errors import ArmCouldNotStart, UsageError, nearest
from workbench.http.reply import Request
from workbench.http.retrying import Retry
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Exchange
from workbench.ports import Endpoint, SessionRequest, Workload
from workbench.workloads.bodies import Api, assembled, encoded, laid_over, streams
from workbench.workloads.exchanges import LIMITS, exchange_of

if TYPE_CHECKING:
    from workbench.http.client import Client

CONDUCTORS = ("in_flight", "requests", "sessions")  # of a load, what the conductor sees to
_VERSION = "/v1"


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Options that all workloads share which send to a server.

    Attributes:
        path: Where to, from the engine's URL; its end tells what the answers look like.
        model: Name of the model, for servers that want one; empty to send none.
        stream: Ask for a stream of events, which tells when the first token came.
        timeout: Seconds for all of a request, further attempts included.
        api_key_env: Name of the environment variable that holds the key; empty for no key.
        headers: Further headers of each request.
        body: Fields laid over each request, by dotted name; null takes one out.
        retries: Further attempts after an HTTP status of 429 or 503; each is on record.
    """

    path: str = "/v1/chat/completions"
    model: str = ""
    stream: bool = True
    timeout: float = 600.0
    api_key_env: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 0

    def __post_init__(self) -> None:
        if not self.path.startswith("/"):
            raise ValueError(f"path must begin with /, not {self.path!r}")
        if not self.timeout > 0:
            raise ValueError(f"timeout must be positive, not {self.timeout}")
        if self.retries < 0:
            raise ValueError(f"retries must not be negative, not {self.retries}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One request of a session before anything is laid over it, and the right answer if it is known."""

    body: Mapping[str, Any]
    expected: str = ""


Options = TypeVar("Options", bound=ServerOptions)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line(Generic[Options]):
    """An endpoint as this workload has to use it."""

    endpoint: Endpoint
    url: str
    api: Api
    options: Options


class ServerWorkload(Workload, Generic[Options]):
    """Base of the workloads that send to a server.

    Args:
        options: Options of the workload, before an arm's load is laid over them.

    Attributes:
        fixed: Options that no load can change, because they were used up when the workload was made.
    """

    fixed: tuple[str, ...] = ("api_key_env",)

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client: Client | None = None
        self._line: _Line[Options] | None = None

    @abstractmethod
    def asks(self, options: Options, session: SessionRequest) -> Iterator[Ask]:
        """Give what a session asks, turn by turn; depends on the options and the session alone."""

    def check(self, options: Options) -> None:
        """Raise ValueError when these options, with an arm's load laid over them, cannot be driven."""

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Send the requests of a session one after another. Cancelling ends its connection at once."""
        line = self._lined(endpoint)
        asks = self.asks(line.options, session)
        turn, ask = 0, next(asks)
        while True:
            following = next(asks, None)
            key = ExchangeKey(session.key, turn)
            exchange = await self._send(line, ask, key, last=following is None)
            yield exchange
            if following is None or exchange.last:
                return
            turn, ask = turn + 1, following

    def leftovers(self, run: str) -> int:
        """Nothing outlives the process that sent it: the kernel closes its connections."""
        return 0

    async def close(self) -> None:
        """Close all connections."""
        client, self._client, self._line = self._client, None, None
        if client is not None:
            await client.aclose()

    async def _send(self, line: _Line[Options], ask: Ask, key: ExchangeKey, *, last: bool) -> Exchange:
        content, request = _request(line, ask)
        options = line.options
        retry = Retry(times=options.retries) if options.retries else None
        try:
            if self._client is None:
                from workbench.http.client import Client  # slow to load, and checks send nothing

                self._client = Client(api_key_env=options.api_key_env, limits=LIMITS)
            reply = await self._client.send(request, retry=retry)
        except UsageError as error:
            raise ArmCouldNotStart(line.endpoint.arm, error.what, hint=error.hint) from error
        return exchange_of(
            reply,
            key,
            api=line.api,
            last=last,
            expected=ask.expected,
            request_sha256=hashlib.sha256(content).hexdigest(),
        )

    def _lined(self, endpoint: Endpoint) -> _Line[Options]:
        """Give what is to be known of an endpoint; worked out once, for a job has one."""
        if self._line is None or self._line.endpoint is not endpoint:
            if not endpoint.url:
                hint = "this workload needs an engine that serves; a test command needs `command`"
                raise ArmCouldNotStart(endpoint.arm, "it has no URL to send to", hint=hint)
            options = self._under(endpoint)
            self._line = _Line(
                endpoint=endpoint,
                url=joined(endpoint.url, options.path),
                api=Api.of(options.path),
                options=options,
            )
        return self._line

    def _under(self, endpoint: Endpoint) -> Options:
        """Give the options with the arm's load laid over them."""
        load = {name: value for name, value in endpoint.load.items() if name not in CONDUCTORS}
        if not load:
            return self._options
        known = [each.name for each in fields(self._options) if each.name not in self.fixed]
        for name in load:
            if name.partition(".")[0] not in known:
                hint = nearest(name, (*CONDUCTORS, *known))
                raise ArmCouldNotStart(endpoint.arm, f"its load has no {name!r}", hint=hint)
        try:
            merged = laid_over(msgspec.to_builtins(self._options), load)
            options = msgspec.convert(merged, type(self._options))
            self.check(options)
        except (ValueError, TypeError) as error:
            raise ArmCouldNotStart(endpoint.arm, f"its load cannot be: {error}") from error
        return options


def _request(line: _Line[Any], ask: Ask) -> tuple[bytes, Request]:
    """Give a request, and its body as it is sent; raises ArmCouldNotStart for what cannot be."""
    options = line.options
    try:
        body = assembled(
            ask.body,
            api=line.api,
            stream=options.stream,
            model=options.model,
            fields=options.body,
            arm=line.endpoint.request,
        )
        content = encoded(body)
        return content, Request(
            url=line.url,
            body=content,
            form=line.api.form,
            stream=streams(body),
            deadline=options.timeout,
            headers=options.headers,
        )
    except ValueError as error:
        raise ArmCouldNotStart(line.endpoint.arm, f"nothing can be sent: {error}") from error


def joined(url: str, path: str) -> str:
    """Join the URL of an engine and a path; `/v1` that stands in both is meant once."""
    base = url.rstrip("/")
    return (base.removesuffix(_VERSION) if path.startswith(f"{_VERSION}/") else base) + path
