"""Labels one execution of a test command by how it ended, by the rules of a test command.

    0                              clean
    1 to 124                       failed; narrowed by `hit_exit` or `hit_regex`
    SEGV ABRT BUS FPE ILL          crashed, also as 128 + n; narrowed in the same way
    125, other signals             skipped, killed: no observation was made
    anything else                  other: a failure that the symptom does not claim

Codes 126 and 127 never come here: the arm could not start, and the run ends.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.model.outcome import Ending, Exchange, Label

SKIP = 125
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_NUMBERS = {each.name: int(each) for each in signal.Signals}
_NAMES = {int(each): each.name for each in signal.Signals}
_CRASH_NAMES = {each.name for each in _CRASHES}
_DIGITS = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")
_SIGNATURE_LENGTH = 80


@dataclass(frozen=True, kw_only=True)
class ExitCodeOptions:
    """Options of the classifier.

    Attributes:
        hit_exit: Exit codes that are the symptom; empty for all of 1 to 124 and crashes.
        hit_regex: The output of a failing execution must match this to be the symptom.
    """

    hit_exit: tuple[int, ...] = ()
    hit_regex: str | None = None

    def __post_init__(self) -> None:
        if self.hit_regex is not None:
            try:
                re.compile(self.hit_regex)
            except re.error as error:
                raise ValueError(f"hit_regex is no regular expression: {error}") from error


class ExitCode:
    """Classifier `exit_code`."""

    Options = ExitCodeOptions
    words: Mapping[str, str] = {
        "clean": "the command exited with 0",
        "failed": "the command failed in the way that the symptom claims",
        "crashed": "the command was ended by a fault of its own: SEGV, ABRT, BUS, FPE or ILL",
        "other": "the command failed in another way than the symptom claims",
        "skipped": "the command exited with 125: it made no observation",
        "killed": "the command was ended from outside by a signal: no observation",
        "timeout": "the command did not end in time",
    }
    clean: tuple[str, ...] = ("clean",)
    void: tuple[str, ...] = ("skipped", "killed")

    def __init__(self, options: ExitCodeOptions) -> None:
        self._exits = frozenset(options.hit_exit)
        self._pattern = re.compile(options.hit_regex) if options.hit_regex else None

    def label(self, exchange: Exchange) -> Label:
        """Label one execution; the signature groups failures of one kind."""
        if exchange.ending is not Ending.COMPLETED:
            return _label("timeout", exchange.ending.value, exchange)
        code, ended_by = _how(exchange)
        rule = ended_by or f"exit {code}"
        if code == 0:
            return self._clean(exchange)
        if self._exits or self._pattern:
            claimed = (not self._exits or code in self._exits) and self._matches(exchange)
        else:
            claimed = ended_by in _CRASH_NAMES or 1 <= code < SKIP
        if claimed:
            return _label("crashed" if ended_by in _CRASH_NAMES else "failed", rule, exchange)
        if code == SKIP:
            return _label("skipped", rule, exchange)
        from_outside = ended_by and ended_by not in _CRASH_NAMES
        return _label("killed" if from_outside else "other", rule, exchange)

    def _clean(self, exchange: Exchange) -> Label:
        """Label an exit code 0, and point it out when the output says otherwise."""
        if self._pattern is not None and self._matches(exchange):
            said = "exit 0, though its output matches the symptom: the exit code decides"
            return Label(word="clean", rule="exit 0", signature=said)
        return Label(word="clean", rule="exit 0")

    def _matches(self, exchange: Exchange) -> bool:
        return self._pattern is None or self._pattern.search(exchange.text) is not None


def _how(exchange: Exchange) -> tuple[int, str]:
    """Give the exit code as a shell would show it, and the name of the signal behind it or nothing."""
    if exchange.signal:
        return 128 + _NUMBERS.get(exchange.signal, 0), exchange.signal
    code = exchange.exit_code or 0
    return code, _NAMES.get(code - 128, "") if code > 128 else ""


def _label(word: str, rule: str, exchange: Exchange) -> Label:
    lines = [line.strip() for line in exchange.text.splitlines() if line.strip()]
    last = _DIGITS.sub("N", lines[-1])[:_SIGNATURE_LENGTH] if lines else ""
    return Label(word=word, rule=rule, signature=f"{rule}: {last}" if last else rule)
