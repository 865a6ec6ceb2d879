"""Bugs of the catalogue, put into the shipped engine by subclass."""

from __future__ import annotations

from workbench.local_engine.device import Bytes
from workbench.local_engine.managers.prefill import PrefillScheduler
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.pools import DeepSeekV4IndexerPool


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
