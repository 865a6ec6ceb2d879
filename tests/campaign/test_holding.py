"""What a run holds, and protected engines: simulated ones, that say what a start of theirs is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.simulated_tests import BLOCK, begin, campaign, plan, runs, serves, suspect
from workbench.campaign import running, testing
from workbench.campaign.holding import Held, Leave, held
from workbench.campaign.protecting import with_leave
from workbench.cli.display import NoDisplay
from workbench.errors import EngineBusy, UsageError
from workbench.model.campaign import CampaignSpec
from workbench.model.event import Actor
from workbench.model.progress import Snapshot

ANA, BOT = Actor(name="ana"), Actor(name="bot", agent=True)
RATES = {"control": 0.6, "treatment": 0.0}


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases of the test's own."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where Python remembers it


class During(NoDisplay):
    """Does something once the run is open."""

    def __init__(self, act: Callable[[str], None]) -> None:
        self._act = act

    def started(self, snapshot: Snapshot) -> None:
        self._act(snapshot.run)


def test_an_engine_is_held_while_a_run_goes_on_and_free_afterwards(tmp_path: Path) -> None:
    spec = campaign(RATES, lease="http://127.0.0.1:30000")
    said: list[str] = []

    def try_another(run: str) -> None:
        other = suspect("H2", off="gate")
        with pytest.raises(EngineBusy) as raised:
            testing.start(tmp_path, plan(spec, other), serves([other]), NoDisplay(), Leave(who="bob"))
        said.append(raised.value.what)
        assert run in raised.value.what

    hypotheses = [suspect()]
    planned = plan(spec, *hypotheses)
    testing.start(tmp_path, planned, serves(hypotheses), During(try_another), Leave(who="ana"))
    assert len(said) == 1
    assert said[0].startswith("http://127.0.0.1:30000 is held by run ")
    assert " of ana since " in said[0]
    assert len(runs(tmp_path)) == 1
    begin(tmp_path, spec, suspect("H2", off="gate"))
    assert len(runs(tmp_path)) == 2


def hold(root: Path, **engine: Any) -> AbstractContextManager[Held]:
    planned = plan(campaign(RATES, **engine), suspect())
    parts, settings = running.build(planned, root)
    return held(root, planned, parts, settings, Leave())


def test_an_engine_that_anybody_may_use_is_not_held(tmp_path: Path) -> None:
    with hold(tmp_path), hold(tmp_path):
        pass
    with hold(tmp_path, lease="it"), pytest.raises(EngineBusy), hold(tmp_path, lease="it"):
        pytest.fail("two have it")


def test_what_is_held_is_let_go_when_the_run_fails(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError), hold(tmp_path, lease="it"):
            raise RuntimeError


def protected(**engine: Any) -> CampaignSpec:
    spec = campaign(RATES, **engine)
    return replace(spec, engines={"sim": replace(spec.engines["sim"], protected=True)})


def leave(spec: CampaignSpec, root: Path, by: Actor, given: Leave) -> Leave:
    return with_leave(root, spec, "sim", plan(spec, suspect(), max_blocks=3), by, given)


def test_an_engine_that_a_start_disturbs_is_protected(tmp_path: Path) -> None:
    spec = protected(disturbs=True)
    starts = 2 * 3 * BLOCK  # arms, blocks, and trials, each of them a start of its own
    with pytest.raises(UsageError) as raised:
        leave(spec, tmp_path, ANA, Leave())
    assert raised.value.exit_code == 2
    assert raised.value.what == (
        f"engine 'sim' is protected, and this would start and stop it up to {starts} times"
    )
    assert "--allow sim" in raised.value.hint
    with pytest.raises(UsageError, match="up to 6 times"):
        leave(protected(disturbs=True, cluster="start"), tmp_path, ANA, Leave())


def test_one_that_nothing_is_done_to_is_not(tmp_path: Path) -> None:
    assert leave(protected(), tmp_path, ANA, Leave()).who == "ana"
    assert leave(campaign(RATES, disturbs=True), tmp_path, ANA, Leave()).who == "ana"


def test_a_person_is_asked_and_an_agent_is_not(tmp_path: Path) -> None:
    spec = protected(disturbs=True)
    asked: list[str] = []

    def yes(what: str) -> bool:
        asked.append(what)
        return True

    assert leave(spec, tmp_path, ANA, Leave(ask=yes)).who == "ana"
    assert len(asked) == 1
    with pytest.raises(UsageError, match="is protected"):
        leave(spec, tmp_path, BOT, Leave(ask=yes))
    assert len(asked) == 1
    assert leave(spec, tmp_path, BOT, Leave(allow=("sim",), ask=yes)).who == "bot"
    assert len(asked) == 1


def test_an_engine_that_there_is_not_cannot_be_allowed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no engine 'sin' to allow; did you mean 'sim'"):
        leave(protected(), tmp_path, ANA, Leave(allow=("sin",)))
