"""All that happened, by time: merged and chosen without a terminal, and read on a screen."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.report.hostile import HOSTILE
from tests.tui.pilots import opened, screen, until
from workbench.campaign.chronicle import chronicle, reply_of, stamped
from workbench.campaign.registry import Campaign
from workbench.model.chronicle import Chronicle, Exchanged, Happening, Output
from workbench.model.event import Actor, Event, Note
from workbench.model.outcome import Status
from workbench.model.run import RunEvent
from workbench.report.text import columns, inert
from workbench.tui.viewmodel.entries import (
    FOLD,
    MOST,
    Choice,
    Entry,
    Source,
    among,
    entries,
    folded,
    holding,
    rows,
    said,
    whole,
)
from workbench.tui.views.log import LogView
from workbench.tui.widgets.listing import Listing
from workbench.tui.widgets.pages import Page

PROJECT = Path(__file__).parents[2]
UNCLEAN, CLEAN = "20261130T170653Z-22rhjpvp", "20261130T171218Z-hffc6n3b"  # the two smallest runs
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def exchanged(seconds: float, status: Status = Status.HIT, text: str = "") -> Exchanged:
    key = f"control/1/{seconds:g}/0"
    return Exchanged(
        key=key, at=after(seconds), status=status, label="leaked (x)", seconds=1.5, begins=text
    )


def output(seconds: float, text: str = "ready") -> Output:
    return Output(component="decode", place=int(10 * seconds), at=after(seconds), text=text)


def noted(seconds: float, text: str) -> Event:
    by, body = Actor(name="ana"), Note(text=text)
    return Event(id="N-aaaa", prev=(), seq=1, at=after(seconds), by=by, body=body, digest="d")


def happening(seconds: float, kind: str = "judged", verdict: str | None = None) -> Happening:
    event = RunEvent(at=after(seconds), kind=kind, facts={"block": 1, "verdicts": [verdict], "why": ""})
    return Happening(run="r", number=0, event=event)


def one_of_each(text: str = "") -> tuple[Entry, ...]:
    found = Chronicle(
        run="r",
        happenings=(happening(20),),
        exchanges=(exchanged(16, Status.CLEAN, text), exchanged(30, text=text)),
        output=(output(1, text), output(15, text)),
    )
    return entries([noted(10, text)], found)


def texts(found: Sequence[Entry], width: int = 200) -> list[str]:
    return [text for _, text in rows(found, width, 500)]


def test_sources_are_merged_by_time_and_the_date_stands_where_it_changes() -> None:
    found = entries([noted(86400, "a day later")], Chronicle(run="r", happenings=(happening(20),)))
    assert texts(found) == [
        "2026-11-30\n12:00:20 run      judged: block 1, verdicts undecided (r)",
        "2026-12-01\n12:00:00 campaign ana: note: a day later (N-aaaa)",
    ]


def test_an_exchange_is_told_in_short_with_how_its_reply_begins() -> None:
    found = entries([], Chronicle(run="r", exchanges=(exchanged(5, text="two\n  lines"),)))
    assert texts(found)[0].endswith("exchange control/1/5/0  hit  leaked (x)  1.5 s  two lines")


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_lines_of_one_time_keep_their_order(sampled: list[int], logged: list[int]) -> None:
    lines = tuple(output(at, str(place)) for place, at in enumerate(sorted(logged)))
    found = entries([], Chronicle(exchanges=tuple(map(exchanged, sampled)), output=lines))
    assert [each.at for each in found] == sorted(each.at for each in found)
    of_engine = [each.text for each in found if each.source is Source.ENGINE]
    assert of_engine == [f"decode: {place}" for place in range(len(lines))]


def test_what_is_wanted_is_chosen_by_source() -> None:
    def wanted(choice: Choice) -> list[tuple[Source, float]]:
        found = among(one_of_each(), choice)
        return [(each.source, (each.at - NOON).total_seconds()) for each in found]

    engine, log, run, hit = (
        (Source.ENGINE, 1),
        (Source.CAMPAIGN, 10),
        (Source.RUN, 20),
        (Source.EXCHANGE, 30),
    )
    later, clean = (Source.ENGINE, 15), (Source.EXCHANGE, 16)
    assert wanted(Choice()) == [engine, log, later, run, hit]
    assert wanted(Choice(engine=False)) == [log, run, hit]
    assert wanted(Choice(engine=False, clean=True)) == [log, clean, run, hit]
    assert wanted(Choice(only_failing=True, clean=True)) == [hit]
    assert wanted(Choice(only_failing=True, engine=False, around=after(15))) == [log, later, clean, run]


def test_words_are_sought_in_replies_too_and_counted() -> None:
    found = among(one_of_each("Straße two"), Choice())
    held = holding(found, "STRASSE leaked")
    assert [each.source for each in held] == [Source.EXCHANGE]
    assert said(found, len(held), Choice(), "STRASSE leaked", "r") == (
        "filter 'STRASSE leaked': 1 of 5; esc shows all"
    )
    assert holding(found, "  ") == found


def test_the_line_below_counts_by_source() -> None:
    found = among(one_of_each(), Choice())
    assert said(found, 5, Choice(), "", "r") == (
        "5 entries, run r: 1 campaign, 1 run, 1 exchange, 2 engine"
    )


def test_of_very_many_the_last_are_listed_and_that_is_said() -> None:
    line = Entry(at=NOON, source=Source.ENGINE, text="x", key="")
    found = [line] * MOST + [Entry(at=NOON, source=Source.ENGINE, text="the end", key="last")]
    listed = rows(found, 80, 500)
    assert len(listed) == MOST
    assert listed[-1][0] == "last"
    assert "20,001 entries, of which the last 20,000 are listed" in said(
        found, len(found), Choice(), "", ""
    )
    dated = [place for place, (_, text) in enumerate(listed) if text.startswith("2026-11-30\n")]
    assert dated == list(range(0, MOST, 500))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_an_entry_is_obeyed(text: str) -> None:
    for row in texts(one_of_each(text), 60):
        for line in row.removeprefix("2026-11-30\n").split("\n"):
            assert line == inert(line)
            assert columns(line) <= 60


def test_a_long_line_is_cut_in_its_row_and_opened_whole() -> None:
    text = "0123456789" * 100_000
    entry = among(entries([], Chronicle(output=(output(1, text),))), Choice())[0]
    assert columns(texts([entry], 80)[0].split("\n")[1]) == 80
    page = whole(entry)[2:]
    assert max(map(len, page)) == FOLD
    assert "".join(page) == f"decode: {text}"


@given(st.text(alphabet="ab\n", max_size=50).map(lambda text: text * 200))
def test_folding_loses_nothing(text: str) -> None:
    unfolded = [list(folded(line)) for line in text.split("\n")]
    assert "\n".join(map("".join, unfolded)) == text
    assert list(folded(text)) == [piece for pieces in unfolded for piece in pieces]


def test_a_time_is_read_from_the_start_of_a_line() -> None:
    assert stamped("2026-11-30T12:00:00.5Z ready") == after(0.5)
    assert stamped("[2026/11/30 13:00:00,250 +0100] ready") == after(0.25)
    assert stamped("[2026-11-30 12:00:00 PREFILL] x") == datetime(2026, 11, 30, 12).astimezone(UTC)
    for line in ("at 2026-11-30T12:00:00Z", "2026-11-32 12:00:00 x", "0001-01-01T00:00:00+23:00", ""):
        assert stamped(line) is None


def campaign(root: Path) -> Path:
    shutil.copy(PROJECT / "campaign.yaml", root)
    shutil.copytree(PROJECT / "hypotheses", root / "hypotheses")
    for run in (UNCLEAN, CLEAN):
        shutil.copytree(PROJECT / "runs" / run, root / "runs" / run)
    return root


def test_lines_without_a_time_stay_with_the_line_before(tmp_path: Path) -> None:
    logs = campaign(tmp_path) / ".workbench" / "logs" / "engine"
    logs.mkdir(parents=True)
    (logs / "decode.log").write_bytes(
        b"begins\n2026-11-30T12:00:01Z a\n  b \xff\n\n2026-11-30T12:00:02Z c\n"
    )
    (logs / "away.log").symlink_to(logs / "decode.log")
    (logs / "long.log").write_bytes(b"x" * 3_000_000 + b"\n2026-11-30T12:00:03Z last\n")
    found = chronicle(Campaign(tmp_path).registry)
    assert [(each.component, each.at, each.text) for each in found.output] == [
        ("decode", after(1), "begins"),
        ("decode", after(1), "2026-11-30T12:00:01Z a"),
        ("decode", after(1), "  b \ufffd"),
        ("decode", after(2), "2026-11-30T12:00:02Z c"),
        ("long", after(3), "2026-11-30T12:00:03Z last"),
    ]
    assert [problem.split(": ")[-1] for problem in found.problems] == [
        "is a symbolic link",
        "the first 3,000,001 bytes of long.log are left out",
    ]


def test_the_log_is_opened_filtered_and_read(tmp_path: Path) -> None:
    registry = Campaign(campaign(tmp_path)).registry
    hits = [each for each in chronicle(registry, UNCLEAN).exchanges if each.status is Status.HIT]
    reply = reply_of(registry, UNCLEAN, hits[-1].key)
    assert reply

    def below(pilot: Pilot[None]) -> str:
        return screen(pilot)[-2]

    async def drive() -> None:
        async with opened(tmp_path, (100, 30)) as pilot:
            await pilot.press("5")
            await until(pilot, lambda: f"run {CLEAN}" in below(pilot))
            view = pilot.app.screen
            assert isinstance(view, LogView)
            listing = view.query_one(Listing)
            assert listing.key == listing.rows[-1].key
            await pilot.press("f")
            await until(pilot, lambda: below(pilot).strip().startswith("0 exchanges not clean"))
            await pilot.press("less_than_sign")
            await until(
                pilot, lambda: f"{len(hits)} exchanges not clean, run {UNCLEAN}" in below(pilot)
            )
            await pilot.press("slash", *hits[-1].key.replace("/", " "), "enter")
            await until(pilot, lambda: f" of {len(hits)}; esc shows all" in below(pilot))
            assert listing.key == f"exchange {UNCLEAN} {hits[-1].key}"
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is not view)
            lines = [line.text for line in pilot.app.screen.query_one(Page).lines]
            assert lines[3:] == [inert(line) for line in folded(reply)]
            await pilot.press("escape", "escape", "t")
            await until(pilot, lambda: "within 5 s of" in below(pilot))
            assert listing.key == f"exchange {UNCLEAN} {hits[-1].key}"

    asyncio.run(drive())
