"""What somebody has seen, from a time, an event or a run; also when branches were merged since."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench
from workbench.campaign.registry import Campaign
from workbench.campaign.since import seen_by
from workbench.campaign.writing import NoteDraft, note
from workbench.errors import UsageError
from workbench.model.event import Actor

ANA, BEN = Actor(name="ana"), Actor(name="ben")
LOG = Path("hypotheses/events.jsonl")


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    return begin(workbench, tmp_path / "c")


def say(home: Path, text: str, by: Actor = ANA) -> str:
    return note(Campaign(home), NoteDraft(text=text), by).id


def number(home: Path, text: str, now: datetime | None = None) -> int:
    return len(seen_by(Campaign(home), text, now).events)


def test_a_time_in_the_forms_that_people_write(home: Path) -> None:
    say(home, "one")
    (first, last) = Campaign(home).log.events
    soon, before = last.at + timedelta(minutes=5), first.at - timedelta(seconds=1)
    assert number(home, before.isoformat()) == 0
    assert number(home, first.at.isoformat()) == 1
    assert number(home, first.at.replace(tzinfo=None).isoformat(" ")) == 1  # UTC, as all that is shown
    assert number(home, f"{last.at:%Y-%m-%d}") == 0
    assert number(home, f"{soon:%Y-%m-%d %H:%MZ}") == 2
    for ago in ("90m", "1.5h", "2 d", "999999d"):
        assert number(home, ago, soon) == 0
    assert number(home, "1min", soon) == 2
    assert seen_by(Campaign(home), "1h", soon).what == f"{soon - timedelta(hours=1):%Y-%m-%d %H:%M}Z"


def test_an_event_of_which_all_was_seen_that_its_writer_had_seen(home: Path) -> None:
    first, second, _ = (say(home, text) for text in ("one", "two", "three"))
    assert number(home, first) == 2  # that the suspect was proposed, too
    assert number(home, second) == 3


def test_what_a_merge_brought_is_new_however_old_it_is(home: Path, tmp_path: Path) -> None:
    branch = tmp_path / "branch"
    shutil.copytree(home, branch)
    theirs = say(branch, "on the other branch", BEN)  # the older one
    mine = say(home, "here")
    lines = [*(home / LOG).read_bytes().splitlines(), (branch / LOG).read_bytes().splitlines()[-1]]
    (home / LOG).write_bytes(b"".join(line + b"\n" for line in lines))
    events = {event.id for event in seen_by(Campaign(home), mine).events}
    assert mine in events
    assert theirs not in events
    newest = Campaign(home).log.events[-1].at
    assert number(home, newest.isoformat()) == 3  # a time cannot tell


def test_a_run(workbench: Workbench, home: Path) -> None:
    (given,) = records(workbench("test", "H1", "--seed", "7", "--json", cwd=home))
    say(home, "after it")
    events = Campaign(home).log.events
    seen = seen_by(Campaign(home), given["run"])
    assert seen.events == events[:-1]
    assert seen.what == given["run"]
    (record,) = records(workbench("status", "--since", given["run"], "--json", cwd=home))
    assert [each["kind"] for each in record["events"]] == ["note"]
    assert record["states"] == []
    text = succeeded(workbench("status", "--since", events[0].id, cwd=home))
    assert "H1  ? open -> + supported (compared)" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_that_the_log_does_not_name_is_as_old_as_its_plan(
    workbench: Workbench, home: Path
) -> None:
    measured = workbench("measure", "--set", "cache=on", "--trials", "3", "--json", cwd=home)
    assert measured.returncode == 0, measured.stderr
    (line,) = Campaign(home).run_lines
    say(home, "after it")
    seen = seen_by(Campaign(home), line.id)
    assert [event.kind for event in seen.events] == ["proposed"]
    assert seen.at == line.created


@pytest.mark.parametrize(
    "text", ["", "soon", "E-aaaa", "2026-13-01", "20261129T151200Z-aaaaaaaa", "\x1b[2J"]
)
def test_what_is_none_of_these_is_refused(home: Path, text: str) -> None:
    with pytest.raises(UsageError, match="is no time, no event and no run"):
        seen_by(Campaign(home), text, datetime.now(UTC))


def test_the_record_is_one_line_of_json(workbench: Workbench, home: Path) -> None:
    text = succeeded(workbench("status", "--since", "0001-01-01", "--json", cwd=home))
    assert set(json.loads(text)) == {"since", "at", "states", "events", "running", "next"}
