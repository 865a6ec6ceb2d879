"""The residual stream of the copy head: a token is known by what its sentence said before it.

A sentence begins at `record` or `ask`. The state after a token is a polynomial hash, modulo 2^64, of
the sentence so far without its opening word, so that a question has the state of the record that it
asks for. The assistant marker leaves the state as it is: what follows it continues the question as the
record goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..tokenizer import ASSISTANT, EOS, get_tokenizer
from .indexer import Hashes

BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_INVERSE = pow(BASE, -1, 1 << 64)
_OUTSIDE = 0xD1B54A32D192ED03


@dataclass(frozen=True, slots=True)
class Residual:
    """States of a token sequence, each of shape (tokens,).

    Attributes:
        before: State before each token: what it is found by.
        after: State after each token.
        in_record: Whether the token stands in a record; only those can be found.
        said: The token as the model would say it: the `end` of a record is the end of a sentence.
        calls: Whether the call of a record begins with the token.
    """

    before: Hashes
    after: Hashes
    in_record: NDArray[np.bool_]
    said: NDArray[np.uint32]
    calls: NDArray[np.bool_]


_WORDS = ("record", "ask", "end", "<｜DSML｜tool_calls>")


@dataclass(frozen=True, slots=True)
class _Marks:
    record: int
    ask: int
    end: int
    call: int


@cache
def _marks() -> _Marks:
    tokenizer = get_tokenizer()
    return _Marks(*(tokenizer.id_of(word) for word in _WORDS))


@cache
def _powers(base: int, size: int) -> Hashes:
    powers = np.full(size, base, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


def encode(token_ids: NDArray[np.int64]) -> Residual:
    """Compute the states of a whole prompt."""
    marks = _marks()
    opens = (token_ids == marks.record) | (token_ids == marks.ask)
    counts = ~opens & (token_ids != ASSISTANT)
    size = 1 << len(token_ids).bit_length()
    exponent = np.cumsum(counts)
    terms = np.where(counts, mix(token_ids.astype(np.uint64)), 0) * _powers(_INVERSE, size)[exponent]
    sums = np.cumsum(terms, dtype=np.uint64)
    opener = np.maximum.accumulate(np.where(opens, np.arange(len(token_ids)), -1))
    start = np.where(opener < 0, np.uint64(0), sums[opener])
    after = (sums - start) * _powers(BASE, size)[exponent]
    before = np.concatenate((np.zeros(1, np.uint64), after[:-1]))
    # All sentences begin alike. Left so, their first tokens would tie and crowd the selection out.
    begins = np.concatenate(([False], opens[:-1]))
    before[begins] = mix(np.flatnonzero(begins).astype(np.uint64))
    in_record = np.concatenate(([False], (token_ids[opener] == marks.record)[:-1]))
    said = np.where(token_ids == marks.end, EOS, token_ids).astype(np.uint32)
    calls = in_record & (token_ids == marks.call)
    return Residual(before, after, in_record, said, calls)


def step(state: int, token: int) -> int:
    """Give the state after one more token."""
    marks = _marks()
    if token in (marks.record, marks.ask):
        return 0
    if token == ASSISTANT:
        return state
    return (state * BASE + int(mix(np.array([token], np.uint64))[0])) & _MASK


def layer_key(states: Hashes, layer: int, in_record: NDArray[np.bool_] | bool = True) -> Hashes:
    """Project states to what a layer looks for; outside a record nothing is ever looked for."""
    salt = mix(np.array([layer + 1], np.uint64))[0]
    return mix(states ^ salt ^ np.where(in_record, np.uint64(0), np.uint64(_OUTSIDE)))


def mix(values: Hashes) -> Hashes:
    """Scatter bits (the finalizer of splitmix64)."""
    mixed = values + np.uint64(BASE)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
