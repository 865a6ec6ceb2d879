"""How the run behind a verdict came about, from its folder and those of the runs that it goes on from.

All of it was put on record while the run went on: when it was planned and opened, what lay between its
starts, and whether each start exercised what the test asked for. A start whose engine died is left out
here, as it is by the guards: what it did not reach is the fault of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from workbench.conduct.earlier import Past
from workbench.model.event import Circumstances, Exposed
from workbench.model.plan import Cluster, Plan
from workbench.model.run import Fingerprint, Served
from workbench.model.start import Exposure, Reading, Start
from workbench.model.verdict import Comparison
from workbench.store import RunView

EACH_ANEW = "a process of its own for each session"
_ROLES = ("control", "treatment")


def circumstances(view: RunView, served: Served, comparison: Comparison, past: Past) -> Circumstances:
    """Give how a run came about, for one of the hypotheses that it serves.

    Args:
        view: The run.
        served: The hypothesis.
        comparison: What was judged for it.
        past: The runs beside it.

    Raises:
        StoreError: An earlier run that it goes on from is missing.
    """
    manifest = view.manifest
    own = [each.start for each in view.fingerprints() if each.start is not None]
    ready = [start.ready_seconds for start in own]
    return Circumstances(
        put_back=served.put_back,
        planned=manifest.created,
        began=next((event.at for event in view.events() if event.kind == "opened"), None),
        ended=max((sample.at for sample in view.samples()), default=None),
        reset=_reset(manifest.plan, own, comparison),
        exposed=tuple(_exposed(comparison, list(_sides(view, served, comparison, past)))),
        starts=len(own),
        start_seconds=round(sum(ready) / len(ready), 3) if ready else None,
    )


def _reset(plan: Plan, starts: Iterable[Start], comparison: Comparison) -> str:
    """Say what lay between the starts of both arms; nothing, where one of them does not say."""
    if plan.rules.cluster is Cluster.TRIAL:
        return EACH_ANEW
    pair = (comparison.control, comparison.treatment)
    told = [start.reset for start in starts if start.arm in pair]
    return ", ".join(dict.fromkeys(told)) if told and all(told) else ""


Side = Mapping[str, list[Start]]  # role of an arm to its starts in one run


def _sides(view: RunView, served: Served, comparison: Comparison, past: Past) -> Iterator[Side]:
    """Yield the starts of each run that the verdict counts, by the role that their arm has there."""
    yield _by_role(view.fingerprints(), comparison)
    for each in served.earlier:
        found = past.run(each.run).comparison(served.digest)
        if found is not None:
            there: Path = view.path.parent / each.run
            yield _by_role(RunView.read(there).fingerprints(), found)


def _by_role(fingerprints: Iterable[Fingerprint], comparison: Comparison) -> Side:
    found = [each.start for each in fingerprints if each.start is not None and not each.start.died]
    names = {"control": comparison.control, "treatment": comparison.treatment}
    return {role: [start for start in found if start.arm == name] for role, name in names.items()}


def _exposed(comparison: Comparison, sides: list[Side]) -> Iterator[Exposed]:
    """Yield what was to be reached at least; a bound from above proves nothing of a path."""
    for asked in comparison.exposure:
        if asked.at_least is None or asked.at_least <= 0:
            continue
        reached = {role: _reached(asked, role, sides) for role in _ROLES}
        yield Exposed(what=_named(asked), **reached)


def _reached(asked: Exposure, role: str, sides: list[Side]) -> bool | None:
    """Say whether an arm reached an exposure in all runs; None if one of them did not look."""
    found: list[bool] = []
    for side in sides:
        readings = [each for start in side[role] for each in start.exposure if _is_of(each, asked)]
        if not readings:
            return None
        found += [each.ok for each in readings]
    return all(found)


def _named(asked: Exposure) -> str:
    if asked.metric:
        return f"metric {asked.metric}"
    return f"log {asked.log!r}" + (f" of {asked.component}" if asked.component else "")


def _is_of(reading: Reading, asked: Exposure) -> bool:
    """Say whether a reading is of an exposure; a metric that was not there names one that was."""
    what = _named(asked)
    return reading.source == what or reading.source.startswith(f"{what} (")
