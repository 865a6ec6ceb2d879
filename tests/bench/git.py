"""What it costs to list commits, and to find what reverted them, in a long history.

Usage: python -m tests.bench.git [COMMITS] > tests/bench/tables/git.md

The history is generated, the same each time: commits of one to three files of some hundred lines, with
numbers of pull requests in their titles, and reverts as people make them: with nothing but a title, a
free message, one file alone, a change of their own. So it is known what each one takes back.

Cold is an index that is not there yet, with all commits decided whose message claims anything. Warm is
one that another process has left: it is opened for each look-up. The rivals are git itself.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.vcs.repositories import BEGINNING, MAIL, NAME, git
from workbench.model.commits import Undoing
from workbench.vcs import history
from workbench.vcs.index import INDEX_FILE, Index
from workbench.vcs.repository import Repository
from workbench.vcs.reverts import Reverts

COMMITS = 20_000
LISTED = 10_000
FILES = 600
ROUNDS = 5
LOOKUPS = 60
SEED = 20_260_101
VERBS = ("Fix", "Speed up", "Rework", "Add", "Remove", "Rename", "Document", "Test")
NOUNS = (
    "scheduler",
    "cache",
    "router",
    "sampler",
    "loader",
    "kernel",
    "parser",
    "server",
    "graph",
    "pool",
)


@dataclass
class Past:
    """What a commit did: its title, and each file before and after."""

    title: str
    files: dict[str, tuple[list[str], list[str]]]


@dataclass
class Made:
    """The history as it is told: what each revert takes back, by the numbers of commits from 1."""

    reverts: dict[int, int] = field(default_factory=dict)
    past: dict[int, Past] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)


def told(made: Made, commits: int) -> Iterator[bytes]:
    """Tell a history to `git fast-import`."""
    draw = random.Random(SEED)
    fresh = iter(range(1 << 40))

    def line() -> str:
        number = next(fresh)
        noun = draw.choice(NOUNS)
        return f"    value_{number} = {noun}.measure(step={number % 977}, twice={number % 2})"

    for number in range(FILES):
        made.files[f"src/{NOUNS[number % 10]}/part_{number}.py"] = [line() for _ in range(80)]
    yield entry(1, "Begin", made.files)
    for number in range(2, commits + 1):
        target = number - int(draw.expovariate(1 / 60)) - 1
        if number % 70 == 0 and target in made.past and (back := taken_back(draw, made, target)):
            title, files = back
            made.reverts[number] = target
        else:
            title = f"{draw.choice(VERBS)} the {draw.choice(NOUNS)}"
            files = {}
            for path in draw.sample(sorted(made.files), draw.randint(1, 3)):
                lines = made.files[path]
                at, gone = draw.randrange(len(lines)), draw.randint(0, 4)
                files[path] = [
                    *lines[:at],
                    *(line() for _ in range(draw.randint(1, 9))),
                    *lines[at + gone :],
                ]
        title = f"{title} (#{number + 4000})"
        made.past[number] = Past(
            title, {path: (made.files[path], lines) for path, lines in files.items()}
        )
        made.past.pop(number - 1000, None)
        made.files.update(files)
        yield entry(number, title, files)


def taken_back(draw: random.Random, made: Made, target: int) -> tuple[str, dict[str, list[str]]] | None:
    """Take a commit back as people do, where its lines are still there; None where they are not."""
    past = made.past[target]
    files = {}
    for path, (before, after) in past.files.items():
        begin = next(
            (at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0
        )
        end = next(
            (
                at
                for at, pair in enumerate(zip(before[::-1], after[::-1], strict=False))
                if pair[0] != pair[1]
            ),
            0,
        )
        come = after[begin : len(after) - end]
        now = made.files[path]
        at = next((at for at in range(len(now)) if come and now[at : at + len(come)] == come), None)
        if at is None:
            return None
        files[path] = [*now[:at], *before[begin : len(before) - end], *now[at + len(come) :]]
    way = draw.random()
    if way < 0.1 and len(files) > 1:  # one file alone
        files.pop(next(iter(files)))
    elif way < 0.2:  # with a line of its own
        path = next(iter(files))
        files[path] = [*files[path], f"    kept_{target} = measure(step={target})"]
    elif way < 0.3:
        return "Work around the crash", files
    return f'Revert "{past.title}"', files


def entry(number: int, title: str, files: dict[str, list[str]]) -> bytes:
    who = f"{NAME} <{MAIL}> {BEGINNING + 600 * number} +0000"
    parts = [f"commit refs/heads/main\nmark :{number}\nauthor {who}\ncommitter {who}\n".encode()]
    parts.append(b"data %d\n%s\n" % (len(title.encode()), title.encode()))
    for path, lines in files.items():
        text = "".join(f"{line}\n" for line in lines).encode()
        parts.append(f"M 100644 inline {path}\n".encode() + b"data %d\n%s\n" % (len(text), text))
    return b"".join(parts)


def make(folder: Path, commits: int) -> tuple[Repository, list[str], dict[int, int]]:
    """Make the repository; give it, the ids of its commits from number 1, and what reverts what."""
    folder.mkdir()
    git(folder, "init", "-q", "--bare", "-b", "main")
    made = Made()
    marks = folder / "marks"
    words = ["git", "fast-import", "--quiet", f"--export-marks={marks}"]
    with subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for part in told(made, commits):
            process.stdin.write(part)
        process.stdin.close()
    assert process.returncode == 0
    ids = dict(line.split() for line in marks.read_text().splitlines())
    return (
        Repository(folder),
        ["", *(ids[f":{number}"] for number in range(1, commits + 1))],
        made.reverts,
    )


def timed(work: Callable[[], object]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    return statistics.median(timed(work) for _ in range(rounds))


def row(what: str, how: str, seconds: float, limit: str = "") -> None:
    print(f"| {what} | {how} | {seconds:.3f} | {limit} |", flush=True)


def decided(repository: Repository, folder: Path, tip: str) -> Index:
    """Make the index of a history, and decide all commits that claim anything."""
    index = Index.open(repository, folder)
    index.extend(tip)
    reverts = Reverts(repository, index)
    for place in sorted(index.claims):
        reverts.by(index.sha(place))
    index.save()
    return index


def main() -> None:
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else COMMITS
    print("Commits and reverts of a long history. Command:", end=" ")
    print("`python -m tests.bench.git > tests/bench/tables/git.md`\n")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        repository, shas, planted = make(folder / "repository", commits)
        tip = shas[-1]
        print(f"{commits:,} commits of {FILES} files, {len(planted)} of them reverts;", end=" ")
        print(f"median of {ROUNDS} rounds.\n")
        print("| what | how | s | at most |")
        print("|---|---|---:|---:|")
        log = ["log", f"--max-count={LISTED}", "--format=%H%x00%P%x00%an%x00%ct%x00%s%x00%b", tip]
        what = f"{min(LISTED, commits):,} commits listed"
        row(what, "git log alone", median(lambda: git(repository.common, *log)))
        row(
            what,
            "history.commits",
            median(lambda: list(history.commits(repository, tip, limit=LISTED))),
            "1",
        )

        def all_patch_ids() -> None:
            with subprocess.Popen(
                ["git", "log", "-p", tip], cwd=repository.common, stdout=subprocess.PIPE
            ) as patches:
                subprocess.run(
                    ["git", "patch-id", "--stable"],
                    stdin=patches.stdout,
                    capture_output=True,
                    check=True,
                )

        what = "cold index of reverts"
        row(what, "git log -p, git patch-id: ids alone", timed(all_patch_ids))

        def cold(full: bool) -> None:
            with tempfile.TemporaryDirectory() as cache:
                if full:
                    decided(repository, Path(cache), tip)
                else:
                    Index.open(repository, Path(cache)).extend(tip)

        row(what, "titles, numbers, files", median(lambda: cold(False), 3))
        row(what, "and what claims anything decided", median(lambda: cold(True), 3), "60")
        lookups(repository, folder / "cache", shas, planted)


def lookups(repository: Repository, cache: Path, shas: list[str], planted: dict[int, int]) -> None:
    tip = shas[-1]
    index = decided(repository, cache, tip)
    size = (cache / INDEX_FILE).stat().st_size
    found = {number: Reverts(repository, index).by(shas[number]) for number in planted}
    draw = random.Random(SEED)
    asked = draw.sample(sorted(planted.values()), min(LOOKUPS // 2, len(planted)))
    asked += draw.sample(range(2, len(shas)), LOOKUPS - len(asked))

    def look_up(number: int) -> None:
        again = Index.open(repository, cache)
        Reverts(repository, again).of(shas[number], tip)
        again.save()

    first = [timed(lambda number=number: look_up(number)) for number in asked]  # type: ignore[misc]
    then = [timed(lambda number=number: look_up(number)) for number in asked]  # type: ignore[misc]
    what = "what reverted a commit"
    row(what, "asked for the first time, median", statistics.median(first))
    row(what, "asked for the first time, longest", max(first))
    row(what, "warm, median", statistics.median(then), "0.05")
    row(what, "warm, longest", max(then))
    right = sum(shas[planted[number]] in named(undoing) for number, undoing in found.items())
    wrong = sum(bool(named(undoing) - {shas[planted[number]]}) for number, undoing in found.items())
    print(f"\nThe index has {size / 1e6:.1f} MB. Of {len(planted)} reverts", end=" ")
    print(f"{right} have their target named, and {wrong} another one.", end=" ")
    print(f"{os.cpu_count()} processors; {git(cache, '--version')}.")


def named(undoing: Undoing | None) -> set[str]:
    return {match.commit for match in undoing.matches} if undoing else set()


if __name__ == "__main__":
    main()
