"""Shapes of the miniature model: its layers, and the rows that they keep.

A row of the main cache is 584 bytes, as in the full model, of which the copy head uses the first ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KV_ROW_BYTES = 448 + 64 * 2 + 7 + 1
"""fp8 without position, bf16 with it, scales, padding."""

SWA_WINDOW = 128

FOLDED = 32
"""Entries of four tokens in a row of the c128 pools."""

SPANS = 4
SPAN = FOLDED // SPANS
CALLS_PER_SPAN = 2


def _row(fields: list[tuple[str, str, tuple[int, ...]]]) -> np.dtype[np.void]:
    offset, offsets, formats = 0, [], []
    for _, code, shape in fields:
        offsets.append(offset)
        formats.append(np.dtype((code, shape)))
        offset += formats[-1].itemsize
    return np.dtype(
        {
            "names": [name for name, _, _ in fields],
            "formats": formats,
            "offsets": offsets,
            "itemsize": KV_ROW_BYTES,
        }
    )


SWA_ROW = _row([("state", "<u8", ()), ("token", "<u4", ()), ("in_record", "<u4", ())])
"""A token, and the residual stream after it: the hash of its sentence so far."""

C4_ROW = _row([("key", "<u8", (4,)), ("carry", "<u8", (4,)), ("token", "<u4", (4,))])
"""Four tokens: what each is found by in this layer and in the next one of ratio 4, and its id."""

_CALLS = (SPANS, CALLS_PER_SPAN)
C128_ROW = _row([("key", "<u8", _CALLS), ("state", "<u8", _CALLS), ("place", "<u4", _CALLS)])
"""128 tokens, folded: of the calls that begin in each span of 32, what each is found by in this layer,
the state before it, and the entry in which it begins."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Layers and pages of the model that runs here.

    Attributes:
        compress_ratios: By layer: 0 for a sliding window only, 4, or 128.
        page_size: Tokens a page.
    """

    compress_ratios: tuple[int, ...] = (0, 0, 4, 128, 4, 128, 4, 128)
    page_size: int = 256

    def layers_of(self, ratio: int) -> tuple[int, ...]:
        """Give the layers of a ratio."""
        return tuple(layer for layer, own in enumerate(self.compress_ratios) if own == ratio)

    def entries_per_page(self, ratio: int) -> int:
        """Rows of a page in a pool of this ratio."""
        return self.page_size // ratio

    def pages_for(self, tokens: int) -> int:
        """Pages that hold so many tokens."""
        return -(-tokens // self.page_size)
