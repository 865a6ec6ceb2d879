"""What classifiers share: how a label is made, and endings that say nothing of the text."""

from __future__ import annotations

import re

from workbench.classifiers.exit_code import ExitCode, ExitCodeOptions
from workbench.model.outcome import Ending, Exchange, Label

UNFINISHED = "unfinished"
OTHER = "other"
SKIPPED = "skipped"
MEANINGS = {
    UNFINISHED: "the reply did not come to its end: it took too long, or the engine died",
    OTHER: "a command failed, and nothing in its output says that this is the symptom",
    SKIPPED: "a command exited with 125 or was ended from outside: it made no observation",
}
_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_LONGEST = 120
_COMMAND = ExitCode(ExitCodeOptions())


def bad(word: str, rule: str) -> Label:
    """Give a label with a signature, which leaves out what varies so that one kind is told alike."""
    short = rule if len(rule) <= _LONGEST else rule[: _LONGEST - 1] + "…"
    return Label(word=word, rule=short, signature=f"{word}: {_DIGITS.sub('N', short)}")


def unfinished(exchange: Exchange) -> Label | None:
    """Give the label of an exchange that did not come to its end, None for one that did."""
    return None if exchange.ending is Ending.COMPLETED else bad(UNFINISHED, exchange.ending.value)


def failed(exchange: Exchange) -> Label | None:
    """Give the label of a command that failed; None for one that did not, and for a server's reply."""
    found = _COMMAND.label(exchange)
    if found.word in _COMMAND.clean:
        return None
    return bad(SKIPPED if found.word in _COMMAND.void else OTHER, found.rule)
