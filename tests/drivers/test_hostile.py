"""What a hostile or broken server does is a trial that ends as what it is, and never a garbled one.

Each row of the table of the client is driven through the workload, the classifier and the fold.
"""

from __future__ import annotations

import gzip
import tracemalloc
from dataclasses import dataclass

import pytest

from tests.drivers.serving import build, drive
from tests.http.doubles import CHUNKED, DONE, Answer, chunk, delta, head, says
from tests.http.test_hostile import BOMB, MIB, STREAMS, drips, endless
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.judge.fold import Tally, exchange_status
from workbench.model.outcome import Ending, Exchange, Status, Symptom

GARBLED = Symptom(
    name="garbled",
    labels=("salad", "repetition", "markup_leaked", "control_token", "call_lost", "invalid_json"),
    clean=("ok",),
    void=("skipped",),
)
CLASSIFIER = ToolCall(ToolCallOptions(family="deepseek_v4"))
SHORT = 0.2  # seconds, of requests that only the deadline ends


def judged(exchange: Exchange, symptom: Symptom = GARBLED) -> Status:
    """Give the status of the trial that an exchange is all of."""
    tally = Tally()
    status = exchange_status(exchange, CLASSIFIER.label(exchange), symptom)
    tally.add(exchange.key.session, status, last=exchange.last)
    (told,) = tally.prefix("control", 1)
    return told


def seen(answer: Answer, timeout: float = 600.0) -> Exchange:
    (exchange,) = drive(build("single", prompt="a", timeout=timeout), answer).exchanges
    return exchange


@pytest.mark.parametrize("name", STREAMS)
def test_each_row_ends_as_its_own(name: str) -> None:
    case = STREAMS[name]
    exchange = seen(case.answer)
    assert exchange.ending == Ending(case.outcome.value)
    assert exchange.last
    assert case.detail in exchange.detail
    assert case.text in exchange.text  # of a cut one as it came
    whole = exchange.ending is Ending.COMPLETED
    assert judged(exchange) is (Status.CLEAN if whole else Status.ERRORED)
    if not whole:
        claiming = Symptom(name="wedged", endings=(exchange.ending,))
        assert judged(exchange, claiming) is Status.HIT


def test_the_table_shows_every_ending_that_needs_no_clock() -> None:
    shown = {case.outcome.value for case in STREAMS.values()}
    assert shown == {each.value for each in Ending} - {"timeout", "refused", "engine_died"}


def test_what_is_garbled_in_a_whole_reply_is_a_hit() -> None:
    """Or the rows above would show nothing."""
    leaked = '<｜DSML｜invoke name="book">'
    assert judged(seen(says(head(), delta(leaked), delta("", "stop"), DONE))) is Status.HIT


def test_what_looks_garbled_and_was_cut_is_no_hit() -> None:
    leaked = '<｜DSML｜invoke name="book">'
    assert judged(seen(says(head(CHUNKED), chunk(delta(leaked))))) is Status.ERRORED


@dataclass(frozen=True, kw_only=True)
class Flood:
    """More than anybody wants.

    Attributes:
        answer: What the server does.
        ending: How it ends.
        peak: Most bytes of Python objects meanwhile.
        timeout: Deadline.
    """

    answer: Answer
    ending: Ending
    peak: int
    timeout: float = 600.0


def pieces(data: bytes) -> list[bytes]:
    return [data[at : at + 65536] for at in range(0, len(data), 65536)]


LONG_LINE = b'data: {"choices": [{"delta": {"content": "' + b"a" * (10 * MIB)
FLOODS = {
    "a bomb": Flood(
        answer=says(head("Content-Encoding: gzip"), *pieces(BOMB)),
        ending=Ending.MALFORMED,
        peak=8 * MIB,
    ),
    "a bomb that asks for trust": Flood(
        answer=says(head("Content-Encoding: gzip", kind="application/json"), *pieces(BOMB)),
        ending=Ending.MALFORMED,
        peak=8 * MIB,
    ),
    "a line of 10 MB": Flood(
        answer=says(head(), *pieces(LONG_LINE)), ending=Ending.TOO_LARGE, peak=8 * MIB
    ),
    "events of one word without end": Flood(
        answer=endless(head(), b": hm\n\n" * 9999), ending=Ending.TIMEOUT, peak=8 * MIB, timeout=SHORT
    ),
    "a slow drip": Flood(
        answer=drips(head(), b"d"), ending=Ending.TIMEOUT, peak=2 * MIB, timeout=SHORT
    ),
    "headers, drop by drop": Flood(
        answer=drips(b"HTTP/1.1 200 OK\r\n", b"A"), ending=Ending.TIMEOUT, peak=2 * MIB, timeout=SHORT
    ),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
def test_floods_end_in_bounded_memory_and_are_no_hits(flood: Flood) -> None:
    seen(says(head(), delta("a", "stop"), DONE))  # all that is loaded once is loaded
    tracemalloc.start()
    try:
        exchange = seen(flood.answer, flood.timeout)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert exchange.ending is flood.ending
    assert judged(exchange) is Status.ERRORED
    assert len(exchange.text) <= 64 << 10
    assert peak < flood.peak


def test_a_reply_that_is_packed_is_not_unpacked() -> None:
    packed = gzip.compress(delta("a", "stop") + DONE)
    exchange = seen(says(head("Content-Encoding: gzip"), packed))
    assert exchange.ending is Ending.MALFORMED
    assert exchange.text_bytes == len(packed)
