"""Folded rows, one for 128 tokens: which calls begin there, and what each is the answer to.

The layers of ratio 128 read all rows of a context, not a selection. The first of them looks up where
the call that a prompt asks for begins, the ones after it what stands at that place. So a question ends
up with the state of the record that answers it, which is its own state if no byte is wrong.

Places are counted in entries of four tokens, as everything that a page holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mem_cache.geometry import CALLS_PER_SPAN, FOLDED, SPAN, SPANS
from ..mem_cache.pools import Pages
from .indexer import Hashes
from .residual import layer_key

Rows = NDArray[np.void]


@dataclass(slots=True)
class Question:
    """What a prompt asks for, on its way through the layers.

    Attributes:
        pages: The context's pages, in order.
        entries: Entries of the context.
        state: State that decoding will go on from.
        place: Entry in which the call begins that was found; None if none was.
    """

    pages: Pages
    entries: int
    state: np.uint64
    place: int | None = None

    def locate(self, layer: int, rows: Rows) -> None:
        """Find the call that is asked for among all rows of the context."""
        page, offset = np.divmod(np.arange(-(-self.entries // FOLDED)), rows.shape[1])
        at = self.pages[page], offset
        found = np.flatnonzero(rows["key"][at] == self._query(layer))
        if len(found):
            self.place = int(rows["place"][at].reshape(-1)[found[0]])

    def recall(self, layer: int, rows: Rows) -> None:
        """Take on the state before the call at the place: of those in its span, the best agreeing."""
        if self.place is None or self.place >= self.entries:
            return
        row, span = divmod(self.place // SPAN, SPANS)
        page, offset = divmod(row, rows.shape[1])
        cell = rows[self.pages[page], offset]
        keys, states = cell["key"][span], cell["state"][span]
        agreement = 64 - np.bitwise_count(keys ^ self._query(layer)).astype(np.int64)
        agreement[keys == 0] = -1  # no call
        best = int(agreement.argmax())
        if agreement[best] >= 0:
            self.state = np.uint64(states[best])

    def _query(self, layer: int) -> np.uint64:
        return np.uint64(layer_key(np.array([self.state]), layer)[0])


def begin(rows: Rows, pages: Pages, first: int, end: int) -> None:
    """Empty the rows that begin with the entries from `first` up to `end`."""
    fresh = np.arange(-(-first // FOLDED), -(-end // FOLDED))
    page, offset = np.divmod(fresh, rows.shape[1])
    rows[pages[page], offset] = np.zeros((), rows.dtype)


def fold(rows: Rows, pages: Pages, places: NDArray[np.int64], keys: Hashes, states: Hashes) -> None:
    """Note calls in rows that have been begun.

    Of more than two calls in a span the later ones are left out; attention finds them all the same.

    Args:
        rows: The layer's rows, shape (pages, rows a page).
        pages: The context's pages, in order.
        places: Entry in which each call begins, ascending.
        keys: What each is found by in this layer.
        states: State before each.
    """
    span = places // SPAN
    rank = np.arange(len(span)) - np.searchsorted(span, span)
    kept = rank < CALLS_PER_SPAN
    row, span = np.divmod(span[kept], SPANS)
    page, offset = np.divmod(row, rows.shape[1])
    at = pages[page], offset, span, rank[kept]
    rows["key"][at] = keys[kept]
    rows["state"][at] = states[kept]
    rows["place"][at] = places[kept]
