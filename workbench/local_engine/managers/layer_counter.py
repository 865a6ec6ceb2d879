"""The gate's state: which layers of which load have landed."""

from __future__ import annotations

from ..device import Event, Stream

PRODUCER_SETS = 3
"""Event sets in rotation: being loaded, being consumed, and held by an overlapped batch."""


class LayerLoadingEvent:
    """One event a layer, recorded when that layer's copies are queued.

    Args:
        layers: Number of layers.
    """

    def __init__(self, layers: int) -> None:
        self._events = [Event() for _ in range(layers)]

    def complete(self, layer: int, stream: Stream) -> None:
        """Mark the point of the copy stream at which a layer is whole."""
        self._events[layer].record(stream)

    def wait(self, layer: int, stream: Stream) -> None:
        """Let a stream wait for a layer."""
        stream.wait_until(self._events[layer].time)


class LayerDoneCounter:
    """Rotating event sets between the loads (producer) and the forward pass (consumer).

    Args:
        layers: Number of layers.
        forward: The stream that waits.
    """

    def __init__(self, layers: int, forward: Stream) -> None:
        self.events = [LayerLoadingEvent(layers) for _ in range(PRODUCER_SETS)]
        self._forward = forward
        self._producer = -1
        self._consumer = -1

    def update_producer(self) -> int:
        """Turn to the next set, and give its number to the batch that the load is for."""
        self._producer = (self._producer + 1) % PRODUCER_SETS
        return self._producer

    def set_consumer(self, index: int) -> None:
        """Name the set that the coming forward pass waits for; -1 if nothing is loaded for it."""
        self._consumer = index

    def wait_until(self, layer: int) -> None:
        """Hold the forward stream until a layer has landed."""
        if self._consumer >= 0:
            self.events[self._consumer].wait(layer, self._forward)
