"""A digest of a room's pages, taken where they leave and, soon after, where they arrive."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from ..mem_cache.pools import DeepSeekV4TokenToKVPool


def pages_checksum(pool: DeepSeekV4TokenToKVPool, pages: Sequence[int]) -> int:
    """Compute adler32 over pages, in the order of the pools and layers."""
    digest = 1
    for buffers in pool.paged_buffers().values():
        for buffer in buffers.values():
            for page in pages:
                digest = zlib.adler32(buffer[page], digest)
    return digest
