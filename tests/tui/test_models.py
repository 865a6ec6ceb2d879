"""What views show, without a terminal: the tree and its filter, labels at a width, similar suspects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.report.hostile import HOSTILE
from workbench.campaign.registry import Campaign
from workbench.report.suspects import Roster, roster
from workbench.report.text import columns
from workbench.tui.viewmodel import frame
from workbench.tui.viewmodel.page import Kind, page, sought
from workbench.tui.viewmodel.runs import runs
from workbench.tui.viewmodel.similar import similar
from workbench.tui.viewmodel.tree import label, matching, nodes


@pytest.fixture(scope="module")
def suspects() -> Roster:
    return roster(Campaign(ROOT).registry)


def test_every_suspect_is_in_the_tree_once_and_after_what_it_hangs_under(suspects: Roster) -> None:
    found = nodes(suspects)
    keys = [node.key for node in found]
    assert len(set(keys)) == len(keys)
    assert {node.key for node in found if node.suspect} == set(suspects.by_id)
    for place, node in enumerate(found):
        assert not node.parent or node.parent in keys[:place]


@given(words=st.sampled_from(["gate", "bf16 race", "confirmed", "H5", "nothing of this kind", ""]))
def test_a_filter_keeps_matches_and_the_way_to_them(suspects: Roster, words: str) -> None:
    every, found = nodes(suspects), nodes(suspects, words)
    assert {node.key for node in found} <= {node.key for node in every}
    keys = {node.key for node in found}
    assert all(node.parent in keys for node in found if node.parent)
    leaves = keys - {node.parent for node in found}
    assert all(node.matches for node in found if node.key in leaves)
    assert matching(found) == sum(node.matches for node in found if node.suspect)


def test_what_is_sought_may_stand_in_the_state_or_the_mechanism(suspects: Roster) -> None:
    assert [node.key for node in nodes(suspects, "confirmed") if node.matches] == ["H5"]
    assert "H1" in {node.key for node in nodes(suspects, "batch_decode") if node.matches}


@given(width=st.integers(20, 200), place=st.integers(0, 20))
def test_a_label_says_the_state_and_fits_where_there_is_room(
    suspects: Roster, width: int, place: int
) -> None:
    node = [node for node in nodes(suspects) if node.suspect][place]
    text = "".join(piece.text for piece in label(node, width))
    assert node.suspect is not None
    assert node.suspect.state.value in text
    assert node.suspect.id in text
    assert columns(text) <= max(width, 62)


def test_counts_come_with_intervals_where_there_is_room(suspects: Roster) -> None:
    gate = next(node for node in nodes(suspects) if node.key == "H5")
    wide, narrow = ("".join(piece.text for piece in label(gate, width)) for width in (130, 76))
    assert "(16-61 %)" in wide
    assert "44/120 : 0/120" in narrow


def test_the_frame_fits_and_the_way_to_all_keys_is_never_cut(suspects: Roster) -> None:
    for width in (60, 80, 150):
        assert columns(frame.above(suspects, "tree", width)) <= max(width, 57)
        keys = [("j/k", "move"), ("enter", "read"), ("/", "filter"), ("?", "all keys")]
        assert frame.steps(keys, width).endswith("? all keys")
    assert "1 confirmed" in frame.below(suspects)
    assert frame.below(suspects, "gate", 2, 21) == "filter 'gate': 2 of 21; esc shows all"


def test_headings_and_warnings_are_told_from_text() -> None:
    lines = page(["H1  title", "  text", "", "evidence", "  WARNING: torn"])
    assert [line.kind for line in lines] == [
        *(Kind.HEADING, Kind.TEXT, Kind.TEXT, Kind.HEADING, Kind.WARNING)
    ]
    assert sought(lines, "TEXT") == (1,)
    assert sought(lines, "  ") == ()


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_hostile_is_shown_and_not_sent(text: str) -> None:
    (line,) = page([text])
    assert all(char.isprintable() or char == " " for char in line.text)


def test_a_suspect_that_says_the_same_is_offered(suspects: Roster) -> None:
    found = similar(suspects, "nobody waits for the load before index keys are read")
    assert any(line.startswith("H5 ") for line in found)
    assert len(found) <= 3
    assert similar(suspects, "") == []
    assert similar(suspects, "zebra crossing") == []


def test_runs_are_listed_newest_first_with_what_they_say() -> None:
    registry = Campaign(ROOT).registry
    found = runs(registry, "", [], 100)
    assert [key for key, _ in found] == [run.id for run in reversed(registry.runs)]
    gate = [text for _, text in runs(registry, "H5 present", [], 100)]
    assert len(gate) == 2
    assert all("44/120 (16-61 %) against 0/120" in text for text in gate)
    key = found[0][0]
    assert dict(runs(registry, "", [key], 100))[key].startswith("* ")
