"""Bugs of the catalogue, put into the shipped engine by subclass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.local_engine.device import Bytes
from workbench.local_engine.layers.indexer import TopKV2
from workbench.local_engine.managers.cache_controller import HiCacheController
from workbench.local_engine.managers.decode import DecodeScheduler
from workbench.local_engine.managers.decode_runner import DecodeRunner
from workbench.local_engine.managers.prefill import PrefillRequest, PrefillScheduler
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.host_pool import DeepSeekV4PagedHostPool, HostPool
from workbench.local_engine.mem_cache.index_key import Keys
from workbench.local_engine.mem_cache.pool_configurator import DSV4PoolConfigurator
from workbench.local_engine.mem_cache.pools import DeepSeekV4IndexerPool, DeepSeekV4TokenToKVPool, Pages


class UngatedIndexerPool(DeepSeekV4IndexerPool):
    """The getter that the indexer uses does not wait for the layer to land."""

    def get_index_k_with_scale_buffer(self, layer_id: int) -> Bytes:
        self._device.land()
        self.reads += 1
        return self.index_k_with_scale_buffer[layer_id]


class UngatedPrefill(PrefillScheduler):
    indexer_pool = UngatedIndexerPool


class Ungated(UnifiedScheduler):
    prefill_class = UngatedPrefill


class HalfPagePool(DeepSeekV4PagedHostPool):
    """The mirror of the index keys is sized by the fp8 formula, whatever the device holds."""

    def __init__(self, name: str, buffers: Mapping[int, Bytes], pages: int) -> None:
        super().__init__(name, buffers, pages)
        if name == "deepseek_v4_c4_indexer":
            self.item_bytes = 64 * 132
            self._pages = self._pages[:, :, : self.item_bytes]


class HalfMirrorPrefill(PrefillScheduler):
    @staticmethod
    def build_host_pools(pool: DeepSeekV4TokenToKVPool, pages: int) -> Sequence[HostPool]:
        buffers = pool.paged_buffers()
        return [HalfPagePool(name, layers, pages) for name, layers in buffers.items()]


class HalfMirror(UnifiedScheduler):
    prefill_class = HalfMirrorPrefill


class Fp8Sized(DSV4PoolConfigurator):
    """The index keys are counted as fp8, whatever they are."""

    @property
    def indexer_bytes(self) -> int:
        return 132


class OverCommittedPrefill(PrefillScheduler):
    configurator = Fp8Sized


class OverCommittedDecode(DecodeScheduler):
    configurator = Fp8Sized


class OverCommitted(UnifiedScheduler):
    prefill_class = OverCommittedPrefill
    decode_class = OverCommittedDecode


class UnsyncedTopK(TopKV2):
    """A row that one block can hold returns without the merge, and its slots stay unwritten."""

    def merge(self, values: Keys, parts: list[NDArray[np.int64]], slots: NDArray[np.int64]) -> None:
        if len(parts) > 1:
            super().merge(values, parts, slots)


class UnsyncedDecode(DecodeScheduler):
    topk_v2 = UnsyncedTopK


class Unsynced(UnifiedScheduler):
    decode_class = UnsyncedDecode


class MixedStrideRunner(DecodeRunner):
    """An eager kernel reads the page table by the captured stride; it is filled by the live one."""

    def _row(self, number: int, stride: int, pages: int) -> Pages:
        return super()._row(number, self._widest, pages)


class MixedStrideDecode(DecodeScheduler):
    runner_class = MixedStrideRunner


class MixedStride(UnifiedScheduler):
    decode_class = MixedStrideDecode


class UnfencedPrefill(PrefillScheduler):
    """A load starts as soon as its batch is formed, beside the forward pass that is still out."""

    def advance(self, batch: list[PrefillRequest]) -> None:
        launched = self._launched
        self._launched = self.launch(batch) if batch else None
        if launched:
            self.complete(launched)


class Unfenced(UnifiedScheduler):
    prefill_class = UnfencedPrefill


class HoldingPrefill(PrefillScheduler):
    """A result is handled only when the next batch is launched, which may need what it holds."""

    def advance(self, batch: list[PrefillRequest]) -> None:
        if batch or not self._waiting or self._args.disable_overlap_schedule:
            super().advance(batch)


class Holding(UnifiedScheduler):
    prefill_class = HoldingPrefill


class SharedAcksController(HiCacheController):
    """Backups and loads share one bounded queue of acknowledgements."""

    def start_loading(self) -> int:
        self.ack_load = self.ack_write
        return super().start_loading()


class SharedAcksPrefill(PrefillScheduler):
    controller_class = SharedAcksController


class SharedAcks(UnifiedScheduler):
    prefill_class = SharedAcksPrefill
