"""What messages claim, as people and programs write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.vcs.titles import Verb, claim, key, number_of, title_of


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ('Revert "Take the new path"', "Take the new path"),
        ('Revert "Take the new path (#12)" (#40)', "Take the new path (#12)"),
        ('Revert "Take the new path" (#12) (#40)', "Take the new path"),
        ('revert: "Take the new path"', "Take the new path"),
        ("Revert 'Take the new path'", "Take the new path"),
        ("Revert \u201cTake the new path\u201d", "Take the new path"),
        ("Revert `Take` the new path", "Take the new path"),
        ("Revert Take the new path (#40)", "Take the new path"),
        ("Revert commit Take the new path", "Take the new path"),
        ("[Bugfix] Revert Take the new path", "Take the new path"),
        ("[CI] [v1] revert: Take the new path", "Take the new path"),
        ("fix(core): revert Take the new path", "Take the new path"),
        ("hotfix: revert Take the new path", "Take the new path"),
        ("[Revert] Take the new path", "Take the new path"),
        ("(Reverted) Take the new path", "Take the new path"),
        ("Back out: Take the new path", "Take the new path"),
        ("Backed out Take the new path", "Take the new path"),
        ("Rollback Take the new path", "Take the new path"),
        ('Revert "Revert "Take the new path""', 'Revert "Take the new path"'),
        ('Revert "Revert "Take the new path (#1)" (#2)" (#3)', 'Revert "Take the new path"'),
    ],
)
def test_reverts_and_the_title_that_they_name(subject: str, title: str) -> None:
    found = claim(subject)
    assert found is not None
    assert found.verb is Verb.REVERT
    assert key(title) in map(key, found.titles)
    assert not found.cut


@pytest.mark.parametrize(
    "subject",
    [
        'Reland "Take the new path"',
        'Re-land "Take the new path" (#4)',
        "Reapply Take the new path",
        "[Reland] Take the new path (#4)",
        "Take the new path [reland]",
        "Take the new path (Reapply) (#4)",
        "fix: re-apply Take the new path",
        "Reintroduce `Take the new path`",
    ],
)
def test_relands_and_the_title_that_they_name(subject: str) -> None:
    found = claim(subject)
    assert found is not None
    assert found.verb is Verb.RELAND
    assert key("Take the new path") in map(key, found.titles)


@pytest.mark.parametrize(
    "subject",
    [
        'Revert "Take the new pa..."',
        'Revert "Take the new pa\u2026" (#40)',
        'Revert "Take the new pa',
        "Revert Take the new pa...",
        "Revert Take the new pa... (#40)",
    ],
)
def test_titles_that_were_cut_off_are_beginnings(subject: str) -> None:
    found = claim(subject)
    assert found is not None
    assert found.cut
    assert any(key("Take the new path").startswith(key(title)) for title in found.titles)


def test_a_subject_that_goes_on_in_the_body_is_put_together() -> None:
    subject, body = 'Revert "Take the new\u2026', '\u2026 path" (#40)\n\nIt is slow.'
    assert title_of(subject, body) == 'Revert "Take the new path" (#40)'
    found = claim(subject, body)
    assert found is not None
    assert (found.titles[0], found.cut) == ("Take the new path", False)


def test_several_titles() -> None:
    found = claim('Revert "Take the new path" and "Fix the cache (#4)"')
    assert found is not None
    assert {"Take the new path", "Fix the cache (#4)"} <= set(found.titles)


@pytest.mark.parametrize(
    ("subject", "body", "numbers"),
    [
        ("Revert #12", "", (12,)),
        ("fix: revert #12 (#40)", "", (12,)),
        ('Revert "Take it (#12)" (#40)', "", (12,)),
        ('Revert "Take it" (#40)', "", ()),
        ("Revert PR 12 and PR-13", "", (12, 13)),
        ("Revert #12-#14", "", (12, 13, 14)),
        ("Revert #12 to #14", "", (12, 13, 14)),
        ("Revert #1-#99999", "", (1, 99999)),
        ("Revert it", "This reverts #12.\n\nFixes #13.", (12,)),
        ("Revert it", "Reverts ana/thing#12", (12,)),
        ("Revert it", "reverts https://example.org/ana/thing/pull/12", (12,)),
        ("Revert it", "Reverted.\nCo-authored-by: B <12+b@users.noreply.example.org>", ()),
        ("Revert it", "revert <12345678+b@example.org> #9", ()),
        ("Revert &#39;it&#39;", "", ()),
        ("Merge pull request #40 from ana/revert-12", "", ()),
    ],
)
def test_numbers(subject: str, body: str, numbers: tuple[int, ...]) -> None:
    found = claim(subject, body)
    assert found is not None
    assert set(found.numbers) == set(numbers)


SHA = "f123456789abcdef0123456789abcdef0123456a"


@pytest.mark.parametrize(
    ("subject", "body", "shas"),
    [
        ("Revert it", f"This reverts commit {SHA}.", (SHA,)),
        (f"Revert {SHA}", "", (SHA,)),
        (f"Revert {SHA[:9]} for now", "", (SHA[:9],)),
        ("Revert commit 1234567", "", ("1234567",)),
        ("Revert 1234567 rows", "", ()),
        ("Revert it", f"This reverts commit {SHA}, reversing\nchanges made to {SHA[::-1]}.", (SHA,)),
        ("Revert it", f"It was {SHA} that did it.", ()),
        ("Revert it", f"Reverted-by: {SHA}", ()),
        ("Revert it", f"revert a@{SHA} and {SHA}@example.org and v1.{SHA[:8]}", ()),
    ],
)
def test_ids(subject: str, body: str, shas: tuple[str, ...]) -> None:
    found = claim(subject, body)
    assert found is not None
    assert found.shas == shas


@pytest.mark.parametrize(
    "subject",
    ["Add a button that reverts the form", "Take it, and revert the other", "Fix rollback of jobs"],
)
def test_a_word_somewhere_is_a_mention(subject: str) -> None:
    found = claim(subject)
    assert found is not None
    assert (found.verb, found.titles) == (Verb.MENTION, ())


@pytest.mark.parametrize(
    "subject",
    [
        "Take the new path (#12)",
        "Invert the test",
        "Add undo",
        "Reverse the order",
        "Irrevertible",
        "",
        "#12",
        SHA,
    ],
)
def test_all_else_claims_nothing(subject: str) -> None:
    assert claim(subject) is None


def test_a_body_that_says_so_is_a_mention() -> None:
    found = claim("Repair the build", f"This reverts commit {SHA}.")
    assert found is not None
    assert (found.verb, found.shas) == (Verb.MENTION, (SHA,))
    assert claim("Repair the build", f"See {SHA} and #12.") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Take the new path", "take  the NEW path (#12)"),
        ("Take `the` new path", "Take the new path (#1) (#2)"),
        ("Take the \u201cnew\u201d path", 'Take the "new" path'),
        ('Revert "Take it (#1)" (#2)', 'Revert "Take it"'),
        ('Revert "Revert "Take it (#1)" (#2)" (#3)', 'Revert "Revert "Take it""'),
        ("Take the new path...", "Take the new path"),
    ],
)
def test_titles_that_are_the_same(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Take it", 'Revert "Take it"'), ("Take it", "Take"), ("Fix #1", "Fix #2"), ("a-b", "ab")],
)
def test_titles_that_are_not(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        ("Take it (#12)", 12),
        ("Take it (#11) (#12) ", 12),
        ("Merge pull request #12 from ana/it", 12),
        ("Take it #12", None),
        ("(#12) Take it", None),
        ("Take it (#1234567890)", None),
    ],
)
def test_the_number_that_a_commit_came_by(subject: str, number: int | None) -> None:
    assert number_of(subject) == number


HARD = st.text(st.sampled_from("\"'()[]#-:.\u2026` \n0123abcRevertrelandback out@<>"), max_size=300)


@given(HARD, HARD)
def test_any_text_is_read(subject: str, body: str) -> None:
    claim(subject, body)
    assert key(key(subject)) == key(subject)


@given(st.text(max_size=80).map(str.strip).filter(lambda title: '"' not in title and len(title) > 3))
def test_what_git_writes_names_the_title(title: str) -> None:
    subject = " ".join(f'Revert "{title}"'.split())
    found = claim(subject)
    assert found is not None
    assert found.verb is Verb.REVERT
    wanted = key(" ".join(title.split()))
    assert any(
        key(each) == wanted or (found.cut and wanted.startswith(key(each))) for each in found.titles
    ) or (not wanted)


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "a: " * 20_000, "(#1) " * 20_000, '"' * 20_000, "x" * 200_000]
)
def test_long_texts_end(text: str) -> None:
    claim(text, text)
    claim(f"Revert {text}", f"This reverts {text}")
    key(text)
