"""Labels a reply by the first of its patterns that is found in it.

    symptoms:
      garbled:
        classifier: {kind: regex, patterns: {leaked: '<.DSML.', refused: "I can(?:no|')t"}}
        labels: [leaked]

Patterns are tried in the order in which they are written. Python's engine may take exponential time
over `(a+)+b` on a text of thirty characters, which nothing here can stop: write `(?>a+)b` or `a++b`.
What takes quadratic time is held back by looking at the first and the last `look_at` / 2 characters of
longer texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.classifiers.reply import BAD_JSON, Reply, read_json, read_reply, texts_in
from workbench.classifiers.words import MEANINGS, SKIPPED, bad, failed, unfinished
from workbench.model.outcome import Exchange, Label

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class RegexOptions:
    """Options of the classifier.

    Attributes:
        patterns: Label to the regular expression that earns it, in the order in which they are tried.
        otherwise: Label of a reply in which none is found.
        clean: Labels that say that all was well; `otherwise` alone when left out.
        void: Labels that say that no observation was made.
        within: `text` for the exchange as it came; `content` for what a chat server's body says:
            content, reasoning, and the values in arguments of calls, without the escapes of JSON.
        look_at: Characters that are looked at, half of them from each end of a longer text.
    """

    patterns: Mapping[str, str]
    otherwise: str = "clean"
    clean: tuple[str, ...] | None = None
    void: tuple[str, ...] = ()
    within: Literal["text", "content"] = "text"
    look_at: int = 65_536

    def __post_init__(self) -> None:
        if not self.patterns:
            raise ValueError("patterns must hold one at least, such as {garbled: 'DSML'}")
        for label, pattern in self.patterns.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"pattern {label!r} is no regular expression: {error}: {pattern!r}"
                ) from error
            except (RecursionError, OverflowError) as error:
                raise ValueError(f"pattern {label!r} is too large: {error}") from error
        for label in (*self.patterns, self.otherwise):
            if not _LABEL.fullmatch(label):
                raise ValueError(
                    f"label {label!r} is no name: use letters, digits and . _ -, 64 at most"
                )
            if label in MEANINGS:
                raise ValueError(f"label {label!r} is taken: it says that {MEANINGS[label]}")
        for name, given in (("clean", self.clean or ()), ("void", self.void)):
            for label in given:
                if label not in (*self.patterns, self.otherwise):
                    raise ValueError(f"{name}: no pattern gives the label {label!r}")
        if both := sorted({*(self.clean or ())} & {*self.void}):
            raise ValueError(f"label {both[0]!r} cannot be clean and void")
        if self.look_at < 2:
            raise ValueError("look_at must be 2 characters or more")


class Regex:
    """Classifier `regex`."""

    Options = RegexOptions

    def __init__(self, options: RegexOptions) -> None:
        self._patterns = {label: re.compile(pattern) for label, pattern in options.patterns.items()}
        self._otherwise = options.otherwise
        self._of_content = options.within == "content"
        self._look_at = options.look_at
        described = {label: f"the reply matches {found}" for label, found in options.patterns.items()}
        described.setdefault(options.otherwise, "no pattern is found in the reply")
        self.words: Mapping[str, str] = {**described, **MEANINGS}
        self.void = (*options.void, SKIPPED)
        given = (options.otherwise,) if options.clean is None else options.clean
        self.clean = tuple(label for label in given if label not in options.void)

    def label(self, exchange: Exchange) -> Label:
        """Label a reply; a command that failed is clean only if a pattern says so."""
        if ended := unfinished(exchange):
            return ended
        text = "\n".join(_said(exchange.text)) if self._of_content else exchange.text
        parts, where = [text], "the text"
        if len(text) > self._look_at:
            half = self._look_at // 2
            parts, where = [text[:half], text[-half:]], f"the first and last {half} characters"
        for label, pattern in self._patterns.items():
            if any(pattern.search(part) for part in parts):
                return self._found(label, f"pattern {label!r} is found in {where}")
        return failed(exchange) or self._found(self._otherwise, f"no pattern is found in {where}")

    def _found(self, label: str, rule: str) -> Label:
        return Label(word=label, rule=rule) if label in self.clean else bad(label, rule)


def _said(text: str) -> Iterator[str]:
    reply: Reply = read_reply(text)
    yield from (reply.reasoning, reply.content, reply.error)
    for call in reply.calls:
        value = read_json(call.arguments)
        yield call.name
        yield from (call.arguments,) if value is BAD_JSON else texts_in(value)
