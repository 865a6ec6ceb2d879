"""What came back: an exchange, the label a classifier gives it, the status of a trial, and counts.

A *trial* is one session, never one turn, because the turns of a session fail together. Its status is
the first that applies of `hit`, `errored`, `incomplete`, `clean`. Statuses are never merged and never
dropped: a time-out is not a clean session, and it is not a hit unless the symptom claims it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.model.ids import ExchangeKey


class Status(StrEnum):
    """Status of a trial, in order of precedence."""

    HIT = "hit"  # the symptom showed in at least one turn
    ERRORED = "errored"  # time-out, transport or engine fault that the symptom does not claim
    INCOMPLETE = "incomplete"  # no observation was made
    CLEAN = "clean"


class Ending(StrEnum):
    """How an exchange ended, before anybody looks at what it says."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    ENGINE_DIED = "engine_died"  # and what was under way with it
    REFUSED = "refused"  # no connection came about
    RESET = "reset"  # the connection broke, or was closed before any answer
    TRUNCATED = "truncated"  # the answer ended in order, but before it was whole
    HTTP_ERROR = "http_error"  # a status of 400 or more
    REDIRECTED = "redirected"  # a status of 300 to 399; it is not followed
    TOO_LARGE = "too_large"  # more than anybody keeps in memory
    MALFORMED = "malformed"  # not the HTTP, events, JSON or UTF-8 that was promised
    ENGINE_ERROR = "engine_error"  # the engine says so itself, inside a 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One request and its reply; for a command, one execution and its output.

    Attributes:
        key: Its place in the run.
        ending: How it ended.
        text: The reply (for a command: stdout, then stderr), capped; undecodable bytes replaced.
        text_bytes: Size of the whole reply in bytes, also when `text` was capped.
        seconds: From sending to the last byte (for a command: to its exit), monotonic clock.
        start_seconds: Of these, the part that starting took.
        exit_code: Exit code of a command; None if it was ended by a signal, or is no command.
        signal: Name of the signal that ended a command, such as `SIGSEGV`; else empty.
        last: It ends its session; a session whose last exchange is missing is run again.
        expected: The right answer, as far as the client knows it; else empty.
        first_seconds: From sending to the first token; None where there is none to tell.
        http_status: Status of the HTTP answer; None for no HTTP, or none that came.
        finish: Why the engine says that it ended, such as `stop` or `length`; else empty.
        prompt_tokens: Tokens of the prompt as the engine counts them; None if it does not say.
        completion_tokens: Tokens of the reply, likewise.
        cached_tokens: Tokens of the prompt that it did not compute anew, likewise.
        detail: How a bad ending came about, one line; holds nothing of the request.
        earlier: Attempts before this one, one line each; empty unless retries were asked for.
        request_sha256: Digest of what was sent; else empty.
    """

    key: ExchangeKey
    ending: Ending = Ending.COMPLETED
    text: str = ""
    text_bytes: int = 0
    seconds: float = 0.0
    start_seconds: float = 0.0
    exit_code: int | None = None
    signal: str = ""
    last: bool = True
    expected: str = ""
    first_seconds: float | None = None
    http_status: int | None = None
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    detail: str = ""
    earlier: tuple[str, ...] = ()
    request_sha256: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A classifier's word on an exchange and the rule that fired.

    Attributes:
        word: One of the classifier's published words, such as `failed` or `crashed`.
        rule: Why: the rule that fired, such as `exit 1`.
        signature: What failures of one kind have in common; groups them in a report. Empty when
            there is nothing to report.
    """

    word: str
    rule: str
    signature: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symptom:
    """An observable failure class: which labels and which endings count as a hit.

    A label that is named nowhere here is a failure that this symptom does not claim: errored.

    Attributes:
        name: Its name in the campaign.
        labels: Labels that are hits.
        clean: Labels that are clean.
        void: Labels that say that no observation was made.
        endings: Endings that are hits, for symptoms such as `wedged`.
    """

    name: str
    labels: tuple[str, ...] = ()
    clean: tuple[str, ...] = ("clean",)
    void: tuple[str, ...] = ()
    endings: tuple[Ending, ...] = ()


_LETTERS = {Status.HIT: "h", Status.ERRORED: "e", Status.INCOMPLETE: "i", Status.CLEAN: "c"}


@dataclass(frozen=True, slots=True)
class Counts:
    """Sessions of one arm by status, from one block or summed over several.

    Attributes:
        hit: Sessions that showed the symptom.
        clean: Sessions that ended well without it.
        errored: Sessions with a fault that the symptom does not claim.
        incomplete: Sessions that made no observation.
        order: Statuses in assignment order, one letter a session (`h`, `c`, `e`, `i`), or empty when
            unknown. It lets a smaller count be taken from the front, not scaled.
    """

    hit: int
    clean: int
    errored: int = 0
    incomplete: int = 0
    order: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        numbers = (self.hit, self.clean, self.errored, self.incomplete)
        if min(numbers) < 0:
            raise ValueError(f"counts cannot be negative: {numbers}")
        if self.order and tuple(map(self.order.count, "hcei")) != numbers:
            raise ValueError(f"order {self.order!r} does not add up to {numbers}")

    @classmethod
    def of(cls, statuses: Iterable[Status]) -> Counts:
        """Count statuses that are given in assignment order."""
        order = "".join(_LETTERS[status] for status in statuses)
        hit, clean, errored, incomplete = map(order.count, "hcei")
        return cls(hit, clean, errored, incomplete, order)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.hit + other.hit,
            self.clean + other.clean,
            self.errored + other.errored,
            self.incomplete + other.incomplete,
        )

    @property
    def decided(self) -> int:
        """Sessions that ended as hit or clean."""
        return self.hit + self.clean

    @property
    def total(self) -> int:
        """All sessions, whatever their status."""
        return self.decided + self.errored + self.incomplete
