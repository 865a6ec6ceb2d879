"""Claims: somebody says that they work on a suspect, so that nobody else tests the same meanwhile.

A claim is a word between colleagues and no lock: tests run without one. It is given under the log's
lock, so of two who ask at the same moment one is told of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from workbench.campaign.registry import Campaign
from workbench.errors import UsageError
from workbench.judge.claims import AtWork, live
from workbench.model.event import Actor, Claim, Event

USUAL = 2 * 3600.0
LONGEST = 14 * 24 * 3600.0


def claim(
    campaign: Campaign, id: str, by: Actor, seconds: float = USUAL, *, release: bool = False
) -> Event:
    """Append that somebody works on a suspect for a time from now on, or no longer.

    Args:
        campaign: Where.
        id: The suspect.
        by: Who.
        seconds: How long; it may be given anew to make it longer or shorter.
        release: Say that it is over instead.

    Raises:
        UsageError: The suspect is unknown, the time is too long, somebody else works on it, or there is
            no claim to give up.
    """
    hypothesis = campaign.known(id)
    if seconds > LONGEST:
        raise UsageError("a claim lasts 14 days at most", hint="claim it again when it runs out")
    with campaign.journal.locked():
        now = datetime.now(UTC)
        there = [
            each for each in live(campaign.journal.read().events, now) if each.hypothesis == hypothesis
        ]
        others = [each for each in there if each.by != by]
        if release and len(others) == len(there):
            raise UsageError(f"{by} has no claim on {hypothesis} that could be given up")
        if others and not release:
            raise UsageError(
                f"{others[0].by} works on {hypothesis} until {others[0].until:%Y-%m-%d %H:%M}Z",
                hint="take another: workbench next",
            )
        until = now if release else now + timedelta(seconds=seconds)
        return campaign.journal.append(Claim(hypothesis=hypothesis, until=until), by)


def of_others(campaign: Campaign, ids: Iterable[str], by: Actor) -> list[AtWork]:
    """Give the claims of others that stand now on some suspects."""
    asked = {id.upper() for id in ids}
    standing = live(campaign.log.events, datetime.now(UTC))
    return [each for each in standing if each.hypothesis in asked and each.by != by]
