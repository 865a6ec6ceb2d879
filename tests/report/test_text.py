"""Words and numbers as people read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.outcome import Counts
from workbench.report import markdown
from workbench.report.text import (
    columns,
    cut,
    hits,
    hits_in_short,
    inert,
    labelled,
    paragraphs,
    percent,
    sentence_of,
    with_rest,
    wrapped,
)

ZERO = re.compile(r"(?<![0-9.])0(\.0+)? %")
rates = st.floats(0, 1)


@given(rates)
def test_no_rate_is_called_zero(rate: float) -> None:
    assert not ZERO.search(percent(rate))


@given(st.integers(0, 500), st.integers(0, 500), rates, rates)
def test_a_rate_is_k_of_n_with_a_bound(hit: int, clean: int, one: float, other: float) -> None:
    interval = min(one, other), max(one, other)
    for write in (hits, hits_in_short):
        text = write(Counts(hit, clean), interval)
        assert text.startswith(f"{hit}/{hit + clean}")
        assert not ZERO.search(text)
        assert "%" in text or hit + clean == 0
        assert hit or "at most" in text or clean == 0


@pytest.mark.parametrize(
    ("counts", "interval", "text"),
    [
        (Counts(41, 19), (0.46, 0.79), "41/60 (46 % to 79 %)"),
        (Counts(0, 60), (0.0, 0.083), "0/60 (at most 8.3 %)"),
        (Counts(1, 5000), (0.0001, 0.003), "1/5001 (at most 0.3 %)"),
        (Counts(0, 0, 3), (0.0, 1.0), "0/0, nothing decided"),
        (Counts(0, 100_000), (0.0, 0.0001), "0/100000 (at most under 0.1 %)"),
    ],
)
def test_hits(counts: Counts, interval: tuple[float, float], text: str) -> None:
    assert hits(counts, interval) == text


def test_what_was_neither_hit_nor_clean_is_told() -> None:
    assert with_rest("1/2", Counts(1, 1, 3, 4)) == "1/2; 3 errored; 4 incomplete"


@given(st.text())
def test_inert_text_is_printable_and_stays_as_it_is(text: str) -> None:
    once = inert(text)
    assert once.isprintable()
    assert inert(once) == once
    assert text.isprintable() is (once == text)


@given(st.text(), st.integers(4, 40))
def test_a_cut_text_fits_and_says_that_it_is_cut(text: str, width: int) -> None:
    short = cut(text, width)
    assert short.isprintable()
    assert columns(short) <= width
    if columns(inert(text)) <= width:
        assert short == inert(text)
    else:
        assert short.endswith("...")


def test_wide_and_combining_characters_are_measured_as_terminals_draw_them() -> None:
    assert columns("\u4e2d\u6587") == 4
    assert columns("e\u0301") == 1
    assert cut("\u4e2d\u6587\u4e2d\u6587", 7) == "\u4e2d\u6587..."


def test_paragraphs_end_at_blank_lines() -> None:
    assert paragraphs("one\n two \n\n \nthree\n") == ["one two", "three"]
    assert list(wrapped("one\ntwo\n\nthree", indent=1)) == [" one two", "", " three"]


def test_a_labelled_text_hangs_beside_its_name() -> None:
    lines = list(labelled("name", "word " * 30, 8))
    assert lines[0].startswith("name     word")
    assert all(line.startswith(" " * 9 + "word") for line in lines[1:])
    assert max(map(len, lines)) <= 80
    assert list(labelled("name", "", 8)) == ["name"]


def test_a_list_in_a_sentence_says_what_it_left_out() -> None:
    assert sentence_of(["a", "b"]) == "a, b"
    assert sentence_of("abcdefg", most=3) == "a, b, c, and 4 more"
    assert sentence_of([]) == ""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("index_k of H5", "index_k of H5"),
        ("_x a_ __y__", r"\_x a\_ \_\_y\_\_"),
        ("a|b", "a&#124;b"),
        ("end\\", r"end\\"),
        ("two\nlines", r"two\\nlines"),
        ("http://x www.y", "http&#58;//x www&#46;y"),
    ],
)
def test_markdown_reads_well_where_it_may(text: str, written: str) -> None:
    assert markdown.plain(text) == written


@given(st.lists(st.text(st.sampled_from("`~ab\n "), max_size=9), max_size=4))
def test_a_fence_is_longer_than_any_run_inside(lines: list[str]) -> None:
    first, *inside, last = markdown.fence(lines, "text")
    assert first == f"{last}text"
    assert [inert(line) for line in lines] == inside
    assert not any(last in line for line in inside)
