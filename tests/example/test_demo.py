"""`workbench demo` before it runs anything: what it copies, where, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, Workbench
from workbench.campaign import demo
from workbench.errors import UsageError
from workbench.store import example


def test_a_copy_is_a_campaign_with_the_record_and_no_runs(tmp_path: Path) -> None:
    campaign, again = demo.prepare(tmp_path / "demo")
    assert not again
    assert not campaign.files.problems
    assert len(campaign.registry.hypotheses) == 21
    assert campaign.run_lines == ()
    assert {event.kind for event in campaign.log.events}.isdisjoint({"run", "verdict"})
    for name in ("AGENTS.md", ".gitignore", ".gitattributes"):
        assert (tmp_path / "demo" / name).is_file()


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    demo.prepare(tmp_path / "demo")
    _, again = demo.prepare(tmp_path / "demo")
    assert again


def test_what_is_there_is_left_alone(tmp_path: Path, workbench: Workbench) -> None:
    (tmp_path / "mine.txt").write_text("work of mine")
    with pytest.raises(UsageError, match="is not empty"):
        demo.prepare(tmp_path)
    assert workbench("init", "other").returncode == 0
    with pytest.raises(UsageError, match="another campaign"):
        demo.prepare(tmp_path / "other")
    refused = workbench("demo", "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "name a folder that is not there yet" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "other"]


def test_every_suspect_with_a_test_is_run_in_full(tmp_path: Path) -> None:
    """And every put-back that its file plans, after the removal."""
    campaign, _ = demo.prepare(tmp_path / "demo")
    steps = demo.steps(full=True)
    tested = [id for step in steps if not step.put_back for id in step.ids]
    back = [id for step in steps if step.put_back for id in step.ids]
    files = {each.id: each for each in campaign.registry.hypotheses}
    assert sorted(tested) == sorted(id for id, each in files.items() if not each.missing)
    planned = {id for id, each in files.items() if each.test and each.test.put_back}
    assert set(back) == planned
    for id in back:
        removal = next(i for i, step in enumerate(steps) if id in step.ids and not step.put_back)
        assert removal < next(i for i, step in enumerate(steps) if id in step.ids and step.put_back)
    assert steps[: len(demo.DECIDING)] == demo.steps(full=False)


def test_the_example_of_a_clone_is_its_own_campaign() -> None:
    assert example.source() == ROOT
