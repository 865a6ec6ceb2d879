"""Index keys survive their formats, selections are exact, and topk-v2 without its merge is no salad."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.local_engine.bugs import Unsynced
from tests.local_engine.driver import ARGS, BF16, Dose, drive
from workbench.local_engine.layers.indexer import INDEX_TOPK, TopKV2, entry_keys, scores, topk
from workbench.local_engine.managers.unified import UnifiedScheduler
from workbench.local_engine.mem_cache.index_key import index_k_format


def hashes(count: int, seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.random.default_rng(seed).integers(0, 2**63, (count, 4)).astype(np.uint64)


@pytest.mark.parametrize(("bf16", "page_bytes"), [(True, 16384), (False, 8448)])
def test_a_page_of_keys_survives_its_format(bf16: bool, page_bytes: int) -> None:
    form = index_k_format(bf16=bf16)
    assert form.item_bytes * 64 == page_bytes
    pages = np.full((2, page_bytes), 255, np.uint8)
    keys = entry_keys(hashes(64))
    form.write(pages[1], 0, keys[:10])
    form.write(pages[1], 10, keys[10:])
    assert (form.read(pages)[64:] == keys).all()
    assert (pages[0] == 255).all()


def test_fp8_keeps_all_keys_before_all_scales() -> None:
    page = np.zeros(8448, np.uint8)
    index_k_format(bf16=False).write(page, 0, entry_keys(hashes(64)))
    assert set(page[:8192]) == {0x38, 0xB8}
    assert (page[8192:].view(np.float32) == 1).all()


def test_the_entry_that_holds_the_query_is_selected_among_5000() -> None:
    context = hashes(5000)
    keys = entry_keys(context)
    for place in range(0, 5000, 37):
        query = context[place, place % 4]
        assert place in topk(scores(keys, query), INDEX_TOPK)


def test_ties_are_broken_by_position() -> None:
    values = np.array([1, 3, 3, 2, 3, 0], np.float32)
    assert sorted(topk(values, 2)) == [1, 2]
    assert sorted(topk(values, 4)) == [1, 2, 3, 4]
    assert list(topk(values, 9)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("length", [20, 33, 500, 513, 3000])
@pytest.mark.parametrize("batch", [1, 15, 16])
def test_both_selections_agree_even_when_scores_tie(length: int, batch: int) -> None:
    values = np.random.default_rng(length).integers(0, 9, length).astype(np.float32)
    assert set(TopKV2()(values, 32, batch)) == set(topk(values, 32))


def test_a_missing_merge_crashes_small_batches_of_short_rows_and_garbles_nothing() -> None:
    few, many = Dose(sessions=3, turns=1), Dose(sessions=20, turns=1)
    crashed = drive(Unsynced(ARGS, BF16), few)
    assert {answer.output.finish_reason for answer in crashed.answers} == {"error"}
    assert "illegal memory access" in crashed.answers[0].output.error
    off = drive(Unsynced(ARGS, replace(BF16, opt_use_topk_v2=False)), few)
    assert off.wrong == []
    assert drive(UnifiedScheduler(ARGS, BF16), few).wrong == []
    loaded = drive(Unsynced(ARGS, BF16), many).answers
    replies = [answer for answer in loaded if answer.output.finish_reason != "error"]
    assert all(not answer.wrong for answer in replies)
