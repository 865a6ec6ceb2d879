"""Multi-turn tool-calling sessions whose right answers are known before anything is sent.

A session's context is a growing list of records; a record is a key and a tool call. Each turn brings
further records and asks for one key of the whole session, and the right answer is the call that stands
there. Whoever answers must have read the right place of the context, which is what a cache, a transfer
or a sparse attention can spoil; and no second run is needed to know what is right.

    vocabulary = Vocabulary.parse(path.read_text())
    session = draw(Shape(turns=4, start=2000, grow=1000), vocabulary, seed=1, session=17)
    body = {"messages": messages(session, 2), "tools": tools(vocabulary)}
    word = judge(session, 2, Reply.of_message(answer["choices"][0]["message"])).word

Records are written in the markup of the local engine (`Style.DSML`) or, for real models, in English
with JSON arguments (`Style.ENGLISH`). Sessions depend on seed and number alone, byte by byte, on any
version of Python: any slice of a workload can be drawn anywhere. What stands in earlier turns is the
right answer and not what was replied, so that each turn is judged on its own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

WORDS_PER_KEY = 2
WORDS_PER_VALUE = 3
PARAMETERS_PER_CALL = 2
TOKENS_PER_RECORD = 24
"""Tokens of a record in the local engine's vocabulary; with another tokenizer contexts are longer."""

Message = dict[str, Any]


class Style(StrEnum):
    """How records and questions are written."""

    DSML = "dsml"  # as the local engine's copy head reads them
    ENGLISH = "english"  # for a model that understands instructions


class Word(StrEnum):
    """What a reply turned out to be."""

    OK = "ok"
    WRONG = "wrong_but_well_formed"  # a call that the tools allow, but not the one asked for
    GARBLED = "garbled"  # no call, several, or one that no tool takes


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """Words that sessions are made of.

    Attributes:
        words: For keys and values.
        functions: Names of tools.
        parameters: Names of their parameters.
    """

    words: tuple[str, ...]
    functions: tuple[str, ...]
    parameters: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Vocabulary:
        """Read a vocabulary: a token a line, a line `# section` before each section.

        Raises:
            ValueError: A section `word`, `function` or `parameter` is missing or too short.
        """
        sections: dict[str, list[str]] = {}
        tokens: list[str] = []
        for line in text.splitlines():
            if line.startswith("# "):
                tokens = sections.setdefault(line[2:].strip(), [])
            elif line.strip():
                tokens.append(line.strip())
        least = {"word": 2, "function": 1, "parameter": PARAMETERS_PER_CALL}
        for name, size in least.items():
            if len(set(sections.get(name, ()))) < size:
                raise ValueError(f"a vocabulary needs a section {name!r} of {size} tokens or more")
        words, functions, parameters = (tuple(dict.fromkeys(sections[name])) for name in least)
        return cls(words=words, functions=functions, parameters=parameters)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call: the name of a function, and pairs of parameter and value in their order."""

    name: str
    arguments: tuple[tuple[str, str], ...]

    def same_as(self, other: Call) -> bool:
        """Whether both ask the same of the same tool; the order of arguments means nothing."""
        return self.name == other.name and dict(self.arguments) == dict(other.arguments)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A key and the call that belongs to it."""

    key: str
    call: Call


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """The records that a turn brings, and the key that it asks for, of this turn or an earlier one."""

    records: tuple[Record, ...]
    asked: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """A session: its number in the workload, its turns, and the tools that it may use."""

    number: int
    turns: tuple[Turn, ...]
    vocabulary: Vocabulary

    def records(self, turn: int) -> Iterator[Record]:
        """Give all records that stand in the context of a turn, counted from 0, oldest first."""
        return (record for past in self.turns[: turn + 1] for record in past.records)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """How long sessions are.

    Attributes:
        turns: Turns of a session.
        start: Tokens of context in the first turn.
        grow: Tokens that each further turn adds.
    """

    turns: int = 4
    start: int = 2000
    grow: int = 1000

    def __post_init__(self) -> None:
        if self.turns < 1 or min(self.start, self.grow) < TOKENS_PER_RECORD:
            raise ValueError(
                f"a turn needs {TOKENS_PER_RECORD} tokens at least, a session one turn: {self}"
            )

    def records(self, turn: int) -> int:
        """Give how many records a turn brings."""
        return (self.grow if turn else self.start) // TOKENS_PER_RECORD


