"""Is what runs what was checked out? Looked up in each start of an arm that runs from a worktree.

What an engine tells is compared: the commit, and digests of its files. What it does not tell is said
to be untold. What the kernel tells is always there: a process that runs neither in the worktree nor by
anything from it does not run that code, whatever it says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.judge.readback import find_key, same_commit
from workbench.model.start import UNTOLD, Reading
from workbench.ports import Component, Place

KEYS = ("code.commit", "commit", "git_commit", "git_sha")  # where engines tell it, unless a knob says
_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """The code that is to run.

    Attributes:
        about: What is read back, such as `knob build`.
        commit: Id of the commit.
        place: Where it is checked out.
        key: Key of the configuration that holds the commit; empty to look at those that are usual.
        components: Components that must run it; empty if any may.
    """

    about: str
    commit: str
    place: Place
    key: str = ""
    components: tuple[str, ...] = ()


def readings(due: Due, components: Mapping[str, Component]) -> tuple[Reading, ...]:
    """Give what the components of a start tell of their code, and what the kernel does."""
    named = {name: components[name] for name in due.components or components if name in components}
    running = {name: each for name, each in named.items() if runs_from(due.place, each)}
    lost = [name for name in named if name not in running] if due.components or not running else []
    found = [_process(due, name, runs_from(due.place, each)) for name, each in running.items()]
    found += [
        _process(due, name, named[name].cwd)
        for name in lost
        if named[name].pid is not None and named[name].argv  # else the kernel does not tell us
    ]
    return (*found, *_told(due, running or named))


def runs_from(place: Place, component: Component) -> str:
    """Give what shows that a process runs code of a worktree; empty if nothing does."""
    words = (component.cwd, *component.argv, *component.env.get("PYTHONPATH", "").split(os.pathsep))
    for word in words:
        for path in (word, os.path.realpath(word) if word.startswith("/") else ""):
            if path and (named := place.named(path)):
                return named
    return next((word for word in component.argv if place.folder in word), "")


def _process(due: Due, name: str, found: str) -> Reading:
    return Reading(
        about=due.about,
        source=_of("process", name),
        due="within the checkout",
        found=found,
        ok=bool(found) and (found.startswith("{checkout}") or due.place.folder in found),
    )


def _told(due: Due, components: Mapping[str, Component]) -> Iterator[Reading]:
    """Compare commit and files, where a component tells them."""
    told = False
    for name, each in components.items():
        for key in (due.key,) if due.key else KEYS:
            if sha := find_key(each.info, key):
                told = True
                ok = same_commit(sha, due.commit)
                source = _of(f"server_info {key}", name)
                yield Reading(about=due.about, source=source, due=due.commit, found=sha, ok=ok)
                yield from _files(due, name, each, key.rpartition(".")[0])
                break
    if not told:
        found, ok = ("", False) if due.key else (UNTOLD, True)
        source = f"server_info {due.key or KEYS[0]}"
        yield Reading(about=due.about, source=source, due=due.commit, found=found, ok=ok)


def _files(due: Due, name: str, component: Component, base: str) -> Iterator[Reading]:
    """Compare the digests of files that a component says it runs with the files that are there."""
    within = f"{base}." if base else ""
    prefix = f"{within}files."
    digests = {
        key[len(prefix) :]: value for key, value in component.info.items() if key.startswith(prefix)
    }
    if not digests:
        return
    root = component.info.get(f"{within}root", due.place.folder)
    wrong = [] if due.place.named(os.path.realpath(root)) else [f"they lie in {root}"]
    wrong += [path for path, sha in digests.items() if _sha256(Path(root) / path) != sha]
    found = f"{len(digests)} files, all the same"
    if wrong:
        found = f"other: {', '.join(wrong[:_SHOWN])}" + (", ..." if len(wrong) > _SHOWN else "")
    yield Reading(
        about=due.about,
        source=_of(f"server_info {prefix}*", name),
        due="the files of the checkout",
        found=found,
        ok=not wrong,
    )


def moves(key: str) -> Iterable[str]:
    """Give the keys of a configuration that tell of the code, and so may differ with it."""
    for each in (key,) if key else KEYS:
        base = each.rpartition(".")[0]
        yield each
        if base:
            yield f"{base}.*"


def _of(what: str, component: str) -> str:
    return f"{what} of {component}" if component else what


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
