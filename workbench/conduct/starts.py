"""The starts of a run: each is looked at before and after its load, put on record, and guarded.

What was asked for is one thing, and what is running another. So nothing is sent before the settings
of an arm have been read back, and nothing that was sent counts when the suspect's path was not
exercised, when somebody else used or restarted the engine, or when the client held the load up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.conduct import codeback
from workbench.conduct.codeback import Due
from workbench.conduct.knobs import COMPONENTS, MOVES, READBACK
from workbench.conduct.meter import Meter
from workbench.conduct.readback import Lookup
from workbench.conduct.sources import Sources
from workbench.errors import EngineError
from workbench.judge import guards, starts
from workbench.judge.readback import CHECKOUT, SERVER_INFO
from workbench.model.hypothesis import differing
from workbench.model.plan import Arm, Part, Plan
from workbench.model.run import Fingerprint
from workbench.model.start import Exposure, Reading, Start
from workbench.model.verdict import Comparison, Guard
from workbench.ports import Engine, Sighting
from workbench.store import RunFolder


class Starts:
    """Looks at the starts of a run.

    Args:
        plan: The run's plan.
        folder: Where they are put on record.
        engine: The engine.
        sources: The code of the arms.
        planned: What each arm would run, read back before anything was started.
        sends: The workload tells of every request that it sends.
    """

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        engine: Engine,
        sources: Sources,
        planned: Mapping[str, Fingerprint],
        *,
        sends: bool,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._engine = engine
        self._sources = sources
        self._planned = planned
        self._allow_foreign = plan.allow_foreign or not sends
        self._first = {each.arm: each for each in folder.fingerprints() if each.start is not None}
        self._sighting: Sighting | None = None
        self._found: Fingerprint | None = None

    async def up(self, arm: Arm, start: Start) -> Sequence[Guard]:
        """Look at an arm that is up and has been sent nothing; give what makes the run invalid.

        Raises:
            EngineError: It does not answer.
        """
        self._sighting, self._found = await self._engine.look(), None
        stale = starts.bytecode(arm.name, await self._sources.stale(arm, self._sighting))
        if self._sighting is None:
            return stale
        readbacks = await self._lookup(arm, self._sighting).readbacks(arm, self._plan.knobs)
        start = replace(start, readbacks=(*readbacks, *self._of_code(arm, self._sighting)))
        same, volatile = starts.comparable(self._sighting)
        planned = self._planned[arm.name]
        files = {
            path: sha for each in self._sighting.components.values() for path, sha in each.files.items()
        }
        self._found = replace(
            planned,
            config={**planned.config, **same},
            volatile={**planned.volatile, **volatile},
            files={**planned.files, **files},
            start=start,
        )
        self._folder.write_fingerprint(self._found, start.block)
        recorded = self._folder.as_recorded(self._found)
        tripped = [
            *starts.readbacks(arm.name, start.readbacks),
            *stale,
            *starts.stale(arm.name, self._sighting),
            *self._against_others(recorded),
        ]
        self._first.setdefault(arm.name, recorded)
        return tripped

    async def over(self, arm: Arm, meter: Meter, died: str) -> Sequence[Guard]:
        """Look at it again after its load."""
        if self._sighting is None or self._found is None or self._found.start is None:
            return ()
        metrics = meter.metrics()
        asked = self._asked(arm.name)
        start = replace(
            self._found.start,
            load=meter.load,
            metrics=metrics,
            died=died,
            exposure=self._lookup(arm, self._sighting).exposure(asked, metrics),
        )
        self._found = replace(self._found, start=start)
        self._folder.write_fingerprint(self._found, start.block)
        if died and not self._engine.disturbs:  # it was not ours, so somebody has taken it down
            return (Guard(name="restarted", detail=f"{arm.name}: {died}"),)
        if died:  # whatever it did not reach by then is the fault of that
            return ()
        return [
            *await self._disturbed(arm.name),
            *starts.load(arm.name, meter.load, meter.lost, allow_foreign=self._allow_foreign),
            *starts.exposure(arm.name, start.exposure),
        ]

    async def _disturbed(self, arm: str) -> tuple[Guard, ...]:
        assert self._sighting is not None
        try:
            now = await self._engine.look()
        except EngineError as error:
            detail = f"{arm}: it does not answer any more: {error.what}"
            return (Guard(name="restarted", detail=detail),)
        return starts.restarted(arm, self._sighting, now) if now else ()

    def _against_others(self, found: Fingerprint) -> Iterable[Guard]:
        """Hold a start against the first of its arm, and of the arms that it is compared with."""
        if found.arm in self._first:
            yield from guards.changed(self._first[found.arm], found)
        for comparison in self._plan.comparisons:
            pair = (comparison.control, comparison.treatment)
            if found.arm not in pair or comparison.hypothesis is None:
                continue
            there = {**self._first, found.arm: found}
            if all(name in there for name in pair):
                control, treatment = (there[name] for name in pair)
                varied = self._varied(comparison)
                yield from starts.same_effect(control, treatment)
                yield from starts.elsewhere(
                    control,
                    treatment,
                    self._moved(comparison),
                    code=bool(varied & self._code_knobs(comparison)),
                    files={
                        name
                        for arm in pair
                        for name in self._sources.changed_by(self._plan.arm(arm), varied)
                    },
                )

    def _moved(self, comparison: Comparison) -> set[str]:
        """Give the keys that may differ between two arms, by the knobs that they set differently."""
        varied, of_code = self._varied(comparison), self._code_knobs(comparison)
        keys = {key for name in varied for key in _keys_of(self._plan.knobs[name])}
        for name in varied & of_code:
            keys.update(codeback.moves(_code_key(self._plan.knobs[name])))
        return keys

    def _varied(self, comparison: Comparison) -> set[str]:
        """Name the knobs that two arms set differently."""
        control, treatment = (
            self._plan.arm(name).settings for name in (comparison.control, comparison.treatment)
        )
        return {name for name in differing(control, treatment) if name in self._plan.knobs}

    def _code_knobs(self, comparison: Comparison) -> set[str]:
        """Name the knobs of two arms that say which code is run."""
        pair = (comparison.control, comparison.treatment)
        return {name for arm in pair for name in self._sources.of_code(self._plan.arm(arm))}

    def _of_code(self, arm: Arm, sighting: Sighting) -> tuple[Reading, ...]:
        """Read back whether what runs is what was checked out for an arm."""
        knobs, code = self._sources.of_code(arm), self._planned[arm.name].code
        place = self._sources.place(arm)
        if not knobs or code is None or place is None:
            return ()
        parts = [self._plan.knobs[name] for name in knobs]
        due = Due(
            about=f"knob {' and '.join(knobs)}",
            commit=code.commit or "",
            place=place,
            key=next(filter(None, map(_code_key, parts)), ""),
            components=tuple(name for part in parts for name in part.options.get(COMPONENTS, ())),
        )
        return codeback.readings(due, sighting.components)

    def _lookup(self, arm: Arm, sighting: Sighting) -> Lookup:
        return Lookup(sighting, self._root, self._sources.place(arm))

    def _asked(self, arm: str) -> list[Exposure]:
        """Give the exposures that an arm must reach, each once."""
        asked: dict[Exposure, None] = {}
        for each in self._plan.comparisons:
            roles = [role for role in ("control", "treatment") if getattr(each, role) == arm]
            if roles:
                asked |= dict.fromkeys(one for one in each.exposure if one.where in ("both", *roles))
        return list(asked)

    @property
    def _root(self) -> Path:
        return Path(str(self._plan.engine.options.get("cwd") or "."))


def _keys_of(part: Part) -> Iterable[str]:
    """Give the keys of a configuration that belong to a knob: what it moves, and what it is called."""
    yield from map(str, part.options.get(MOVES, ()))
    readback = part.options.get(READBACK, {})
    if SERVER_INFO in readback:
        yield str(readback[SERVER_INFO])
    for name in ("flag", "name"):
        if isinstance(part.options.get(name), str):
            yield str(part.options[name])


def _code_key(part: Part) -> str:
    """Give the key that a knob names for what an engine says of its code; empty for none."""
    return str(part.options.get(READBACK, {}).get(CHECKOUT, ""))