def draw(shape: Shape, vocabulary: Vocabulary, *, seed: int, session: int) -> Session:
    """Draw one session of a workload.

    Args:
        shape: How long it is.
        vocabulary: What it is made of.
        seed: Seed of the workload.
        session: Number of the session in it.

    Raises:
        ValueError: The vocabulary has too few words for so many different keys.
    """
    if len(vocabulary.words) ** WORDS_PER_KEY < 2 * sum(map(shape.records, range(shape.turns))):
        raise ValueError(f"{len(vocabulary.words)} words are too few for the keys of {shape}")
    source = _Source(f"{seed}/{session}", vocabulary)
    turns: list[Turn] = []
    keys: list[str] = []
    asked: set[str] = set()
    for turn in range(shape.turns):
        # a key that came twice would have two right answers
        records = tuple(source.record(keys) for _ in range(shape.records(turn)))
        question = source.pick([key for key in keys if key not in asked])
        asked.add(question)
        turns.append(Turn(records=records, asked=question))
    return Session(number=session, turns=tuple(turns), vocabulary=vocabulary)


class _Source:
    """Draws by `random()` alone, the one method whose results Python promises to keep."""

    def __init__(self, seed: str, vocabulary: Vocabulary) -> None:
        self._random = random.Random(seed).random
        self._vocabulary = vocabulary
        self._taken: set[str] = set()

    def pick(self, items: Sequence[str]) -> str:
        return items[int(self._random() * len(items))]

    def record(self, keys: list[str]) -> Record:
        """Draw a record with a key that is new, and append its key to `keys`."""
        while (key := self._words(WORDS_PER_KEY)) in self._taken:
            pass
        self._taken.add(key)
        keys.append(key)
        parameters: list[str] = []
        while len(parameters) < PARAMETERS_PER_CALL:
            rest = [name for name in self._vocabulary.parameters if name not in parameters]
            parameters.append(self.pick(rest))
        arguments = tuple((name, self._words(WORDS_PER_VALUE)) for name in parameters)
        return Record(
            key=key, call=Call(name=self.pick(self._vocabulary.functions), arguments=arguments)
        )

    def _words(self, number: int) -> str:
        return " ".join(self.pick(self._vocabulary.words) for _ in range(number))


def right_answer(session: Session, turn: int) -> Call:
    """Give the call that answers a turn, counted from 0."""
    asked = session.turns[turn].asked
    return next(record.call for record in session.records(turn) if record.key == asked)


def messages(session: Session, turn: int, style: Style = Style.DSML) -> list[Message]:
    """Give the messages to send in a turn, in the shape of the chat completions API.

    Args:
        session: The session.
        turn: Which turn, counted from 0; earlier ones are answered rightly.
        style: How records and questions are written.
    """
    result: list[Message] = []
    if style is Style.ENGLISH:
        result.append({"role": "system", "content": _INSTRUCTION})
    for place in range(turn + 1):
        result.append({"role": "user", "content": _prompt(session.turns[place], style)})
        if place < turn:
            result += _answered(session, place, style)
    return result


_INSTRUCTION = (
    "The user lists records. Each has a key and one tool call. When asked for a key, make exactly the "
    "call of the record with that key, with its arguments unchanged, and say nothing else."
)


