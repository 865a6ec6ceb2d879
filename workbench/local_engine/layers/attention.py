"""Attention over selected rows of a layer of ratio 4: the row that agrees best with the query wins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..device import DeviceFault
from ..mem_cache.pools import Pages


def attend(
    rows: NDArray[np.void], pages: Pages, selected: NDArray[np.int64], query: np.uint64
) -> tuple[np.uint64, int]:
    """Look a query up among the tokens of selected entries.

    Agreement is the number of equal bits. With the right entry among the selected it is 64 for one
    token and about 32 for all others; without it, some other token wins, and what that one carries
    goes on instead.

    Args:
        rows: The layer's main rows, shape (pages, rows a page).
        pages: The context's pages, in order.
        selected: Entries that the indexer selected.
        query: What is looked for.

    Raises:
        DeviceFault: A selected entry lies outside of the context.

    Returns:
        What the winner is looked for by in the next layer, and its token.
    """
    if not len(selected):
        return query, 0
    page, offset = np.divmod(selected, rows.shape[1])
    if page.max() >= len(pages):
        raise DeviceFault("CUDA error: an illegal memory access was encountered")
    chosen = rows[pages[page], offset]
    agreement = 64 - np.bitwise_count(chosen["key"] ^ query).astype(np.int64)
    best = np.unravel_index(int(agreement.argmax()), agreement.shape)
    return chosen["carry"][best], int(chosen["token"][best])
