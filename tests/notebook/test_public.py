"""The public interface: its names, how it shows itself, and what is loaded for that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.conftest import ROOT, Workbench
from workbench.errors import UsageError
from workbench.notebook import Campaign, Hypothesis, Run

HEAVY = {"pandas", "pyarrow", "matplotlib", "numpy", "scipy", "IPython", "git", "httpx", "pydantic"}


def loaded(code: str) -> set[str]:
    """Give the packages that a fresh interpreter has loaded after some code."""
    tell = "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    probe = f"import json, sys\n{code}\n{tell}"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_its_names_are_these() -> None:
    names = {"open", "compare", "relabel", "Campaign", "Hypothesis", "Run", "__version__"}
    assert set(wb.__all__) == names
    assert names <= set(dir(wb))
    assert {name for name in dir(Campaign) if not name.startswith("_")} == {
        *("html", "lines", "tree", "matrix", "next", "check", "export", "plot", "files", "registry"),
        *("hypotheses", "runs", "arms", "verdicts", "commits", "trials", "exchanges"),
    }
    assert {name for name in dir(Hypothesis) if not name.startswith("_")} == {
        *("html", "lines", "plan", "test", "atest", "runs", "standing", "state"),
    }
    assert {name for name in dir(Run) if not name.startswith("_")} == {
        *("html", "lines", "id", "snapshot", "verdicts", "summary", "plot", "failures"),
        *("trials", "exchanges"),
    }
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'"):
        _ = wb.xyzzy


def test_what_is_looked_at_without_numbers_loads_none(example: Path) -> None:
    _ = Campaign(example).registry  # files that have changed are read by what checks them
    looks = "c = workbench.open({!r}); repr(c), c._repr_html_(), repr(c.tree), c.tree._repr_html_()"
    found = loaded("import workbench; " + looks.format(str(example)))
    assert found & HEAVY == set()


def test_a_frame_loads_no_plots_and_no_notebook(example: Path) -> None:
    found = loaded(f"import workbench; workbench.open({str(example)!r}).trials")
    assert found & {"matplotlib", "IPython", "httpx"} == set()
    assert "pandas" in found


def test_it_shows_what_the_command_line_prints(campaign: Campaign, workbench: Workbench) -> None:
    for verb, shown in (
        (("status",), campaign),
        (("tree",), campaign.tree),
        (("matrix",), campaign.matrix()),
        (("next",), campaign.next()),
        (("show", "H6"), campaign["H6"]),
        (("tree", "--mermaid"), campaign.tree.mermaid()),
    ):
        assert workbench(*verb, cwd=campaign.root).stdout.splitlines() == str(shown).splitlines(), verb


def test_a_campaign_is_opened_from_anywhere_in_it(campaign: Campaign, tmp_path: Path) -> None:
    assert wb.open(campaign.root / "runs").root == campaign.root
    with pytest.raises(UsageError):
        wb.open(tmp_path)


def test_what_is_in_it_is_found_by_name(campaign: Campaign) -> None:
    run = campaign["hffc6n3b"]
    assert isinstance(run, Run)
    assert run.id == "20261130T171218Z-hffc6n3b"
    assert run.verdicts == {"H6": "not-reproduced"}
    assert str(run).startswith("not-reproduced\n")
    suspect = campaign["h6"]
    assert isinstance(suspect, Hypothesis)
    assert [each.id for each in suspect.runs] == [run.id]
    for name in ("H99", "nothing-of-that-name"):
        with pytest.raises(KeyError):
            campaign[name]


def test_runs_are_compared_and_labelled_again(campaign: Campaign) -> None:
    first, second = campaign["hffc6n3b"], campaign["y7u4hjql"]
    assert isinstance(first, Run)
    assert isinstance(second, Run)
    (record,) = wb.compare(second, str(first.path)).records
    assert record["kinship"] == "other-tests"
    assert "Nothing was written" in str(wb.relabel(first))


def test_the_ledger_is_the_one_of_the_command_line(
    campaign: Campaign, workbench: Workbench, tmp_path: Path
) -> None:
    for ending in ("md", "json"):
        path = campaign.export(tmp_path / f"LEDGER.{ending}")
        printed = workbench("export", "--format", ending, cwd=campaign.root).stdout
        assert path.read_text() == printed
    with pytest.raises(UsageError, match="no form"):
        campaign.export(tmp_path / "LEDGER.doc")


def test_mistakes_in_files_are_named(campaign: Campaign, tmp_path: Path) -> None:
    assert campaign.check().records == []
    (tmp_path / "campaign.yaml").write_text("schema: workbench/campaign@1\ntitle: [\n")
    found = Campaign(tmp_path).check()
    assert [record["file"] for record in found.records] == ["campaign.yaml"]
    assert str(found).startswith("campaign.yaml:")


def test_mermaid_is_offered_to_who_draws_it(campaign: Campaign) -> None:
    bundle = campaign.tree.mermaid()._repr_mimebundle_()
    assert bundle["text/vnd.mermaid"] == bundle["text/plain"] == str(campaign.tree.mermaid())
