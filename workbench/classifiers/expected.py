"""Labels a reply by the right answer, which the client knew before it asked.

Nothing else tells a fluent wrong answer from a right one, such as the answer to somebody else's
question. The workload puts it into the exchange; if all exchanges have the same one, an option will do.
Only what is said is judged: calls are `tool_call`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.classifiers.reply import BAD_JSON, canonical, read_json, read_reply
from workbench.classifiers.words import MEANINGS, SKIPPED, bad, failed, unfinished
from workbench.model.outcome import Exchange, Label

LOOKED_AT = 65_536


@dataclass(frozen=True, kw_only=True)
class ExpectedOptions:
    """Options of the classifier.

    Attributes:
        answer: The right answer of every exchange; empty when the workload gives each its own.
        compare: How a reply is held against it. `exact`: they are the same, but for white space at both
            ends. `words`: the same words, whatever case and white space. `contains`: its words stand
            somewhere in the reply. `json`: the same JSON value.
        well_formed: A wrong reply that this regular expression matches as a whole is well formed: not
            garbage, but the answer to something else. With `json`, every JSON value is when this is
            empty. It is not tried on replies of more than LOOKED_AT characters, which are wrong.
    """

    answer: str = ""
    compare: Literal["exact", "words", "contains", "json"] = "exact"
    well_formed: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.well_formed)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"well_formed is no regular expression: {error}") from error
        if self.compare == "json" and self.answer and read_json(self.answer) is BAD_JSON:
            raise ValueError(f"answer must be JSON to be compared as JSON: {self.answer[:80]!r}")


class Expected:
    """Classifier `expected`."""

    Options = ExpectedOptions
    words: Mapping[str, str] = {
        "ok": "the right answer",
        "wrong": "another answer, and none that such a question could have",
        "wrong_but_well_formed": "another answer of the right form, perhaps to another question",
        "empty": "nothing was said",
        "unjudged": "nobody knows the right answer: neither the workload nor an option gives it",
        **MEANINGS,
    }
    clean: tuple[str, ...] = ("ok",)
    void: tuple[str, ...] = ("unjudged", SKIPPED)

    def __init__(self, options: ExpectedOptions) -> None:
        self._answer = options.answer
        self._compare = options.compare
        self._form = re.compile(options.well_formed, re.DOTALL) if options.well_formed else None

    def label(self, exchange: Exchange) -> Label:
        """Label one reply."""
        if ended := unfinished(exchange) or failed(exchange):
            return ended
        right = exchange.expected or self._answer
        if not right:
            return bad("unjudged", "no right answer is given")
        said = read_reply(exchange.text).content.strip()
        if not said:
            return bad("empty", "nothing was said")
        if self._same(said, right.strip()):
            return Label(word="ok", rule=self._compare)
        if self._is_well_formed(said):
            return bad("wrong_but_well_formed", f"not {self._compare}, though of the right form")
        return bad("wrong", f"not {self._compare}")

    def _same(self, said: str, right: str) -> bool:
        match self._compare:
            case "exact":
                return said == right
            case "words":
                return said.casefold().split() == right.casefold().split()
            case "contains":
                words, found = (" ".join(text.casefold().split()) for text in (right, said))
                return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", found) is not None
            case "json":
                return (value := canonical(said)) is not None and value == canonical(right)

    def _is_well_formed(self, said: str) -> bool:
        if self._form:
            return len(said) <= LOOKED_AT and self._form.fullmatch(said) is not None
        return self._compare == "json" and read_json(said) is not BAD_JSON
