"""A body as it comes: its first part is kept, of all of it the length, the digest, whether it is UTF-8.

Memory is bounded by what is kept. Digest and check begin only where that ends, and a body that was
kept whole is looked at once, at its end.
"""

from __future__ import annotations

import codecs
import hashlib


class Body:
    """Takes bytes.

    Args:
        keep: How many of them to keep.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._digest = hashlib.sha256()
        self._streaming = False
        self.kept = bytearray()
        self.size = 0
        self.valid_utf8 = True

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.size += len(chunk)
        if self._streaming:
            self._look(chunk)
            return
        self.kept += chunk
        if self.size > self._keep:
            self._streaming = True
            self._look(bytes(self.kept))
            del self.kept[self._keep :]

    def finish(self, *, whole: bool) -> str:
        """Give the digest of all bytes, in hex.

        Args:
            whole: They are all that there was. Else a character that they end within was cut, and is
                not one that the server got wrong.
        """
        if not self._streaming:
            self._look(bytes(self.kept))
        self._look(b"", final=whole)
        return self._digest.hexdigest()

    def _look(self, chunk: bytes, *, final: bool = False) -> None:
        self._digest.update(chunk)
        if self.valid_utf8:
            try:
                self._utf8.decode(chunk, final)
            except UnicodeDecodeError:
                self.valid_utf8 = False
