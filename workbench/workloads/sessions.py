"""Multi-turn tool-calling sessions whose right answers are known: `records.py`, sent to a server.

Each turn brings further records, asks for one, and carries the right call of every earlier turn. So a
prefix cache has something to hold, and each turn is judged on its own. What a session says depends on
its seed and its number alone. Arms have different seeds on purpose: the evidence of a verdict is
computed for arms that fail independently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import UsageError, nearest
from workbench.ports import SessionRequest
from workbench.workloads import records
from workbench.workloads.records import Call, Shape, Style, Vocabulary
from workbench.workloads.server import Ask, ServerOptions, ServerWorkload
from workbench.workloads.textfile import read_whole

SHIPPED = Path(__file__).with_name("vocabulary.txt")
_LARGEST = 1 << 20
_CONTEXT = {"start": 2000, "grow": 1000}


@dataclass(frozen=True, kw_only=True)
class SessionsOptions(ServerOptions):
    """Options of the workload.

    Attributes:
        turns: Turns of a session.
        context: How long contexts are, in tokens of the local engine; other tokenizers make more of
            them: `start` in the first turn (2000), `grow` with each further one (1000).
        tools: Offer the tools that the records call.
        style: How records are written: `dsml`, as the local engine reads them, or `english`.
        vocabulary: File with the words that sessions are made of; empty for the one that is shipped.
        cwd: Folder that the file is looked for in; null for the current one.
    """

    turns: int = 4
    context: Mapping[str, int] = field(default_factory=dict)
    tools: bool = True
    style: Style = Style.DSML
    vocabulary: str = ""
    cwd: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.context:
            if name not in _CONTEXT:
                raise ValueError(f"context has no {name!r}; {nearest(name, _CONTEXT)}")
        self.shape()

    def shape(self) -> Shape:
        """Give how long sessions are; raises ValueError when none could be so."""
        return Shape(turns=self.turns, **{**_CONTEXT, **self.context})


class SessionsWorkload(ServerWorkload[SessionsOptions]):
    """Workload `sessions`."""

    Options = SessionsOptions
    fixed = (*ServerWorkload.fixed, "vocabulary", "cwd")

    def __init__(self, options: SessionsOptions) -> None:
        super().__init__(options)
        path = Path(options.cwd or "") / options.vocabulary if options.vocabulary else SHIPPED
        try:
            self._vocabulary = Vocabulary.parse(read_whole(path, _LARGEST).decode())
            self.check(options)
        except ValueError as error:
            hint = "see `vocabulary` in docs/workloads.md"
            raise UsageError(f"{path}: {error}", hint=hint) from error
        self._tools = records.tools(self._vocabulary)

    def check(self, options: SessionsOptions) -> None:
        """Raise ValueError when there are too few words for so long a session."""
        records.draw(options.shape(), self._vocabulary, seed=0, session=0)

    def asks(self, options: SessionsOptions, session: SessionRequest) -> Iterator[Ask]:
        """Ask for one record a turn."""
        drawn = records.draw(
            options.shape(), self._vocabulary, seed=session.seed, session=session.key.session
        )
        for turn in range(options.turns):
            said = {"messages": records.messages(drawn, turn, options.style)}
            yield Ask(
                body=said | ({"tools": self._tools} if options.tools else {}),
                expected=_as_expected(records.right_answer(drawn, turn)),
            )


def _as_expected(call: Call) -> str:
    """Write a call as classifiers compare it."""
    return json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
