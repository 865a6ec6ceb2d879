"""Is what stands on disk in order: files that people write, the log's chain, every run's verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench import plugins
from workbench.campaign.registry import Campaign
from workbench.errors import PluginError, StoreError
from workbench.model.event import VerdictGiven
from workbench.model.hypothesis import Problem
from workbench.store.campaignfiles import read_files
from workbench.store.find import has_begun


def check(campaign: Campaign) -> tuple[Problem, ...]:
    """Give everything that is wrong in campaign, hypotheses and log, plug-in options included."""
    files = read_files(campaign.root, _options_of, _kinds_of)
    return (*files.problems, *campaign.log.problems)


def verify(campaign: Campaign, run: str | None = None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Recompute verdicts from the runs alone, and hold them against the log.

    Args:
        campaign: Whose.
        run: One run; None for the log's chain and all runs.

    Yields:
        What was looked at, and what differs there, nothing when all is well.
    """
    if run is not None:
        name = campaign.run_folder(run).name
        yield name, _differences(campaign, name)
        return
    yield "log", tuple(str(problem) for problem in campaign.log.problems)
    for line in campaign.run_lines:
        if line.problem and not has_begun(campaign.root / line.path):
            continue  # there is nothing in it to be wrong
        if line.problem or line.hypotheses:
            yield line.id, (line.problem,) if line.problem else _differences(campaign, line.id)
    known = {line.id for line in campaign.run_lines}
    for lost in sorted({verdict.run for verdict in _recorded(campaign)} - known):
        yield lost, ("the log has a verdict of this run, and its folder is missing",)


def json_schema(thing: str) -> dict[str, Any]:
    """Give the JSON Schema of a kind of file; raises UsageError when there is none of that name."""
    from workbench.store.schema import json_schema as schema

    return schema(thing)


def _differences(campaign: Campaign, run: str) -> tuple[str, ...]:
    ids = campaign.ids_on_record(run)
    recorded = [
        replace(verdict, hypothesis=ids.get(verdict.hypothesis, verdict.hypothesis))
        for verdict in _recorded(campaign)
        if verdict.run == run
    ]
    from workbench.campaign import testing  # judges, which takes longer to load than all checks

    try:
        return testing.verify(campaign.root, run, recorded)
    except StoreError as error:
        return (str(error),)


def _recorded(campaign: Campaign) -> list[VerdictGiven]:
    return [event.body for event in campaign.log.events if isinstance(event.body, VerdictGiven)]


def _kinds_of(group: str) -> list[str]:
    return plugins.names(plugins.Group(f"workbench.{group}"))


def _options_of(group: str, kind: str) -> type | None:
    try:
        return plugins.options_type(plugins.Group(f"workbench.{group}"), kind)
    except PluginError:
        return None
