"""Sizes of the pools: how many tokens fit, computed for the full model and scaled to the miniature.

The formula is the full model's: 43 layers, of which 21 keep a row for 4 tokens and 20 one for 128. A
page of the miniature stands for `scale` pages of the full model, so a byte that is miscounted there is
missing here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import logs
from ..logs import logger
from .geometry import KV_ROW_BYTES
from .index_key import QUANT_BLOCK, SCALE_BYTES

SHIPPED_CONFIG = Path(__file__).parents[1] / "model_config.json"

PREFILL_SCALE = 48
DECODE_SCALE = 12
"""A decode server keeps no prefixes and all the running requests, so more of its memory is shown."""

F32 = 4
C4_STATE_RING = 8
C128_STATE_RING = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """What the sizes depend on, of a model and of the device that it runs on."""

    compress_ratios: tuple[int, ...]
    head_dim: int
    index_head_dim: int
    sliding_window: int
    swa_full_tokens_ratio: float
    device_memory_bytes: int
    weight_bytes: int

    @classmethod
    def load(cls, path: str | Path = "") -> ModelConfig:
        """Read a model's config file; the shipped one if no path is given.

        Raises:
            ValueError: A key is missing or the number of layers does not add up.
        """
        values: dict[str, Any] = json.loads(Path(path or SHIPPED_CONFIG).read_text(encoding="utf-8"))
        try:
            fields = {name: values[name] for name in cls.__slots__}
        except KeyError as missing:
            raise ValueError(f"{path or SHIPPED_CONFIG}: no {missing}") from None
        ratios = tuple(fields.pop("compress_ratios"))
        if len(ratios) != values.get("num_hidden_layers"):
            raise ValueError(f"{path or SHIPPED_CONFIG}: compress_ratios must name every layer")
        return cls(compress_ratios=ratios, **fields)

    def layers_of(self, ratio: int) -> int:
        """Number of layers of a ratio."""
        return self.compress_ratios.count(ratio)


def bytes_per_full_token(config: ModelConfig, indexer_bytes: int) -> float:
    """Bytes of one token over all pools and layers, for index keys of a size."""
    swa = config.swa_full_tokens_ratio
    window, head, index = config.sliding_window, config.head_dim, config.index_head_dim
    c4, c128 = config.layers_of(4), config.layers_of(128)
    c4_state = C4_STATE_RING / window * (4 * head * F32 + 4 * index * F32)
    c128_state = C128_STATE_RING / window * (2 * head * F32)
    return (
        swa * len(config.compress_ratios) * KV_ROW_BYTES
        + c4 * (KV_ROW_BYTES / 4 + indexer_bytes / 4)
        + c128 * KV_ROW_BYTES / 128
        + swa * (c4_state * c4 + c128_state * c128)
    )


class DSV4PoolConfigurator:
    """Divides a device's memory among the pools.

    Args:
        config: Model and device.
        bf16_index_k: Whether the index keys are bf16.
    """

    def __init__(self, config: ModelConfig, *, bf16_index_k: bool) -> None:
        self._config = config
        self._bf16_index_k = bf16_index_k

    @property
    def indexer_bytes(self) -> int:
        """Bytes of one index key."""
        if self._bf16_index_k:
            return self._config.index_head_dim * 2
        return self._config.index_head_dim + self._config.index_head_dim // QUANT_BLOCK * SCALE_BYTES

    @property
    def bytes_per_full_token(self) -> float:
        """Bytes of one token over all pools and layers."""
        return bytes_per_full_token(self._config, self.indexer_bytes)

    def full_token(self, mem_fraction_static: float) -> int:
        """Tokens that fit, and a log line that says how they were counted."""
        config = self._config
        available = config.device_memory_bytes * mem_fraction_static - config.weight_bytes
        tokens = max(0, int(available / self.bytes_per_full_token))
        logger.info(
            logs.memory_calculation(
                bytes_per_full_token=self.bytes_per_full_token,
                available_bytes=available,
                full_token=tokens,
            )
        )
        return tokens


class DeviceArena:
    """The device's memory: weights, pools, and what is left for the activations of a batch.

    Args:
        config: Model and device.
        pool_bytes: Bytes that the pools really take.
        mem_fraction_static: Share of weights and pools; the rest is for activations.
        full_batch: Units of work (new tokens, or running requests) that the rest is made for.
    """

    def __init__(
        self, config: ModelConfig, pool_bytes: float, mem_fraction_static: float, full_batch: int
    ) -> None:
        self._left = config.device_memory_bytes - config.weight_bytes - pool_bytes
        self._per_unit = config.device_memory_bytes * (1 - mem_fraction_static) / full_batch

    def fits(self, units: int) -> bool:
        """Whether a batch of so many units can run beside the pools."""
        return units * self._per_unit <= self._left
