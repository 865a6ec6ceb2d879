"""What a process writes, read as it comes so that it never blocks, and cut in the middle.

It is a pipe of ours and not of the process object: waiting for the process then never waits for a
grandchild that keeps the pipe open.
"""

from __future__ import annotations

import asyncio
import os

_HALF_CAP = 512 * 1024  # of a longer output the first and the last half MiB are kept
_GRACE = 1.0  # seconds for the output of a process that has left the group


class Output:
    """Reads a pipe.

    Args:
        reader: Its end to read from, which is closed here.
    """

    def __init__(self, reader: int) -> None:
        self._fd: int | None = reader
        self._size = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._closed = asyncio.Event()

    async def open(self) -> None:
        """Begin to read, in the running loop."""
        assert self._fd is not None
        os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    async def finish(self) -> tuple[str, int]:
        """Wait for the end of the output, not long, and give its text and size in bytes."""
        try:
            async with asyncio.timeout(_GRACE):
                await self._closed.wait()
        except TimeoutError:
            self.close()
        data = bytes(self._head)
        cut = self._size - len(self._head) - len(self._tail)
        if cut > 0:
            data += f"\n[... {cut} bytes cut ...]\n".encode()
        return (data + bytes(self._tail)).decode("utf-8", "replace"), self._size

    def close(self) -> None:
        """Read no more."""
        if self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
        self._closed.set()

    def _read(self) -> None:
        assert self._fd is not None
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        self._size += len(data)
        room = _HALF_CAP - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        del self._tail[:-_HALF_CAP]
