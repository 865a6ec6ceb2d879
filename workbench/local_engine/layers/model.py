"""The copy head: a model whose next token truly depends on the bytes that it reads.

    layers 0, 1      sliding window: hold the residual stream of the last 128 tokens
    layers 2, 4, 6   ratio 4: indexer, then attention over what it selected
    layers 3, 5, 7   ratio 128: where the call that is asked for begins, and what stands there

The query of the first layer of ratio 4 is the state after the last token. What attention finds there
carries the query of the next one, and what the last one finds is the next token. So one row that is
not found derails all layers that follow, and a wrong token derails all tokens that follow. What the
layers of ratio 128 find is the state that decoding goes on from; a prompt that asks for nothing in its
context keeps its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..device import LAYER_SECONDS, Device
from ..mem_cache.geometry import SWA_WINDOW
from ..mem_cache.pools import DeepSeekV4TokenToKVPool, Pages
from .attention import attend
from .folded import Question, begin, fold
from .indexer import Hashes, Indexer
from .residual import encode, layer_key, step


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens that a forward pass computes for one request, as the layers take them.

    Attributes:
        pages: All pages of the request, in the order of its tokens.
        slot: Its slot of the sliding-window pools.
        end: Tokens of the request up to and including these.
        positions: Positions of the tokens that go into the sliding window.
        after: State after each of them.
        token_ids: Each of them.
        in_record: Whether each of them stands in a record.
        first_entry: First entry of four tokens that becomes complete.
        before: State before each token of the complete entries, shape (entries, 4).
        said: Token of each, as the model would say it.
        findable: Whether each stands in a record.
        query: State after the last token.
        calls: Positions at which the calls of records begin, among the complete entries.
        topics: State before each of them.
        asks: Whether these end a prompt, so that what it asks for is looked up.
    """

    pages: Pages
    slot: int
    end: int
    positions: NDArray[np.int64]
    after: Hashes
    token_ids: NDArray[np.int64]
    in_record: NDArray[np.bool_]
    first_entry: int
    before: Hashes
    said: NDArray[np.uint32]
    findable: NDArray[np.bool_]
    query: np.uint64
    calls: NDArray[np.int64]
    topics: Hashes
    asks: bool


_NONE = np.zeros(0, np.int64)


