"""The host mirror: which class is live, whole pages, and world static, where they are halved."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

from tests.local_engine.bugs import HalfMirror, HalfPagePool, Ungated
from tests.local_engine.driver import ARGS, BF16, FP8, Dose, drive
from workbench.local_engine.device import Device
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.host_pool import (
    DeepSeekV4PagedHostPool,
    DSAIndexerPoolHost,
    HostPool,
    build_host_pools,
)
from workbench.local_engine.mem_cache.pools import DSATokenToKVPool

ALONE = Dose(sessions=14, in_flight=1)


def test_the_log_says_which_class_mirrors_which_pool(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "local_engine"):
        UnifiedScheduler(ARGS, BF16)
    live = "hicache pool: DeepSeekV4PagedHostPool name=deepseek_v4_c4_indexer item_bytes=16384"
    assert live in caplog.messages
    assert "DSAIndexerPoolHost" not in caplog.text


def test_a_v32_pool_is_mirrored_by_the_other_class() -> None:
    (pool,) = build_host_pools(DSATokenToKVPool(layers=2, pages=3, page_size=64), pages=4)
    assert isinstance(pool, DSAIndexerPoolHost)
    assert pool.item_bytes == 64 * 132


def stale_bytes(pool_class: type[DeepSeekV4PagedHostPool]) -> list[int]:
    """Give the places where a page differs after backup and load, over old bytes of 255."""
    device, page = Device(), np.arange(16384).astype(np.uint8) % 251
    buffers = {0: np.stack([page, np.full_like(page, 255)])}
    pool: HostPool = pool_class("deepseek_v4_c4_indexer", buffers, 1)
    pool.backup_from_device(device, 0, 0)
    pool.load_to_device_per_layer(device, 0, 0, 1)
    assert (buffers[0][1] == 255).all()  # under way
    device.synchronize()
    return [int(place) for place in np.flatnonzero(buffers[0][1] != page)]


def test_a_page_comes_back_byte_by_byte() -> None:
    assert stale_bytes(DeepSeekV4PagedHostPool) == []


def test_half_a_page_leaves_what_follows_byte_8448() -> None:
    assert stale_bytes(HalfPagePool) == list(range(8448, 16384))


def test_a_half_sized_mirror_is_wrong_at_one_in_flight_where_the_race_is_not() -> None:
    static = drive(HalfMirror(ARGS, BF16), ALONE)
    assert static.wrong
    assert static.by_turn[0] == 0
    assert drive(Ungated(ARGS, BF16), ALONE).wrong == []


def test_fp8_fits_the_half_sized_mirror() -> None:
    assert drive(HalfMirror(ARGS, FP8), ALONE).wrong == []


def test_one_session_alone_never_reads_its_mirror() -> None:
    result = drive(HalfMirror(ARGS, BF16), Dose(sessions=1))
    assert result.wrong == []
    assert result.counters["hicache_loaded_pages_total"] == 0


@pytest.mark.parametrize("policy", ["write_through", "write_back", "write_through_selective"])
def test_every_write_policy_keeps_answers_right(policy: str) -> None:

    args = replace(ARGS, hicache_write_policy=policy)
    result = drive(UnifiedScheduler(args, BF16), Dose(sessions=16, turns=3))
    assert result.wrong == []
    assert result.counters["hicache_loaded_pages_total"] > 0


def test_selective_backups_wait_for_the_second_prompt_that_has_a_page() -> None:
    """So the tail that each turn adds is computed twice, and less comes from the host."""
    dose = Dose(sessions=16, turns=3)
    selective = replace(ARGS, hicache_write_policy="write_through_selective")
    once, twice = (
        drive(UnifiedScheduler(args, BF16), replace(dose, turns=1)) for args in (ARGS, selective)
    )
    assert once.counters["hicache_host_used_tokens"] > 0
    assert twice.counters["hicache_host_used_tokens"] == 0
    every, some = (drive(UnifiedScheduler(args, BF16), dose) for args in (ARGS, selective))
    loaded = [result.counters["hicache_loaded_pages_total"] for result in (some, every)]
    assert 0 < loaded[0] < loaded[1]


@pytest.mark.parametrize(
    ("layout", "backend"),
    [("layer_first", "kernel"), ("layer_first", "direct"), ("page_first_direct", "direct")],
)
def test_flags_that_claim_no_effect_have_none(layout: str, backend: str) -> None:
    dose = Dose(sessions=16, turns=3)
    args = replace(ARGS, hicache_mem_layout=layout, hicache_io_backend=backend)
    plain, other = UnifiedScheduler(ARGS, BF16), UnifiedScheduler(args, BF16)
    assert drive(plain, dose) == drive(other, dose)
    told = other.describe()["flags_without_effect"]
    assert told == ["--hicache-mem-layout", "--hicache-io-backend"]


def test_a_full_mirror_drops_what_was_used_longest_ago() -> None:

    args = replace(ARGS, hicache_ratio=1.2)
    result = drive(UnifiedScheduler(args, BF16), Dose(sessions=16, turns=3))
    assert result.wrong == []


@pytest.mark.quality
def test_static_damage_is_flat_over_turns_at_one_in_flight() -> None:
    static = drive(HalfMirror(ARGS, BF16), Dose(sessions=30, in_flight=1))
    first, *later = static.by_turn
    assert first == 0
    assert min(later) > 0
    assert max(later) <= 2 * min(later)
    assert drive(Ungated(ARGS, BF16), Dose(sessions=30, in_flight=1)).wrong == []
