"""A body keeps its first bytes, and of all of them the length, the digest, and whether it is UTF-8."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from workbench.http.body import Body

CHUNKS = st.lists(st.binary(max_size=9) | st.text(max_size=5).map(str.encode), max_size=12)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(CHUNKS, st.integers(0, 40))
def test_memory_is_bounded_and_nothing_else_depends_on_it(chunks: list[bytes], keep: int) -> None:
    body, data = Body(keep), b"".join(chunks)
    for chunk in chunks:
        body.add(chunk)
        assert len(body.kept) <= keep
    assert body.finish(whole=True) == hashlib.sha256(data).hexdigest()
    assert (bytes(body.kept), body.size) == (data[:keep], len(data))
    assert body.valid_utf8 == is_utf8(data)


@given(st.text(min_size=1, max_size=20), st.integers(0, 40), st.integers(0, 60))
def test_a_character_that_was_cut_is_not_wrong(text: str, keep: int, cut: int) -> None:
    body = Body(keep)
    body.add(text.encode()[:cut])
    body.finish(whole=False)
    assert body.valid_utf8
