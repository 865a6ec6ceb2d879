"""What each suspect says of arms: which of them fail, by `fails_when` or by the making of its own test.

A hypothesis says by `fails_when` which arms fail: those that meet all of its conditions. Of a run it so
has a *pattern*: whether it says that the control fails, and whether the treatment does. Patterns are
three-valued: an arm that does not say how a named knob stands is met by nobody's guess.

    fails        M[h, arm]: does the suspect say that this arm fails?
    says         the pattern of a suspect on two arms
    pattern      the same on the arms of a verdict
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.model.event import ArmResult, VerdictGiven
from workbench.model.hypothesis import Hypothesis, levels_of
from workbench.model.standing import FALLEN, Standing

LOADS = ("in_flight", "sessions", "turns")
_CONDITION = re.compile(r"(>=|<=|>|<|=)?\s*([0-9]{1,18})")
Pattern = tuple[bool | None, bool | None]
UNKNOWN: Pattern = (None, None)
PATTERNS: tuple[Pattern, ...] = ((True, False), (True, True), (False, False), (False, True))
"""All patterns that are known: the control fails alone, both fail, neither, the treatment alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """What a suspect says of arms.

    Attributes:
        id: Its id.
        symptom: Its primary symptom: of runs on another one it says nothing.
        fails_when: Knob, or measure of load, to condition; an AND.
        control: Control of its own test, which by its making is the arm that fails; or empty.
        treatment: Treatment of its own test; or empty.
        live: It is not out.
    """

    id: str
    symptom: str = ""
    fails_when: Mapping[str, str] = field(default_factory=dict)
    control: Mapping[str, str] = field(default_factory=dict)
    treatment: Mapping[str, str] = field(default_factory=dict)
    live: bool = True


def fails(fails_when: Mapping[str, str], arm: ArmResult) -> bool | None:
    """Say whether a suspect says that an arm fails.

    Returns:
        True if the arm meets all conditions, False if it breaks one, None if there are none, or if the
        arm does not say how one of them stands and breaks no other.
    """
    if not fails_when:
        return None
    met = [_met(name, condition, arm) for name, condition in fails_when.items()]
    if False in met:
        return False
    return None if None in met else True


def pattern(claimed: Claimed, verdict: VerdictGiven) -> Pattern:
    """Give the pattern of a suspect on the arms of a verdict; see `says`."""
    control, treatment = verdict.arms.get("control"), verdict.arms.get("treatment")
    if control is None or treatment is None:
        return UNKNOWN
    own = verdict.hypothesis == claimed.id
    return says(claimed, control, treatment, verdict.symptom, own=own, put_back=verdict.put_back)


def says(
    claimed: Claimed,
    control: ArmResult,
    treatment: ArmResult,
    symptom: str,
    *,
    own: bool,
    put_back: bool = False,
) -> Pattern:
    """Say which of two arms fail, by a suspect.

    A suspect that states no `fails_when` still says that the control of its own test fails and its
    treatment does not. So does any suspect of the run that puts it back: there the cause stands at a
    level of its own.

    Args:
        claimed: The suspect.
        control: One arm; its counts do not matter.
        treatment: The other.
        symptom: What is watched.
        own: The run is made for this suspect.
        put_back: It puts a cause back.
    """
    if symptom and claimed.symptom and symptom != claimed.symptom:
        return UNKNOWN
    if own and (put_back or not claimed.fails_when):
        return (True, False)
    if claimed.fails_when:
        return fails(claimed.fails_when, control), fails(claimed.fails_when, treatment)
    same = (claimed.control, claimed.treatment) == (control.settings, treatment.settings)
    return (True, False) if claimed.control and same else UNKNOWN


def claims(
    suspects: Iterable[tuple[str, str, Hypothesis | None, Standing]],
) -> list[Claimed]:
    """Give what suspects say of arms, each by id, symptom, file and standing."""
    found = []
    for id, symptom, file, standing in suspects:
        test = file.test if file else None
        found.append(
            Claimed(
                id=id,
                symptom=symptom,
                fails_when=file.fails_when if file else {},
                control=test.control if test else {},
                treatment=test.treatment if test else {},
                live=standing.state not in FALLEN or standing.reopened,
            )
        )
    return found


def is_known(of: Pattern) -> bool:
    """Say whether a suspect says something of both arms."""
    return None not in of


def _met(name: str, condition: str, arm: ArmResult) -> bool | None:
    """Say whether an arm meets one condition: levels of a knob, or a bound on its load."""
    if name in arm.settings:
        return arm.settings[name] in levels_of(condition)
    found = _CONDITION.fullmatch(condition) if name in LOADS else None
    if found is None or name not in arm.load:
        return None
    have, bound = arm.load[name], int(found[2])
    return {
        ">=": have >= bound,
        "<=": have <= bound,
        ">": have > bound,
        "<": have < bound,
    }.get(found[1] or "=", have == bound)
