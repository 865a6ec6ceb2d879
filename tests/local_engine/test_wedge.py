"""The transfer wedge: loads that wait behind backups stop the server; without a mirror none do."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.local_engine.bugs import SharedAcks
from tests.local_engine.driver import ARGS, BF16, Dose, Hang, drive
from workbench.local_engine.managers.unified import UnifiedScheduler

DOSE = Dose(sessions=16, turns=3)


def test_a_shared_queue_wedges_under_load_until_requests_time_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler = SharedAcks(ARGS, BF16)
    with pytest.raises(Hang):
        drive(scheduler, DOSE)
    assert "timed out" not in caplog.text
    scheduler.decode.expire(time.monotonic() + 301)
    assert "timed out after 300.0s in KVPoll.WaitingForInput" in caplog.text
    assert scheduler.counters()["num_transfer_failed_reqs_total"] > 0


def test_it_needs_the_mirror_and_several_requests_at_once() -> None:
    off = replace(ARGS, enable_hierarchical_cache=False)
    assert drive(SharedAcks(off, BF16), DOSE).wrong == []
    assert drive(SharedAcks(ARGS, BF16), Dose(sessions=12, in_flight=1)).wrong == []


def test_with_queues_of_their_own_nothing_waits() -> None:
    result = drive(UnifiedScheduler(ARGS, BF16), DOSE)
    assert result.wrong == []
    assert result.counters["hicache_loaded_pages_total"] > 0
