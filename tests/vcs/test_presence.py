"""Whether a change of a file is in another state of it: by merges, by lines where they conflict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vcs.made import numbered
from workbench.model.commits import Presence
from workbench.vcs.presence import Text, altogether, held, mostly_in, undone
from workbench.vcs.scratch import Merged, merged

LIVE, PARTLY, REVERTED, UNKNOWN = (
    Presence.LIVE,
    Presence.PARTLY,
    Presence.REVERTED,
    Presence.UNKNOWN,
)
WAS = numbered(12)
NEW = {"l5": "the fifth one, fixed", "l6": "the sixth one, fixed"}
WORDS = st.sampled_from([b"alpha one", b"beta two", b"gamma three", b"}", b"", b"delta four"])
FILES = st.lists(WORDS, max_size=8).map(b"\n".join)


@pytest.mark.parametrize(
    ("now", "presence", "reversible"),
    [
        (numbered(12, **NEW), LIVE, True),
        (numbered(12), REVERTED, True),
        (numbered(12, **NEW, l11="other"), LIVE, True),
        (numbered(12, l11="other"), REVERTED, True),
        (numbered(12, **{**NEW, "l5": "the fifth one, fixed, twice"}), LIVE, False),
        (numbered(12, l5=NEW["l5"]), PARTLY, False),
        (numbered(12, l5="@", l6="@"), UNKNOWN, False),
        ("nothing of it\n", UNKNOWN, False),
        ("", UNKNOWN, False),
    ],
)
def test_states_of_a_file(now: str, presence: Presence, reversible: bool) -> None:
    found = held(WAS.encode(), numbered(12, **NEW).encode(), now.encode())
    assert (found.presence, found.reversible) == (presence, reversible)
    assert bool(found.problem) is (presence is UNKNOWN)


@given(before=FILES, after=FILES, now=FILES)
def test_the_share_that_is_undone_does_not_depend_on_what_is_around(
    before: bytes, after: bytes, now: bytes
) -> None:
    share = undone(Text(before), Text(after), Text(now))
    assert share is None or 0.0 <= share <= 1.0
    around = [Text(b"first line\n" + each + b"\nlast line") for each in (before, after, now)]
    assert undone(*around) == share
    if share is not None:
        assert undone(Text(before), Text(after), Text(after)) == 0.0
        assert undone(Text(before), Text(after), Text(before)) == 1.0


def test_a_change_without_lines_has_no_share() -> None:
    one, other = Text(b"a a\nb b\n"), Text(b"b b\na a\n")
    assert undone(one, other, one) is None


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([LIVE, LIVE], LIVE),
        ([REVERTED, REVERTED], REVERTED),
        ([LIVE, REVERTED], PARTLY),
        ([LIVE, UNKNOWN], LIVE),
        ([REVERTED, UNKNOWN], UNKNOWN),
        ([UNKNOWN], UNKNOWN),
        ([PARTLY, LIVE], PARTLY),
        ([], UNKNOWN),
    ],
)
def test_files_are_joined_to_no_more_than_is_known(parts: list[Presence], whole: Presence) -> None:
    assert altogether(parts) is whole


def test_a_file_is_mostly_in_another_by_its_telling_lines() -> None:
    assert mostly_in(b"one two\n}\n}\n", b"x\none two\n")
    assert not mostly_in(b"one two\nthree four\nfive six\n}\n", b"one two\n}\n")


def test_merges_say_whether_they_change_anything() -> None:
    was, new = b"a\nb\nc\nd\ne\n", b"a\nB\nc\nd\ne\n"
    assert merged(new, new, was) == Merged(clean=True, changes=True)
    assert merged(was, new, was) == Merged(clean=True, changes=False)
    assert merged(b"a\nB\nc\nd\nE\n", new, was) == Merged(clean=True, changes=True)
    assert not merged(b"a\nX\nc\nd\ne\n", new, was).clean
    assert not merged(b"a\0x", b"a\0y", b"a\0z").clean
