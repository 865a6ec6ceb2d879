"""Server flags, named as SGLang names them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerArgs:
    """Resolved flags of one server process.

    Attributes:
        disaggregation_mode: `prefill`, `decode`, or `null` for both in one process.
        enable_hierarchical_cache: Mirror the prefix cache in host memory.
        hicache_ratio: Host pages per device page.
        hicache_write_policy: `write_through` backs pages up when they enter the tree; `write_back` when
            they leave the device.
        hicache_mem_layout: Layout of the host mirror; whole pages are copied in each.
        hicache_io_backend: `kernel` or `direct`.
        disable_overlap_schedule: Process each batch before the next is launched.
        disable_radix_cache: Keep no prefixes.
        page_size: Tokens a page.
        max_running_requests: Requests in one decode batch.
        max_prefill_tokens: New tokens in one prefill batch.
        max_total_tokens: Upper limit of the pool's tokens; None takes what fits.
        context_length: Tokens of prompt and reply together.
        mem_fraction_static: Share of device memory for weights and pools.
        cuda_graph_max_bs_decode: Largest decode batch that is captured.
        disable_cuda_graph: Decode eagerly.
        disaggregation_enable_kv_checksum: Send and compare an adler32 of each room.
        disable_tokenizer_batch_decode: Detokenize sequence by sequence.
        device_clock: `virtual`.
        h2d_gbps: Host-to-device bandwidth in GB/s; None takes the device's own.
        record_schedule: File to write the batch schedule to; None records nothing.
        replay: Batch schedule to follow; None batches by arrival.
    """

    disaggregation_mode: str = "null"
    enable_hierarchical_cache: bool = False
    hicache_ratio: float = 30.0
    hicache_write_policy: str = "write_through"
    hicache_mem_layout: str = "page_first"
    hicache_io_backend: str = "kernel"
    disable_overlap_schedule: bool = False
    disable_radix_cache: bool = False
    page_size: int = 256
    max_running_requests: int = 64
    max_prefill_tokens: int = 8192
    max_total_tokens: int | None = None
    context_length: int = 16384
    mem_fraction_static: float = 0.88
    cuda_graph_max_bs_decode: int = 64
    disable_cuda_graph: bool = False
    disaggregation_enable_kv_checksum: bool = False
    disable_tokenizer_batch_decode: bool = False
    device_clock: str = "virtual"
    h2d_gbps: float | None = None
    record_schedule: str | None = None
    replay: str | None = None
