"""Drives an engine in one process and one thread: sessions with known answers, so many in flight.

The driver is the wall clock here: it submits, then lets the scheduler step. So a run is a function of
its seed, whatever the machine is doing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from workbench.local_engine.chat_template import apply_chat_template, render_call
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.interface import GenerateRequest, TokenOutput
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.server_args import ServerArgs
from workbench.local_engine.tokenizer import EOS, get_tokenizer, read_vocabulary

ARGS = ServerArgs(enable_hierarchical_cache=True)
FP8 = Environment()
BF16 = Environment(dsv4_bf16_index_k=True)
MAX_NEW_TOKENS = 48
PATIENCE = 20


class Hang(AssertionError):
    """Requests are under way and nothing happens."""


@dataclass
class Session:
    """One conversation: records and a question a turn."""

    number: int
    seed: int
    turns: int = 4
    first_tokens: int = 2000
    turn_tokens: int = 1000
    messages: list[dict[str, object]] = field(default_factory=list)
    records: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(f"{self.seed}/{self.number}")
        self._vocabulary = read_vocabulary()
        self.turn = 0

    def _words(self, count: int) -> str:
        return " ".join(self._random.choice(self._vocabulary["word"]) for _ in range(count))

    def ask(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Begin the next turn; give its prompt and the right answer, both as tokens."""
        lines = []
        for _ in range((self.turn_tokens if self.turn else self.first_tokens) // 24):
            while (key := self._words(2)) in self.records:
                pass
            names = self._random.sample(self._vocabulary["parameter"], 2)
            call = render_call(
                self._random.choice(self._vocabulary["function"]),
                {name: self._words(3) for name in names},
            )
            self.records[key] = call
            lines.append(f"record {key} {call} end")
        key = self._random.choice(list(self.records))
        self.messages.append({"role": "user", "content": "\n".join([*lines, f"ask {key}"])})
        self.turn += 1
        right = (*get_tokenizer().encode(self.records[key]), EOS)
        return tuple(apply_chat_template(self.messages)), right

    def take(self, reply: tuple[int, ...]) -> None:
        """Put the reply into the conversation, as raw content."""
        self.messages.append({"role": "assistant", "content": get_tokenizer().decode(reply)})


@dataclass
class Answer:
    """One reply, and what it should have been."""

    session: int
    turn: int
    said: tuple[int, ...]
    right: tuple[int, ...]
    output: TokenOutput

    @property
    def wrong(self) -> bool:
        return self.said != self.right


@dataclass
class Result:
    """All replies of a run, in order of arrival, and the counters after it."""

    answers: list[Answer]
    counters: dict[str, float]

    @property
    def wrong(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.wrong]

    @property
    def rate(self) -> float:
        return len(self.wrong) / len(self.answers)

    @property
    def by_turn(self) -> list[int]:
        turns = max(answer.turn for answer in self.answers)
        return [sum(answer.turn == turn for answer in self.wrong) for turn in range(1, turns + 1)]

    @property
    def sessions_hit(self) -> int:
        return len({answer.session for answer in self.wrong})


@dataclass(frozen=True, kw_only=True)
class Dose:
    """How much is asked for.

    Attributes:
        sessions: Conversations.
        in_flight: How many of them have a request under way at once; all if None.
        turns: Questions in each.
        seed: What they say.
        order: Seed of another order of arrival than round robin.
    """

    sessions: int = 60
    in_flight: int | None = None
    turns: int = 4
    seed: int = 0
    order: int | None = None


def drive(scheduler: UnifiedScheduler, dose: Dose, watch: Callable[[], None] = lambda: None) -> Result:
    """Run sessions; those that wait for their next turn go round robin. `watch` sees each step."""
    waiting = [Session(number, dose.seed, dose.turns) for number in range(dose.sessions)]
    flying: dict[str, tuple[Session, tuple[int, ...], list[int]]] = {}
    answers: list[Answer] = []
    order = None if dose.order is None else random.Random(dose.order)
    limit = dose.in_flight or dose.sessions

    quiet = 0

    def emit(output: TokenOutput) -> None:
        nonlocal quiet
        quiet = 0
        session, right, said = flying[output.rid]
        said.extend(output.token_ids)
        if output.finished:
            del flying[output.rid]
            if output.finish_reason == "error":
                session.turn = session.turns  # its conversation cannot go on
            answers.append(Answer(session.number, session.turn, tuple(said), right, output))
            session.take(tuple(said))
            if session.turn < session.turns:
                waiting.append(session)

    while True:
        while waiting and len(flying) < limit:
            session = waiting.pop(0 if order is None else order.randrange(len(waiting)))
            prompt, right = session.ask()
            rid = f"{session.number}-{session.turn}"
            flying[rid] = (session, right, [])
            request = GenerateRequest(rid=rid, input_ids=prompt, max_new_tokens=MAX_NEW_TOKENS)
            scheduler.submit(request, emit)
        if not flying:
            break
        watch()
        scheduler.step()
        quiet += 1
        if quiet > PATIENCE:
            raise Hang(f"no token for {PATIENCE} steps, {len(flying)} requests under way")
    return Result(answers, scheduler.counters())


def half_bandwidth(args: ServerArgs) -> ServerArgs:
    return replace(args, h2d_gbps=0.1702 / 2)
