"""A change that went live and was not run since is named; a health check is no run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.judge.events import log
from workbench.model.campaign import CampaignSpec
from workbench.model.event import Body, InterventionNoted, Note
from workbench.model.registry import Registry, RunLine
from workbench.report.deployed import untested

BEGUN = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIX = InterventionNoted(hypothesis="H5", commit="0c16cace8", state="live")
OFF = InterventionNoted(hypothesis="H4", commit="hicache=off", state="live")


def registry(*bodies: Body, runs: tuple[int, ...] = ()) -> Registry:
    """A log with an event a minute, and runs that began so many minutes after its beginning."""
    events = tuple(
        replace(event, at=BEGUN + timedelta(minutes=minute)) for minute, event in enumerate(log(bodies))
    )
    lines = tuple(
        RunLine(id=f"r{minute}", path="", created=BEGUN + timedelta(minutes=minute)) for minute in runs
    )
    return Registry(root="", spec=CampaignSpec(title=""), events=events, runs=lines)


def test_without_a_change_there_is_nothing_to_say() -> None:
    assert untested(registry()) == ""
    assert untested(registry(Note(text="all is well"))) == ""
    assert untested(registry(replace(FIX, state="planned"))) == ""
    assert untested(registry(replace(FIX, state="", effect="none"))) == ""


def test_the_last_change_is_named_until_something_is_run() -> None:
    said = untested(registry(FIX, OFF))
    assert (
        said == "no run since the last change went live: setting hicache=off for H4, 2026-03-01 12:01Z"
    )
    assert untested(registry(FIX, OFF, runs=(0,))) == said
    assert untested(registry(FIX, OFF, runs=(2,))) == ""


@pytest.mark.parametrize("after", [Note(text="health is 200"), replace(OFF, state="dead")])
def test_words_are_no_run(after: Body) -> None:
    back = replace(FIX, state="reverted")
    assert untested(registry(FIX, back, after)).startswith(
        "no run since the last change was taken back"
    )
