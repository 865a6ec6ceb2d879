"""The worked example end to end, as `make demo` runs it: what it finds, and what it keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.campaigns import records, succeeded
from tests.conftest import Workbench

pytestmark = pytest.mark.quality

CLAIMED = ("H3", "H4", "H5", "H5", "H7")


def test_it_confirms_the_gate_and_goes_on_for_nothing(workbench: Workbench, tmp_path: Path) -> None:
    done = workbench("demo", "d", "--json", "--display", "none", timeout=900)
    assert done.returncode == 0, done.stderr
    measured, *verdicts, end = map(json.loads, done.stdout.splitlines())
    assert measured["counts"]["hit"] > 0
    assert [each["hypothesis"] for each in verdicts] == list(CLAIMED)
    assert {each["verdict"] for each in verdicts} == {"present"}
    assert {each["prediction"] for each in verdicts} == {"held"}
    assert 0 < end["first_verdict_seconds"] < end["seconds"]

    home = tmp_path / "d"
    stands = {each["id"]: each["state"] for each in records(workbench("list", "--json", cwd=home))}
    assert [id for id, state in stands.items() if state == "confirmed"] == ["H5"]
    assert stands["H3"] == stands["H4"] == "supported"
    assert stands["H9"] == "overturned"
    ledger = (home / "ledger.md").read_text()
    assert "[H5](#h5)" in ledger.partition("**Leading cause**")[2].partition("\n")[0]
    assert "**Safe today**: build gated, " in ledger
    assert "dead fix, reverted by" in ledger
    assert all(f'<a id="{id.lower()}">' in ledger for id in stands)
    succeeded(workbench("check", cwd=home))
    succeeded(workbench("verify", cwd=home))

    again = workbench("demo", "d", "--json", "--display", "none")
    assert again.returncode == 0, again.stderr
    *known, end = map(json.loads, again.stdout.splitlines())
    assert end["first_verdict_seconds"] is None
    runs = {each["run"] for each in verdicts}
    assert {each["run"] for each in known} <= runs
    assert len(records(workbench("runs", "--json", cwd=home))) == 5
