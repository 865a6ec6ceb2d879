"""What a message claims: that it takes something back or makes it again, and what; pure.

A claim is one clue among others. What is read here is only ever looked up among a commit's ancestors,
and content has the last word (`reverts`): a word read too many costs time and names nothing wrong.

Titles are compared by their keys: case, backticks, kinds of quotes, spaces and the numbers of pull
requests behind them are folded; a title that was cut off with an ellipsis is the beginning of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

_T = TypeVar("_T")

_REVERT = (
    r"(?:un)?revert(?:s|ed|ing)?|roll(?:s|ed|ing)?[ -]?back|back(?:s|ed|ing)?[ -]?out|undo(?:es|ing)?"
)
_RELAND = (
    r"re-?land(?:s|ed|ing)?|re-?appl(?:y|ies|ied|ying)|re-?introduc(?:e|es|ed|ing)|re-?submit(?:s|ted)?"
)
# What may stand before the verb: `[Tag]`, `fix(scope):`, `hotfix -`.
_BEFORE = (
    r"(?:\[[^\]]{1,40}\]\s*|[\w./-]{1,30}(?:\([^)]{1,40}\))?!?:\s*|hotfix\s+|(?:hot)?fix\s*[-:]\s*)*"
)
_FIRST = re.compile(
    rf"\s*{_BEFORE}[\[(]?(?:(?P<revert>{_REVERT})|(?P<reland>{_RELAND}))\b[\])]?\s*[:\-]?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LAST = re.compile(rf"(?P<rest>.*?)\s*[\[(](?:{_RELAND})[\])]\s*(?:\(#\d+\)\s*)*$", re.IGNORECASE)
# "Undo" within a sentence is more often something that a program does.
_WORD = re.compile(rf"\b(?:{_REVERT.partition('|undo')[0]}|{_RELAND})\b", re.IGNORECASE)
_QUOTES = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "`": None}
)
_OWN = re.compile(r"\(#(\d{1,9})\)\s*$")
_NUMBERED = re.compile(r'\s*(?:\(#\d{1,9}\)|(?<=")\s)([\s"]*)$')
_MERGED = re.compile(r"Merge pull request #(\d{1,9})\b")
_CUT = re.compile(r"(?:…|\.\.\.)\s*$")
_NUMBER = re.compile(
    r"(?<![\w&])(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b|\bPR[ -]?(\d{1,9})\b|/pull/(\d{1,9})\b"
)
_RANGE = re.compile(r"#(\d{1,9})\s*(?:-|\u2013|to|\.\.\.?|through)\s*#?(\d{1,9})\b")
_LONGEST_RANGE = 50
_LONGEST_TITLE = 1000  # characters; the rest is no title, and takes long to read
_LONGEST_BODY = 20_000
# A run of hexadecimal digits that is no part of a word, a mail address, a path or a version.
_SHA = re.compile(r"(?<![\w@+./#-])([0-9a-f]{7,64})(?![\w@+/-]|\.\w)")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]*-by:|cherry picked from|.*<[^<>@\s]*@[^<>\s]*>")
_MAINLINE = re.compile(r"reversing\s+changes\s+made\s+to\s+[0-9a-f]+")


class Verb(StrEnum):
    """What a subject says that a commit does."""

    REVERT = "revert"
    RELAND = "reland"
    MENTION = "mention"  # a word of the kind stands somewhere in it, and may mean anything


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What a message claims.

    Attributes:
        verb: What the subject says; for a subject that says nothing, what the body does.
        titles: Titles that it names, as they stand there, the likeliest first.
        keys: The same, as titles are compared by; without those that say nothing.
        cut: They were cut off, so they are beginnings of titles.
        numbers: Numbers that it names beside such a word; of pull requests, or of issues.
        shas: What looks like ids of commits beside such a word, whole or short.
    """

    verb: Verb
    titles: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    cut: bool = False
    numbers: tuple[int, ...] = ()
    shas: tuple[str, ...] = ()


