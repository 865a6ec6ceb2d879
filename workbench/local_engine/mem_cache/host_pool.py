"""The mirror of the device pools in host memory, page by page.

Which class mirrors a pool depends on the model that is served, and the log says which one is live:

    DeepSeekV4PagedHostPool   pools of DeepSeek V4: the item size is that of the device buffer
    DSAIndexerPoolHost        index keys of DeepSeek V3.2: the item size follows from the pool's class
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ..device import Bytes, Device
from ..logs import logger
from .pools import DeepSeekV4TokenToKVPool, DSATokenToKVPool


class HostPool(Protocol):
    """A mirror of one pool, all layers of it."""

    name: str
    item_bytes: int

    def backup_from_device(self, device: Device, host_page: int, device_page: int) -> None:
        """Queue the copy of a page to the host, all layers."""

    def load_to_device_per_layer(
        self, device: Device, layer: int, host_page: int, device_page: int
    ) -> None:
        """Queue the copy of one layer of a page to the device; nothing if the pool lacks that layer."""


class DeepSeekV4PagedHostPool:
    """Whole pages, page first: all layers of a page lie together.

    Args:
        name: The pool's name.
        buffers: The device pool's buffers by layer, each of shape (pages, page bytes).
        pages: Pages of the mirror.
    """

    def __init__(self, name: str, buffers: Mapping[int, Bytes], pages: int) -> None:
        self.name = name
        self._device_buffers = buffers
        self._rank = {layer: rank for rank, layer in enumerate(buffers)}
        any_layer = next(iter(buffers.values()))
        self.item_bytes = any_layer.shape[1] * any_layer.itemsize
        self._pages = np.zeros((pages, len(buffers), self.item_bytes), np.uint8)
        _log(self)

    def backup_from_device(self, device: Device, host_page: int, device_page: int) -> None:
        """See `HostPool`."""
        for layer, rank in self._rank.items():
            page = self._device_buffers[layer][device_page]
            device.copy_to_host(self._pages[host_page, rank], page[: self.item_bytes])

    def load_to_device_per_layer(
        self, device: Device, layer: int, host_page: int, device_page: int
    ) -> None:
        """See `HostPool`."""
        if layer in self._rank:
            target = self._device_buffers[layer][device_page][: self.item_bytes]
            device.copy_to_device(target, self._pages[host_page, self._rank[layer]])


class DSAIndexerPoolHost:
    """Index keys of a DeepSeek V3.2 pool, layer first.

    Args:
        device_pool: The pool.
        pages: Pages of the mirror.
    """

    name = "dsa_indexer"

    def __init__(self, device_pool: DSATokenToKVPool, pages: int) -> None:
        self.dtype = DSATokenToKVPool.index_k_with_scale_buffer_dtype
        self.item_bytes = device_pool.page_size * self.storage_bytes_per_token(device_pool)
        self._device_buffers = device_pool.index_k_with_scale_buffer
        self._layers = {
            layer: np.zeros((pages, self.item_bytes), self.dtype) for layer in self._device_buffers
        }
        _log(self)

    @staticmethod
    def storage_bytes_per_token(device_pool: DSATokenToKVPool) -> int:
        """A key and the scales of its blocks."""
        return (
            device_pool.index_head_dim + device_pool.index_head_dim // device_pool.quant_block_size * 4
        )

    def backup_from_device(self, device: Device, host_page: int, device_page: int) -> None:
        """See `HostPool`."""
        for layer, pages in self._layers.items():
            page = self._device_buffers[layer][device_page]
            device.copy_to_host(pages[host_page], page[: self.item_bytes])

    def load_to_device_per_layer(
        self, device: Device, layer: int, host_page: int, device_page: int
    ) -> None:
        """See `HostPool`."""
        if layer in self._layers:
            target = self._device_buffers[layer][device_page][: self.item_bytes]
            device.copy_to_device(target, self._layers[layer][host_page])


def build_host_pools(
    device_pool: DeepSeekV4TokenToKVPool | DSATokenToKVPool, pages: int
) -> tuple[HostPool, ...]:
    """Build the mirrors of a model's pools, in the order in which a layer's pools are copied."""
    if isinstance(device_pool, DSATokenToKVPool):
        return (DSAIndexerPoolHost(device_pool, pages),)
    return tuple(
        DeepSeekV4PagedHostPool(name, buffers, pages)
        for name, buffers in device_pool.paged_buffers().items()
    )


def _log(pool: HostPool) -> None:
    logger.info(
        "hicache pool: %s name=%s item_bytes=%d", type(pool).__name__, pool.name, pool.item_bytes
    )
