"""Log lines in SGLang's shape, so that what greps the real engine's log greps this one's too.

    [2026-11-29 15:12:00 PREFILL] Prefill batch, #new-seq: 2, #new-token: 512, ...

Schedulers make the text of their recurring lines here; everything goes through `logging` to stderr.
"""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("local_engine")

_DATE = "%Y-%m-%d %H:%M:%S"


def configure_logging(part: str = "", level: str = "info") -> None:
    """Send this process's log to stderr.

    Args:
        part: The process's part, in the prefix of each line: router, prefill, decode, null.
        level: Least level to log, in small letters.
    """
    handler = logging.StreamHandler(sys.stderr)
    label = f" {part.upper()}" if part else ""
    handler.setFormatter(logging.Formatter(f"[%(asctime)s{label}] %(message)s", _DATE))
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def prefill_batch(
    *,
    new_seq: int,
    new_token: int,
    cached_token: int,
    token_usage: float,
    running_req: int,
    queue_req: int,
    inflight_req: int,
    throughput: float,
) -> str:
    """Tell of a prefill batch; `throughput` in tokens per second, `token_usage` a share of 1."""
    return (
        f"Prefill batch, #new-seq: {new_seq}, #new-token: {new_token}, #cached-token: {cached_token}, "
        f"token usage: {token_usage:.2f}, #running-req: {running_req}, #queue-req: {queue_req}, "
        f"#inflight-req: {inflight_req}, cuda graph: False, "
        f"input throughput (token/s): {throughput:.2f}"
    )


def decode_batch(
    *,
    running_req: int,
    token: int,
    token_usage: float,
    cuda_graph: bool,
    throughput: float,
    queue_req: int,
    transfer_req: int,
) -> str:
    """Tell of a decode batch. `cuda graph: True` says that it was captured, not run eagerly."""
    return (
        f"Decode batch, #running-req: {running_req}, #token: {token}, token usage: {token_usage:.2f}, "
        f"#transfer-req: {transfer_req}, cuda graph: {cuda_graph}, "
        f"gen throughput (token/s): {throughput:.2f}, #queue-req: {queue_req}"
    )


def hicache_load(*, req: int, page: int, byte: int, layer0_done_ms: float) -> str:
    """Tell of a merged load: how much of how many requests, and when its first layer has landed."""
    return (
        f"HiCache load: #req: {req}, #page: {page}, #byte: {byte}, layer0 done +{layer0_done_ms:.3f} ms"
    )


def memory_calculation(*, bytes_per_full_token: float, available_bytes: float, full_token: int) -> str:
    """Tell how many tokens the pools were sized for."""
    return (
        f"DSV4 memory calculation: bytes_per_full_token={bytes_per_full_token:.2f}, "
        f"available_bytes={available_bytes / 2**30:.2f} GB, full_token={full_token}"
    )