def claim(subject: str, body: str = "") -> Claim | None:
    """Read what a message claims; None if it speaks of nothing of the kind."""
    whole, _, rest_of_body = _whole(subject, body)
    said = [line for line in _sentences(rest_of_body) if _WORD.search(line)]
    numbers, shas = _numbers(said), _shas(said)
    titles: tuple[str, ...] = ()
    cut = False
    if found := _FIRST.match(whole):
        verb = Verb.REVERT if found["revert"] else Verb.RELAND
        titles, cut = _titles(found["rest"])
        numbers = (*_numbers([_OWN.sub("", found["rest"])]), *numbers)
        shas = (*_shas([found["rest"]]), *shas)
    elif found := _LAST.match(whole):
        verb = Verb.RELAND
        titles = (found["rest"],)
    elif _WORD.search(whole):
        verb = Verb.MENTION
        numbers = (*_numbers([_MERGED.sub("", _OWN.sub("", whole))]), *numbers)
        shas = (*_shas([whole]), *shas)
    elif shas or numbers:
        verb = Verb.MENTION
    else:
        return None
    keys = _once(filter(None, map(key, titles)))
    return Claim(verb=verb, titles=titles, keys=keys, cut=cut, numbers=_once(numbers), shas=_once(shas))


def key(title: str) -> str:
    """Give what two titles are compared by."""
    text = " ".join(title[:_LONGEST_TITLE].translate(_QUOTES).split())
    before = ""
    while before != text:
        before = text
        text = _CUT.sub("", text).rstrip()
        # numbers of nested reverts stand behind each closing quote
        text = _NUMBERED.sub(lambda found: found[1].replace(" ", ""), text)
    return text.casefold()


def title_of(subject: str, body: str = "") -> str:
    """Give the title of a commit, joined where it was cut off and goes on in the body."""
    return _whole(subject, body)[0]


def number_of(subject: str) -> int | None:
    """Give the number of the pull request that a commit came by; None if its subject has none."""
    found = _OWN.search(subject) or _MERGED.match(subject)
    return int(found[1]) if found else None


def _whole(subject: str, body: str) -> tuple[str, bool, str]:
    """Give a subject, whether it was cut off, and the body; what goes on there is put together."""
    subject, body = subject[:_LONGEST_TITLE], body[:_LONGEST_BODY]
    cut = bool(_CUT.search(subject))
    first, _, rest = body.partition("\n")
    if cut and (first.startswith(("…", "..."))):
        return _CUT.sub("", subject) + first.lstrip("…."), False, rest
    return subject, cut, body


def _titles(rest: str) -> tuple[tuple[str, ...], bool]:
    """Give the titles that stand behind a verb, and whether they are cut off."""
    text = rest.translate(_QUOTES).strip()
    while _OWN.search(text):
        text = _OWN.sub("", text).rstrip()
    if text.startswith('"'):
        end = text.rfind('"')
        if end == 0:
            return (_CUT.sub("", text[1:]).strip(),), True
        inner = text[1:end]
        if _CUT.search(inner):
            return (_CUT.sub("", inner).strip(),), True
        # `Revert "a" and "b"`: between the two stands what is no title
        several = re.findall(r'"([^"]+)"', text) if re.search(r'"\s*(?:,|and|&|\+)\s*"', text) else []
        return _once((inner, *several)), False
    if text.startswith("'") and (end := text.rfind("'")) > 0:
        return _once((text[1:end], text)), False
    bare = re.sub(
        r"^(?:the\s+)?(?:commit|pr|pull request|change)\b[:\s]*", "", text, flags=re.IGNORECASE
    )
    return _once(filter(None, (_CUT.sub("", text), _CUT.sub("", bare)))), bool(_CUT.search(text))


def _sentences(body: str) -> list[str]:
    """Give the sentences of a body without what names people, whose addresses hold digits."""
    kept = [line for line in body.splitlines() if not _TRAILER.match(line.strip())]
    text = _MAINLINE.sub("", "\n".join(kept))
    paragraphs = re.split(r"\n\s*\n", text)
    return [part for each in paragraphs for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", each)]


def _numbers(texts: list[str]) -> tuple[int, ...]:
    found: list[int] = []
    for text in texts:
        for range_ in _RANGE.finditer(text):
            first, last = int(range_[1]), int(range_[2])
            if 0 < last - first <= _LONGEST_RANGE:
                found.extend(range(first, last + 1))
        found.extend(int(next(filter(None, each.groups()))) for each in _NUMBER.finditer(text))
    return tuple(found)


def _shas(texts: list[str]) -> tuple[str, ...]:
    # ten digits and no letter are a number, unless somebody calls them a commit
    return tuple(
        each[1]
        for text in texts
        for each in _SHA.finditer(text)
        if not each[1].isdigit() or text[: each.start()].rstrip().lower().endswith("commit")
    )


def _once(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
