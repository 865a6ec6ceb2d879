"""What is said of runs looked at again is only text, whatever replies and files put into it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.report.hostile import HOSTILE, poisoned
from workbench.model.compared import Compared, Difference, Kinship, Side, Word
from workbench.model.outcome import Counts, Label, Status
from workbench.model.relabelled import Change, Origin, Pair, Relabelled, Shift
from workbench.model.run import RunState
from workbench.model.verdict import Other
from workbench.report import compare, others, relabel

LABEL = Label(word="leaked", rule="pattern 'leaked'", signature="x")
RELABELLED = Relabelled(
    run="r",
    command="test",
    hypotheses=("H1",),
    symptom="garbled",
    classifier="regex",
    origin=Origin.CAMPAIGN,
    as_recorded=False,
    watched=True,
    labels=(Pair(before="clean", now="leaked", times=2),),
    relabelled=2,
    not_kept=1,
    altered=1,
    changed=2,
    arms=(
        Shift(
            arm="control",
            sampled=False,
            before=Counts(0, 2),
            now=Counts(1, 1),
            moved={"clean -> hit": 1},
        ),
    ),
    examples=(
        Change(
            key="k", before=LABEL, now=LABEL, was=Status.CLEAN, status=Status.HIT, text="one\ntwo" * 5
        ),
    ),
    problems=("samples-w0.jsonl:2: the checksum differs",),
)
SIDE = Side(
    run="r",
    command="test",
    state=RunState.FINISHED,
    created=datetime(2026, 11, 29, tzinfo=UTC),
    seconds=3.0,
    arms={"control": Counts(1, 1)},
    rates={"control": (0.1, 0.9)},
    words=(Word(about="H1", verdict="present", reason="why", blocks=2, earlier=1, digest="d"),),
    problems=("torn",),
)
COMPARED = Compared(
    first=SIDE,
    second=replace(SIDE, words=()),
    equal=("workload",),
    differs=(Difference(what="engine kind", first="a", second="b"),) * 20,
    found=(Difference(what="control: file x", first="a", second=""),),
    read_back=("control",),
    kinship=Kinship.GOES_ON,
)


def said(found: Any) -> list[str]:
    return list((relabel.relabel if isinstance(found, Relabelled) else compare.compare)(found))


@pytest.mark.parametrize("links", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("found", [RELABELLED, COMPARED], ids=["relabel", "compare"])
def test_it_goes_to_a_terminal_as_text(found: Any, text: str, links: bool) -> None:
    for origin in Origin if found is RELABELLED else [None]:
        hostile = poisoned(found, text, links=links)
        for line in said(replace(hostile, origin=origin) if origin else hostile):
            assert line.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_records_are_json_whatever_stands_in_them(text: str) -> None:
    for record in (
        relabel.relabel_record(poisoned(RELABELLED, text)),
        compare.compare_record(poisoned(COMPARED, text)),
    ):
        assert json.loads(json.dumps(record, allow_nan=False)) == record


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_of_a_symptom_or_an_arm_is_only_text(text: str) -> None:
    other = Other(
        arms={text: Counts(1, 2)}, rates={text: (0.0, 0.9)}, blocks=2, no_effect=1.0, no_harm=50.0
    )
    found = {text: other, f"{text} too": replace(other, arms={text: Counts(0, 3)})}
    for line in (*others.in_short(found), *others.in_full(found), *others.of_arm(found, text)):
        assert line.isprintable()


def test_what_is_left_out_is_said() -> None:
    lines = said(COMPARED)
    assert "  ... and 8 more" in lines
    assert sum("engine kind" in line for line in lines) == 12
    assert any("| ... " in line for line in said(RELABELLED))


def test_an_e_value_without_end_is_still_json() -> None:
    from workbench.report.values import plain

    other = Other(arms={}, rates={}, blocks=2, no_effect=float("inf"), no_harm=0.0)
    assert json.loads(json.dumps(plain(other), allow_nan=False))["evidence"]["no_effect"] > 1e300


@pytest.mark.parametrize(
    ("found", "command"),
    [
        (replace(RELABELLED, changed=0), "workbench explain r"),
        (RELABELLED, "workbench test H1"),
        (replace(RELABELLED, as_recorded=True), "workbench edit H1"),
        (replace(RELABELLED, origin=Origin.CLASSIFIER), "workbench test H1"),
        (replace(RELABELLED, origin=Origin.SYMPTOM), "workbench new 'A SUSPECT' --symptom garbled"),
        (replace(RELABELLED, hypotheses=(), command="ab"), "workbench ab --help"),
    ],
)
def test_the_last_line_is_what_a_verdict_would_take(found: Relabelled, command: str) -> None:
    assert said(found)[-1].strip() == command


@pytest.mark.parametrize("origin", Origin)
def test_a_command_to_paste_holds_no_second_one(origin: Origin) -> None:
    hostile = poisoned(replace(RELABELLED, origin=origin), "x; rm -rf ~ `id` $(id)", links=True)
    line = said(hostile)[-1]
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    assert ";" not in list(lexer)  # it stands within a word alone
    assert shlex.split(line)[0] == "workbench"