def _prompt(turn: Turn, style: Style) -> str:
    if style is Style.DSML:
        records = [f"record {record.key} {render_dsml(record.call)} end" for record in turn.records]
        return "\n".join([*records, f"ask {turn.asked}"])
    lines = [
        f'Record "{record.key}": call {record.call.name} with {_json(record.call)}'
        for record in turn.records
    ]
    return "\n".join([*lines, f'Make the call of the record "{turn.asked}".'])


def _answered(session: Session, turn: int, style: Style) -> list[Message]:
    call = right_answer(session, turn)
    function = {"name": call.name, "arguments": _json(call)}
    identity = f"call_{turn}"
    made = [{"id": identity, "type": "function", "function": function}]
    said: list[Message] = [{"role": "assistant", "content": None, "tool_calls": made}]
    if style is Style.ENGLISH:  # real models' templates want to see what came of the call
        said.append({"role": "tool", "tool_call_id": identity, "content": "done"})
    return said


def render_dsml(call: Call) -> str:
    """Write a call in the markup of DeepSeek V4, as the local engine's records hold it."""
    parameters = "".join(
        f'<｜DSML｜parameter name="{name}" string="true">{value}</｜DSML｜parameter>'
        for name, value in call.arguments
    )
    invoke = f'<｜DSML｜invoke name="{call.name}">{parameters}</｜DSML｜invoke>'
    return f"<｜DSML｜tool_calls>{invoke}</｜DSML｜tool_calls>"


def _json(call: Call) -> str:
    return json.dumps(dict(call.arguments), ensure_ascii=False)


def tools(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Describe the tools, in the shape of the chat completions API."""
    properties = {name: {"type": "string"} for name in vocabulary.parameters}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name in vocabulary.functions
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply as the API gives it: text, and calls as pairs of name and arguments in JSON."""

    content: str = ""
    calls: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_message(cls, message: Mapping[str, Any]) -> Reply:
        """Read a message of the chat completions API; what is not of its shape is left out."""
        calls: list[tuple[str, str]] = []
        for call in message.get("tool_calls") or ():
            match call:
                case {"function": {"name": str(name), "arguments": str(arguments)}}:
                    calls.append((name, arguments))
                case _:
                    calls.append(("", ""))
        content = message.get("content")
        return cls(content=content if isinstance(content, str) else "", calls=tuple(calls))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A word on a reply, and why."""

    word: Word
    why: str = ""


def judge(session: Session, turn: int, reply: Reply) -> Judgement:
    """Hold a reply against the right answer. Pure, and never raises, whatever was replied."""
    if len(reply.calls) != 1:
        return Judgement(Word.GARBLED, f"{len(reply.calls)} calls")
    call = _read(session.vocabulary, *reply.calls[0])
    if isinstance(call, str):
        return Judgement(Word.GARBLED, call)
    if "DSML" in reply.content:
        return Judgement(Word.GARBLED, "markup beside the call")
    if call.same_as(right_answer(session, turn)):
        return Judgement(Word.OK)
    others = (record.key for record in session.records(turn) if record.call.same_as(call))
    other = next(others, None)
    return Judgement(Word.WRONG, f"the call of {other!r}" if other else "the call of no record")


def _read(vocabulary: Vocabulary, name: str, arguments: str) -> Call | str:
    """Give the call if the tools allow it, else what is wrong with it."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return "arguments are not JSON"
    if name not in vocabulary.functions:
        return "unknown tool"
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        return "arguments are not an object of texts"
    if not values.keys() <= set(vocabulary.parameters) or len(values) != PARAMETERS_PER_CALL:
        return "unknown, missing or extra parameters"
    if any(not _is_value(vocabulary, value) for value in values.values()):
        return "a value that is not three words"
    return Call(name=name, arguments=tuple(values.items()))


def _is_value(vocabulary: Vocabulary, value: str) -> bool:
    words = value.split()
    return len(words) == WORDS_PER_VALUE and all(word in vocabulary.words for word in words)
