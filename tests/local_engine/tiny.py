"""A history of a made-up engine of three files: a branch that is merged, one that is not, a tag."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from workbench.local_engine.history import patch
from workbench.local_engine.history.series import Commit, Series

BODY = [f"line_{number} = {number}\n" for number in range(30)]


def _text(*changes: tuple[int, str]) -> str:
    lines = list(BODY)
    for place, line in changes:
        lines[place] = line
    return "".join(lines)


SLOW, GATED, EXTRA, LATE = "fast = False\n", "gate()\n", "extra = 1\n", "late = True\n"

SHIPPED = {
    "README.md": "# Tiny\n",
    "minisgl/__init__.py": "",
    "minisgl/pool.py": _text((3, GATED), (20, EXTRA)),
    "minisgl/wörter.txt": "eins\x0czwei\u2028drei\n",
}

_ZONE = timezone(timedelta(hours=1))


def _commit(name: str, hour: int, **fields: object) -> Commit:
    return replace(
        Commit(
            name=name,
            author="Otter <otter@minisgl.example>",
            date=datetime(2026, 2, 3, hour, 30, tzinfo=_ZONE),
            message=f"pool: {name}\n\nBecause of ü.",
        ),
        **fields,  # type: ignore[arg-type]
    )


def _patch(old: dict[str, str], new: dict[str, str]) -> str:
    return patch.render(old, new)


_POOL = "minisgl/pool.py"
_PLAIN = {_POOL: _text((3, SLOW))}
_WITH_WORDS = {**_PLAIN, "minisgl/old.py": "gone = 1\n"}

SERIES = Series(
    commits=(
        _commit("base", 8, adds=("minisgl/*.py", "README.md"), tags=("v0.1",)),
        _commit("words", 9, adds=("minisgl/*.txt",)),
        _commit("drop-old", 10),
        _commit("extra", 11, on="words"),
        _commit("gate", 12),
        _commit("merge-extra", 13, merges="extra", tags=("0c16cace8",)),
        _commit("late", 14, on="gate"),
        _commit("later", 15, on="late", branches=("world/late",)),
    ),
    patches={
        "drop-old": _patch(_WITH_WORDS, _PLAIN),
        "extra": _patch(_PLAIN, {_POOL: _text((3, SLOW), (20, EXTRA))}),
        "gate": _patch(_PLAIN, {_POOL: _text((3, GATED))}),
        "late": _patch({_POOL: _text((3, GATED))}, {_POOL: _text((3, GATED), (10, LATE))}),
        "later": _patch(
            {_POOL: _text((3, GATED), (10, LATE))},
            {_POOL: _text((3, GATED), (10, LATE)), "minisgl/new.py": "new = 1\n"},
        ),
    },
)