class CopyHeadModel:
    """The model on one device.

    Args:
        device: The device.
        pool: Its pools.
        indexer: The indexer over them.
    """

    def __init__(self, device: Device, pool: DeepSeekV4TokenToKVPool, indexer: Indexer) -> None:
        self._device = device
        self._pool = pool
        self._ratios = pool.geometry.compress_ratios
        layers = pool.geometry.layers_of(4)
        self._next_layer = dict(zip(layers, (*layers[1:], -1), strict=True))
        self._window_layer = pool.geometry.layers_of(0)[0]
        self._locating_layer = pool.geometry.layers_of(128)[0]
        self.indexer = indexer

    def prompt(self, token_ids: Sequence[int], cached: int, pages: Sequence[int], slot: int) -> Chunk:
        """Prepare the tokens of a prompt from `cached` on, a multiple of the page size."""
        ids = np.asarray(token_ids, np.int64)
        stream = encode(ids)
        end = len(ids)
        window = slice(max(0, end - SWA_WINDOW), end)
        whole = slice(cached, end // 4 * 4)
        calls = cached + np.flatnonzero(stream.calls[whole])
        return Chunk(
            pages=np.asarray(pages, np.int64),
            slot=slot,
            end=end,
            positions=np.arange(window.start, end),
            after=stream.after[window],
            token_ids=ids[window],
            in_record=stream.in_record[window],
            first_entry=cached // 4,
            before=stream.before[whole].reshape(-1, 4),
            said=stream.said[whole].reshape(-1, 4),
            findable=stream.in_record[whole].reshape(-1, 4),
            query=stream.after[-1],
            calls=calls,
            topics=stream.before[calls],
            asks=True,
        )

    def continuation(self, token: int, position: int, pages: Pages, slot: int) -> Chunk:
        """Prepare one generated token. The state before it is read from the sliding window."""
        window = self._pool.get_swa_buffer(self._window_layer)[slot]
        last = window[(position - 1) % SWA_WINDOW]
        state = np.uint64(step(int(last["state"]), token))
        entry = np.arange(position - 3, position + 1) % SWA_WINDOW
        complete = position % 4 == 3
        said, findable = window["token"][entry], window["in_record"][entry] > 0
        said[3], findable[3] = token, False
        count = 1 if complete else 0
        return Chunk(
            pages=pages,
            slot=slot,
            end=position + 1,
            positions=np.array([position]),
            after=np.array([state]),
            token_ids=np.array([token]),
            in_record=np.array([False]),
            first_entry=position // 4,
            before=window["state"][entry - 1].reshape(1, 4)[:count],
            said=said.reshape(1, 4)[:count],
            findable=findable.reshape(1, 4)[:count],
            query=state,
            calls=_NONE,
            topics=_NONE.view(np.uint64),
            asks=False,
        )

    def forward(self, batch: Sequence[Chunk]) -> list[int]:
        """Run all layers over a batch and give each request's next token."""
        first = next(iter(self._next_layer))
        states = np.array([chunk.query for chunk in batch], np.uint64)
        queries = list(layer_key(states, first))
        asking = [chunk for chunk in batch if chunk.asks]
        questions = [Question(chunk.pages, chunk.end // 4, chunk.query) for chunk in asking]
        tokens = [0] * len(batch)
        for layer, ratio in enumerate(self._ratios):
            self._device.land()
            match ratio:
                case 0:
                    self._slide(layer, batch)
                case 4:
                    for chunk in batch:
                        self._write(layer, chunk)
                    found = self._look_up(layer, batch, queries)
                    queries = [query for query, _ in found]
                    tokens = [token for _, token in found]
                case _:
                    self._fold(layer, batch)
                    self._recall(layer, questions)
            self._device.forward.advance(LAYER_SECONDS)
        for chunk, question in zip(asking, questions, strict=True):
            self._settle(chunk, question.state)
        return tokens

    def _slide(self, layer: int, batch: Sequence[Chunk]) -> None:
        window = self._pool.get_swa_buffer(layer)
        for chunk in batch:
            rows = window[chunk.slot]
            at = chunk.positions % SWA_WINDOW
            rows["state"][at] = chunk.after
            rows["token"][at] = chunk.token_ids
            rows["in_record"][at] = chunk.in_record

    def _look_up(
        self, layer: int, batch: Sequence[Chunk], queries: Sequence[np.uint64]
    ) -> list[tuple[np.uint64, int]]:
        """Select for every request, then attend for every request, as two kernels would."""
        selected = [
            self.indexer.select(layer, chunk.pages, chunk.end // 4, query, len(batch))
            for chunk, query in zip(batch, queries, strict=True)
        ]
        rows = self._pool.get_key_buffer(layer)
        return [
            attend(rows, chunk.pages, entries, query)
            for chunk, entries, query in zip(batch, selected, queries, strict=True)
        ]

    def _write(self, layer: int, chunk: Chunk) -> None:
        """Store index keys and main rows of the entries that became complete."""
        if not len(chunk.before):
            return
        keys = layer_key(chunk.before, layer, chunk.findable)
        self.indexer.store(layer, chunk.pages, chunk.first_entry, keys)
        rows = self._pool.key_rows(layer)
        entries = np.arange(chunk.first_entry, chunk.first_entry + len(keys))
        page, offset = np.divmod(entries, rows.shape[1])
        at = chunk.pages[page], offset
        following = self._next_layer[layer]
        rows["key"][at] = keys
        rows["carry"][at] = layer_key(chunk.before, following, chunk.findable)
        rows["token"][at] = chunk.said

    def _fold(self, layer: int, batch: Sequence[Chunk]) -> None:
        rows = self._pool.get_key_buffer(layer)
        for chunk in batch:
            if len(chunk.before):
                begin(rows, chunk.pages, chunk.first_entry, chunk.end // 4)
                fold(rows, chunk.pages, chunk.calls // 4, layer_key(chunk.topics, layer), chunk.topics)

    def _recall(self, layer: int, questions: Sequence[Question]) -> None:
        """Let each question find the call that answers it: first where, then what stands there."""
        rows = self._pool.get_key_buffer(layer)
        for question in questions:
            if layer == self._locating_layer:
                question.locate(layer, rows)
            else:
                question.recall(layer, rows)

    def _settle(self, chunk: Chunk, state: np.uint64) -> None:
        """Leave what a question came to in the sliding window, from where decoding goes on."""
        for window in self._pool.swa.values():
            window["state"][chunk.slot, (chunk.end - 1) % SWA_WINDOW] = state
