"""Guards of a start: what was brought up, and was it what the arm says, exercised and undisturbed?

Each takes facts that were read back and gives what is wrong. All of them make a run invalid (RULES 4).
None reads a label, and none is a matter of degree that counts could outweigh.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from workbench.model.run import Fingerprint
from workbench.model.start import Load, Reading
from workbench.model.verdict import Guard
from workbench.ports import CHECKOUT, Component, Sighting

LATE = 0.1  # seconds of mean lag from which the client's event loop is the bottleneck
REACHED = 0.9  # share of the sessions in flight that the server must have seen, by its own count
SAMPLED = 0.5  # the same where its requests were only looked at now and then
LOOKS = 20  # looks from which such a share says something
_TICK = 0.01  # seconds; the kernel tells no finer when a process began
_SHOWN = 5


def readbacks(arm: str, readings: Iterable[Reading]) -> tuple[Guard, ...]:
    """Name the knobs of an arm that did not take effect."""
    return tuple(
        Guard(
            name="readback-differs",
            detail=f"{arm}: {each.about}: {each.source} is {each.found or 'nowhere'}, not {each.due}",
        )
        for each in readings
        if not each.ok
    )


def exposure(arm: str, readings: Iterable[Reading]) -> tuple[Guard, ...]:
    """Name what the arm did not reach: there its numbers say nothing of the suspect."""
    return tuple(
        Guard(
            name="exposure-not-reached",
            detail=f"{arm}: {each.source} is {each.found or 'nowhere'}, not {each.due}",
        )
        for each in readings
        if not each.ok
    )


def same_effect(control: Fingerprint, treatment: Fingerprint) -> tuple[Guard, ...]:
    """Refuse two arms of which nothing that was read back differs, whatever they were started with."""
    if _effect(control) != _effect(treatment):
        return ()
    detail = (
        f"nothing that was read back of {control.arm} and {treatment.arm} differs;"
        " the knob has no effect, or needs a readback that shows it"
    )
    return (Guard(name="same-config", detail=detail),)


def elsewhere(
    control: Fingerprint,
    treatment: Fingerprint,
    moved: Iterable[str],
    *,
    code: bool = False,
    files: Collection[str] = (),
) -> tuple[Guard, ...]:
    """Refuse two arms that differ in more than the varied knob and what it moves.

    Args:
        control: What was read back of one arm.
        treatment: What was read back of the other.
        moved: Keys that may differ: of the varied knobs, and those that they say they move.
        code: The code that they run is what is varied.
        files: Files that may differ, since the varied knobs change them.
    """
    allowed = {_plain(key) for key in moved}
    differing = [
        key
        for key in sorted(control.config.keys() | treatment.config.keys())
        if _told(key)
        and control.config.get(key) != treatment.config.get(key)
        and not _is_allowed(_plain(key.partition(" info ")[2]), allowed)
    ]
    differing += [
        path
        for path in sorted(control.files.keys() | treatment.files.keys())
        if control.files.get(path) != treatment.files.get(path)
        if path not in files and not (code and path.startswith(f"{CHECKOUT}/"))
    ]
    if (
        not code
        and control.code
        and treatment.code
        and control.code.identity != treatment.code.identity
    ):
        differing.append("the code that they run")
    if not differing:
        return ()
    some = ", ".join(each.replace(" info ", " ").strip() for each in differing[:_SHOWN])
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    detail = (
        f"{control.arm} and {treatment.arm} also differ in {some}{more};"
        " name what belongs to the knob in its `moves`"
    )
    return (Guard(name="differs-elsewhere", detail=detail),)


def restarted(arm: str, before: Sighting, now: Sighting) -> tuple[Guard, ...]:
    """Name the components that somebody restarted while the arm was being driven."""
    return tuple(
        Guard(
            name="restarted",
            detail=f"{arm}: {_called(name)} was restarted by somebody else: {_process(then)}"
            f" is now {_process(now.components[name])}",
        )
        for name, then in before.components.items()
        if then.pid is not None
        and name in now.components
        and now.components[name].pid is not None
        and (then.pid, then.started) != (now.components[name].pid, now.components[name].started)
    )


def stale(arm: str, sighting: Sighting) -> tuple[Guard, ...]:
    """Name the components whose process is older than the files that it is taken to run."""
    return tuple(
        Guard(
            name="older-than-its-files",
            detail=f"{arm}: {_called(name)} runs since {_when(each.started)}, and its files were"
            f" changed at {_when(each.newest)}: it does not run them",
        )
        for name, each in sighting.components.items()
        if each.started is not None and each.newest is not None
        if each.newest > each.started + each.early + _TICK
    )


def bytecode(arm: str, found: Sequence[tuple[str, str]]) -> tuple[Guard, ...]:
    """Name bytecode that would be run and is not what its source says.

    Args:
        arm: The arm.
        found: Path, and what is wrong with it.
    """
    if not found:
        return ()
    shown = "; ".join(f"{path}: {why}" for path, why in found[:_SHOWN])
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    detail = f"{arm}: stale bytecode: {shown}{more}; remove it, and Python makes it anew"
    return (Guard(name="stale-bytecode", detail=detail),)


def load(arm: str, found: Load, lost: int, *, allow_foreign: bool) -> tuple[Guard, ...]:
    """Refuse a load that was not the one asked for, or not ours alone.

    Args:
        arm: The arm.
        found: What was sent and seen.
        lost: Exchanges that were given up: the server may have gone on with them for a while.
        allow_foreign: Others' requests do not matter.
    """
    return (
        *_bottleneck(arm, found),
        *(() if allow_foreign else _foreign(arm, found, lost)),
    )


def _bottleneck(arm: str, found: Load) -> Iterator[Guard]:
    if found.lag_mean >= LATE:
        yield Guard(
            name="client-bottleneck",
            detail=f"{arm}: the client was {found.lag_mean * 1000:.0f} ms late on average"
            f" ({found.lag_most * 1000:.0f} ms at most): the load was held up here",
        )
    due = min(found.asked, found.sessions)
    share = REACHED if found.exact else SAMPLED
    counted = found.server_peak is not None and (found.exact or found.samples >= LOOKS)
    if counted and found.server_peak is not None and found.server_peak < share * due:
        yield Guard(
            name="load-not-reached",
            detail=f"{arm}: the server saw at most {found.server_peak:g} requests in flight,"
            f" {due} were asked for",
        )


def _foreign(arm: str, found: Load, lost: int) -> Iterator[Guard]:
    sent = found.requests
    if found.server_peak is not None and found.server_peak > found.client_peak + lost:
        yield Guard(
            name="foreign-traffic",
            detail=f"{arm}: the server had {found.server_peak:g} requests in flight,"
            f" this run at most {found.client_peak}: others use it",
        )
    elif found.served is not None and found.served > sent:
        yield Guard(
            name="foreign-traffic",
            detail=f"{arm}: the server took {found.served:g} requests, this run sent {sent}:"
            " others use it",
        )


def comparable(sighting: Sighting) -> tuple[dict[str, str], dict[str, str]]:
    """Tell what is compared of a sighting from what is only recorded, by `COMPONENT info KEY`."""
    same: dict[str, str] = {}
    volatile: dict[str, str] = {}
    for name, each in sighting.components.items():
        for key, value in each.info.items():
            into = volatile if _is_volatile(key, sighting.volatile) else same
            into[f"{name} info {key}"] = value
        facts = {
            "url": each.url,
            "pid": "" if each.pid is None else str(each.pid),
            "started": "" if each.started is None else _when(each.started),
        }
        volatile |= {f"{name} {fact}".strip(): value for fact, value in facts.items() if value}
    return same, volatile


def _effect(found: Fingerprint) -> tuple[object, ...]:
    """Give what is known to differ of an arm: never what it was merely started with."""
    told = {key: value for key, value in found.config.items() if _told(key) or _beside(key)}
    read = [each.found for each in found.start.readbacks] if found.start else []
    return told, read, found.files, found.code.identity if found.code else ()


def _told(key: str) -> bool:
    return " info " in key


def _beside(key: str) -> bool:
    return key.startswith(("request ", "load ", "edit ")) or key == "url"


def _plain(key: str) -> str:
    return re.sub(r"[^a-z0-9.*?\[\]]+", "_", key.lower()).strip("_")


def _is_allowed(key: str, allowed: Iterable[str]) -> bool:
    """A key is meant by its whole name, by the end of it, or by a pattern."""
    return any(fnmatchcase(key, each) or fnmatchcase(key, f"*.{each}") for each in allowed)


def _is_volatile(key: str, patterns: Iterable[str]) -> bool:
    last = key.rpartition(".")[2]
    return any(fnmatchcase(key, each) or fnmatchcase(last, each) for each in patterns)


def _called(name: str) -> str:
    return f"component {name}" if name else "the engine"


def _process(component: Component) -> str:
    return f"pid {component.pid} of {_when(component.started)}"


def _when(at: float | None) -> str:
    return "?" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
