"""Runs decode batches: captured for the batch sizes that a graph was made for, eagerly above.

Both read the page table of a batch from one flat buffer that lives as long as the server. A captured
graph has its row stride baked in, the widest there can be; an eager kernel takes the stride of the
batch at hand. What lies beyond a row's pages is left over from earlier batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..layers.model import CopyHeadModel
from ..mem_cache.pools import Pages


@dataclass(frozen=True, slots=True)
class DecodeRow:
    """One request of a decode batch: its last token, and where that goes."""

    token: int
    position: int
    pages: Sequence[int]
    slot: int


class DecodeRunner:
    """Runs batches of one model.

    Args:
        model: The model.
        max_batch: Requests in the largest batch.
        max_pages: Pages of the longest request.
        max_captured: Requests in the largest batch that is captured; 0 captures none.

    Attributes:
        captured: Whether the last batch was.
        eager_batches: Batches that were not.
    """

    def __init__(self, model: CopyHeadModel, max_batch: int, max_pages: int, max_captured: int) -> None:
        self._model = model
        self._widest = max_pages
        self._max_captured = max_captured
        self._page_table: Pages = np.zeros(max_batch * max_pages, np.int64)
        self.captured = False
        self.eager_batches = 0

    def can_run_graph(self, batch: int) -> bool:
        """Whether a batch of this size was captured."""
        return batch <= self._max_captured

    def run(self, batch: Sequence[DecodeRow]) -> list[int]:
        """Compute each request's next token."""
        self.captured = self.can_run_graph(len(batch))
        if self.captured:
            stride = self._widest
        else:
            stride = self.live_stride(batch)
            self.eager_batches += 1
        self._fill(batch, stride)
        chunks = [
            self._model.continuation(
                row.token, row.position, self._row(number, stride, len(row.pages)), row.slot
            )
            for number, row in enumerate(batch)
        ]
        return self._model.forward(chunks)

    @staticmethod
    def live_stride(batch: Sequence[DecodeRow]) -> int:
        """Pages of the longest request of a batch."""
        return max(len(row.pages) for row in batch)

    def _fill(self, batch: Sequence[DecodeRow], stride: int) -> None:
        for number, row in enumerate(batch):
            begin = number * stride
            self._page_table[begin : begin + len(row.pages)] = row.pages

    def _row(self, number: int, stride: int, pages: int) -> Pages:
        return self._page_table[number * stride : number * stride + pages]
