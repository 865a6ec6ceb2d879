"""Device pools: what each layer keeps of a token, in pages.

    DeepSeekV4TokenToKVPool     all pools of one model; gated getters
      swa pools                 one row a token, the last 128 tokens of a running request
      c4 pools                  one row for 4 tokens, per layer of ratio 4
      c128 pools                one row for 128 tokens, per layer of ratio 128
      indexer_pool              one index key for 4 tokens, per layer of ratio 4
    PageAllocator               the full pool: page p of it is page p of c4, c128 and indexer pools
    DSATokenToKVPool            the pool of DeepSeek V3.2 models: index keys are always fp8

A page is 256 tokens, whatever the ratio: 64 rows of c4, 2 rows of c128. While pages are being loaded
from the host mirror, the layers land one after the other. `wait_layer_transfer` is the gate: a getter
calls it before it hands out a layer's buffer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..device import Bytes, Device
from ..managers.layer_counter import LayerDoneCounter
from .geometry import C4_ROW, C128_ROW, SWA_ROW, SWA_WINDOW, Geometry
from .index_key import INDEX_HEAD_DIM, QUANT_BLOCK, SCALE_BYTES, IndexKFormat, Keys

Pages = NDArray[np.int64]


class PageAllocator:
    """Hands out pages, the one first that has been free for longest.

    Args:
        pages: Number of pages.
    """

    def __init__(self, pages: int) -> None:
        self.size = pages
        self.clear()

    def clear(self) -> None:
        """Take all pages back."""
        self._free = deque(range(self.size))

    @property
    def available(self) -> int:
        """Pages that are free."""
        return len(self._free)

    def alloc(self, count: int) -> list[int]:
        """Take pages.

        Raises:
            MemoryError: There are fewer; ask `available` first.
        """
        if count > len(self._free):
            raise MemoryError(f"{count} pages wanted, {len(self._free)} free")
        return [self._free.popleft() for _ in range(count)]

    def free(self, pages: Iterable[int]) -> None:
        """Give pages back. What they hold stays until somebody writes to them."""
        self._free.extend(pages)


class GatedPool:
    """A pool whose layers may still be landing.

    Args:
        device: The device, whose landed copies are made visible before a read.
        counter: The gate.
    """

    def __init__(self, device: Device, counter: LayerDoneCounter) -> None:
        self._device = device
        self._counter = counter

    def wait_layer_transfer(self, layer_id: int) -> None:
        """Hold the forward stream until the loads of a layer have landed."""
        self._counter.wait_until(layer_id)


class DeepSeekV4IndexerPool(GatedPool):
    """Index keys of the layers of ratio 4.

    Attributes:
        index_k_with_scale_buffer: By layer, bytes of shape (pages, page bytes).
        reads: Times that a layer's keys were read.
    """

    def __init__(
        self,
        device: Device,
        counter: LayerDoneCounter,
        geometry: Geometry,
        pages: int,
        index_k: IndexKFormat,
    ) -> None:
        super().__init__(device, counter)
        self.format = index_k
        self.entries = geometry.entries_per_page(4)
        self.page_bytes = self.entries * index_k.item_bytes
        self.index_k_with_scale_buffer = {
            layer: np.zeros((pages, self.page_bytes), np.uint8) for layer in geometry.layers_of(4)
        }
        self.reads = 0

    def get_index_k_with_scale_buffer(self, layer_id: int) -> Bytes:
        """Give a layer's pages to the indexer."""
        self.wait_layer_transfer(layer_id)
        self._device.land()
        self.reads += 1
        return self.index_k_with_scale_buffer[layer_id]

    def under_way(self, layer_id: int, pages: Pages) -> int:
        """Count the pages, of those given, that a read would meet before they have landed."""
        return self._device.under_way_to(self.index_k_with_scale_buffer[layer_id], pages)

    def set_index_k(self, layer_id: int, page: int, first: int, keys: Keys) -> None:
        """Store the keys, shape (n, 128), of entries of one page."""
        self.format.write(self.index_k_with_scale_buffer[layer_id][page], first, keys)


