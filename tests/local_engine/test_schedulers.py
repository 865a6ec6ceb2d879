"""Schedulers: threads, aborts, refusals, rooms, recorded schedules."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local_engine.bugs import Ungated
from tests.local_engine.driver import ARGS, BF16, FP8, Dose, Result, Session, drive
from workbench.local_engine.disaggregation.transfer import RoomHeader, pack, unpack
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.decode import DecodeScheduler
from workbench.local_engine.managers.interface import GenerateRequest, TokenOutput
from workbench.local_engine.managers.prefill import PrefillScheduler
from workbench.local_engine.managers.scheduler_base import SchedulerBase
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.tokenizer import UNK


class Listener:
    """Collects the outputs of one request."""

    def __init__(self) -> None:
        self.outputs: list[TokenOutput] = []
        self.finished = threading.Event()

    def __call__(self, output: TokenOutput) -> None:
        self.outputs.append(output)
        if output.finished:
            self.finished.set()

    @property
    def last(self) -> TokenOutput:
        return self.outputs[-1]

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(token for output in self.outputs for token in output.token_ids)


def question(rid: str = "r", room: int | None = None) -> tuple[GenerateRequest, tuple[int, ...]]:
    prompt, right = Session(0, 0).ask()
    request = GenerateRequest(rid=rid, input_ids=prompt, max_new_tokens=40, bootstrap_room=room)
    return request, right


def test_a_running_scheduler_answers_and_can_be_flushed_when_idle() -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    scheduler.start()
    try:
        for _ in range(2):
            request, right = question()
            listener = Listener()
            scheduler.submit(request, listener)
            assert listener.finished.wait(timeout=30)
            assert listener.tokens == right
            assert (listener.last.finish_reason, listener.last.error) == ("stop", "")
        assert listener.last.cached_tokens == 1792  # 7 of 8 pages: the last window is computed anew
        assert scheduler.flush_cache()
    finally:
        scheduler.stop()


class Broken(UnifiedScheduler):
    def step(self) -> bool:
        self.drain()
        if self.counters()["num_queue_reqs"]:
            raise ZeroDivisionError("a defect of the engine")
        return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_scheduler_that_breaks_says_so_and_lets_nobody_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler = Broken(ARGS, FP8)
    listener = Listener()
    scheduler.start()
    scheduler.submit(question()[0], listener)
    assert listener.finished.wait(timeout=30)
    assert listener.last.finish_reason == "abort"
    assert "Scheduler hit an exception" in caplog.text
    scheduler.stop()
    assert scheduler.flush_cache()


def test_flush_is_refused_while_anything_is_under_way() -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    scheduler.submit(question()[0], Listener())
    assert not scheduler.flush_cache()


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_abort_ends_a_request_wherever_it_is(steps: int) -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    listener = Listener()
    scheduler.submit(question()[0], listener)
    for _ in range(steps):
        scheduler.step()
    assert scheduler.abort("r")
    assert listener.last.finish_reason == "abort"
    assert not scheduler.abort("r")
    finish(scheduler)  # a batch on the device runs to its end
    assert scheduler.flush_cache()
    assert scheduler.counters()["num_aborted_requests_total"] >= 1


def test_stop_aborts_what_is_under_way() -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    listener = Listener()
    scheduler.submit(question()[0], listener)
    scheduler.start()
    scheduler.stop()
    assert listener.finished.is_set()


@pytest.mark.parametrize("length", [0, 16384])
def test_a_prompt_that_does_not_fit_is_refused(length: int) -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    listener = Listener()
    request = GenerateRequest(rid="r", input_ids=(7,) * length, max_new_tokens=4)
    scheduler.submit(request, listener)
    scheduler.step()
    assert listener.last.finish_reason == "error"
    assert "does not fit a context of 16384" in listener.last.error
    assert len(listener.outputs) == 1


def test_a_reply_ends_at_its_limit() -> None:
    scheduler = UnifiedScheduler(ARGS, FP8)
    listener = Listener()
    request, right = question()
    scheduler.submit(replace(request, max_new_tokens=5), listener)
    while not listener.finished.is_set():
        scheduler.step()
    assert (listener.tokens, listener.last.finish_reason) == (right[:5], "length")


def finish(scheduler: SchedulerBase) -> None:
    """Step until there is nothing left to do."""
    while scheduler.step():
        pass


def halves(
    env: Environment, *, checksum: bool = False
) -> tuple[PrefillScheduler, DecodeScheduler, dict[int, bytes]]:
    args = replace(ARGS, disaggregation_enable_kv_checksum=checksum)
    rooms: dict[int, bytes] = {}
    return PrefillScheduler(args, env, rooms.__setitem__), DecodeScheduler(args, env), rooms


@pytest.mark.parametrize("pages_first", [True, False])
def test_a_room_joins_both_halves_in_either_order(pages_first: bool) -> None:
    prefill, decode, rooms = halves(BF16, checksum=True)
    request, right = question(room=77)
    listener = Listener()
    prefill.submit(request, Listener())
    finish(prefill)
    for pages in (pages_first, not pages_first):
        if pages:
            decode.receive(77, rooms[77])
        else:
            decode.submit(request, listener)
        decode.step()
    while not listener.finished.is_set():
        decode.step()
    assert listener.tokens == right
    counters = decode.counters()
    assert (counters["kv_checksum_matches_total"], counters["kv_checksum_mismatches_total"]) == (1, 0)


def test_a_byte_changed_on_the_way_is_told_and_decoding_goes_on() -> None:
    prefill, decode, rooms = halves(BF16, checksum=True)
    request, _ = question(room=1)
    listener = Listener()
    prefill.submit(request, Listener())
    finish(prefill)
    damaged = bytearray(rooms[1])
    damaged[len(damaged) // 2] ^= 1
    decode.submit(request, listener)
    decode.receive(1, bytes(damaged))
    decode.step()
    assert decode.counters()["kv_checksum_mismatches_total"] == 1
    assert listener.tokens


@pytest.mark.parametrize(("tail", "mismatches"), [(3, 2), (2, 0)])
def test_a_digest_that_is_taken_late_differs_if_the_reply_went_on_in_the_page(
    caplog: pytest.LogCaptureFixture, tail: int, mismatches: int
) -> None:
    """Six rooms in a step, and digests of four: the data are right, and so is every answer."""
    prefill, decode, rooms = halves(BF16, checksum=True)
    listeners: list[tuple[Listener, tuple[int, ...]]] = []
    for room in range(6):
        prompt, right = Session(room, 0).ask()
        filler = (tail - len(prompt)) % 4
        prompt = (prompt[0], *[UNK] * filler, *prompt[1:])
        request = GenerateRequest(
            rid=str(room), input_ids=prompt, max_new_tokens=40, bootstrap_room=room
        )
        prefill.submit(request, Listener())
        listeners.append((Listener(), right))
        decode.submit(request, listeners[-1][0])
    finish(prefill)
    for room, payload in rooms.items():
        decode.receive(room, payload)
    finish(decode)
    assert all(listener.tokens == right for listener, right in listeners)
    counters = decode.counters()
    assert counters["kv_checksum_mismatches_total"] == mismatches
    assert counters["kv_checksum_matches_total"] == 6 - mismatches
    late = re.findall(r"req=(\d) room=\d #prompt-token: (\d+), #computed-token: (\d+)", caplog.text)
    assert [rid for rid, _, _ in late] == ["4", "5"][:mismatches]
    assert all(int(computed) == int(prompt) + 1 for _, prompt, computed in late)


def test_a_request_that_has_left_when_its_digest_is_due_is_in_no_count() -> None:
    prefill, decode, rooms = halves(BF16, checksum=True)
    for room in range(5):
        request = replace(question(str(room), room)[0], max_new_tokens=1)
        prefill.submit(request, Listener())
        decode.submit(request, Listener())
    finish(prefill)
    for room, payload in rooms.items():
        decode.receive(room, payload)
    finish(decode)
    counters = decode.counters()
    assert (counters["kv_checksum_matches_total"], counters["kv_checksum_mismatches_total"]) == (4, 0)


def test_pages_of_another_layout_fail_the_request() -> None:
    prefill, _, rooms = halves(BF16)
    decode = DecodeScheduler(ARGS, FP8)
    request, _ = question(room=1)
    listener = Listener()
    prefill.submit(request, Listener())
    finish(prefill)
    decode.submit(request, listener)
    decode.receive(1, rooms[1])
    decode.step()
    assert listener.last.finish_reason == "error"
    assert "Context corruption detected" in listener.last.error


def test_a_room_without_pages_times_out() -> None:
    decode = DecodeScheduler(ARGS, replace(FP8, disaggregation_waiting_timeout=0.0))
    listener = Listener()
    decode.submit(question(room=1)[0], listener)
    while not listener.finished.is_set():
        decode.step()
    assert listener.last.error == "Request r timed out after 0.0s in KVPoll.WaitingForInput"


def test_what_is_no_payload_is_refused() -> None:
    header = RoomHeader(room=1, first_token=2, prompt_tokens=3, cached_tokens=0, signature="s")
    assert unpack(pack(header, b"body")) == (header, memoryview(b"body"))
    for payload in (b"", b"\xff\xff\xff\xff{}", b"\x02\x00\x00\x00{}"):
        with pytest.raises(ValueError, match="no payload"):
            unpack(payload)


def bytes_of(scheduler: UnifiedScheduler) -> str:
    """Digest everything that the prefill half has in device memory."""
    digest = hashlib.sha256()
    for buffers in scheduler.prefill.runtime.pool.paged_buffers().values():
        for buffer in buffers.values():
            digest.update(buffer.tobytes())
    return digest.hexdigest()


def said(result: Result) -> list[tuple[int, int, tuple[int, ...]]]:
    return sorted((answer.session, answer.turn, answer.said) for answer in result.answers)


def test_a_replayed_schedule_gives_the_same_bytes_whatever_the_order_of_arrival(
    tmp_path: Path,
) -> None:
    dose = Dose(sessions=24, turns=3)
    path = str(tmp_path / "schedule.jsonl")
    recorder = Ungated(replace(ARGS, record_schedule=path), BF16)
    recorded = drive(recorder, dose)
    follower = Ungated(replace(ARGS, replay=path), BF16)
    replayed = drive(follower, replace(dose, order=1))
    assert recorded.wrong
    assert said(replayed) == said(recorded)
    assert bytes_of(follower) == bytes_of(recorder)
    assert said(drive(Ungated(ARGS, BF16), replace(dose, order=1))) != said(recorded)
    batches = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert sum(len(batch["requests"]) for batch in batches) == 72
    assert any(batch["overlapped"] for batch in batches)
