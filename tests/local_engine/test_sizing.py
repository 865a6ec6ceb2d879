"""Pool sizing: the full model's arithmetic, and what a miscount does to a loaded server."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from tests.local_engine.bugs import OverCommitted
from tests.local_engine.driver import ARGS, BF16, FP8, Dose, drive
from workbench.local_engine.environ import Environment
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.pool_configurator import (
    SHIPPED_CONFIG,
    DSV4PoolConfigurator,
    ModelConfig,
)


@pytest.mark.parametrize(("bf16", "golden"), [(True, "16548.45"), (False, "15897.45")])
def test_bytes_per_full_token(bf16: bool, golden: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "local_engine"):
        DSV4PoolConfigurator(ModelConfig.load(), bf16_index_k=bf16).full_token(0.88)
    assert f"bytes_per_full_token={golden}," in caplog.text


def test_the_model_has_43_layers_of_the_known_ratios() -> None:
    config = ModelConfig.load()
    assert (len(config.compress_ratios), config.layers_of(4), config.layers_of(128)) == (43, 21, 20)


@pytest.mark.parametrize(("key", "value"), [("head_dim", None), ("compress_ratios", [4])])
def test_a_config_file_with_a_gap_is_refused(tmp_path: Path, key: str, value: object) -> None:
    content = json.loads(SHIPPED_CONFIG.read_text())
    if value is None:
        del content[key]
    else:
        content[key] = value
    (tmp_path / "config.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=key):
        ModelConfig.load(tmp_path / "config.json")


@pytest.mark.parametrize(("env", "pages"), [(BF16, 136), (FP8, 141)])
def test_the_arena_is_scaled_from_the_full_model(env: Environment, pages: int) -> None:
    facts = UnifiedScheduler(ARGS, env).describe()
    assert facts["max_total_num_tokens"] == pages * 256


def test_a_pool_sized_for_fp8_keys_retracts_at_full_load_only() -> None:
    dose = Dose(sessions=16, turns=1)
    assert drive(UnifiedScheduler(ARGS, BF16), dose).counters["num_retracted_reqs"] == 0
    broken = drive(OverCommitted(ARGS, BF16), dose)
    assert broken.counters["num_retracted_reqs"] > 0
    assert broken.wrong == []  # late, not garbled
    light = drive(OverCommitted(ARGS, BF16), Dose(sessions=16, turns=1, in_flight=2))
    assert light.counters["num_retracted_reqs"] == 0
    assert OverCommitted(ARGS, BF16).describe()["bytes_per_full_token"] == 15897.45
