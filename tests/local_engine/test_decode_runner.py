"""Captured and eager decode agree; a wrong stride of an eager kernel spoils all rows but the first."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tests.local_engine.bugs import MixedStride
from tests.local_engine.driver import ARGS, BF16, Dose, drive
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.server_args import ServerArgs

DOSE = Dose(sessions=12, turns=1)
EAGER_ABOVE_4 = replace(ARGS, cuda_graph_max_bs_decode=4)


@pytest.mark.parametrize(
    "args", [ARGS, EAGER_ABOVE_4, replace(ARGS, disable_cuda_graph=True)], ids=["0", "4", "off"]
)
def test_captured_or_not_answers_are_right(args: ServerArgs) -> None:
    assert drive(UnifiedScheduler(args, BF16), DOSE).wrong == []


def decode_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [line for line in caplog.messages if line.startswith("Decode batch")]


def test_the_log_says_whether_a_batch_was_captured(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "local_engine"):
        captured = drive(UnifiedScheduler(ARGS, BF16), DOSE)
        assert decode_lines(caplog)
        assert all("cuda graph: True" in line for line in decode_lines(caplog))
        caplog.clear()
        eager = drive(UnifiedScheduler(replace(ARGS, disable_cuda_graph=True), BF16), DOSE)
        assert all("cuda graph: False" in line for line in decode_lines(caplog))
    assert captured.counters["eager_decode_batches_total"] == 0
    assert eager.counters["eager_decode_batches_total"] > 0


def test_a_wrong_stride_shows_above_the_captured_sizes_only() -> None:
    assert drive(MixedStride(ARGS, BF16), DOSE).wrong == []
    assert drive(MixedStride(EAGER_ABOVE_4, BF16), replace(DOSE, in_flight=4)).wrong == []
    assert drive(MixedStride(EAGER_ABOVE_4, BF16), DOSE).wrong


def test_the_first_row_is_right_whatever_the_stride() -> None:
    args = replace(ARGS, disable_cuda_graph=True)
    assert drive(MixedStride(args, BF16), replace(DOSE, in_flight=1)).wrong == []
    assert drive(MixedStride(args, BF16), replace(DOSE, in_flight=2)).wrong
