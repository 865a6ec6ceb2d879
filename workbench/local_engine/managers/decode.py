"""The decode server's scheduler: wait for rooms, then say a token a step for all of them.

    prealloc queue     a request waits for pages
    transfer queue     it has pages and waits for its room's payload
    running            its pages are here; each step gives it one token

A request's payload may come before the request. When pages run out, or memory for activations does,
the youngest running request is retracted: its pages are kept aside as a payload, and it starts over
from there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import logs
from ..device import DeviceFault
from ..disaggregation.checksum import pages_checksum
from ..disaggregation.transfer import (
    KVPoll,
    RoomHeader,
    gather,
    layout_signature,
    scatter,
    unpack,
)
from ..environ import Environment
from ..layers.indexer import TopKV2
from ..logs import logger
from ..mem_cache.pool_configurator import DECODE_SCALE, DSV4PoolConfigurator
from ..mem_cache.pools import DeepSeekV4IndexerPool
from ..server_args import ServerArgs
from ..tokenizer import EOS
from .decode_runner import DecodeRow, DecodeRunner
from .interface import Emit, GenerateRequest, TokenOutput
from .runtime import build_runtime
from .scheduler_base import SchedulerBase, fail

STEP_SECONDS = 10e-3
"""Time of a decode step; attention over many contexts takes what a layer time does not cover."""

DIGESTS_PER_STEP = 4
"""Rooms whose digests are compared in a step, as many as a prefill batch sends. Tokens do not wait for
an instrument: other rooms are compared in the next steps, by pages in which decoding goes on."""

LOG_INTERVAL = 40
"""Steps between two log lines."""


@dataclass(slots=True)
class DecodeRequest:
    """A request in the decode server.

    Attributes:
        request: The request.
        emit: Where its tokens go.
        since: Wall clock when it entered its queue.
        poll: How far its room has come.
        pages: Its pages, in the order of its tokens.
        slot: Its slot of the sliding-window pools.
        body: What its pages will hold, while they do not.
        output_ids: Tokens said so far.
        computed: Tokens whose rows are in the pools.
        cached_tokens: Prompt tokens that prefill had cached.
    """

    request: GenerateRequest
    emit: Emit
    since: float
    poll: KVPoll = KVPoll.Bootstrapping
    pages: list[int] = field(default_factory=list)
    slot: int = -1
    body: memoryview | None = None
    output_ids: list[int] = field(default_factory=list)
    computed: int = 0
    cached_tokens: int = 0

    def __post_init__(self) -> None:
        self.computed = len(self.request.input_ids)


class DecodeScheduler(SchedulerBase):
    """See `interface.Scheduler`.

    Args:
        args: Flags.
        env: Environment.
    """

    indexer_pool: type[DeepSeekV4IndexerPool] = DeepSeekV4IndexerPool
    configurator: type[DSV4PoolConfigurator] = DSV4PoolConfigurator
    topk_v2: type[TopKV2] = TopKV2
    runner_class: type[DecodeRunner] = DecodeRunner

    def __init__(self, args: ServerArgs, env: Environment) -> None:
        super().__init__()
        self._args = args
        self._env = env
        self.runtime = build_runtime(
            args,
            env,
            scale=DECODE_SCALE,
            slots=args.max_running_requests,
            full_batch=args.max_running_requests,
            indexer_pool=self.indexer_pool,
            configurator=self.configurator,
            topk_v2=self.topk_v2,
        )
        self._runner = self.runner_class(
            self.runtime.model,
            max_batch=args.max_running_requests,
            max_pages=self.runtime.geometry.pages_for(args.context_length),
            max_captured=0 if args.disable_cuda_graph else args.cuda_graph_max_bs_decode,
        )
        self._signature = layout_signature(self.runtime.pool)
        self._slots = list(range(args.max_running_requests - 1, -1, -1))
        self._prealloc: list[DecodeRequest] = []
        self._transfer: list[DecodeRequest] = []
        self._running: list[DecodeRequest] = []
        self._rooms: dict[int, tuple[RoomHeader, memoryview, float]] = {}
        self._unverified: deque[tuple[DecodeRequest, int]] = deque()
        self._digests_left = 0
        self._steps = 0
        self._counts = dict.fromkeys(
            (
                "generation_tokens_total",
                "num_retracted_reqs",
                "num_transfer_failed_reqs_total",
                "num_aborted_requests_total",
                "kv_checksum_mismatches_total",
                "kv_checksum_matches_total",
                "num_requests_total",
            ),
            0.0,
        )

    def receive(self, room: int, payload: bytes | bytearray) -> None:
        """Take a room's payload, from any thread.

        Raises:
            ValueError: It is no payload.
        """
        header, body = unpack(payload)
        self._post(lambda: self._rooms.update({room: (header, body, time.monotonic())}))

    def accept(self, request: GenerateRequest, emit: Emit) -> None:
        """See `SchedulerBase`."""
        total = len(request.input_ids) + 1
        if request.bootstrap_room is None:
            fail(request.rid, emit, "error", "a decode server needs a bootstrap_room")
        elif not 1 < total <= self._args.context_length:
            limit = self._args.context_length
            why = f"a prompt of {total - 1} tokens does not fit a context of {limit}"
            fail(request.rid, emit, "error", why)
        else:
            self._counts["num_requests_total"] += 1
            self._prealloc.append(DecodeRequest(request, emit, time.monotonic()))

    def drop(self, rid: str, reason: str = "abort", why: str = "Aborted by AbortReq") -> bool:
        """See `SchedulerBase`; a request that failed in prefill ends for that reason."""
        for queue in (self._prealloc, self._transfer, self._running):
            for member in queue:
                if member.request.rid == rid:
                    queue.remove(member)
                    self._counts["num_aborted_requests_total"] += 1
                    self._fail(member, reason, why)
                    return True
        return False

    def abort_all(self) -> None:
        """See `SchedulerBase`."""
        for member in [*self._prealloc, *self._transfer, *self._running]:
            self.drop(member.request.rid)

    def flush(self) -> bool:
        """See `SchedulerBase`."""
        if self._prealloc or self._transfer or self._running:
            return False
        self.runtime.allocator.clear()
        self._rooms.clear()
        self._unverified.clear()
        return True

    def step(self) -> bool:
        """Let requests advance in their queues, then decode one token for each that runs."""
        self.drain()
        began = time.monotonic()
        self.expire(began)
        self._digests_left = DIGESTS_PER_STEP
        self._verify()
        self._preallocate()
        arrived = self._pop_transferred()
        if not self._running:
            return arrived
        self._make_room()
        self._decode()
        self.pace(STEP_SECONDS, began)
        return True

    def _preallocate(self) -> None:
        """Give pages to waiting requests, in order of arrival."""
        while self._prealloc and self._slots:
            member = self._prealloc[0]
            count = self.runtime.geometry.pages_for(member.computed + 1)
            if count > self.runtime.allocator.available:
                return
            member.pages = self.runtime.allocator.alloc(count)
            member.slot = self._slots.pop()
            member.poll = KVPoll.WaitingForInput
            self._transfer.append(self._prealloc.pop(0))

    def _pop_transferred(self) -> bool:
        """Let requests run whose payload is there."""
        ready = [
            member
            for member in self._transfer
            if member.body is not None or member.request.bootstrap_room in self._rooms
        ]
        for member in ready:
            self._transfer.remove(member)
            if member.body is None:
                self._open_room(member)
            else:
                self._place(member, member.body)
                self._running.append(member)
        return bool(ready)

    def _open_room(self, member: DecodeRequest) -> None:
        room = member.request.bootstrap_room
        assert room is not None
        header, body, _ = self._rooms.pop(room)
        member.poll = KVPoll.Transferring
        if header.signature != self._signature or header.prompt_tokens != member.computed:
            why = f"Context corruption detected: Request {member.request.rid} (bootstrap_room={room})"
            self._counts["num_transfer_failed_reqs_total"] += 1
            self._fail(member, "error", f"{why}: its pages are of another layout or length")
            return
        try:
            self._place(member, body)
        except ValueError as error:
            self._counts["num_transfer_failed_reqs_total"] += 1
            self._fail(member, "error", f"transfer of room {room} failed: {error}")
            return
        if header.checksum is not None:
            self._unverified.append((member, header.checksum))
            self._verify()
        member.poll = KVPoll.Success
        member.cached_tokens = header.cached_tokens
        if not self._say(member, header.first_token):
            self._running.append(member)

    def _place(self, member: DecodeRequest, body: memoryview) -> None:
        pages = member.pages[: self.runtime.geometry.pages_for(member.computed)]
        scatter(self.runtime.pool, pages, member.slot, body)
        member.body = None

    def _verify(self) -> None:
        """Compare digests of rooms, oldest first; a mismatch is told, and decoding goes on.

        A digest that is taken after the request has completed an entry of its last page differs, and
        means nothing: the log has the tokens that were computed by then.
        """
        while self._unverified and self._digests_left:
            self._digests_left -= 1
            member, checksum = self._unverified.popleft()
            prompt = len(member.request.input_ids)
            pages = member.pages[: self.runtime.geometry.pages_for(prompt)]
            if not pages:  # it has left
                continue
            if pages_checksum(self.runtime.pool, pages) == checksum:
                self._counts["kv_checksum_matches_total"] += 1
                continue
            self._counts["kv_checksum_mismatches_total"] += 1
            logger.error(
                "KV checksum mismatch req=%s room=%d #prompt-token: %d, #computed-token: %d",
                member.request.rid,
                member.request.bootstrap_room,
                prompt,
                member.computed,
            )

    def _make_room(self) -> None:
        """Give a page to each request that reaches a new one; retract the youngest if that fails."""
        geometry, allocator = self.runtime.geometry, self.runtime.allocator
        for member in list(self._running):
            while member in self._running and geometry.pages_for(member.computed + 1) > len(
                member.pages
            ):
                if allocator.available:
                    member.pages += allocator.alloc(1)
                else:
                    self._retract()
        while len(self._running) > 1 and not self.runtime.arena.fits(len(self._running)):
            self._retract()

    def _retract(self) -> None:
        member = self._running.pop()
        pages = member.pages[: self.runtime.geometry.pages_for(member.computed)]
        member.body = gather(self.runtime.pool, pages, member.slot)
        self._release(member)
        self._prealloc.insert(0, member)
        self._counts["num_retracted_reqs"] += 1
        logger.warning("KV cache pool is full. Retract requests. #retracted_reqs: 1")

    def _decode(self) -> None:
        """Run one step over all running requests."""
        self.runtime.counter.set_consumer(-1)
        batch = list(self._running)
        rows = [
            DecodeRow(member.output_ids[-1], member.computed, member.pages, member.slot)
            for member in batch
        ]
        try:
            tokens = self._runner.run(rows)
        except DeviceFault as fault:
            self._running.clear()
            for member in batch:
                self._fail(member, "error", str(fault))
            return
        for member, token in zip(batch, tokens, strict=True):
            member.computed += 1
            if self._say(member, token):
                self._running.remove(member)
        self._report(batch)

    def _say(self, member: DecodeRequest, token: int) -> bool:
        """Emit a token. True if it was the last one."""
        member.output_ids.append(token)
        self._counts["generation_tokens_total"] += 1
        request = member.request
        full = len(request.input_ids) + len(member.output_ids) >= self._args.context_length
        reason = ""
        if token == EOS:
            reason = "stop"
        elif full or len(member.output_ids) >= request.max_new_tokens:
            reason = "length"
        if reason:
            self._release(member)
        member.emit(
            TokenOutput(
                rid=request.rid,
                token_ids=(token,),
                finished=bool(reason),
                finish_reason=reason,
                cached_tokens=member.cached_tokens,
            )
        )
        return bool(reason)

    def _release(self, member: DecodeRequest) -> None:
        self.runtime.allocator.free(member.pages)
        member.pages = []
        if member.slot >= 0:
            self._slots.append(member.slot)
            member.slot = -1

    def _fail(self, member: DecodeRequest, reason: str, why: str) -> None:
        member.poll = KVPoll.Failed
        self._release(member)
        if member.request.bootstrap_room is not None:
            self._rooms.pop(member.request.bootstrap_room, None)
        fail(member.request.rid, member.emit, reason, why)

    def expire(self, now: float) -> None:
        """Fail what has waited for too long, and forget rooms that nobody asks for."""
        limit = self._env.disaggregation_waiting_timeout
        for member in [member for member in self._transfer if now - member.since > limit]:
            self._transfer.remove(member)
            self._counts["num_transfer_failed_reqs_total"] += 1
            rid = member.request.rid
            why = f"Request {rid} timed out after {limit:.1f}s in KVPoll.{member.poll.name}"
            self._fail(member, "error", why)
        limit = self._env.disaggregation_bootstrap_timeout
        for room in [room for room, (_, _, came) in self._rooms.items() if now - came > limit]:
            del self._rooms[room]

    def _report(self, batch: Sequence[DecodeRequest]) -> None:
        self._steps += 1
        if self._steps % LOG_INTERVAL == 1:
            logger.info(
                logs.decode_batch(
                    running_req=len(batch),
                    token=sum(member.computed for member in batch),
                    token_usage=self.runtime.token_usage,
                    cuda_graph=self._runner.captured,
                    throughput=len(batch) / STEP_SECONDS,
                    queue_req=len(self._prealloc),
                    transfer_req=len(self._transfer),
                )
            )

    def counters(self) -> dict[str, float]:
        """See `interface.Scheduler`."""
        indexer = self.runtime.pool.indexer_pool
        bf16 = indexer.format.name == "bfloat16"
        return {
            **self._counts,
            "num_running_reqs": float(len(self._running)),
            "num_queue_reqs": float(len(self._prealloc)),
            "num_decode_prealloc_queue_reqs": float(len(self._prealloc)),
            "num_decode_transfer_queue_reqs": float(len(self._transfer)),
            "token_usage": self.runtime.token_usage,
            "is_cuda_graph": float(self._runner.captured),
            "eager_decode_batches_total": float(self._runner.eager_batches),
            "index_k_bf16_reads_total": float(indexer.reads if bf16 else 0),
        }

    def describe(self) -> dict[str, object]:
        """See `interface.Scheduler`."""
        return self.runtime.describe()
