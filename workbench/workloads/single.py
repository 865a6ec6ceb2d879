"""One request, many times: each session sends the same, and only once.

`{seed}` and `{session}` in its texts are replaced by the session's own, for those who want each request
to be another one, so that no cache of prefixes answers for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.ports import SessionRequest
from workbench.workloads.bodies import Api
from workbench.workloads.server import Ask, ServerOptions, ServerWorkload


@dataclass(frozen=True, kw_only=True)
class SingleOptions(ServerOptions):
    """Options of the workload; one of `prompt`, `messages` and `body` is needed.

    Attributes:
        prompt: What to say, as text.
        messages: What to say, as messages of the chat completions API.
        expected: The right answer, as text or as JSON; null for none.
    """

    prompt: str = ""
    messages: Sequence[Mapping[str, Any]] = ()
    expected: str | Mapping[str, Any] | Sequence[Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt and self.messages:
            raise ValueError("prompt and messages say it twice; give one of them")
        if not (self.prompt or self.messages or self.body):
            raise ValueError("nothing to send; give prompt, messages or body")


class SingleWorkload(ServerWorkload[SingleOptions]):
    """Workload `single`."""

    Options = SingleOptions

    def asks(self, options: SingleOptions, session: SessionRequest) -> Iterator[Ask]:
        """Ask once."""
        said: Mapping[str, Any] = {}
        if options.prompt:
            said = Api.of(options.path).says(options.prompt)
        elif options.messages:
            said = {"messages": options.messages}
        place = {"{seed}": str(session.seed), "{session}": str(session.key.session)}
        yield Ask(body=_filled(said, place), expected=as_text(options.expected))


def as_text(expected: Any) -> str:
    """Write a right answer: a text as it is, anything else as JSON, None as nothing."""
    if expected is None or isinstance(expected, str):
        return expected or ""
    return json.dumps(expected, ensure_ascii=False)


def _filled(value: Any, place: Mapping[str, str]) -> Any:
    """Replace names in all texts within a JSON value."""
    if isinstance(value, str):
        for name, text in place.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, Mapping):
        return {key: _filled(each, place) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(each, place) for each in value]
    return value
