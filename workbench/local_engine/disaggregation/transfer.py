"""A room: the pages of one request on their way from prefill to decode.

A payload is a header and a body. The body holds, pool by pool and layer by layer, the request's whole
pages, then the rows of its sliding window.

    4 bytes   length of the header, little endian
    header    JSON: room, first token, prompt and cached tokens, layout signature, checksum if asked for
    body      bytes of the pages
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum

import numpy as np

from ..mem_cache.pools import DeepSeekV4TokenToKVPool


class KVPoll(IntEnum):
    """How far a room has come."""

    Failed = 0
    Bootstrapping = 1
    WaitingForInput = 2
    Transferring = 3
    Success = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class RoomHeader:
    """What decode has to know beside the pages.

    Attributes:
        room: The room.
        first_token: The token that prefill found.
        prompt_tokens: Length of the prompt.
        cached_tokens: Prompt tokens that came from the prefix cache.
        signature: Layout of the pages; both sides must have the same.
        checksum: adler32 of the pages as they left, None if not asked for.
    """

    room: int
    first_token: int
    prompt_tokens: int
    cached_tokens: int
    signature: str
    checksum: int | None = None


def layout_signature(pool: DeepSeekV4TokenToKVPool) -> str:
    """Name the layout of a model's pages."""
    sizes = ",".join(
        f"{name}:{len(buffers)}x{next(iter(buffers.values())).shape[1]}"
        for name, buffers in pool.paged_buffers().items()
    )
    return f"{pool.indexer_pool.format.name};{sizes}"


def gather(pool: DeepSeekV4TokenToKVPool, pages: Sequence[int], slot: int) -> memoryview:
    """Read a request's pages and window into one body."""
    pool.settle()
    index = np.asarray(pages, np.int64)
    buffers = [buffer for layers in pool.paged_buffers().values() for buffer in layers.values()]
    windows = [window[slot].view(np.uint8) for window in pool.swa.values()]
    size = sum(len(index) * buffer.shape[1] for buffer in buffers)
    body = np.empty(size + sum(window.size for window in windows), np.uint8)
    offset = 0
    for buffer in buffers:  # straight into place: a body is megabytes
        part = body[offset : offset + len(index) * buffer.shape[1]].reshape(len(index), -1)
        np.take(buffer, index, axis=0, out=part, mode="clip")
        offset += part.size
    np.concatenate(windows, out=body[offset:])
    return body.data


def scatter(pool: DeepSeekV4TokenToKVPool, pages: Sequence[int], slot: int, body: memoryview) -> None:
    """Write a body to pages and a window.

    Raises:
        ValueError: The body does not have the size of these pages.
    """
    index = np.asarray(pages, np.int64)
    offset = 0
    for buffers in pool.paged_buffers().values():
        for buffer in buffers.values():
            size = len(index) * buffer.shape[1]
            part = np.frombuffer(body[offset : offset + size], np.uint8)
            buffer[index] = part.reshape(len(index), -1)
            offset += size
    for window in pool.swa.values():
        size = window[slot].nbytes
        window[slot] = np.frombuffer(body[offset : offset + size], window.dtype)
        offset += size
    if offset != len(body):
        raise ValueError(f"a body of {len(body)} bytes for pages of {offset}")


def pack(header: RoomHeader, body: bytes | memoryview) -> bytes:
    """Make a payload."""
    encoded = json.dumps(asdict(header)).encode()
    return b"".join((struct.pack("<I", len(encoded)), encoded, body))


def unpack(payload: bytes | bytearray) -> tuple[RoomHeader, memoryview]:
    """Take a payload apart.

    Raises:
        ValueError: It is no payload.
    """
    try:
        (length,) = struct.unpack_from("<I", payload)
        header = RoomHeader(**json.loads(payload[4 : 4 + length]))
    except (struct.error, TypeError, ValueError) as error:
        raise ValueError(f"no payload of a room: {error}") from None
    return header, memoryview(payload)[4 + length :]
