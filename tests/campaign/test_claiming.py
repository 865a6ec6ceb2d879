"""Claims between people and agents who test in parallel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench
from workbench.campaign.asking import ask
from workbench.campaign.claiming import LONGEST, claim, of_others
from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.judge.claims import live
from workbench.model.event import Actor, Claim

ANA, BOT = Actor(name="ana"), Actor(name="bot", agent=True)


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path) -> Path:
    return begin(workbench, tmp_path / "c")


def at_work(home: Path) -> list[str]:
    return [str(each.by) for each in live(Campaign(home).log.events, datetime.now(UTC))]


def test_who_works_on_a_suspect_has_it_alone_until_they_give_it_up(home: Path) -> None:
    given = claim(Campaign(home), "h1", BOT, 3600.0)
    assert isinstance(given.body, Claim)
    assert given.body.hypothesis == "H1"
    assert timedelta(minutes=59) < given.body.until - given.at <= timedelta(hours=1)
    with pytest.raises(UsageError) as found:
        claim(Campaign(home), "H1", ANA)
    assert found.value.what.startswith("bot:agent works on H1 until ")
    with pytest.raises(UsageError, match="has no claim on H1"):
        claim(Campaign(home), "H1", ANA, release=True)
    assert [each.by for each in of_others(Campaign(home), ["h1"], ANA)] == [BOT]
    assert of_others(Campaign(home), ["H1"], BOT) == []
    assert of_others(Campaign(home), ["H2"], ANA) == []
    claim(Campaign(home), "H1", BOT, 7200.0)
    assert at_work(home) == ["bot:agent"]
    claim(Campaign(home), "H1", BOT, release=True)
    assert at_work(home) == []
    claim(Campaign(home), "H1", ANA)
    assert at_work(home) == ["ana"]


def test_a_claim_that_ran_out_binds_nobody(home: Path) -> None:
    over = datetime.now(UTC) - timedelta(seconds=1)
    Campaign(home).journal.append(Claim(hypothesis="H1", until=over), BOT)
    claim(Campaign(home), "H1", ANA)
    assert at_work(home) == ["ana"]


def test_what_cannot_be_claimed(home: Path) -> None:
    for id, seconds in (("H9", 60.0), ("H1", LONGEST + 1)):
        with pytest.raises(UsageError):
            claim(Campaign(home), id, ANA, seconds)
    assert at_work(home) == []


def test_next_offers_what_nobody_works_on_first(workbench: Workbench, home: Path) -> None:
    arms = ("--control", "retry=off", "--treatment", "retry=on", "--predict", "0.3:removes")
    succeeded(workbench("new", "Retries hide it", *arms, cwd=home))
    first, second = ask(Campaign(home)).candidates
    (id,) = first.hypotheses
    claim(Campaign(home), id, BOT)
    other, claimed = ask(Campaign(home)).candidates
    assert (other.hypotheses, claimed.hypotheses) == (second.hypotheses, first.hypotheses)
    assert "bot:agent works on" in succeeded(workbench("next", cwd=home))
    found = records(workbench("next", "--json", cwd=home))
    assert [[each["who"] for each in one["claimed"]] for one in found] == [[], ["bot"]]
    told = workbench(
        "test", id, "--seed", "7", "--max-blocks", "2", cwd=home, env={"WORKBENCH_ACTOR": "ana"}
    )
    assert f"warning: bot:agent works on {id} until" in told.stderr
    assert f"claimed     {id} by bot:agent until" in succeeded(workbench("status", cwd=home))
