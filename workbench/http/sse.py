"""Server-sent events, split over bytes as they come in.

Lines end in LF, CR LF or CR and in nothing else. A splitter of text would also end them at U+2028,
U+0085 or a vertical tab, all of which an engine may write inside a JSON string, and the halves would
look like garbled output. An event is what stands before an empty line; one that was not ended so is
not an event (`pending`), as the standard has it.

    splitter = Splitter()
    for event in splitter.feed(chunk): ...
    splitter.pending, splitter.overflow
"""

from __future__ import annotations

import msgspec

MAX_LINE = 1 << 20
MAX_EVENT = 4 << 20
_BOM = b"\xef\xbb\xbf"
_DATA, _END = b"data: ", b"\n\n"


class Event(msgspec.Struct, frozen=True, gc=False):  # one a token; a dataclass costs five
    """One event.

    Attributes:
        data: Its `data` lines, joined by LF.
        name: Its `event` field, `error` for the `error:` lines of older llama.cpp servers, else empty.
    """

    data: bytes
    name: bytes = b""


class Splitter:
    """Splits a body into events; the same bytes give the same events however they are cut.

    Args:
        max_line: Bytes of the longest line.
        max_event: Bytes of the data of the largest event.
    """

    def __init__(self, *, max_line: int = MAX_LINE, max_event: int = MAX_EVENT) -> None:
        self._max_line = max_line
        self._max_event = max_event
        self._rest = bytearray()  # of a line whose end has not come
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._first = True
        self._after_cr = False
        self.overflow = ""

    @property
    def pending(self) -> bytes:
        """Data of an event that no empty line has ended; of whole lines only."""
        return b"\n".join(self._data)

    @property
    def torn(self) -> bool:
        """Whether there is the beginning of a line, or of an event."""
        return bool(self._rest or self._data)

    def feed(self, chunk: bytes) -> list[Event]:
        """Take bytes; give the events that they end.

        A line or event over its limit sets `overflow` to which, and its size; nothing comes after that.
        """
        if self.overflow or not chunk:
            return []
        if self._after_cr or b"\r" in chunk:
            chunk = self._one_ending(chunk)
        elif plain := self._plain(chunk):
            return plain
        lines = chunk.split(b"\n")
        if len(lines) > 1 and self._rest:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        last = lines.pop()
        events: list[Event] = []
        for line in lines:
            if not self._line(line, events):
                return events
        self._rest += last
        if len(self._rest) > self._max_line:
            self._stop(f"a line of more than {self._max_line} bytes")
        return events

    def _plain(self, chunk: bytes) -> list[Event]:
        """Split whole events of one `data` line each, with nothing before: what most engines send.

        Gives none when it is anything else, which then goes line by line, at several times the cost.
        """
        if not (chunk.startswith(_DATA) and chunk.endswith(_END)):
            return []
        if self._rest or self._data or self._name or len(chunk) > min(self._max_line, self._max_event):
            return []
        pieces = chunk[len(_DATA) : -len(_END)].split(_END + _DATA)
        if chunk.count(b"\n") != len(_END) * len(pieces):  # there is another line end than between them
            return []
        self._first = False  # it did not begin with a mark of order
        return list(map(Event, pieces))

    def _one_ending(self, chunk: bytes) -> bytes:
        """Turn all line ends into LF; a CR at the very end counts at once, and an LF after it not."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _line(self, line: bytes, events: list[Event]) -> bool:
        """Take a line; say whether to go on."""
        if len(line) > self._max_line:
            return self._stop(f"a line of more than {self._max_line} bytes")
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            if self._data:
                events.append(
                    Event(self._data[0] if len(self._data) == 1 else self.pending, self._name)
                )
                self._data = []
                self._size = 0
            self._name = b""
            return True
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            return self._add(value)
        if name == b"error":
            self._name = name
            return self._add(value)
        if name == b"event":
            self._name = value
        return True

    def _add(self, value: bytes) -> bool:
        self._size += len(value) + 1  # with its LF: a million empty lines are no small event
        if self._size > self._max_event:
            return self._stop(f"an event of more than {self._max_event} bytes")
        self._data.append(value)
        return True

    def _stop(self, over: str) -> bool:
        self.overflow = over
        self._rest = bytearray()
        self._data = []
        return False
