"""First texts of hypothesis files: exactly what was given, for a person to go on from there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.store.drafts import read_draft, render_hypothesis, slug
from workbench.store.validation import read_hypothesis
from workbench.store.yamltext import read_yaml

LINES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Cf", "Zl", "Zp", "Zs")) | st.just(" "),
    min_size=1,
    max_size=60,
)
TITLES = LINES.filter(str.strip)
PROSE = st.lists(LINES | st.just(""), max_size=5).map("\n".join)
NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,12}\Z")
SETTINGS = st.dictionaries(NAMES, NAMES, min_size=1, max_size=3)
FIELDS = st.fixed_dictionaries(
    {"title": TITLES},
    optional={
        "parent": st.integers(1, 10**9 - 1).map(lambda number: f"H{number}"),
        "also": st.lists(st.just("H3") | st.just("H44"), max_size=3),
        "symptom": NAMES,
        "statement": PROSE,
        "component": TITLES,
        "fails_when": SETTINGS,
        "prediction": st.just({"removes": True})
        | st.just({"control": 0.4, "treatment": 0.05})
        | st.just({"control": 0.17, "treatment": 0}),
        "test": st.fixed_dictionaries(
            {"control": SETTINGS, "treatment": SETTINGS},
            optional={
                "workload": NAMES,
                "put_back": st.fixed_dictionaries({"control": SETTINGS, "treatment": SETTINGS}),
                "exposure": st.lists(
                    st.fixed_dictionaries({"metric": TITLES, "at_least": st.floats(0.1, 1e6)}),
                    max_size=2,
                ),
                "why_many": PROSE,
            },
        ),
        "falsified_by": PROSE,
        "assumptions": st.lists(
            st.fixed_dictionaries({"id": NAMES, "text": TITLES}, optional={"check": SETTINGS}),
            max_size=3,
        ),
        "interventions": st.lists(
            st.fixed_dictionaries(
                {"commit": st.just("0c16cace8") | st.just("0123456"), "kind": st.just("fix")}
            ),
            max_size=2,
        ),
    },
)


@given(FIELDS)
@example({"title": "a: b # c"})
@example({"title": "- [x] {y} & *z ! | > ' \" % @ `"})
@example({"title": "on", "symptom": "NO", "component": "0755"})
@example({"title": "~", "statement": "  indented\nlines\n\n\n"})
@example({"title": "null", "statement": "---\n...\n# no comment\n", "falsified_by": "\ttab"})
@example({"title": "ein Spiegel für „Größe“ 鏡", "component": "22:30:00"})
@example({"title": "text", "symptom": "y"})
def test_what_is_rendered_is_what_was_given(fields: dict[str, Any]) -> None:
    text = render_hypothesis("H5", fields)
    document = read_yaml(text.encode(), "f")
    assert document.problems == []
    assert document.value == {"schema": "workbench/hypothesis@1", "id": "H5"} | fields
    read = read_hypothesis(text.encode(), "f")
    assert read.document.problems == []
    assert read.hypothesis is not None


def test_a_draft_reads_like_a_file_that_somebody_wrote() -> None:
    text = render_hypothesis(
        "H5",
        {
            "title": "Host mirror is sized for fp8: half of it",
            "statement": "A device token takes 256 bytes.\nThe mirror reserves 132.\n",
            "fails_when": {"index_k": "bf16", "hicache": "on"},
        },
    )
    assert text == (
        "schema: workbench/hypothesis@1\n"
        "id: H5\n"
        'title: "Host mirror is sized for fp8: half of it"\n'
        "statement: |\n"
        "  A device token takes 256 bytes.\n"
        "  The mirror reserves 132.\n"
        'fails_when: {index_k: bf16, hicache: "on"}\n'
        "\n"
        "# Still to be said before it can be tested:\n"
        "# symptom: NAME   # the failure that it explains, one of the campaign's symptoms\n"
        "# prediction: {control: 0.4, treatment: 0.1}   # rates per session, stated before any run\n"
        "#                                              # or {control: 0.4, removes: true}\n"
        "# test:\n"
        "#   control: {KNOB: LEVEL}    # the suspect as found: the arm predicted to fail\n"
        "#   treatment: {KNOB: LEVEL}  # the suspect removed or fixed; one knob differs\n"
        "# falsified_by: what would speak against it\n"
    )


def test_the_hints_are_a_hypothesis_once_they_are_filled_in() -> None:
    _, _, hints = render_hypothesis("H5", {"title": "x"}).partition("tested:\n")
    filled = re.sub("^# ?", "", hints, flags=re.MULTILINE).replace("KNOB", "k").replace("LEVEL", "l")
    head = "schema: workbench/hypothesis@1\nid: H5\ntitle: x\n"
    read = read_hypothesis((head + filled).encode(), "f")
    assert read.document.problems == []
    assert read.hypothesis is not None
    assert read.hypothesis.missing == ()


def test_nothing_is_missing_from_what_is_whole() -> None:
    whole = {
        "title": "x",
        "symptom": "s",
        "statement": "s",
        "prediction": {"removes": True},
        "test": {"control": {"a": "x"}, "treatment": {"a": "y"}},
        "falsified_by": "f",
    }
    assert "#" not in render_hypothesis("H5", whole)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({}, "title is empty"),
        ({"title": "two\nlines"}, "title holds a line break or a control character"),
        ({"title": "\x1b[31mred"}, "title holds a line break or a control character"),
        ({"title": "\x00"}, "holds a NUL"),
        ({"title": "\u202egnirts"}, "title holds a line break or a control character"),
        ({"title": "\ud800"}, ""),
        ({"title": "x" * 301}, "longer than 300 characters"),
        ({"title": "x", "statement": "a\x07"}, "statement holds a control character"),
        ({"title": "x", "titel": "y"}, "unknown field 'titel'; did you mean 'title'?"),
        ({"title": 5}, "title must be text"),
        ({"title": "x", "id": "H9"}, "the id H9 cannot be asked for; take `id` out"),
        ({"title": "x", "prediction": {"control": 0.1, "treatment": 0.4}}, "control must be the arm"),
        ({"title": "x", "prediction": {"control": float("nan"), "treatment": 0.4}}, ""),
        ({"title": "x", "statement": object()}, ""),
    ],
)
def test_what_makes_no_hypothesis_is_refused(fields: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError) as raised:
        render_hypothesis("H5", fields)
    assert what in str(raised.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(UsageError) as raised:
        render_hypothesis("H5", {"title": 5, "titel": "x", "symptom": "a b"})
    assert len(str(raised.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Host mirror of the index-K pool", "host-mirror-of-the-index-k-pool"),
        ("../../etc/passwd", "etc-passwd"),
        ("  CON ", "con"),
        ("Größe für Ångström", "grosse-fur-angstrom"),
        ("鏡", "untitled"),
        ("", "untitled"),
        ("...", "untitled"),
        ("a" * 100, "a" * 48),
        ("one " * 20, "one-" * 11 + "one"),
    ],
)
def test_slugs(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text(max_size=200))
def test_a_slug_is_never_a_path_and_never_empty(title: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(title))
    assert len(slug(title)) <= 48


def test_a_draft_is_read_with_or_without_its_head() -> None:
    body = b"title: x\nparent: H2\n"
    fields = {"title": "x", "parent": "H2"}
    assert read_draft(body, "-", thing="hypothesis") == fields
    assert read_draft(b"schema: workbench/hypothesis@1\n" + body, "-", thing="hypothesis") == fields
    assert read_draft(b"id: H5\n" + body, "-", thing="hypothesis") == {"id": "H5"} | fields
    assert read_draft(b"anything: {goes: [1]}\n", "-") == {"anything": {"goes": [1]}}


def test_a_draft_with_mistakes_names_them_all_with_their_places() -> None:
    with pytest.raises(UsageError) as raised:
        read_draft(b"titel: x\nsymptom: on\nparent: 5\n", "<stdin>", thing="hypothesis")
    assert [each.split(": ")[0] for each in str(raised.value).splitlines()] == [
        f"<stdin>:{place}" for place in ("1:1", "1:1", "2:10", "3:9")
    ]
    for data in (b"", b"[", b"- a", b"\xff", b"a: &a 1"):
        with pytest.raises(UsageError, match=r"^<stdin>:1:"):
            read_draft(data, "<stdin>")
