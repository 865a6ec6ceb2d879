"""Environment variables that the engine knows, named as SGLang names them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Values of the `SGLANG_*` variables; the field `dsv4_bf16_index_k` is `SGLANG_DSV4_BF16_INDEX_K`.

    Attributes:
        dsv4_bf16_index_k: Keep index keys as bf16 (256 bytes) instead of fp8 with a scale (132).
        opt_use_topk_v2: Select the top k by blocks.
        test_hicache_h2d_delay_cycles: Cycles that each layer's load is delayed by.
        disaggregation_waiting_timeout: Seconds after which a room that waits for its pages fails.
        disaggregation_bootstrap_timeout: Seconds after which a room without its other half fails.
        debug_index_k: Log each load and each index read that met a page under way.
    """

    dsv4_bf16_index_k: bool = False
    opt_use_topk_v2: bool = True
    test_hicache_h2d_delay_cycles: int = 0
    disaggregation_waiting_timeout: float = 300.0
    disaggregation_bootstrap_timeout: float = 300.0
    debug_index_k: bool = False
