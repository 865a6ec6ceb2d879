"""A cause removed and put back by the real command, on real processes, up to `confirmed`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import records, succeeded
from tests.conftest import Workbench
from workbench.campaign.registry import Campaign
from workbench.model.standing import Standing, State
from workbench.model.verdict import Verdict
from workbench.store.view import RunView

SERVER = Path(__file__).parent / "gated.py"
ANA = {"WORKBENCH_ACTOR": "ana"}
PASSED = {"metric": "gate_passed_total", "at_least": 1, "in": "both"}
CONFIRMS: dict[str, Any] = {
    "control": {"build": "broken"},
    "treatment": {"build": "fixed"},
    "put_back": {"control": {"build": "again"}, "treatment": {"build": "fixed"}},
}


def write(home: Path, name: str, document: dict[str, Any]) -> None:
    home.joinpath(name).parent.mkdir(exist_ok=True)
    home.joinpath(name).write_text(json.dumps(document, indent=1))  # JSON is YAML


def hypothesis(number: int, test: Any) -> dict[str, Any]:
    return {
        "schema": "workbench/hypothesis@1",
        "id": f"H{number}",
        "title": "The read path does not wait",
        "prediction": {"control": 0.5, "removes": True},
        "test": test,
    }


def suspect(home: Path, number: int, **test: Any) -> None:
    write(home, f"hypotheses/H0{number}-gate.yaml", hypothesis(number, {**CONFIRMS, **test}))


def run(workbench: Workbench, home: Path, *words: str) -> list[dict[str, Any]]:
    return records(workbench("test", *words, "--json", "--seed", "7", cwd=home, env=ANA))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign about a server that is started anew for each arm."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    folder = tmp_path / "c"
    folder.mkdir()
    levels = {name: name for name in ("broken", "fixed", "again")}
    spec = {
        "schema": "workbench/campaign@1",
        "title": "Garbled now and then",
        "symptoms": {
            "garbled": {
                "classifier": {"kind": "regex", "patterns": {"salad": "salad"}},
                "labels": ["salad"],
                "reference_rate": 0.5,
            }
        },
        "engine": "local",
        "engines": {
            "local": {
                "lifecycle": "process",
                "dialect": "openai",
                "components": {"server": {"argv": [sys.executable, str(SERVER), "{port}"]}},
            }
        },
        "workloads": {
            "asks": {
                "kind": "single",
                "prompt": "well?",
                "stream": False,
                "sessions": 30,
                "in_flight": 4,
            }
        },
        "knobs": {
            "build": {
                "kind": "env",
                "name": "BUILD",
                "levels": levels,
                "readback": {"server_info": "models.0.id"},
            },
            "gate": {
                "kind": "env",
                "name": "GATE",
                "levels": {"on": "on", "off": "off"},
                "moves": ["models.0.gate"],
            },
        },
    }
    write(folder, "campaign.yaml", spec)
    suspect(folder, 1, exposure=[PASSED, {"log": "through the gate", "at_least": 1, "in": "both"}])
    return folder


def standing(home: Path, id: str = "H1") -> Standing:
    return Campaign(home).registry.standings[id]


def test_removed_put_back_with_its_path_running_is_confirmed(workbench: Workbench, home: Path) -> None:
    refused = workbench("test", "H1", "--put-back", cwd=home, env=ANA)
    assert refused.returncode == 2
    assert "H1 was not removed yet, so it cannot be put back: no run has tried" in refused.stderr
    assert "workbench test H1" in refused.stderr

    (away,) = run(workbench, home, "H1")
    assert (away["verdict"], away["prediction"]) == ("present", "held")
    assert standing(home).state is State.SUPPORTED
    shown = succeeded(workbench("show", "H1", cwd=home))
    assert "(b) not put back: no run has tried" in " ".join(shown.split())
    assert shown.endswith("next: put it back, to confirm it\n  workbench test H1 --put-back\n")

    (back,) = run(workbench, home, "H1", "--put-back")
    assert back["verdict"] == "present"
    seen = standing(home)
    assert (seen.state, seen.grade) == (State.CONFIRMED, "intervened")
    assert "confirmed" in succeeded(workbench("list", cwd=home))
    succeeded(workbench("verify", cwd=home))

    told = [item.verdict.circumstances for item in seen.items if item.verdict is not None]
    assert [each.put_back for each in told if each] == [False, True]
    for each in told:
        assert each is not None
        assert each.reset == "a new process"
        assert [(one.what, one.control, one.treatment) for one in each.exposed] == [
            ("metric gate_passed_total", True, True),
            ("log 'through the gate'", True, True),
        ]
        assert each.starts == 4
        assert each.start_seconds
        assert each.planned
        assert each.began
        assert each.ended
        assert each.planned < each.began < each.ended
    assert seen.items[0].verdict is not None
    assert seen.items[0].verdict.arms["control"].load == {"in_flight": 4, "sessions": 30}

    (again,) = run(workbench, home, "H1", "--put-back")
    assert again["run"] != back["run"]
    assert again["blocks"] == back["blocks"]  # it began at its own beginning
    assert standing(home).state is State.CONFIRMED


def test_without_proof_that_the_path_ran_it_is_intervened_and_a_role_suggested(
    workbench: Workbench, home: Path
) -> None:
    gate = {"control": {"gate": "on"}, "treatment": {"gate": "off"}}
    suspect(home, 2, **gate, put_back=gate, exposure=[{**PASSED, "in": "control"}])
    for more in ((), ("--put-back",)):
        (given,) = run(workbench, home, "H2", *more)
        assert given["verdict"] == "present", given
    seen = standing(home, "H2")
    assert (seen.state, seen.grade) == (State.SUPPORTED, "intervened")
    assert (seen.role, seen.role_suggested) == ("exposer", True)
    shown = succeeded(workbench("show", "H2", cwd=home))
    assert "suggested role exposer" in shown
    assert "(c) its path is not shown" in " ".join(shown.split())
    assert shown.splitlines()[-1] == "  workbench edit H2"
    assert "removed and put back" in succeeded(workbench("tree", cwd=home))
    assert "removed and put back" in succeeded(workbench("status", cwd=home))


def test_what_was_not_removed_is_not_put_back(workbench: Workbench, home: Path) -> None:
    run(workbench, home, "H1")
    suspect(home, 1, put_back={"control": {"build": "again"}, "treatment": {"build": "broken"}})
    refused = workbench("test", "H1", "--put-back", cwd=home, env=ANA)
    assert refused.returncode == 2
    assert "its treatment is not the fixed setting, the treatment of the removal" in refused.stderr
    without = {"control": CONFIRMS["control"], "treatment": CONFIRMS["treatment"]}
    write(home, "hypotheses/H01-gate.yaml", hypothesis(1, without))
    text = (
        (home / "hypotheses/H01-gate.yaml").read_text().replace('"put_back": null', '"engine": "local"')
    )
    (home / "hypotheses/H01-gate.yaml").write_text(text)
    refused = workbench("plan", "H1", "--put-back", cwd=home, env=ANA)
    assert refused.returncode == 2
    assert "H1 cannot be put back: its test has no put_back" in refused.stderr
    assert len(list((home / "runs").iterdir())) == 1


def test_no_run_goes_on_from_one_that_puts_back_and_it_from_none(
    workbench: Workbench, home: Path
) -> None:
    """The arms of one suspect's put-back run are another's test: their blocks are never one process."""
    run(workbench, home, "H1")
    same = CONFIRMS["put_back"]
    suspect(home, 2, control=same["control"], treatment=same["treatment"])
    (back,) = records(workbench("test", "H1", "--put-back", "--json", cwd=home, env=ANA))
    (other,) = records(workbench("test", "H2", "--json", cwd=home, env=ANA))
    assert other["run"] != back["run"]
    served = [RunView.read(home / "runs" / each["run"]).manifest.serves[0] for each in (back, other)]
    assert [each.put_back for each in served] == [True, False]
    assert [each.earlier for each in served] == [(), ()]
    assert served[0].digest != served[1].digest


def test_a_put_back_run_that_was_stopped_is_resumed_as_what_it_is(
    workbench: Workbench, home: Path
) -> None:
    run(workbench, home, "H1")
    first = workbench(
        "test", "H1", "--put-back", "--max-blocks", "2", "--sessions", "2", "--json", cwd=home, env=ANA
    )
    assert first.returncode == 4
    given = json.loads(first.stdout.splitlines()[-1])
    assert given["verdict"] == "inconclusive"
    more = workbench(
        "test", "--resume", given["run"], "--max-blocks", "12", "--json", cwd=home, env=ANA
    )
    resumed = json.loads(more.stdout.splitlines()[-1])
    assert resumed["run"] == given["run"]
    assert resumed["blocks"] > given["blocks"]
    verdicts = [item.verdict for item in standing(home).items if item.verdict is not None]
    assert [each.put_back for each in verdicts] == [False, True, True]
    assert verdicts[1].verdict is Verdict.INCONCLUSIVE
    refused = workbench("test", "--resume", given["run"], "--put-back", cwd=home, env=ANA)
    assert refused.returncode == 2
    succeeded(workbench("verify", cwd=home))
