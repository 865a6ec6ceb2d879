"""What counts as quoted, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.classifiers.quoting import Quotes, unquoted

pieces = st.lists(
    st.sampled_from(
        ["`", "``", "```", "~~~", "\n", "\n\n", "a", "b c", "```\n", "\n```", "  ", "```x\n"]
    ),
    max_size=25,
).map("".join)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a `b` c", "a     c"),
        ("a ``b ` c`` d", "a           d"),
        ("a ` b", "a ` b"),
        ("a ` b `` c", "a ` b `` c"),
        ("a `b\nc` d", "a       d"),
        ("a `b\n\nc` d", "a `b\n\nc` d"),
        ("```\nx\n```\ny", " " * 9 + "\ny"),
        ("```py\nx\n```y\n```\nz", " " * 16 + "\nz"),
        ("````\n```\n````", " " * 13),
        ("~~~\n```\n~~~ \nx", " " * 12 + "\nx"),
        ("```x``` y", "        y"),
        ("```\nx", "```\nx"),
        ("    ```\nx\n    ```", "    ```\nx\n    ```".replace("```\nx\n    ```", " " * 13)),
    ],
)
def test_quotes_become_blank(text: str, left: str) -> None:
    assert unquoted(text) == left


def test_a_fence_that_is_open_quotes_only_what_was_cut_off() -> None:
    assert unquoted("a\n```\nx") == "a\n```\nx"
    assert unquoted("a\n```\nx", cut=True) == "a\n     "


@given(pieces, st.booleans())
def test_nothing_moves_and_nothing_is_added(text: str, cut: bool) -> None:
    left = unquoted(text, cut=cut)
    assert len(left) == len(text)
    assert all(after in {before, " "} for before, after in zip(text, left, strict=True))


@given(pieces, st.integers(0, 60), st.booleans())
def test_quotes_from_any_place_on_lie_behind_it_and_close_as_they_open(
    text: str, at: int, cut: bool
) -> None:
    span = Quotes(text, cut=cut).after(at)
    if span is None:
        return
    assert at <= span.start < span.end <= len(text)
    quoted = text[span.start : span.end].strip()
    assert quoted[0] in "`~"
    assert cut or quoted.endswith(quoted[0])


@given(st.text("ab `", max_size=60))
def test_a_text_with_one_kind_of_mark_is_quoted_as_by_hand(text: str) -> None:
    """Without fences and line breaks, a run of backticks closes at the next run that is as long."""
    runs, at = [], 0
    while at < len(text):
        size = len(text) - at - len(text[at:].lstrip("`"))
        if size:
            runs.append((at, size))
        at += size or 1
    left, place = list(text), 0
    while place < len(runs):
        start, size = runs[place]
        closing = next((n for n in range(place + 1, len(runs)) if runs[n][1] == size), None)
        if closing is not None and not text[:start].strip(" ") and size >= 3:
            return  # might be read as a fence
        if closing is not None:
            end = runs[closing][0] + size
            left[start:end] = " " * (end - start)
            place = closing
        place += 1
    if not any(size >= 3 for _, size in runs):
        assert unquoted(text) == "".join(left)
