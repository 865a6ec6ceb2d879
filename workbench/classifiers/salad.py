"""Token salad and loops, told from text alone: numbers measured on it, and thresholds that they cross.

    switching   scripts     words in three scripts or more, changing all the time
    glued       scripts     words of two alphabets run into each other
    noise       entropy     characters drawn from anywhere
    odd         characters  that no text holds: U+FFFD, control, private, unassigned
    unglued     words       a long run of words with nothing that holds sentences together
    loop        repetition  the end is one piece, over and over
    stuck       repetition  the same few word groups all through

What each finds, and how often it is wrong, stands in `docs/classifiers.md`; a short salad of plain
words looks like a list of words, and no statistic of the text alone can tell. Texts are looked at up to
LOOKED_AT characters, half from each end. Pure; never raises.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise

from workbench.errors import nearest

LOOKED_AT = 32_768
SALAD = "salad"
REPETITION = "repetition"

_TAIL = 4_000  # characters in which a loop is looked for
_EAST = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
_WORDS = re.compile(r"[^\W\d_]\w*")
_RUNS = re.compile(r"[^\W\d_]{2,}(?: [^\W\d_]{2,})*")
_HOLD_SENTENCES = """
the of and to in is it that for on with as are was be by at or an this from not you have if can will
der die das und ist nicht ein eine zu den mit von auf im für sich des dem auch
le la les de des et un une est en que qui pour dans pas sur au il du
el los las es por con no se del al lo para su di che per non sono della si os
em uma com não mais da do na het een van niet dat op te met voor zijn
och att det som på är av för med inte til er ikke nie jest się že je ve bir bu için yang dan ini
"""
_GLUE = frozenset(_HOLD_SENTENCES.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Thresholds:
    """From which value on a measure is a sign.

    Attributes:
        scripts: Scripts in a text that are more than a foreign word or two.
        switching: Share of neighbouring words that are of different scripts, in such a text.
        glued: Places at which a word goes on in another alphabet.
        entropy: Bits a character, over 400 characters or more that are not East Asian.
        odd: Share of characters that no text holds; three of them at least.
        unglued: Words in a row without punctuation, line of its own, or any word that holds sentences.
        loop_characters: Length of an end that repeats itself.
        loop_times: How often the repeated piece stands there.
        stuck: Share of word groups that are new, at most, in a text of 60 words or more.
    """

    scripts: float = 3
    switching: float = 0.2
    glued: float = 3
    entropy: float = 6.1
    odd: float = 0.02
    unglued: float = 16
    loop_characters: float = 80
    loop_times: float = 4
    stuck: float = 0.4

    @classmethod
    def of(cls, given: Mapping[str, float]) -> Thresholds:
        """Lay some over the defaults.

        Raises:
            ValueError: There is no such threshold, or it is not a finite number above 0.
        """
        known = [field.name for field in fields(cls)]
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"there is no threshold {name!r}; {nearest(name, known)}")
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"threshold {name} must be a number above 0, not {value}")
        return cls(**given)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sign:
    """What is wrong with a text.

    Attributes:
        word: SALAD or REPETITION.
        name: Name of the measure that crossed its threshold.
        detail: What was found, with the numbers.
    """

    word: str
    name: str
    detail: str


def look(text: str, thresholds: Thresholds = Thresholds()) -> Sign | None:
    """Give the first sign of salad or of a loop, or None."""
    if len(text) > LOOKED_AT:
        text = text[: LOOKED_AT // 2] + "\n" + text[-LOOKED_AT // 2 :]
    for sign in _signs(text, thresholds):
        return sign
    return None


def _signs(text: str, limits: Thresholds) -> Iterator[Sign]:
    odd, where = odd_characters(text), len(text)
    if odd >= 3 and odd >= limits.odd * where:
        yield _salad("odd", f"{odd} of {where} characters that no text holds")
    if (times := loop(text, limits.loop_characters, limits.loop_times)) is not None:
        yield Sign(word=REPETITION, name="loop", detail=f"the end is one piece, {times} times")
    segments = list(_segments(text))
    scripts, changes, words = switching(segments)
    if scripts >= limits.scripts and words >= 12 and changes >= limits.switching * (words - 1):
        yield _salad("switching", f"{scripts} scripts, {changes} changes in {words} words")
    if (joints := glued(segments)) >= limits.glued:
        yield _salad("glued", f"words go on in another alphabet in {joints} places")
    if (bits := entropy(text)) is not None and bits >= limits.entropy:
        yield _salad("noise", f"{bits:.1f} bits a character")
    if (new := fresh(text)) is not None and new <= limits.stuck:
        detail = f"{new:.2f} of the word groups are new"
        yield Sign(word=REPETITION, name="stuck", detail=detail)
    if (run := unglued(text)) >= limits.unglued:
        yield _salad("unglued", f"{run} words in a row that nothing holds together")


def _salad(name: str, detail: str) -> Sign:
    return Sign(word=SALAD, name=name, detail=detail)


def odd_characters(text: str) -> int:
    """Count the characters that no text holds."""
    counts = Counter(text)
    return sum(number for character, number in counts.items() if _is_odd(character))


@lru_cache(maxsize=4096)
def _is_odd(character: str) -> bool:
    if character in "\n\t\r":
        return False
    return character == "\ufffd" or unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"}


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """Give the script of a letter, East Asian ones as one; "" for anything else."""
    if not character.isalpha():
        return ""
    script = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return "EAST" if script in _EAST else script


@dataclass(frozen=True, slots=True)
class Segment:
    """Letters of one script in a row; `joined` to the one before when nothing stands between them."""

    script: str
    length: int
    joined: bool


def _segments(text: str) -> Iterator[Segment]:
    current, length, joined = "", 0, False
    for character in text:
        script = current if unicodedata.combining(character) else _script(character)
        if script == current:
            length += bool(script)
            continue
        if current:
            yield Segment(current, length, joined)
        joined = bool(current and script)
        current, length = script, 1
    if current:
        yield Segment(current, length, joined)


def switching(segments: list[Segment]) -> tuple[int, int, int]:
    """Give the number of scripts, of changes between neighbours, and of words.

    Single letters are signs of a formula, unless they are East Asian. A script counts from its second
    word on, so that one foreign name is none.
    """
    words = [each.script for each in segments if each.length > 1 or each.script == "EAST"]
    scripts = sum(number > 1 for number in Counter(words).values())
    changes = sum(words[place] != words[place - 1] for place in range(1, len(words)))
    return scripts, changes, len(words)


def glued(segments: list[Segment]) -> int:
    """Count the places at which a word goes on in another alphabet, East Asian ones left aside."""
    return sum(
        each.joined
        and "EAST" not in {each.script, before.script}
        and min(each.length, before.length) > 1
        for before, each in pairwise(segments)
    )


def entropy(text: str) -> float | None:
    """Give bits a character, without East Asian letters; None for less than 400 characters.

    Base64 reaches 6.0, English and code 4.2 to 5.2; only characters from anywhere go beyond.
    """
    counts = Counter(each for each in text if _script(each) != "EAST")
    total = counts.total()
    if total < 400:
        return None
    return -sum(number / total * math.log2(number / total) for number in counts.values())


def unglued(text: str) -> int:
    """Give the longest run of words with neither punctuation nor a word that holds sentences."""
    longest = 0
    for run in _RUNS.findall(text):
        at = 0
        for word in run.split():
            at = 0 if word.lower() in _GLUE else at + 1
            longest = max(longest, at)
    return longest


def fresh(text: str) -> float | None:
    """Give the share of groups of four words that did not stand before; None for less than 60 words."""
    words = _WORDS.findall(text.lower())
    if len(words) < 60:
        return None
    groups = [tuple(words[place : place + 4]) for place in range(len(words) - 3)]
    return len(set(groups)) / len(groups)


def loop(text: str, characters: float, times: float) -> int | None:
    """Say how often the last piece of a text stands there in a row, None if that is no loop.

    It is looked for in the last characters only, and may be broken off in its middle. A piece without
    letters, such as a ruled line, has to be longer.

    Args:
        text: The text.
        characters: Least length of all of them together.
        times: Least number of them.
    """
    tail = text.rstrip()[-_TAIL:][::-1]
    borders = [0] * len(tail)  # of each beginning, the longest end of it that is a beginning, too
    border, found = 0, None
    for place in range(1, len(tail)):
        while border and tail[place] != tail[border]:
            border = borders[border - 1]
        border += tail[place] == tail[border]
        borders[place] = border
        length, period = place + 1, place + 1 - border
        if length >= characters and length >= times * period:
            worded = any(map(str.isalpha, tail[:period]))
            if worded or length >= 3 * characters:
                found = length // period
    return found
