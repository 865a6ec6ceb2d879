"""The record of the worked example, before anything is run: what three accounts tell, and no more.

They contradict each other, and the tool has to show that: a cause that was refuted by reading a line
and is held to be the root cause, a fix that was held to mend the root cause and mended nothing, two
impressive A/Bs that cannot tell the open suspects apart, three changes at once and no load run since.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import records, succeeded
from tests.conftest import ROOT, Workbench
from tests.example.copies import copied
from workbench.store import example

DEAD = "host_pool: size the index-key mirror by the device pool's dtype"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("example") / "demo")


@pytest.fixture
def states(workbench: Workbench, home: Path) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in records(workbench("list", "--json", cwd=home))}


def sha_of(home: Path, subject: str) -> str:
    said = subprocess.run(
        ["git", "log", "--format=%H %s", "main"],
        cwd=home / ".workbench/engine",
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return next(line[:40] for line in said.splitlines() if line[41:] == subject)


def test_the_files_are_sound_and_the_log_is_whole(workbench: Workbench, home: Path) -> None:
    assert succeeded(workbench("check", cwd=home)) == ""
    succeeded(workbench("verify", cwd=home))


def test_the_workbench_s_own_campaign_is_sound(workbench: Workbench) -> None:
    """The root of the project, with the runs that are recorded there."""
    assert succeeded(workbench("check", cwd=ROOT)) == ""
    succeeded(workbench("verify", cwd=ROOT))


def test_every_suspect_of_the_accounts_is_on_record(states: dict[str, dict[str, Any]]) -> None:
    titles = " ".join(each["title"] for each in states.values()).lower()
    for told in (
        *("without waiting", "does not manage", "a race", "elements", "host mirror", "overlapped"),
        *("topk-v2", "eagerly", "arrive damaged at decode", "token-granular", "page-aligned"),
        *("batch_decode", "custom sm120 kernels", "bf16 index keys bring", "pools are sized for fp8"),
        *("hierarchical cache brings", "before all of it has landed", "backups of one request"),
        *("reuses them by prefix", "without hicache"),
    ):
        assert told in titles, told


def test_states_are_those_that_the_accounts_leave(states: dict[str, dict[str, Any]]) -> None:
    found = {id: (each["state"], each["grade"]) for id, each in states.items()}
    assert found["H5"][0] == "contested"  # one account read a line, two explain
    assert found["H7"][0] == "contested"
    assert found["H9"] == ("overturned", "observed")
    assert found["H3"] == found["H4"] == ("supported", "compared")
    assert found["H16"] == ("supported", "observed")  # a real defect ...
    assert found["H17"][0] == "open"  # ... whose link to the symptom nobody has tested
    assert {found[id][0] for id in ("H18", "H19", "H20")} == {"open"}
    fallen = {id for id, (state, _) in found.items() if state == "falsified"}
    assert fallen == {"H1", "H2", "H6", "H8", "H10", "H11", "H12", "H13", "H14", "H15"}


def test_the_fix_that_fixed_nothing_is_dead_and_reverted(workbench: Workbench, home: Path) -> None:
    """The tool finds the revert, whose message names no id."""
    revert = sha_of(home, f'Revert "{DEAD}"')
    found = {each["commit"]: each for each in records(workbench("commits", "--json", cwd=home))}
    dead = found[sha_of(home, DEAD)]
    assert (dead["state"], dead["was_dead"], dead["effect"]) == ("reverted", True, "none")
    assert [each["commit"] for each in dead["reverted_by"]] == [revert]
    assert f"dead fix, reverted by {revert[:12]}" in succeeded(workbench("commits", cwd=home))


def test_what_nobody_has_shown_is_said(workbench: Workbench, home: Path) -> None:
    (status,) = records(workbench("status", "--json", cwd=home))
    assert status["deployed"].startswith("no run since the last change went live: setting hicache=off")
    ledger = succeeded(workbench("export", cwd=home))
    missing = ledger.partition("</a>Not verified")[2].partition("\n## ")[0]
    assert "0 diagnostic A/Bs" in missing
    assert "no run since the last change went live" in missing
    assert "no cause is confirmed" in ledger


def test_what_was_reported_stands_beside_what_is_counted_as_it_was_told(
    workbench: Workbench, home: Path
) -> None:
    """Per response, by no count: it is told with its source, and no interval is made of it."""
    symptom = next(
        line for line in succeeded(workbench("export", cwd=home)).split("\n") if "**Symptom**" in line
    )
    assert "garbled not counted in any test yet; reported: at 60" in symptom
    assert "12 to 18 % of tool calls (per response)" in symptom
    (status,) = records(workbench("status", "--json", cwd=home))
    told = {each["name"]: [seen["text"] for seen in each["reported"]] for each in status["symptoms"]}
    assert len(told["wedged"]) == 2
    assert "per response" in told["garbled"][0]


def test_the_runs_on_record_confirm_the_gate_and_no_other_suspect(workbench: Workbench) -> None:
    """What the runs at the root of the project come to, with every word recomputed from them."""
    found = {each["id"]: each for each in records(workbench("list", "--json", cwd=ROOT))}
    confirmed = {id for id, each in found.items() if each["state"] == "confirmed"}
    assert confirmed == {"H5"}
    for id in ("H3", "H4"):
        assert (found[id]["state"], found[id]["grade"]) == ("supported", "intervened")
        assert found[id]["role"] in ("contributing", "exposer")
        assert found[id]["role_suggested"]
    assert found["H9"]["state"] == "overturned"
    assert {found[id]["state"] for id in ("H1", "H10", "H11", "H12", "H17")} == {"falsified"}
    ledger = succeeded(workbench("export", cwd=ROOT))
    assert all(f'<a id="{id.lower()}"></a>' in ledger for id in found)


def test_the_two_strongest_comparisons_tell_no_suspects_apart(workbench: Workbench, home: Path) -> None:
    (matrix,) = records(workbench("matrix", "--json", cwd=home))
    assert matrix["diagnostic"] == 0
    alike = next(each for each in matrix["alike"] if "H3" in each)
    assert {"H3", "H4", "H5", "H7"} <= set(alike)


def test_next_proposes_what_tells_suspects_apart(workbench: Workbench, home: Path) -> None:
    """The gate, or one request in flight, before bf16 against fp8 or HiCache once more."""
    asked = records(workbench("next", "--json", cwd=home))
    assert {each["hypotheses"][0] for each in asked[:2]} == {"H5", "H7"}
    assert all(each["bits"] > 0 for each in asked)


def test_the_record_ends_where_runs_begin() -> None:
    lines = [b'{"kind":"note","x":1}\n', b'{"kind":"evidence"}\n', b'{"kind":"run"}\n']
    assert example.record(b"".join([*lines, b'{"kind":"note"}\n'])) == b"".join(lines[:2])
    assert example.record(lines[0]) == lines[0]
    assert example.record(b"") == b""
