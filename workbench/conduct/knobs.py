"""Turns the knobs of a plan: from the settings of an arm to what becomes of a launch.

A plan keeps each knob as a part: its kind, the options of the plug-in, and beside them what belongs to
every knob, such as `levels`. Engines see none of that. They are handed a turn, which they
call for each component that they start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench import plugins
from workbench.errors import ArmCouldNotStart
from workbench.judge.readback import spelled
from workbench.model.campaign import Knob
from workbench.model.plan import Arm, Part
from workbench.ports import Checkout, KnobKind, Launch, Turn

LEVELS, COMPONENTS, READBACK, MOVES = "levels", "components", "readback", "moves"
NAMED = "named"  # levels as the campaign has them, of a knob whose levels were looked up since
_OF_EVERY_KNOB = (LEVELS, COMPONENTS, READBACK, MOVES, NAMED)


def part_of(knob: Knob, engine: str) -> Part:
    """Give the part that a plan keeps of a knob, as it is turned on one engine."""
    here = dict(knob.on.get(engine, {}))
    kind = here.pop("kind", knob.kind)
    levels = here.pop(LEVELS, knob.levels)
    components = here.pop(COMPONENTS, knob.components)
    readback = here.pop(READBACK, knob.readback)
    moves = here.pop(MOVES, knob.moves)
    options = here if kind != knob.kind else {**knob.options, **here}
    if components:
        options = {**options, COMPONENTS: list(components)}
    if readback:
        options = {**options, READBACK: dict(readback)}
    if moves:
        options = {**options, MOVES: list(moves)}
    return Part(kind=kind, options={**options, LEVELS: dict(levels)})


def value_of(part: Part, level: str) -> Any:
    """Give what a level of a knob stands for. Raises ValueError when there is no such level."""
    levels = part.options.get(LEVELS, {})
    if level not in levels:
        raise ValueError(f"it has no level {level!r}; known: {', '.join(map(str, levels)) or 'none'}")
    return levels[level]


Settle = Callable[[Arm, Launch], Launch]


def _as_it_is(_: Arm, launch: Launch) -> Launch:
    return launch


class Knobs:
    """The knobs of one plan, built.

    Args:
        parts: The plan's knobs by name.
        settle: Has the last word on each launch: says where the code lies that it is to run.

    Raises:
        PluginError: A kind is unknown, or refuses its options.
    """

    def __init__(self, parts: Mapping[str, Part], settle: Settle = _as_it_is) -> None:
        self._parts = parts
        self._settle = settle
        self._built = {name: _build(part) for name, part in parts.items()}

    def turn(self, arm: Arm) -> Turn:
        """Give the turn of an arm: what an engine calls for each component."""

        def turned(launch: Launch, component: str = "") -> Launch:
            try:
                return self._settle(arm, self.apply(arm, launch, component))
            except ValueError as error:
                raise ArmCouldNotStart(arm.name, str(error)) from error

        return turned

    @property
    def parts(self) -> Mapping[str, Part]:
        """The plan's knobs by name."""
        return self._parts

    def beside(self, arm: Arm) -> Launch:
        """Give what the knobs of an arm turn beside the engine: files, requests and load.

        Those belong to no component, so all knobs are worked in. What they make of command lines,
        environment and URL is a component's, and is left out.

        Raises:
            ValueError: As `apply`.
        """
        launch = Launch()
        for name in sorted(self._built.keys() & arm.settings.keys()):
            turned = self._applied(name, arm, launch)
            launch = Launch(edits=turned.edits, request=turned.request, load=turned.load)
        return launch

    def checkout(self, arm: Arm) -> Checkout | None:
        """Give the code that the knobs of an arm run it from; None if they leave that alone.

        Raises:
            ValueError: As `apply`.
        """
        launch = Launch()
        for name in self.of_code(arm):
            launch = Launch(checkout=self._applied(name, arm, launch).checkout)
        return launch.checkout

    def of_code(self, arm: Arm) -> list[str]:
        """Name the knobs of an arm that say which code it is run from; raises ValueError as `apply`."""
        return [
            name
            for name in sorted(self._built.keys() & arm.settings.keys())
            if self._applied(name, arm, Launch()).checkout is not None
        ]

    def beside_in_words(self, arm: Arm) -> dict[str, str]:
        """Give what the knobs of an arm turn beside the engine, as entries of a configuration."""
        beside = self.beside(arm)
        words = {f"request {name}": spelled(value) for name, value in beside.request.items()}
        words |= {f"load {name}": spelled(value) for name, value in beside.load.items()}
        for edit in beside.edits:
            words[f"edit {edit.path} {edit.key or edit.line}"] = spelled(edit.value)
        return words

    def apply(self, arm: Arm, launch: Launch, component: str = "") -> Launch:
        """Work the settings of an arm into a launch, knob by knob in order of their names.

        Raises:
            ValueError: A knob has no such level, or cannot be turned to it; names the knob.
        """
        for name in sorted(self._built.keys() & arm.settings.keys()):
            components = self._parts[name].options.get(COMPONENTS)
            if not components or component in components:
                launch = self._applied(name, arm, launch)
        return launch

    def _applied(self, name: str, arm: Arm, launch: Launch) -> Launch:
        try:
            return self._built[name].apply(value_of(self._parts[name], arm.settings[name]), launch)
        except ValueError as error:
            raise ValueError(f"knob {name}: {error}") from error


def _build(part: Part) -> KnobKind:
    own = {name: value for name, value in part.options.items() if name not in _OF_EVERY_KNOB}
    knob: KnobKind = plugins.build(plugins.Group.KNOB, Part(kind=part.kind, options=own))
    return knob
