"""What `next` proposes as a campaign goes on: by files, log and runs of the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench
from workbench.campaign.asking import ask
from workbench.campaign.registry import Campaign
from workbench.judge.next import Asked, Candidate, Kind, Seen, posterior
from workbench.model.event import VerdictGiven
from workbench.report.next import command, following

ANA = {"WORKBENCH_ACTOR": "ana"}
ON, OFF = {"cache": "on", "retry": "off"}, {"cache": "off", "retry": "off"}
RETRY = {"cache": "on", "retry": "on"}


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    folder = begin(workbench, tmp_path / "c")
    for file in (folder / "hypotheses").glob("*.yaml"):
        file.unlink()
    return folder


def suspect(home: Path, number: int, **fields: Any) -> None:
    document = {
        "schema": "workbench/hypothesis@1",
        "id": f"H{number}",
        "title": f"Suspect {number}",
        "prediction": {"control": 0.3, "removes": True},
        "test": {"control": ON, "treatment": OFF},
        **fields,
    }
    (home / "hypotheses" / f"H0{number}-suspect.yaml").write_text(json.dumps(document))


def asked(home: Path) -> Asked:
    return ask(Campaign(home))


def named(found: Asked) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(each.kind), each.hypotheses) for each in found.candidates]


def one(found: Asked, kind: Kind) -> Candidate:
    (only,) = [each for each in found.candidates if each.kind is kind]
    return only


def test_without_suspects_it_says_what_to_do(home: Path) -> None:
    assert list(following(asked(home)))[-1] == 'next: name another suspect: workbench new "..."'
    suspect(home, 1, prediction=None, test=None)
    text = json.loads((home / "hypotheses/H01-suspect.yaml").read_text())
    kept = {name: value for name, value in text.items() if value is not None}
    (home / "hypotheses/H01-suspect.yaml").write_text(json.dumps(kept))
    lines = list(following(asked(home)))
    assert "  H1: it has no prediction and test" in lines
    assert lines[-1] == "next: workbench edit H1"


def test_the_test_that_splits_comes_before_the_one_that_all_agree_on(home: Path) -> None:
    suspect(home, 1, fails_when={"cache": "on"})
    suspect(
        home, 2, fails_when={"cache": "on", "retry": "off"}, test={"control": ON, "treatment": RETRY}
    )
    suspect(home, 3, fails_when={"cache": "on"})
    found = asked(home)
    assert named(found) == [("test", ("H2",)), ("test", ("H1", "H3"))]  # equal arms are one run
    apart, agreed = found.candidates
    assert apart.worth.groups == {(True, False): ("H2",), (True, True): ("H1", "H3")}
    assert agreed.worth.groups == {(True, False): ("H1", "H2", "H3")}
    assert apart.worth.bits > agreed.worth.bits
    assert not apart.times.measured
    shares = found.shares["fails"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert command(agreed) == "workbench test H1 H3"
    assert "  workbench test H2" in list(following(found))


def test_as_runs_come_in(workbench: Workbench, home: Path) -> None:
    """A decided test is not proposed; its removal is put back, and alone where all is clean."""
    back = {"control": ON, "treatment": OFF}
    suspect(
        home,
        1,
        fails_when={"cache": "on"},
        test={"control": ON, "treatment": OFF, "put_back": back},
    )
    suspect(
        home,
        2,
        fails_when={"retry": "off", "cache": "on"},
        prediction={"control": 0.3, "removes": True},
        test={"control": {"cache": "on", "retry": "off"}, "treatment": RETRY},
    )
    (away,) = records(workbench("test", "H1", "--seed", "7", "--json", cwd=home, env=ANA))
    assert away["verdict"] == "present"
    found = asked(home)
    assert ("test", ("H1",)) not in named(found)
    assert one(found, Kind.PUT_BACK).hypotheses == ("H1",)
    assert command(one(found, Kind.PUT_BACK)) == "workbench test H1 --put-back"
    assert one(found, Kind.TEST).times.measured
    (given,) = records(workbench("test", "H2", "--seed", "7", "--json", cwd=home, env=ANA))
    assert given["verdict"] == "prediction-refuted"
    found = asked(home)
    assert not [each for each in found.candidates if each.kind is Kind.TEST]
    assert "H2" not in found.shares["fails"]
    assert found.shares["fails"]["H1"] > 0.8


def test_what_a_run_counted_for_several_is_weighed_once(workbench: Workbench, home: Path) -> None:
    suspect(home, 1, fails_when={"cache": "on"})
    suspect(home, 2, fails_when={"cache": "on", "retry": "off"})
    suspect(home, 3, fails_when={"retry": "off"})
    records(workbench("test", "H1", "H2", "--seed", "7", "--json", cwd=home, env=ANA))
    verdicts = [
        event.body for event in Campaign(home).log.events if isinstance(event.body, VerdictGiven)
    ]
    assert [each.hypothesis for each in verdicts] == ["H1", "H2"]
    control, treatment = (verdicts[0].arms[role].counts for role in ("control", "treatment"))
    once = Seen(
        control=(control.hit, control.clean),
        treatment=(treatment.hit, treatment.clean),
        patterns={"H1": (True, False), "H2": (True, False), "H3": (True, True)},
    )
    assert verdicts[0].design_effect == 1.0
    assert asked(home).shares["fails"] == pytest.approx(posterior(("H1", "H2", "H3"), [once]))


def test_suspects_that_no_test_splits_are_to_say_where_they_differ(
    workbench: Workbench, home: Path
) -> None:
    suspect(home, 1, fails_when={"cache": "on"})
    suspect(home, 2, fails_when={"cache": "on"})
    records(workbench("test", "H1", "H2", "--seed", "7", "--json", cwd=home, env=ANA))
    found = asked(home)
    assert found.candidates == ()
    assert list(following(found)) == [
        "nothing that could be run would tell the suspects apart",
        "fails: H1 47 %, H2 47 %, none of these 5.9 %",
        "next: let the suspects say where they differ, in `fails_when` or in a test",
        "  workbench edit H2",
    ]


def test_arms_that_turn_the_load_are_seen_under_it(home: Path) -> None:
    text = (home / "campaign.yaml").read_text()
    knob = "knobs:\n  load: {kind: load, field: in_flight, levels: {light: 1, heavy: 16}}\n"
    (home / "campaign.yaml").write_text(text.replace("knobs:\n", knob, 1))
    arms = {"control": {"load": "heavy"}, "treatment": {"load": "light"}}
    suspect(home, 1, fails_when={"in_flight": ">=8"}, test=arms)
    suspect(home, 2, fails_when={"cache": "on"}, test=arms)
    (both,) = asked(home).candidates
    assert both.worth.groups == {(True, False): ("H1",)}


def test_a_suspect_that_fell_is_offered_alone_where_all_was_found_clean(
    workbench: Workbench, home: Path
) -> None:
    suspect(home, 1, fails_when={"cache": "on"})
    hurried = {"control": {"cache": "on", "retry": "on"}, "treatment": {"cache": "on", "retry": "off"}}
    suspect(home, 2, test=hurried)
    for id in ("H1", "H2"):
        records(workbench("test", id, "--seed", "7", "--json", cwd=home, env=ANA))
    alone = one(asked(home), Kind.SUFFICIENCY)
    assert alone.hypotheses == ("H2",)
    assert dict(alone.pair.control) == {"cache": "off", "retry": "on"}
    assert dict(alone.pair.treatment) == {"cache": "off", "retry": "off"}
    words = command(alone)
    assert words.startswith("workbench new 'H2 alone brings it about' --parent H2 --predict removes")
    assert "--control cache=off,retry=on --treatment cache=off,retry=off" in words


def test_a_test_that_cannot_be_run_is_no_candidate_and_says_why(home: Path) -> None:
    suspect(home, 1, test={"control": ON, "treatment": {"cache": "off", "retry": "on"}})
    found = asked(home)
    assert found.candidates == ()
    assert "differ in 2 knobs" in found.refused["H1"]
    suspect(home, 1)
    assert named(asked(home)) == [("test", ("H1",))]


def test_the_command_prints_and_has_json(workbench: Workbench, home: Path) -> None:
    suspect(home, 1, fails_when={"cache": "on"})
    text = succeeded(workbench("next", cwd=home))
    assert text.startswith("next: test H1\n  workbench test H1\n")
    assert max(map(len, text.splitlines())) <= 80
    (record,) = records(workbench("next", "--json", cwd=home))
    assert record["command"] == "workbench test H1"
    assert sum(each["share"] for each in record["tells"]) == pytest.approx(1.0, abs=1e-3)
    assert record["bits_a_minute"] == pytest.approx(record["bits"] / record["minutes"], rel=0.01)


def test_what_hostile_files_say_stays_text(home: Path) -> None:
    suspect(home, 1, title="\x1b[2Jred\u202e", component="`x` <b>")
    suspect(home, 2, why_many="x", test={"control": ON, "treatment": OFF, "workload": "no\u202esuch"})
    for line in following(asked(home)):
        assert line.isprintable()
