"""Changes that belong to a hypothesis: what they are to it, where they stand, what they did."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_SETTING = re.compile(r"[A-Za-z0-9][\w.-]*=[^\s=]+(?: [A-Za-z0-9][\w.-]*=[^\s=]+)*", re.ASCII)


class LinkRole(StrEnum):
    """What a commit is to a hypothesis; all but a cause are interventions."""

    CAUSE = "cause"
    FIX = "fix"
    MITIGATION = "mitigation"
    INSTRUMENT = "instrument"
    REVERT = "revert"


class InterventionState(StrEnum):
    """Where a change stands."""

    PLANNED = "planned"
    LIVE = "live"
    REVERTED = "reverted"
    DEAD = "dead"  # still in the tree, and its hypothesis fell


class Effect(StrEnum):
    """What a change did to the symptom."""

    FIXED = "fixed"
    REDUCED = "reduced"
    GUARDED = "guarded"
    NONE = "none"
    UNMEASURED = "unmeasured"


def setting_name(setting: Mapping[str, str]) -> str:
    """Name a change of settings: `hicache=off`. No name of a commit has such a sign."""
    return " ".join(f"{knob}={level}" for knob, level in sorted(setting.items()))


def is_setting(name: str) -> bool:
    """Say whether a change is one of settings, of which git knows nothing."""
    return _SETTING.fullmatch(name) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Linked:
    """A commit or a change of settings, as the campaign knows it: from its file and from the log.

    Attributes:
        commit: The commit, as it was named first; or the settings, see `setting_name`.
        role: What it is to the hypothesis; `change` when nobody has said.
        state: State that was noted last; empty if none was.
        effect: Effect that was noted last.
        because: What was noted with it.
        noted_dead: Somebody noted at some time that it was dead.
    """

    commit: str
    role: str
    state: str = ""
    effect: str = Effect.UNMEASURED.value
    because: str = ""
    noted_dead: bool = False
