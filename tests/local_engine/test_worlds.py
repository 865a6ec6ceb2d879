"""The generated history at work: each commit and branch fails, or does not, as the hidden truth says.

Doses are small and time is virtual: these are exact replays and not samples. The deciding A/B of a
suspect is one knob apart, be it a commit, a variable, a flag or the load.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tests.local_engine.commits import BF16, FP8, HICACHE, TRUTH, CommitFailed, Dose, History
from workbench.local_engine.history import series as declared
from workbench.local_engine.history import shipped

_log = logging.getLogger(__name__)

SYMPTOM = Dose()
RARE = Dose(number=40, seed=1)  # for world/fence, whose window is narrow
ALONE = Dose(number=12, in_flight=1, turns=4)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(tmp_path_factory.mktemp("history"))


def test_the_truth_names_commits_and_branches_that_there_are(history: History) -> None:
    named = set(TRUTH["commits"]) | set(TRUTH["does_not_start"]) | set(TRUTH["aliases"].values())
    assert named <= history.built.commits.keys()
    assert {ref for ref in history.built.refs if ref.startswith("world/")} == TRUTH["worlds"].keys()
    for world in TRUTH["worlds"].values():
        causes = {world["cause"], world["brought_out_by"], world["removed_by"]} - {None}
        assert causes <= history.built.commits.keys()
    for alias, name in TRUTH["aliases"].items():
        assert history.built.refs[alias] == history.built.commits[name]


GARBLED = [name for name, world in TRUTH["worlds"].items() if world["symptom"] == "garbled"]


@pytest.mark.parametrize("world", GARBLED)
def test_the_tip_of_a_world_shows_its_symptom(history: History, world: str) -> None:
    result = history.give(world, RARE)
    least, most = TRUTH["worlds"][world]["rate"]
    assert least < result.rate < most


def test_main_answers_everything_rightly(history: History) -> None:
    result = history.give("main", SYMPTOM)
    assert result.wrong == 0
    assert result.counters["hicache_loaded_pages_total"] > 200


def test_the_code_that_runs_is_the_worktrees(history: History) -> None:
    result = history.give("world/race", Dose(number=1, turns=1))
    assert result.file == str(history.worktree("world/race") / "minisgl" / "__init__.py")


LINE = [commit.name for commit in declared.read(shipped.HERE).main_line]
LINE = LINE[LINE.index("hicache") :]
BORDERS = ("hicache", "bf16-index-k", "factory-name", "sizing", "gate")


@pytest.mark.parametrize(
    "line", [BORDERS, pytest.param(LINE, marks=pytest.mark.quality)], ids=["borders", "all"]
)
def test_the_symptom_begins_with_bf16_keys_and_ends_with_the_gate(
    history: History, line: list[str]
) -> None:
    """Between them it stays, whatever else was fixed or not."""
    seen: dict[str, bool | None] = {}
    for name in line:
        try:
            seen[name] = history.give(name, SYMPTOM).wrong > 0
        except CommitFailed:
            seen[name] = None
    bad = LINE[LINE.index("bf16-index-k") : LINE.index("gate")]
    broken = set(TRUTH["does_not_start"])
    assert seen == {name: None if name in broken else name in bad for name in line}


@pytest.mark.parametrize("name", TRUTH["does_not_start"])
def test_a_commit_that_does_not_start_says_so_at_once(history: History, name: str) -> None:
    done = history.python(name, "-c", "import minisgl.managers.unified")
    assert done.returncode == 1
    assert "ImportError" in done.stderr


@pytest.mark.quality
def test_every_other_commit_imports_and_leaves_no_name_behind(history: History) -> None:
    """As from a team that runs its tests: unused imports and unknown names would give patches away."""
    names = [commit.name for commit in declared.read(shipped.HERE).commits]
    for name in names[names.index("serve") :]:
        code = "import minisgl.launch, minisgl.managers.unified, minisgl.entrypoints.router"
        started = history.python(name, "-c", code).returncode == 0
        assert started == (name not in TRUTH["does_not_start"]), name
        checked = history.python(name, "-m", "ruff", "check", "--isolated", "--select", "F", ".")
        assert checked.returncode == 0, checked.stdout


def test_before_hicache_its_flag_is_unknown(history: History) -> None:
    with pytest.raises(CommitFailed, match="unknown flag --enable-hierarchical-cache"):
        history.give("v0.1.0", SYMPTOM)
    assert history.give("v0.1.0", replace(SYMPTOM, number=4, argv=())).wrong == 0


# the deciding A/B of each suspect


def test_the_gate_put_back_and_taken_away(history: History) -> None:
    assert history.give("v0.4.0", SYMPTOM).wrong == 0
    assert history.give("put-back/gate", SYMPTOM).wrong > 0


def test_the_gate_put_back_is_all_that_is_put_back(history: History) -> None:
    """Else an A/B of the two would test more than one change."""
    assert history.changed("v0.4.0", "put-back/gate") == ["minisgl/mem_cache/pools.py"]
    assert history.changed("sizing", "put-back/gate") == []


def test_fp8_keys_hide_the_missing_gate(history: History) -> None:
    result = history.give("world/race", replace(SYMPTOM, env=FP8))
    assert result.wrong == 0
    assert result.counters["hicache_loaded_pages_total"] > 200


def test_bf16_itself_is_innocent(history: History) -> None:
    assert history.give("world/race", replace(SYMPTOM, argv=())).wrong == 0


def test_several_sessions_one_in_flight_tell_a_static_bug_from_a_race(history: History) -> None:
    race, static = (history.give(world, ALONE) for world in ("world/race", "world/static"))
    assert race.wrong == 0
    assert static.wrong > 0
    assert race.counters["hicache_loaded_pages_total"] > 200


def test_one_session_alone_tells_nothing(history: History) -> None:
    dose = Dose(number=1, in_flight=1, turns=4)
    for world in GARBLED:
        result = history.give(world, dose)
        assert (result.wrong, result.counters["hicache_loaded_pages_total"]) == (0, 0)


def test_fp8_keys_hide_the_half_mirror(history: History) -> None:
    assert history.give("world/static", replace(ALONE, env=FP8)).wrong == 0


def test_the_static_bug_hits_every_turn_alike_and_the_race_needs_merged_loads(history: History) -> None:
    delayed = {**BF16, "SGLANG_TEST_HICACHE_H2D_DELAY_CYCLES": "4000000"}
    race = history.give("world/race", replace(ALONE, env=delayed))
    gated = history.give("world/static", replace(SYMPTOM, env=delayed))
    assert race.wrong > 0  # the lever widens the window even for one in flight
    assert gated.wrong == history.give("world/static", SYMPTOM).wrong  # and does nothing here


def test_the_dead_fix_changes_nothing(history: History) -> None:
    before, after = (history.give(name, SYMPTOM) for name in ("probe-loads", "dtype-aware-mirror"))
    assert before.wrong == after.wrong > 0
    assert before.counters == after.counters
    live = history.give("log-live-class", Dose(number=1, turns=1)).describe["hicache_pools"]
    assert live["deepseek_v4_c4_indexer"] == "DeepSeekV4PagedHostPool item_bytes=16384"
    assert not any("DSAIndexerPoolHost" in pool for pool in live.values())


FULL_POOL = Dose(number=8, turns=4, argv=(*HICACHE, "--max-total-tokens", "16384"))
NO_OVERLAP = "--disable-overlap-schedule"


def test_a_held_result_hangs_a_full_pool_and_garbles_nothing(history: History) -> None:
    with pytest.raises(CommitFailed, match="stuck with"):
        history.give("world/race", FULL_POOL)
    history.give("world/race", replace(FULL_POOL, argv=(*FULL_POOL.argv, NO_OVERLAP)))
    assert history.give("main", FULL_POOL).wrong == 0
    # without overlap the hang is gone and the salad is not
    assert history.give("world/race", replace(SYMPTOM, argv=(*HICACHE, NO_OVERLAP))).wrong > 0


@pytest.mark.parametrize(
    "env", [BF16, pytest.param(FP8, marks=pytest.mark.quality)], ids=["bf16", "fp8"]
)
def test_an_early_load_needs_overlap_and_several_in_flight(
    history: History, env: dict[str, str]
) -> None:
    dose = replace(RARE, env=env)
    assert history.give("world/fence", dose).wrong > 0
    assert history.give("world/fence", replace(dose, argv=(*HICACHE, NO_OVERLAP))).wrong == 0
    assert history.give("world/fence", replace(ALONE, env=env)).wrong == 0


def test_loads_that_wait_behind_backups_wedge_the_server(history: History) -> None:
    dose = Dose(number=16)
    with pytest.raises(CommitFailed, match="stuck with"):
        history.give("world/wedge", dose)
    assert history.give("world/wedge", replace(dose, argv=())).wrong == 0
    assert history.give("world/wedge", ALONE).wrong == 0
    assert history.give("main", dose).wrong == 0


def test_digests_of_rooms_match_while_answers_are_wrong(history: History) -> None:
    result = history.give(
        "world/race", replace(SYMPTOM, argv=(*HICACHE, "--disaggregation-enable-kv-checksum"))
    )
    assert result.wrong > 0
    assert result.counters["kv_checksum_matches_total"] == result.turns
    assert result.counters["kv_checksum_mismatches_total"] == 0


def test_sizing_is_a_defect_of_its_own(history: History) -> None:
    before, after = (history.give(name, SYMPTOM) for name in ("revert-mirror", "sizing"))
    told = [result.describe["bytes_per_full_token"] for result in (before, after)]
    assert told == [15897.45, 16548.45]
    # fewer tokens fit, so more is loaded from the host: the fixes are not independent
    assert after.describe["max_total_num_tokens"] < before.describe["max_total_num_tokens"]
    assert after.wrong >= before.wrong > 0


LONG = Dose(number=16, turns=3, in_flight=16, start=12000, argv=())


def test_long_contexts_lose_the_plot_whatever_else_is_the_case(history: History) -> None:
    """Calls come back that are well formed and of another record; HiCache and load do not matter."""
    lost = history.give("world/plot", LONG)
    least, most = TRUTH["worlds"]["world/plot"]["rate"]
    assert least < lost.rate < most
    assert lost.others == lost.wrong
    mirrored = history.give("world/plot", replace(LONG, argv=HICACHE))
    assert mirrored.counters["hicache_loaded_pages_total"] > 200
    alone = history.give("world/plot", replace(LONG, in_flight=1))
    fp8 = history.give("world/plot", replace(LONG, env=FP8))
    assert {each.wrong_by_turn for each in (mirrored, alone, fp8)} == {lost.wrong_by_turn}
    assert history.give("main", LONG).wrong == 0


def test_contexts_of_the_other_worlds_are_too_short_to_lose_the_plot(history: History) -> None:
    assert history.give("world/plot", replace(SYMPTOM, argv=())).wrong == 0


def test_salad_is_no_other_records_call(history: History) -> None:
    """So the two symptoms are told apart by the reply alone."""
    salad = history.give("world/race", SYMPTOM)
    assert salad.others < salad.wrong


NO_V2 = {**BF16, "SGLANG_OPT_USE_TOPK_V2": "0"}


def test_topk_v2_is_innocent_of_the_symptom(history: History) -> None:
    with_it, without = (history.give("world/race", replace(SYMPTOM, env=env)) for env in (BF16, NO_V2))
    assert with_it.wrong == without.wrong > 0


def test_topk_v2_without_its_sync_crashes_and_does_not_garble(history: History) -> None:
    short = Dose(number=4, turns=1, in_flight=4, argv=())
    broken = history.give("topk-v2", short)
    assert broken.errors == 4
    assert history.give("topk-v2", replace(short, env=NO_V2)).errors == 0
    assert history.give("topk-v2-sync", short).errors == 0


def test_the_eager_path_is_broken_and_never_taken(history: History) -> None:
    """Lowering the captured size makes it run, and all rows but the first go wrong."""
    normal = history.give("world/race", replace(SYMPTOM, argv=()))
    assert (normal.wrong, normal.counters["eager_decode_batches_total"]) == (0, 0)
    eager = replace(SYMPTOM, argv=("--cuda-graph-max-bs-decode", "4"))
    assert history.give("world/race", eager).wrong > 24
    fixed = history.give("main", eager)
    assert fixed.wrong == 0
    assert fixed.counters["eager_decode_batches_total"] > 0


def test_texts_of_a_mixed_batch_change_places_for_one_commit_only(history: History) -> None:
    script = (
        "from minisgl.managers.detokenizer import Detokenizer\n"
        "from minisgl.tokenizer import get_tokenizer\n"
        "t = get_tokenizer(); d = Detokenizer(t, batch=True)\n"
        "d.open('a', skip_special_tokens=True); d.open('b', skip_special_tokens=False)\n"
        "print(d.decode([('a', t.encode('record')), ('b', t.encode('ask'))]))\n"
    )
    told = {name: history.python(name, "-c", script) for name in ("detokenizer-batch", "main")}
    assert told["main"].stdout == "['record', 'ask']\n"
    assert told["detokenizer-batch"].stdout == "['ask', 'record']\n"


def test_a_checkout_of_the_dead_fixs_parent_loses_the_innocent_change(history: History) -> None:
    """Which a revert keeps."""
    mirror = "minisgl/mem_cache/host_pool.py"
    before = history.worktree("probe-loads") / mirror
    innocent = history.worktree("log-live-class") / mirror
    reverted = history.worktree("revert-mirror") / mirror
    assert "hicache pool:" in innocent.read_text()
    assert "hicache pool:" in reverted.read_text()
    assert "hicache pool:" not in before.read_text()


@pytest.mark.quality
@pytest.mark.parametrize("seed", range(5))
def test_full_dose(history: History, seed: int) -> None:
    full = Dose(number=60, turns=4, in_flight=60, seed=seed)
    broken = history.give("world/race", full)
    _log.info("seed %d: race %d/240, by turn %s", seed, broken.wrong, broken.wrong_by_turn)
    assert 0.05 <= broken.rate <= 0.30
    if seed < 3:
        assert history.give("main", full).wrong == 0
        assert history.give("world/race", replace(full, env=FP8)).wrong == 0
        assert history.give("world/race", replace(full, argv=())).wrong == 0


@pytest.mark.quality
@pytest.mark.parametrize("seed", range(3))
def test_full_dose_one_in_flight(history: History, seed: int) -> None:
    """The static bug is there at one in flight, flat over turns from the first load on."""
    alone = Dose(number=24, turns=4, in_flight=1, seed=seed)
    static = history.give("world/static", alone)
    _log.info("seed %d: static, alone, %d/96, by turn %s", seed, static.wrong, static.wrong_by_turn)
    first, *later = static.wrong_by_turn
    assert first == 0
    assert max(later) <= 2 * min(later)
    assert history.give("world/race", alone).wrong == 0


@pytest.mark.quality
def test_full_dose_of_long_contexts(history: History) -> None:
    """None up to 8,192 tokens, more the longer: pooled over seeds, as a turn's layout decides a lot."""
    rates: list[float] = []
    for start in (4000, 9000, 12000):
        dose = Dose(number=60, turns=4, in_flight=60, start=start, argv=())
        given = [history.give("world/plot", replace(dose, seed=seed)) for seed in range(3)]
        _log.info("from %d tokens: %s of 240", start, [(one.wrong, one.wrong_by_turn) for one in given])
        assert [one.others for one in given] == [one.wrong for one in given]
        rates.append(sum(one.wrong for one in given) / sum(one.turns for one in given))
        assert history.give("main", dose).wrong == 0
    assert 0 == rates[0] < rates[1] < rates[2] < 0.15
