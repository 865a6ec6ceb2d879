"""The prefill server's scheduler: batch, look up prefixes, load, compute, send the rooms.

    waiting queue -> batch of up to 4 -> forward pass -> prefix tree, host mirror -> room to decode

With overlap, the next batch is formed while the one before is on the device, and its result is handled
then. A batch takes requests in order of arrival until one of the bounds is met: 4 requests,
`max_prefill_tokens` new tokens, pages of the device, memory for activations.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from .. import logs
from ..device import DeviceFault
from ..disaggregation.checksum import pages_checksum
from ..disaggregation.transfer import RoomHeader, gather, layout_signature, pack
from ..environ import Environment
from ..layers.indexer import TopKV2
from ..layers.model import Chunk
from ..logs import logger
from ..mem_cache.geometry import SWA_WINDOW
from ..mem_cache.host_pool import HostPool, build_host_pools
from ..mem_cache.pool_configurator import PREFILL_SCALE, DSV4PoolConfigurator
from ..mem_cache.pools import DeepSeekV4IndexerPool, DeepSeekV4TokenToKVPool
from ..mem_cache.prefix_cache import Lease, PrefixCache
from ..server_args import HICACHE_WITHOUT_EFFECT, ServerArgs
from .cache_controller import HiCacheController
from .interface import Emit, GenerateRequest, Send, TokenOutput
from .runtime import build_runtime
from .schedule import Schedule
from .scheduler_base import SchedulerBase, fail

MAX_BATCH = 4


@dataclass(slots=True)
class PrefillRequest:
    """A request in the prefill server."""

    request: GenerateRequest
    emit: Emit
    lease: Lease | None = None

    @property
    def cached(self) -> int:
        """Pages that need not be computed."""
        return len(self.lease.cached) if self.lease else 0


@dataclass(frozen=True, slots=True)
class Launched:
    """A batch on the forward stream.

    Attributes:
        batch: Its requests.
        producer: The event set of its load, -1 without one.
        chunks: What each request computes.
    """

    batch: list[PrefillRequest]
    producer: int
    chunks: list[Chunk]


class PrefillScheduler(SchedulerBase):
    """See `interface.Scheduler`.

    Args:
        args: Flags.
        env: Environment.
        send: Sends a room's payload to decode; called from the scheduler's thread.
    """

    indexer_pool: type[DeepSeekV4IndexerPool] = DeepSeekV4IndexerPool
    configurator: type[DSV4PoolConfigurator] = DSV4PoolConfigurator
    topk_v2: type[TopKV2] = TopKV2
    controller_class: type[HiCacheController] = HiCacheController

    def __init__(self, args: ServerArgs, env: Environment, send: Send) -> None:
        super().__init__()
        self._args = args
        self._send = send
        self.runtime = build_runtime(
            args,
            env,
            scale=PREFILL_SCALE,
            slots=MAX_BATCH,
            full_batch=args.max_prefill_tokens,
            indexer_pool=self.indexer_pool,
            configurator=self.configurator,
            topk_v2=self.topk_v2,
        )
        self._controller = self._build_controller(env) if args.enable_hierarchical_cache else None
        self._cache = PrefixCache(
            args.page_size,
            self.runtime.allocator,
            self._controller,
            write_back=args.hicache_write_policy == "write_back",
            write_after=2 if args.hicache_write_policy == "write_through_selective" else 1,
            enabled=not args.disable_radix_cache,
        )
        self._signature = layout_signature(self.runtime.pool)
        self._schedule = Schedule(args.record_schedule, args.replay)
        self._waiting: list[PrefillRequest] = []
        self._launched: Launched | None = None
        self._counts = dict.fromkeys(
            (
                "num_prefill_batches_total",
                "prompt_tokens_total",
                "cached_tokens_total",
                "num_aborted_requests_total",
                "num_retracted_reqs",
                "kv_transfer_total_mb",
            ),
            0.0,
        )

    def _build_controller(self, env: Environment) -> HiCacheController:
        runtime = self.runtime
        pages = int(runtime.allocator.size * self._args.hicache_ratio)
        return self.controller_class(
            runtime.device,
            self.build_host_pools(runtime.pool, pages),
            pages,
            runtime.counter,
            len(runtime.geometry.compress_ratios),
            env,
        )

    @staticmethod
    def build_host_pools(pool: DeepSeekV4TokenToKVPool, pages: int) -> Sequence[HostPool]:
        """Mirror the pools."""
        return build_host_pools(pool, pages)

    def accept(self, request: GenerateRequest, emit: Emit) -> None:
        """See `SchedulerBase`."""
        room_for = self._args.context_length
        if not 0 < len(request.input_ids) < room_for:
            why = f"a prompt of {len(request.input_ids)} tokens does not fit a context of {room_for}"
            fail(request.rid, emit, "error", why)
        else:
            self._waiting.append(PrefillRequest(request, emit))

    def drop(self, rid: str) -> bool:
        """See `SchedulerBase`."""
        for waiting in self._waiting:
            if waiting.request.rid == rid:
                self._waiting.remove(waiting)
                self._counts["num_aborted_requests_total"] += 1
                fail(rid, waiting.emit, "abort", "Aborted by AbortReq")
                return True
        return False

    def abort_all(self) -> None:
        """See `SchedulerBase`."""
        for waiting in list(self._waiting):
            self.drop(waiting.request.rid)

    def flush(self) -> bool:
        """See `SchedulerBase`."""
        if self._waiting or self._launched:
            return False
        self._cache.clear()
        return True

    def step(self) -> bool:
        """Take the next batch, and handle the result of the one before."""
        self.drain()
        if self._launched and not self._schedule.overlaps:
            self.advance([])
            return True
        batch = self._form_batch()
        if not batch and (not self._launched or self._schedule.planned):
            return False
        if batch:
            requests = [member.request for member in batch]
            self._schedule.note(requests, overlapped=bool(self._launched))
        self.advance(batch)
        if self._args.disable_overlap_schedule:
            self.advance([])
        return True

    def advance(self, batch: list[PrefillRequest]) -> None:
        """Handle what was launched, if anything, and launch a batch, unless it is empty.

        The load of a batch starts behind the forward pass before it, on which it must be fenced: that
        pass still writes to tail pages which were freed at its launch, and which the load may have
        been given. Without a batch the result is handled all the same, since it may hold the pages
        that a batch needs.
        """
        launched, self._launched = self._launched, None
        if launched:
            self.complete(launched)
        if batch:
            self._launched = self.launch(batch)

    def launch(self, batch: list[PrefillRequest]) -> Launched:
        """Start a batch's load, and free the pages that nobody needs once it is computed."""
        producer = self._controller.start_loading() if self._controller else -1
        launched = Launched(batch, producer, [self._chunk(*pair) for pair in enumerate(batch)])
        for member in batch:
            assert member.lease is not None
            self._cache.release_tail(member.request.input_ids, member.lease)
        return launched

    def complete(self, launched: Launched) -> None:
        """Compute a batch while its load lands, and handle the result."""
        began, device = time.monotonic(), self.runtime.device
        device_began = device.forward.time
        self.runtime.counter.set_consumer(launched.producer)
        try:
            tokens = self.runtime.model.forward(launched.chunks)
        except DeviceFault as fault:
            self._lose(launched.batch, str(fault))
            return
        for member, chunk, token in zip(launched.batch, launched.chunks, tokens, strict=True):
            self._finish(member, chunk, token)
        self._report(launched.batch, device.forward.time - device_began)
        self.pace(device.forward.time - device_began, began)

    def _lose(self, batch: Sequence[PrefillRequest], why: str) -> None:
        """Fail a batch whose new pages cannot be trusted."""
        self.runtime.device.synchronize()
        for member in batch:
            self._give_back(member)
            fail(member.request.rid, member.emit, "error", why)

    def _chunk(self, slot: int, member: PrefillRequest) -> Chunk:
        assert member.lease is not None
        cached = member.cached * self._args.page_size
        return self.runtime.model.prompt(member.request.input_ids, cached, member.lease.pages, slot)

    def _form_batch(self) -> list[PrefillRequest]:
        """Take requests off the queue, in order, as long as they fit."""
        waiting = [(member.request, member) for member in self._waiting]
        if not waiting or (self._controller and not self._controller.can_load):
            return []
        self._cache.begin_batch()
        batch: list[PrefillRequest] = []
        new_tokens = 0
        for member in self._schedule.choose(waiting, MAX_BATCH):
            tokens = member.request.input_ids
            # The sliding window is in no cache, so its tokens are computed anew.
            member.lease = self._cache.acquire(tokens, len(tokens) - SWA_WINDOW)
            if member.lease is None:
                break
            new_tokens += len(tokens) - member.cached * self._args.page_size
            if batch and new_tokens > self._args.max_prefill_tokens:
                self._give_back(member)
                break
            batch.append(member)
        self._retract(batch)
        for member in batch:
            self._waiting.remove(member)
        return batch

    def _retract(self, batch: list[PrefillRequest]) -> None:
        """Put requests back until the activations of the rest fit beside the pools."""
        size = self._args.page_size
        while len(batch) > 1:
            tokens = sum(len(member.request.input_ids) - member.cached * size for member in batch)
            if self.runtime.arena.fits(tokens):
                return
            self._give_back(batch.pop())
            self._counts["num_retracted_reqs"] += 1
            logger.warning("Device memory is full. Retract requests. #retracted_reqs: 1")

    def _give_back(self, member: PrefillRequest) -> None:
        assert member.lease is not None
        self._cache.release(member.lease)
        member.lease = None

    def _finish(self, member: PrefillRequest, chunk: Chunk, token: int) -> None:
        """Send the room, keep the prefix, answer."""
        request, lease, pool = member.request, member.lease, self.runtime.pool
        assert lease is not None
        pages = chunk.pages.tolist()
        cached = member.cached * self._args.page_size
        if request.bootstrap_room is not None:
            checksum = self._args.disaggregation_enable_kv_checksum
            header = RoomHeader(
                room=request.bootstrap_room,
                first_token=token,
                prompt_tokens=len(request.input_ids),
                cached_tokens=cached,
                signature=self._signature,
                checksum=pages_checksum(pool, pages) if checksum else None,
            )
            payload = pack(header, gather(pool, pages, chunk.slot))
            self._counts["kv_transfer_total_mb"] += len(payload) / 1e6
            self._send(request.bootstrap_room, payload)
        self._cache.keep(request.input_ids, lease)
        member.emit(
            TokenOutput(
                rid=request.rid,
                token_ids=(token,),
                finished=True,
                finish_reason="length",
                cached_tokens=cached,
            )
        )

    def _report(self, batch: Sequence[PrefillRequest], seconds: float) -> None:
        cached = sum(member.cached for member in batch) * self._args.page_size
        tokens = sum(len(member.request.input_ids) for member in batch)
        self._counts["num_prefill_batches_total"] += 1
        self._counts["prompt_tokens_total"] += tokens
        self._counts["cached_tokens_total"] += cached
        logger.info(
            logs.prefill_batch(
                new_seq=len(batch),
                new_token=tokens - cached,
                cached_token=cached,
                token_usage=self.runtime.token_usage,
                running_req=0,
                queue_req=len(self._waiting),
                inflight_req=0,
                throughput=(tokens - cached) / seconds,
            )
        )

    def counters(self) -> dict[str, float]:
        """See `interface.Scheduler`."""
        indexer = self.runtime.pool.indexer_pool
        bf16 = indexer.format.name == "bfloat16"
        host = self._cache.tree.host_pages * self._args.page_size
        return {
            **self._counts,
            "num_running_reqs": float(len(self._launched.batch) if self._launched else 0),
            "num_queue_reqs": float(len(self._waiting)),
            "num_prefill_inflight_queue_reqs": 0.0,
            "token_usage": self.runtime.token_usage,
            "hicache_host_used_tokens": float(host),
            "hicache_loaded_pages_total": float(
                self._controller.loaded_pages if self._controller else 0
            ),
            "index_k_bf16_reads_total": float(indexer.reads if bf16 else 0),
        }

    def describe(self) -> dict[str, object]:
        """See `interface.Scheduler`."""
        pools = self._controller.describe() if self._controller else {}
        facts = {"hicache_pools": pools, "flags_without_effect": list(HICACHE_WITHOUT_EFFECT)}
        return {**self.runtime.describe(), **facts}
