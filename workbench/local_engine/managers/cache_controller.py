"""Traffic between the device pools and their host mirror.

Loads are asked for one request at a time and started once a batch: `start_loading` merges what is
queued into one operation, whose layers land one after the other while the forward pass already runs.
That is why the gate exists, and why the size of a load grows with the number of requests in a batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .. import logs
from ..device import CYCLES_PER_SECOND, Device
from ..environ import Environment
from ..logs import logger
from ..mem_cache.host_pool import HostPool
from ..mem_cache.pools import PageAllocator
from .layer_counter import PRODUCER_SETS, LayerDoneCounter

LOAD_BACK_QUOTA = 34
"""Pages that one batch may load; the rest of a prefix is computed anew."""


WRITE_ACKS = 24
"""Backups that can be under way at once."""


@dataclass(frozen=True, slots=True)
class CacheOperation:
    """Pages to copy, as pairs of a host page and a device page."""

    pages: tuple[tuple[int, int], ...]

    @staticmethod
    def merge_ops(operations: Sequence[CacheOperation]) -> CacheOperation:
        """Make one operation of many, in their order."""
        return CacheOperation(tuple(pair for operation in operations for pair in operation.pages))


class AckQueue:
    """Copies that have been started and not yet been seen to end, oldest first.

    Args:
        size: Copies that it can hold.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._ends: deque[float] = deque()

    def push(self, end: float) -> None:
        """Note a copy and the moment of its end."""
        self._ends.append(end)

    def retire(self, now: float) -> None:
        """Take off what has ended."""
        while self._ends and self._ends[0] <= now:
            self._ends.popleft()

    @property
    def full(self) -> bool:
        """Whether another copy has to wait."""
        return len(self._ends) >= self._size

    @property
    def oldest(self) -> float:
        """End of the copy that ends first."""
        return self._ends[0]


class HiCacheController:
    """Backups to the host and loads from it.

    Args:
        device: The device.
        host_pools: Mirrors, in the order in which a layer's pools are copied.
        host_pages: Pages of each mirror.
        counter: The gate that loads open, layer by layer.
        layers: Number of layers.
        env: Environment of the process.

    Attributes:
        ack_write: Backups under way.
        ack_load: Loads under way. A queue of its own: a load that waited for backups to be seen to
            end would hold up the forward pass, and only a forward pass makes time go by.
        host_allocator: Free pages of the mirrors.
        loaded_pages: Pages loaded so far.
    """

    def __init__(
        self,
        device: Device,
        host_pools: Sequence[HostPool],
        host_pages: int,
        counter: LayerDoneCounter,
        layers: int,
        env: Environment,
    ) -> None:
        self._device = device
        self._pools = host_pools
        self._counter = counter
        self._layers = layers
        self._debug = env.debug_index_k
        self._delay = env.test_hicache_h2d_delay_cycles / CYCLES_PER_SECOND
        self._queue: deque[CacheOperation] = deque()
        self.ack_write = AckQueue(WRITE_ACKS)
        self.ack_load = AckQueue(PRODUCER_SETS)
        self.host_allocator = PageAllocator(host_pages)
        self.loaded_pages = 0

    def write(self, host_page: int, device_page: int) -> None:
        """Back up a page that is whole on the device, once few enough backups are under way."""
        self.ack_write.retire(self._device.forward.time)
        if self.ack_write.full:
            self._device.forward.wait_until(self.ack_write.oldest)
            self.ack_write.retire(self._device.forward.time)
        for pool in self._pools:
            pool.backup_from_device(self._device, host_page, device_page)
        self.ack_write.push(self._device.d2h.time)

    @property
    def can_load(self) -> bool:
        """Whether a load could be started and followed now."""
        self.ack_load.retire(self._device.forward.time)
        return not self.ack_load.full

    def load(self, operation: CacheOperation) -> None:
        """Queue a load for the coming batch."""
        self._queue.append(operation)

    def start_loading(self) -> int:
        """Start all queued loads as one.

        Returns:
            The event set that the batch has to wait for, -1 if nothing is loaded.
        """
        if not self._queue:
            return -1
        requests = len(self._queue)
        operation = CacheOperation.merge_ops(self._queue)
        self._queue.clear()
        producer = self._counter.update_producer()
        event = self._counter.events[producer]
        stream = self._device.h2d
        stream.wait_until(self._device.forward.time)
        started, first_done = stream.time, 0.0
        for layer in range(self._layers):
            stream.advance(self._delay)
            for pool in self._pools:
                for host_page, device_page in operation.pages:
                    pool.load_to_device_per_layer(self._device, layer, host_page, device_page)
            event.complete(layer, stream)
            first_done = first_done or stream.time - started
        self.ack_load.push(stream.time)
        self.loaded_pages += len(operation.pages)
        if self._debug:
            logger.info(
                logs.hicache_load(
                    req=requests,
                    page=len(operation.pages),
                    byte=sum(pool.item_bytes for pool in self._pools) * len(operation.pages),
                    layer0_done_ms=1e3 * first_done,
                )
            )
        return producer

    def describe(self) -> dict[str, str]:
        """Give the class and item size of each mirror that is live."""
        return {
            pool.name: f"{type(pool).__name__} item_bytes={pool.item_bytes}" for pool in self._pools
        }

    def reset(self) -> None:
        """Forget queued loads and empty the mirrors."""
        self._queue.clear()
        self.host_allocator.clear()
