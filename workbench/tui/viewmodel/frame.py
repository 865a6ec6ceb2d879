"""The line above every view and the line below it."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.model.run import RunState
from workbench.report.suspects import Roster
from workbench.report.text import columns, count, cut, inert

VIEWS = (
    ("1", "tree", "Tree"),
    ("2", "runs", "Runs"),
    ("3", "commits", "Commits"),
    ("4", "matrix", "Matrix"),
    ("5", "log", "Log"),
)
"""Key, name and title of each view."""


def above(suspects: Roster, view: str, width: int) -> str:
    """Write what campaign this is, what is going on, and which views there are."""
    tabs = " ".join(
        f"[{key} {title}]" if name == view else f" {key} {title} " for key, name, title in VIEWS
    )
    running = sum(run.state is RunState.RUNNING for run in suspects.registry.runs)
    title = inert(suspects.registry.spec.title) or "campaign without a title"
    going_on = f"{count(running, 'run')} going on" if running else ""
    room = width - columns(tabs) - (columns(going_on) + 2 if going_on else 0) - 2
    left = cut(title, room) if room >= 12 else ""
    line = "  ".join(filter(None, [left, going_on]))
    gap = max(width - columns(line) - columns(tabs), 1 if line else 0)
    return f"{line}{' ' * gap}{tabs}"


def below(suspects: Roster, words: str = "", matching: int | None = None, of: int = 0) -> str:
    """Write how many suspects stand where, what nobody has verified, and what a filter has left."""
    if words and matching is not None:
        return f"filter '{inert(words)}': {matching} of {of}; esc shows all"
    states = ", ".join(f"{many} {state}" for state, many in suspects.counts.items())
    parts = [states or "no suspects yet: a adds one"]
    unverified = sum(len(each.unverified) for each in suspects if not each.fallen)
    if unverified:
        parts.append(f"{unverified} unverified (u)")
    if suspects.registry.problems:
        parts.append(f"{count(len(suspects.registry.problems), 'problem')} in files (p)")
    return "; ".join(parts)


def copied(text: str, width: int) -> str:
    """Write what was copied; of a path that is too long, the end tells more."""
    said = f"copied: {inert(text)}"
    if columns(said) <= width:
        return said
    kept = len(said)
    while kept and columns(said[-kept:]) > width - columns("copied: ..."):
        kept -= 1
    return f"copied: ...{said[-kept:] if kept else ''}"


def wrong(suspects: Roster) -> tuple[str, ...]:
    """Write what is wrong in files, each with its place, its cause and what helps."""
    return tuple(map(str, suspects.registry.problems)) or ("nothing is wrong in files",)


def steps(keys: Sequence[tuple[str, str]], width: int) -> str:
    """Write the keys of a view, as many as there is room for; the last one stays, it shows them all."""
    *first, last = [f"{key} {what}" for key, what in keys]
    line = ""
    for each in first:
        if columns(line) + columns(each) + columns(last) + 4 > width:
            break
        line += f"{each}  "
    return line + last
