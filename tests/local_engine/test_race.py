"""World race: an indexer that does not wait for its keys, against the same engine with its gate."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tests.local_engine.bugs import Ungated
from tests.local_engine.driver import ARGS, BF16, FP8, Dose, drive, half_bandwidth
from workbench.local_engine.device import H2D_BYTES_PER_SECOND, LAYER_SECONDS
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.cache_controller import LOAD_BACK_QUOTA
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.geometry import KV_ROW_BYTES, Geometry
from workbench.local_engine.server_args import ServerArgs

_log = logging.getLogger(__name__)

SMALL = Dose(sessions=24, turns=3)


def latest_in_time(index_page_bytes: int, bandwidth: float = H2D_BYTES_PER_SECOND) -> float:
    """Give the pages of a load whose index keys have all landed when the indexer reads a layer.

    It reads two layers after the gate of the layer of ratio 4 before; meanwhile the rows of the layer
    of ratio 128 between them land, and then its own index keys.
    """
    between = Geometry().entries_per_page(128) * KV_ROW_BYTES
    return 2 * LAYER_SECONDS * bandwidth / (between + index_page_bytes)


def test_the_zeros_follow_from_bytes_and_bandwidth() -> None:
    fp8, bf16 = latest_in_time(8448), latest_in_time(16384)
    assert (round(fp8, 1), round(bf16, 1)) == (35.4, 19.4)
    one_request = 16  # pages that a prompt of 5,000 tokens has loaded at most
    assert one_request < bf16 < LOAD_BACK_QUOTA < fp8
    half = H2D_BYTES_PER_SECOND / 2
    assert latest_in_time(8448, half) < LOAD_BACK_QUOTA
    assert latest_in_time(16384, half) < one_request


def test_with_the_gate_every_answer_is_right_token_by_token() -> None:
    result = drive(UnifiedScheduler(ARGS, BF16), SMALL)
    assert (len(result.answers), result.wrong) == (72, [])
    assert result.counters["hicache_loaded_pages_total"] > 200


def test_without_it_bf16_keys_are_read_too_early_when_loads_merge() -> None:
    result = drive(Ungated(ARGS, BF16), SMALL)
    assert result.by_turn[0] == 0  # nothing to load yet
    assert 0.03 < result.rate < 0.30
    assert all(answer.output.cached_tokens for answer in result.wrong)
    assert result.counters["index_k_bf16_reads_total"] > 0


@pytest.mark.parametrize(
    ("env", "args", "dose"),
    [
        pytest.param(FP8, ARGS, SMALL, id="fp8"),
        pytest.param(BF16, replace(ARGS, enable_hierarchical_cache=False), SMALL, id="hicache-off"),
        pytest.param(BF16, ARGS, Dose(sessions=12, in_flight=1), id="one-in-flight"),
    ],
)
def test_no_answer_is_wrong_where_bytes_cannot_be_late(
    env: Environment, args: ServerArgs, dose: Dose
) -> None:
    result = drive(Ungated(args, env), dose)
    assert result.wrong == []
    loaded = result.counters["hicache_loaded_pages_total"]
    assert (loaded > 0) == args.enable_hierarchical_cache


def test_half_the_bandwidth_breaks_fp8_as_well() -> None:
    assert drive(Ungated(half_bandwidth(ARGS), FP8), SMALL).wrong


def test_half_the_bandwidth_breaks_bf16_at_one_in_flight() -> None:
    assert drive(Ungated(half_bandwidth(ARGS), BF16), Dose(sessions=12, in_flight=1)).wrong


@pytest.mark.quality
@pytest.mark.parametrize("seed", range(5))
def test_full_dose(seed: int) -> None:
    broken = drive(Ungated(ARGS, BF16), Dose(seed=seed))
    _log.info("seed %d: %d/240 wrong, %d/60 sessions hit", seed, len(broken.wrong), broken.sessions_hit)
    assert 0.05 <= broken.rate <= 0.30
    if seed < 3:
        assert drive(UnifiedScheduler(ARGS, BF16), Dose(seed=seed)).wrong == []
        assert drive(Ungated(ARGS, FP8), Dose(seed=seed)).wrong == []


def test_the_log_shows_late_reads_only_where_they_are_and_only_if_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watched = replace(BF16, debug_index_k=True)
    with caplog.at_level(logging.INFO, "local_engine"):
        drive(UnifiedScheduler(ARGS, watched), SMALL)
        assert "HiCache load: #req: " in caplog.text
        assert "index_k read" not in caplog.text
        drive(Ungated(ARGS, BF16), SMALL)
        assert "index_k read" not in caplog.text
        drive(Ungated(ARGS, watched), SMALL)
        assert "index_k read" in caplog.text
