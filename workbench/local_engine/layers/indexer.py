"""The sparse indexer: scores every compressed entry of a context and selects the best.

A query has four heads, one for each token of an entry. The score of an entry is the sum over the heads
of relu(q . k), and a head sees the 32 dimensions of its token.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..logs import logger
from ..mem_cache.index_key import INDEX_HEAD_DIM, Keys
from ..mem_cache.pools import DeepSeekV4IndexerPool, Pages

INDEX_HEADS = 4
HEAD_DIM = INDEX_HEAD_DIM // INDEX_HEADS
INDEX_TOPK = 32

Hashes = NDArray[np.uint64]


def signs(hashes: Hashes) -> Keys:
    """Turn hashes, any shape, into their 32 low bits as -1 and +1 in a new last axis."""
    low = np.ascontiguousarray(hashes.astype("<u4"))
    bits = np.unpackbits(low.view(np.uint8), bitorder="little").reshape(*hashes.shape, HEAD_DIM)
    return bits.astype(np.float32) * 2 - 1


def entry_keys(hashes: Hashes) -> Keys:
    """Give the index keys, shape (entries, 128), of four hashes an entry, shape (entries, 4)."""
    return signs(hashes).reshape(-1, INDEX_HEAD_DIM)


def scores(keys: Keys, query: np.uint64) -> Keys:
    """Score entries: keys of shape (entries, 128) against the hash that is looked for."""
    per_head = keys.reshape(-1, HEAD_DIM) @ signs(np.asarray(query))
    np.maximum(per_head, 0, out=per_head)
    total: Keys = per_head.reshape(-1, INDEX_HEADS).sum(axis=1)
    return total


def topk(values: Keys, k: int) -> NDArray[np.int64]:
    """Give the positions of the k greatest values; of equal ones, the earlier ones.

    Only then is the selection a function of the scores. A partition alone drops any of the entries that
    tie at the k-th place.
    """
    if len(values) <= k:
        return np.arange(len(values))
    least = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[: k - len(above)]
    return np.concatenate((above, equal))


class TopKV2:
    """Top k over a cluster of blocks: each block selects from its part of a row, then one merges.

    Gives what `topk` gives. Only small batches are worth a whole cluster a row.
    """

    largest_batch = 15
    block = 512

    def __call__(self, values: Keys, k: int, batch: int) -> NDArray[np.int64]:
        """Give the positions of the k greatest values of one row of a batch."""
        if len(values) <= k or batch > self.largest_batch:
            return topk(values, k)
        slots = np.full(k, np.iinfo(np.int32).max, np.int64)
        parts = [
            begin + topk(values[begin : begin + self.block], k)
            for begin in range(0, len(values), self.block)
        ]
        self.merge(values, parts, slots)
        return slots

    def merge(self, values: Keys, parts: list[NDArray[np.int64]], slots: NDArray[np.int64]) -> None:
        """Wait for all blocks of the cluster, and fill the row's slots from what they selected."""
        candidates = np.sort(np.concatenate(parts))
        slots[:] = candidates[topk(values[candidates], len(slots))]


class Indexer:
    """Selects the entries of a context that attention reads in a layer of ratio 4.

    Args:
        pool: The index keys.
        topk_v2: Selects by a cluster of blocks; None selects by a row at once.
        debug: Log reads of pages that are under way.
    """

    def __init__(
        self, pool: DeepSeekV4IndexerPool, topk_v2: TopKV2 | None = None, *, debug: bool = False
    ) -> None:
        self._pool = pool
        self._debug = debug
        self._topk_v2 = topk_v2

    def select(
        self, layer_id: int, pages: Pages, entries: int, query: np.uint64, batch: int
    ) -> NDArray[np.int64]:
        """Select up to 32 of the first `entries` entries of a context.

        Args:
            layer_id: The layer.
            pages: The context's pages, in order.
            entries: Entries of the context.
            query: The hash that is looked for.
            batch: Rows that are selected for together.
        """
        buffer = self._pool.get_index_k_with_scale_buffer(layer_id)
        if self._debug and (late := self._pool.under_way(layer_id, pages)):
            logger.info("index_k read: layer=%d #page: %d, under way: %d", layer_id, len(pages), late)
        keys = self._pool.format.read(buffer[pages])[:entries]
        values = scores(keys, query)
        if self._topk_v2 is None:
            return topk(values, INDEX_TOPK)
        return self._topk_v2(values, INDEX_TOPK, batch)

    def store(self, layer_id: int, pages: Pages, first: int, hashes: Hashes) -> None:
        """Store the keys of the entries from `first` on; `hashes` has shape (entries, 4)."""
        keys, per_page, done = entry_keys(hashes), self._pool.entries, 0
        while done < len(keys):
            page, offset = divmod(first + done, per_page)
            count = min(per_page - offset, len(keys) - done)
            self._pool.set_index_k(layer_id, int(pages[page]), offset, keys[done : done + count])
            done += count
