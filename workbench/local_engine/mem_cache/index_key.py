"""Index keys in device memory: 128 dimensions an entry, as fp8 with a scale or as bf16.

    fp8    a page holds all keys first (128 bytes each), then all scales (one f32 each): 132 bytes an
    entry bf16   256 bytes an entry, no scale

A page of 256 tokens holds 64 entries, one for each 4 tokens: 8448 bytes as fp8, 16384 as bf16.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..device import Bytes

INDEX_HEAD_DIM = 128
QUANT_BLOCK = 128
SCALE_BYTES = 4

Keys = NDArray[np.float32]


class IndexKFormat(Protocol):
    """How index keys lie in a page."""

    name: str
    item_bytes: int

    def write(self, page: Bytes, first: int, keys: Keys) -> None:
        """Store keys, shape (n, 128), as the entries of one page from `first` on."""

    def read(self, pages: Bytes) -> Keys:
        """Decode whole pages, shape (pages, bytes), to keys of shape (entries, 128)."""


def index_k_format(*, bf16: bool) -> IndexKFormat:
    """Give the format that the environment asks for."""
    return Bf16IndexK() if bf16 else Fp8IndexK()


class Fp8IndexK:
    """e4m3 keys, each entry with the scale of its only quantization block."""

    name = "fp8_e4m3"
    item_bytes = INDEX_HEAD_DIM + INDEX_HEAD_DIM // QUANT_BLOCK * SCALE_BYTES

    def write(self, page: Bytes, first: int, keys: Keys) -> None:
        """See `IndexKFormat`."""
        entries = page.size // self.item_bytes
        last = first + len(keys)
        scale: Keys = np.abs(keys).max(axis=1, initial=0.0, keepdims=True)
        unit = np.where(scale > 0, scale, np.ones_like(scale))
        codes = page[: entries * INDEX_HEAD_DIM].reshape(entries, INDEX_HEAD_DIM)
        codes[first:last] = _to_e4m3(keys / unit)
        scales = page[entries * INDEX_HEAD_DIM :].view(np.float32)
        scales[first:last] = scale[:, 0]

    def read(self, pages: Bytes) -> Keys:
        """See `IndexKFormat`."""
        entries = pages.shape[1] // self.item_bytes
        split = entries * INDEX_HEAD_DIM
        codes = pages[:, :split].view(np.uint16)
        keys = np.take(_E4M3_PAIRS, codes, mode="clip").view(np.float32)
        keys = keys.reshape(len(pages), entries, INDEX_HEAD_DIM)
        scales = np.ascontiguousarray(pages[:, split:]).view(np.float32)
        keys *= scales[:, :, None]
        return keys.reshape(-1, INDEX_HEAD_DIM)


class Bf16IndexK:
    """The upper half of an f32, as it is."""

    name = "bfloat16"
    item_bytes = INDEX_HEAD_DIM * 2

    def write(self, page: Bytes, first: int, keys: Keys) -> None:
        """See `IndexKFormat`."""
        entries = page.view(np.uint16).reshape(-1, INDEX_HEAD_DIM)
        entries[first : first + len(keys)] = keys.view(np.uint32) >> 16

    def read(self, pages: Bytes) -> Keys:
        """See `IndexKFormat`."""
        wide = np.ascontiguousarray(pages).view(np.uint16).astype(np.uint32)
        wide <<= 16
        return wide.view(np.float32).reshape(-1, INDEX_HEAD_DIM)


def _e4m3_values() -> Keys:
    """Give the value of each code: a sign, 4 bits of exponent, 3 of mantissa, no infinity."""
    code = np.arange(256)
    exponent, mantissa = code >> 3 & 15, code & 7
    value = np.where(exponent > 0, (8 + mantissa) * 2.0 ** (exponent - 10), mantissa * 2.0**-9)
    value[(code & 127) == 127] = 0.0  # NaN in e4m3; a stale byte must not poison a whole score
    return np.where(code > 127, -value, value).astype(np.float32)


def _pairs(values: Keys) -> NDArray[np.uint64]:
    """Give the values of two codes at once, for half as many look-ups."""
    table = np.empty((256, 256, 2), "<f4")
    table[:, :, 0] = values[None, :]
    table[:, :, 1] = values[:, None]
    return table.view(np.uint64).reshape(-1)


_E4M3 = _e4m3_values()
_E4M3_PAIRS = _pairs(_E4M3)
_POSITIVE = _E4M3[:127]


def _to_e4m3(values: NDArray[np.floating[Any]]) -> Bytes:
    """Round to the nearest code at or below in magnitude."""
    codes: Bytes = (np.searchsorted(_POSITIVE, np.abs(values), side="right") - 1).astype(np.uint8)
    codes |= np.signbit(values).astype(np.uint8) << np.uint8(7)
    return codes