class DeepSeekV4TokenToKVPool(GatedPool):
    """All pools of a DeepSeek V4 model.

    Args:
        device: The device.
        counter: The gate that its getters wait at.
        geometry: Layers and page size.
        pages: Pages of the c4, c128 and indexer pools.
        swa_slots: Requests that can run at once.
        index_k: Format of the index keys.
        indexer_pool: Class of the indexer's pool.
    """

    def __init__(
        self,
        device: Device,
        counter: LayerDoneCounter,
        geometry: Geometry,
        pages: int,
        swa_slots: int,
        index_k: IndexKFormat,
        indexer_pool: type[DeepSeekV4IndexerPool] = DeepSeekV4IndexerPool,
    ) -> None:
        super().__init__(device, counter)
        self.geometry = geometry
        self.indexer_pool = indexer_pool(device, counter, geometry, pages, index_k)
        self.c4 = {layer: _buffer(pages, geometry, 4) for layer in geometry.layers_of(4)}
        self.c128 = {layer: _buffer(pages, geometry, 128) for layer in geometry.layers_of(128)}
        self.swa = {
            layer: np.zeros((swa_slots, SWA_WINDOW), SWA_ROW) for layer in geometry.layers_of(0)
        }

    def get_index_k_with_scale_buffer(self, layer_id: int) -> Bytes:
        """Give a layer's index keys, gated, to whoever is not the indexer: probes and transfers."""
        self.wait_layer_transfer(layer_id)
        return self.indexer_pool.get_index_k_with_scale_buffer(layer_id)

    def get_key_buffer(self, layer_id: int) -> NDArray[np.void]:
        """Give a layer's main rows, shape (pages, rows a page), of type `C4_ROW` or `C128_ROW`."""
        self.wait_layer_transfer(layer_id)
        self._device.land()
        return self.key_rows(layer_id)

    def key_rows(self, layer_id: int) -> NDArray[np.void]:
        """Give a layer's main rows to whoever writes its own pages, which no load touches."""
        if layer_id in self.c4:
            return self.c4[layer_id].view(C4_ROW)
        return self.c128[layer_id].view(C128_ROW)

    def get_swa_buffer(self, layer_id: int) -> NDArray[np.void]:
        """Give a layer's window, shape (slots, 128) of `SWA_ROW`: position p lies at p mod 128."""
        return self.swa[layer_id]

    def settle(self) -> None:
        """Make what has landed visible, before whole pages are read past the getters."""
        self._device.land()

    def paged_buffers(self) -> dict[str, dict[int, Bytes]]:
        """Give the pools that a page spans, by their name in the host mirror; the indexer's first."""
        return {
            "deepseek_v4_c4_indexer": self.indexer_pool.index_k_with_scale_buffer,
            "deepseek_v4_c4": self.c4,
            "deepseek_v4_c128": self.c128,
        }


class DSATokenToKVPool:
    """The pool of DeepSeek V3.2 models, of which only the index keys are kept here.

    Attributes:
        index_k_with_scale_buffer: By layer, bytes of shape (pages, page bytes).
    """

    index_k_with_scale_buffer_dtype = np.uint8
    quant_block_size = QUANT_BLOCK

    def __init__(self, layers: int, pages: int, page_size: int) -> None:
        self.page_size = page_size
        self.index_head_dim = INDEX_HEAD_DIM
        item_bytes = INDEX_HEAD_DIM + INDEX_HEAD_DIM // QUANT_BLOCK * SCALE_BYTES
        self.index_k_with_scale_buffer = {
            layer: np.zeros((pages, page_size * item_bytes), self.index_k_with_scale_buffer_dtype)
            for layer in range(layers)
        }


def _buffer(pages: int, geometry: Geometry, ratio: int) -> Bytes:
    row = C4_ROW if ratio == 4 else C128_ROW
    return np.zeros((pages, geometry.entries_per_page(ratio) * row.itemsize), np.uint8)
