"""The rich campaign with commits linked, and a history with one of all that git can say of them."""

from __future__ import annotations

from dataclasses import replace

from tests.report.campaign import START, Log
from workbench.model.commits import (
    Clue,
    Commit,
    CommitStanding,
    FileStanding,
    History,
    How,
    LeftOver,
    LeftOvers,
    Match,
    Presence,
    RevertKind,
    Undoing,
)
from workbench.model.event import InterventionNoted, Link
from workbench.model.registry import Registry

HEAD = "f" * 40
DEAD_FIX = "0c16cace8" * 4  # H5 fell, and its file names this one
DIGITS = {
    "cause": "1",
    "innocent": "2",
    "revert": "3",
    "half": "4",
    "guard": "5",
    "probe": "6",
    "elsewhere": "7",
    "picked": "8",
    "relanded": "9",
    "binary": "a",
    "other": "b",
}
SHA = {name: digit * 40 for name, digit in DIGITS.items()}
_SUBJECTS = {
    "cause": "indexer: keep index keys as bf16",
    "innocent": "host_pool: say which class mirrors a pool, and its item size",
    "revert": 'Revert "host_pool: size the index-key mirror by the dtype of the pool of the device"',
    "half": "pools: let the indexer wait for its layer, and count the waits",
    "guard": "launch: refuse bf16 with hicache",
    "probe": "log loads under SGLANG_DEBUG_INDEX_K=1",
    "elsewhere": "a fix on a branch",
    "picked": "the same fix, picked",
    "relanded": "indexer: the topk of the second version, again",
    "binary": "tables: new ones",
    "other": "sizes: one place for them",
}
_ALL = Clue(how=How.LINES, detail="8 of 8 lines taken back, which are 8 of its own 8")
REVERTED_BY = Match(
    commit=SHA["revert"],
    clues=(
        Clue(how=How.TITLE, detail='its title names "host_pool: size the index-key mirror"'),
        Clue(how=How.PATCH_ID, detail="its change is that one's, turned round"),
        _ALL,
    ),
    coverage=1.0,
    purity=1.0,
)


def commit(name: str) -> Commit:
    subject = _SUBJECTS.get(name, "host_pool: size the index-key mirror by the dtype of the pool")
    return Commit(
        sha=SHA.get(name, DEAD_FIX + "0c16"), parents=(HEAD,), author="ana", at=START, subject=subject
    )


def file(path: str, presence: Presence, kept: float = 1.0, **given: object) -> FileStanding:
    more = {"restored": False, **given}
    return FileStanding(path=path, presence=presence, kept=kept, **more)  # type: ignore[arg-type]


def stands(name: str, presence: Presence, *files: FileStanding, **given: object) -> CommitStanding:
    named = SHA.get(name, DEAD_FIX)
    more = {"named": named, "commit": commit(name), "at": HEAD, **given}
    return CommitStanding(presence=presence, files=files, **more)  # type: ignore[arg-type]


_STANDINGS = (
    stands(
        "dead",
        Presence.REVERTED,
        file("mem/host_pool.py", Presence.REVERTED, 0.0, restored=True, later=(SHA["innocent"],)),
        reverted_by=(REVERTED_BY,),
        checkout_would_lose=(SHA["innocent"],),
    ),
    stands(
        "cause",
        Presence.LIVE,
        file("mem/index_key.py", Presence.LIVE, later=(SHA["innocent"], SHA["other"])),
        checkout_would_lose=(SHA["innocent"], SHA["other"]),
        taken_back_safely=False,
        link=f"https://github.com/ana/engine/commit/{SHA['cause']}",
    ),
    stands(
        "half",
        Presence.PARTLY,
        file("pools.py", Presence.LIVE),
        file("counts.py", Presence.PARTLY, 0.4),
        reverted_by=(replace(REVERTED_BY, clues=(_ALL,), coverage=0.6, purity=0.2),),
        taken_back_safely=True,
    ),
    stands("guard", Presence.LIVE, file("launch.py", Presence.LIVE), taken_back_safely=True),
    stands("probe", Presence.LIVE, file("logs.py", Presence.LIVE), taken_back_safely=True),
    stands("elsewhere", Presence.LIVE, picked=SHA["picked"], taken_back_safely=True),
    stands(
        "relanded",
        Presence.LIVE,
        file("topk.py", Presence.LIVE),
        reverted_by=(replace(REVERTED_BY, commit=SHA["other"]),),
        remade_by=(Match(commit=SHA["picked"], clues=(_ALL,), coverage=0.9, purity=0.8),),
        taken_back_safely=True,
    ),
    stands(
        "revert",
        Presence.LIVE,
        undoing=Undoing(
            commit=SHA["revert"],
            kind=RevertKind.FULL,
            matches=(replace(REVERTED_BY, commit=commit("dead").sha),),
        ),
        taken_back_safely=True,
    ),
    stands(
        "binary",
        Presence.UNKNOWN,
        file("t.bin", Presence.UNKNOWN, 0.0, problem="a binary file that was changed since"),
        problem="a binary file that was changed since",
        undoing=Undoing(
            commit=SHA["binary"], kind=RevertKind.UNKNOWN, because="it names nothing that is there"
        ),
    ),
    CommitStanding(
        named=SHA["other"], commit=None, at=HEAD, problem="no commit is named 'bbbbbbb'; known: main"
    ),
    stands("picked", Presence.ABSENT),
)
HISTORY = History(
    at=HEAD,
    name="HEAD",
    commits={each.named: each for each in _STANDINGS},
    facts=("shallow",),
    subjects={
        **{SHA[name]: text for name, text in _SUBJECTS.items()},
        commit("dead").sha: "the mirror",
    },
)
NO_GIT = History(at="", name="", problem="there is no git repository at HOME")
_LINKS = (
    ("H2", "cause", "cause", ""),
    ("H1", "half", "fix", ""),
    ("H2", "guard", "mitigation", ""),
    ("H1", "guard", "mitigation", ""),
    ("H1", "probe", "instrument", "how early are reads"),
    ("H5", "probe", "instrument", ""),
    ("H1", "elsewhere", "fix", ""),
    ("H3", "relanded", "fix", ""),
    ("H5", "revert", "revert", ""),
    ("H3", "binary", "fix", ""),
    ("H3", "other", "fix", ""),
    ("H3", "picked", "fix", ""),
)


def linked(registry: Registry) -> Registry:
    """The same campaign, with commits linked to its suspects."""
    log = Log()
    for hypothesis, name, role, because in _LINKS:
        log.add(Link(hypothesis=hypothesis, commit=SHA[name], role=role, because=because))
    log.add(
        InterventionNoted(
            hypothesis="H2", commit=SHA["guard"], state="reverted", effect="guarded", because="by hand"
        )
    )
    return replace(registry, events=(*registry.events, *log.events))


LEFT = LeftOvers(
    lines=(
        LeftOver(
            path="mem/pool.py",
            line=12,
            text="    count(x)  # WB-PROBE H1",
            why="a tag",
            hypothesis="H1",
            registered=True,
            commit=SHA["probe"],
        ),
        LeftOver(
            path="mem/pool.py",
            line=1208,
            text=f"        print({'x, ' * 40})",
            why="prints",
            commit=SHA["other"],
        ),
        LeftOver(path="run.sh", line=3, text="set -x", why="prints"),
        LeftOver(
            path="z.py", line=1, text="y  # WB-PROBE H77", why="a tag", hypothesis="H77", commit=HEAD
        ),
    ),
    at=HEAD,
    since=SHA["cause"],
    uncommitted=True,
)
