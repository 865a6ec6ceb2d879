"""How often garbage is found, and how often language is taken for it: figures, with their intervals."""

from __future__ import annotations

import logging
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.classifiers import corpus
from workbench.classifiers import salad
from workbench.classifiers.salad import LOOKED_AT, REPETITION, SALAD, Thresholds, look
from workbench.stats.interval import rate_interval

_log = logging.getLogger(__name__)
NUMBER = 200


def rate(name: str, found: int, of: int) -> None:
    """Put a figure on record; the interval is the workbench's own, 99 % at any look."""
    low, high = rate_interval(found, of)
    _log.info("%s: %d of %d, %.3f to %.3f", name, found, of, low, high)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("documents", corpus.english()),
        ("code", corpus.code()),
        ("languages", tuple(corpus.LANGUAGES.values())),
        ("calls", tuple(corpus.calls(NUMBER))),
        ("values of calls", tuple(map(corpus.values, corpus.calls(NUMBER)))),
    ],
)
def test_language_is_taken_for_language(name: str, texts: tuple[str, ...]) -> None:
    wrong = [(sign, text[-80:]) for text in texts if (sign := look(text))]
    rate(name, len(wrong), len(texts))
    assert len(wrong) <= len(texts) / 100, wrong


@pytest.mark.parametrize(
    ("kind", "word", "least"),
    [
        ("scripts", SALAD, 0.95),
        ("glued", SALAD, 0.95),
        ("bytes", SALAD, 0.95),
        ("characters", SALAD, 0.95),
        ("words", SALAD, 0.95),
        ("loop", REPETITION, 0.95),
        ("marks", REPETITION, 0.95),
        ("stuck", REPETITION, 0.95),
    ],
)
def test_garbage_is_found(kind: str, word: str, least: float) -> None:
    words = [sign.word if (sign := look(text)) else "" for text in corpus.garbled(kind, NUMBER)]
    rate(kind, words.count(word), NUMBER)
    assert words.count(word) >= least * NUMBER


def test_a_few_words_that_mean_nothing_are_not_found() -> None:
    """What no statistic of a text can tell: the limit that the documentation names."""
    assert not any(map(look, corpus.garbled("few words", NUMBER)))


def test_a_page_of_many_languages_is_the_known_mistake() -> None:
    sign = look("\n".join(corpus.LANGUAGES.values()))
    assert sign is not None
    assert sign.word == SALAD


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_looked_at(text: str) -> None:
    sign = look(text)
    assert sign is None or sign.word in {SALAD, REPETITION}


@given(st.text("ab \n", max_size=24), st.integers(2, 9), st.integers(2, 4))
def test_a_loop_is_what_a_search_by_hand_finds(text: str, characters: int, times: int) -> None:
    tail = text.rstrip()
    due = None
    for length in range(1, len(tail) + 1):
        end = tail[-length:]
        period = next(p for p in range(1, length + 1) if end[p:] == end[:-p] or p == length)
        worded = any(map(str.isalpha, end[length - period :]))
        if length >= characters * (1 if worded else 3) and length >= times * period and length > 1:
            due = length // period
    assert salad.loop(text, characters, times) == due


@given(
    st.sampled_from(corpus.english()), st.text("abcdef ", min_size=3, max_size=40), st.integers(0, 39)
)
def test_a_loop_after_any_text_is_found_wherever_it_breaks_off(text: str, piece: str, end: int) -> None:
    piece = f"x{piece}y"
    assert salad.loop(text + piece * 40 + piece[: end % len(piece)], 80, 4) is not None


def test_the_end_of_a_long_text_is_looked_at() -> None:
    draw = random.Random(1)
    plain = " ".join(draw.choices([f"word{number}, the" for number in range(9000)], k=30_000))
    assert len(plain) > 2 * LOOKED_AT
    assert look(plain) is None
    assert look(plain + " and so on" * 40) is not None


@pytest.mark.parametrize("rule", ["-" * 100, "| --- | --- |\n" * 5, "0, " * 60, "\n" * 500, " " * 500])
def test_a_ruled_line_or_a_row_of_zeros_is_no_loop(rule: str) -> None:
    assert look(f"A table:\n{rule}") is None


def test_thresholds_can_be_moved() -> None:
    (text,) = corpus.garbled("words", 1)
    sign = look(text)
    assert sign is not None
    assert sign.name == "unglued"
    assert look(text, Thresholds.of({"unglued": 1000})) is None
    assert look("amber kelp lake", Thresholds.of({"unglued": 3})) is not None
