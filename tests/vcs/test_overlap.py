"""How much of one change another takes back: counts of lines, without any repository."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.vcs.changes import Changes, FileChange
from workbench.vcs.overlap import is_telling, made_again, taken_back, without

FOUR = [b"first telling line", b"second telling line", b"third telling line", b"fourth telling line"]


def file(path: str, removed: list[bytes], added: list[bytes]) -> FileChange:
    return FileChange(
        path=path, old_path=path, before="b", after="a", removed=Counter(removed), added=Counter(added)
    )


def by_id(
    path: str, before: str | None, after: str | None, modes: tuple[str, str] = ("100644", "100644")
) -> FileChange:
    return FileChange(
        path=path,
        old_path=path,
        before=before,
        after=after,
        binary=before != after,
        mode_only=before == after,
        modes=modes,
    )


def change(*files: FileChange) -> Changes:
    return Changes(sha="0" * 40, parent=None, files={each.path: each for each in files})


LINES = st.lists(st.sampled_from([*FOUR, b"", b"}"]), max_size=6)
CHANGES = st.dictionaries(st.sampled_from("abc"), st.tuples(LINES, LINES), max_size=3).map(
    lambda files: change(
        *(
            file(
                path,
                list((Counter(out) - Counter(come)).elements()),
                list((Counter(come) - Counter(out)).elements()),
            )
            for path, (out, come) in files.items()
            if Counter(out) != Counter(come)
        )
    )
)


def turned_round(whole: Changes) -> Changes:
    return change(
        *(
            file(path, list(each.added.elements()), list(each.removed.elements()))
            for path, each in whole.files.items()
        )
    )


@given(CHANGES)
def test_a_change_turned_round_takes_all_of_it_back(whole: Changes) -> None:
    held = taken_back(whole, turned_round(whole))
    assert held.whole is (whole.size > 0)
    assert (held.lines, held.earlier, held.later) == (whole.size,) * 3
    assert made_again(whole, whole).whole is held.whole
    assert without(turned_round(whole), [whole]).size == 0


@given(CHANGES, CHANGES)
def test_shares_are_shares(earlier: Changes, later: Changes) -> None:
    held = taken_back(earlier, later)
    assert 0 <= held.telling <= held.lines <= min(held.earlier, held.later)
    assert 0 <= held.coverage <= 1
    assert 0 <= held.purity <= 1
    assert held.restored <= held.telling
    assert made_again(earlier, turned_round(later)).lines == held.lines
    assert without(later, [earlier]).size == later.size - held.lines


def test_part_of_a_change() -> None:
    earlier = change(file("a", [b"gone since then"], FOUR[:3]), file("b", [], FOUR))
    later = change(file("a", FOUR[:2], [b"gone since then", b"and one of its own"]))
    held = taken_back(earlier, later)
    assert (held.lines, held.telling, held.earlier, held.later, held.restored) == (3, 3, 8, 4, 1)
    assert (held.coverage, held.purity, held.whole) == (3 / 8, 3 / 4, False)


def test_lines_count_as_often_as_they_are_there() -> None:
    held = taken_back(change(file("a", [], FOUR[:1] * 3)), change(file("a", FOUR[:1] * 2, [])))
    assert (held.lines, held.earlier, held.later) == (2, 3, 2)


def test_the_same_lines_elsewhere_are_not_the_same() -> None:
    assert taken_back(change(file("a", [], FOUR)), change(file("b", FOUR, []))).lines == 0


def test_a_file_of_the_same_name_elsewhere_has_moved() -> None:
    earlier, later = change(file("old/x.py", [], FOUR)), change(file("new/x.py", FOUR, []))
    assert taken_back(earlier, later).whole
    assert without(later, [earlier]).size == 0
    blank = change(file("new/x.py", [b"", b"}"], []))
    assert taken_back(change(file("old/x.py", [], [b"", b"}"])), blank).lines == 0


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"}",
        b"return",
        b"    return None",
        b"else:",
        b"import os",
        b"-----------",
        b"a = b",
    ],
)
def test_lines_that_anybody_might_write(line: bytes) -> None:
    assert not is_telling(line)
    held = taken_back(change(file("a", [], [line])), change(file("a", [line], [])))
    assert (held.lines, held.telling, held.whole) == (1, 0, True)


@pytest.mark.parametrize(
    "line", [b"value = measure()", b"  return None if x", "gr\u00fc\u00dfe".encode(), b"x" * 6]
)
def test_lines_that_tell(line: bytes) -> None:
    assert is_telling(line)


def test_an_id_that_comes_back() -> None:
    held = taken_back(change(by_id("a", "1", "2")), change(by_id("a", "2", "1")))
    assert (held.whole, held.telling) == (True, 3)
    since = taken_back(change(by_id("a", "1", "2")), change(by_id("a", "3", "1")))
    assert (since.whole, since.coverage) == (False, 1.0)
    assert since.telling > 0
    other = taken_back(change(by_id("a", "1", "2")), change(by_id("a", "2", "3")))
    assert (other.lines, other.telling) == (0, 0)
    assert made_again(change(by_id("a", "1", "2")), change(by_id("a", "1", "2"))).whole
    assert made_again(change(by_id("a", "1", "2")), change(by_id("a", "2", "1"))).lines == 0


def test_permissions_go_back_and_not_forth() -> None:
    on, off = ("100644", "100755"), ("100755", "100644")
    held = taken_back(change(by_id("a", "1", "1", on)), change(by_id("a", "1", "1", off)))
    assert (held.whole, held.telling) == (True, 1)
    assert taken_back(change(by_id("a", "1", "1", on)), change(by_id("a", "1", "1", on))).lines == 0


def test_nothing_is_a_share_of_nothing() -> None:
    held = taken_back(change(), change())
    assert (held.coverage, held.purity, held.whole) == (0.0, 0.0, False)
