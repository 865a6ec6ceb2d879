"""The device: a forward stream and two copy streams on one virtual clock.

Bytes are real, time is not. A copy is queued on the copy stream and gets the moment at which it will
have landed; until the forward stream's clock has reached that moment, whoever reads the destination
reads what was there before. So which page a kernel finds stale follows from bytes, bandwidth and the
order of work, never from how busy this machine is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

LAYER_SECONDS = 1e-3
"""Time that the forward stream spends in one layer."""

H2D_BYTES_PER_SECOND = 170.2e6
"""Bandwidth of the copy stream, in the scale of the miniature's pages."""

CYCLES_PER_SECOND = 1e9


class DeviceFault(RuntimeError):
    """A kernel touched what it must not. The batch is lost, the device goes on."""


@dataclass(slots=True)
class Stream:
    """A queue of work that runs in order; `time` is when what has been queued so far is done."""

    time: float = 0.0

    def wait_until(self, moment: float) -> None:
        """Let what follows begin no earlier than at a moment."""
        self.time = max(self.time, moment)

    def advance(self, seconds: float) -> None:
        """Queue work that takes this long."""
        self.time += seconds


@dataclass(slots=True)
class Event:
    """A point in a stream that another one can wait for."""

    time: float = 0.0

    def record(self, stream: Stream) -> None:
        """Mark the point after everything that is queued on a stream."""
        self.time = stream.time


@dataclass(slots=True)
class Copy:
    """A copy under way: where it goes, what it brings, and when it will have landed."""

    lands: float
    destination: Bytes
    source: Bytes


@dataclass(slots=True)
class Device:
    """Both streams and the copies between them.

    Attributes:
        h2d_bytes_per_second: Bandwidth of the copy stream.
        forward: The stream that computes.
        h2d: The stream that copies from host to device.
        d2h: The stream that copies from device to host.
    """

    h2d_bytes_per_second: float = H2D_BYTES_PER_SECOND
    forward: Stream = field(default_factory=Stream)
    h2d: Stream = field(default_factory=Stream)
    d2h: Stream = field(default_factory=Stream)
    _under_way: deque[Copy] = field(default_factory=deque)

    def copy_to_device(self, destination: Bytes, source: Bytes) -> None:
        """Queue a copy on the copy stream. The source must stay as it is until it has landed."""
        self.h2d.advance(source.nbytes / self.h2d_bytes_per_second)
        self._under_way.append(Copy(self.h2d.time, destination, source))

    def under_way_to(self, buffer: Bytes, pages: NDArray[np.int64]) -> int:
        """Count the pages of a buffer, of those given, whose copy has not landed."""
        wanted = set(pages.tolist())
        start, size = buffer.ctypes.data, buffer.strides[0]
        ends = start + buffer.nbytes
        targets = (copy.destination.ctypes.data for copy in self._under_way)
        return len(wanted & {(at - start) // size for at in targets if start <= at < ends})

    def copy_to_host(self, destination: Bytes, source: Bytes) -> None:
        """Queue a copy to the host behind what has been computed. It is read when it is asked for."""
        self.d2h.wait_until(self.forward.time)
        self.d2h.advance(source.nbytes / self.h2d_bytes_per_second)
        destination[:] = source

    def land(self) -> None:
        """Make every copy visible that has landed by the forward stream's clock.

        Called before each read of device memory.
        """
        while self._under_way and self._under_way[0].lands <= self.forward.time:
            copy = self._under_way.popleft()
            copy.destination[:] = copy.source

    def synchronize(self) -> None:
        """Wait for both streams."""
        self.forward.wait_until(self.h2d.time)
        self.land()
