"""What a campaign has left in the code: lines with a tag, and added lines that look like a probe.

A probe carries `WB-PROBE` and the hypothesis that it serves, `# WB-PROBE H5` say, and is found anywhere
in the tree by that. What carries none is looked for among lines that were *added* since the campaign
began to touch the code, never in whole files: real code prints, checks and debugs all day. Where the
work tree belongs to the commit that is looked at, what is not committed counts too.

Left out: documents, binary files, lines that were there before, and folders that the caller names, as
that of the campaign, whose files speak of probes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from workbench.model.commits import LeftOver, LeftOvers
from workbench.vcs.added import Added, between, in_work_tree, untracked
from workbench.vcs.git import GitFailed, as_path, checked
from workbench.vcs.repository import Repository
from workbench.vcs.suspicious import is_document, suspicious

TAG = "WB-PROBE"
MOST = 500  # lines that are listed
_READ = 2_000_000  # added lines that are looked at
_BLAMED = 200  # files whose lines are traced to commits
_WIDEST = 300  # letters of a line that are kept
_TAGGED = re.compile(rf"\b{TAG}\b[ \t:=-]*(H[1-9][0-9]{{0,8}})?\b")
_GREP = (
    *("grep", "-z", "-n", "-I", "-F", "--no-color", "--no-textconv", "--full-name"),
    *("--no-column", "--no-recurse-submodules", "-e", TAG),
)
_NOBODY = "0"  # all that the id of a line has that is not committed


def left_over(
    repository: Repository,
    at: str,
    *,
    since: str = "",
    hypotheses: Collection[str] = (),
    instruments: Mapping[str, str] | None = None,
    leave_out: Iterable[str] = (),
) -> LeftOvers:
    """List tagged lines and suspicious added lines.

    Args:
        repository: Where.
        at: Id of the commit that is looked through.
        since: Id of the commit, or tree, after which lines count as added; empty for tags and
            uncommitted lines alone.
        hypotheses: Ids that there are: a tag with one of them is registered.
        instruments: Commits that are linked as instruments, to the hypothesis that each belongs to:
            suspicious lines that they added are registered.
        leave_out: Folders and files that are not looked at, from the top of the repository.

    Raises:
        GitError: A commit is not there.
    """
    working = repository.top is not None and repository.head() == at
    hidden = tuple(leave_out)
    tagged = [line for line in _tags(repository, at, working, hypotheses) if _shown(line.path, hidden)]
    places = {(line.path, line.line) for line in tagged}
    found = [
        line
        for line in _added(repository, at, since, working)
        if _shown(line.path, hidden) and (line.path, line.line) not in places
    ]
    kept = sorted([*tagged, *found], key=lambda line: (line.path, line.line))[:MOST]
    traced = _traced(repository, at, working, kept)
    known = instruments or {}
    lines = tuple(
        line
        if line.hypothesis or line.commit not in known
        else replace(line, hypothesis=known[line.commit], registered=True)
        for line in traced
    )
    cut = len(tagged) + len(found) > MOST
    return LeftOvers(lines=lines, at=at, since=since, uncommitted=working, cut=cut)


def _shown(path: str, hidden: tuple[str, ...]) -> bool:
    return not any(path == each or path.startswith(f"{each}/") for each in hidden)


def _tags(
    repository: Repository, at: str, working: bool, hypotheses: Collection[str]
) -> Iterator[LeftOver]:
    """Find tags: in the work tree where that belongs to the commit, else in the commit."""
    where = ("--untracked",) if working else (checked(at),)
    git = repository.git if working else repository.objects
    said = git.run(*_GREP, *where, "--", fine=(0, 1))
    for path, line, text in _grepped(said, "" if working else f"{at}:"):
        tag = _TAGGED.search(text)
        if tag is None or is_document(path):
            continue
        yield LeftOver(
            path=path,
            line=line,
            text=text[:_WIDEST],
            why="a tag" if tag[1] else "a tag that names no hypothesis",
            hypothesis=tag[1] or "",
            registered=tag[1] in hypotheses,
        )


def _grepped(said: bytes, prefix: str) -> Iterator[tuple[str, int, str]]:
    """Read `PATH NUL NUMBER NUL LINE`; a path may hold line breaks, a line cannot."""
    start = 0
    while (path_ends := said.find(b"\0", start)) >= 0:
        number_ends = said.index(b"\0", path_ends + 1)
        ends = said.find(b"\n", number_ends)
        ends = len(said) if ends < 0 else ends
        path = as_path(said[start:path_ends]).removeprefix(prefix)
        number = int(said[path_ends + 1 : number_ends])
        yield path, number, said[number_ends + 1 : ends].decode("utf-8", "replace")
        start = ends + 1


def _added(repository: Repository, at: str, since: str, working: bool) -> Iterator[LeftOver]:
    lines: Iterable[Added] = ()
    if working:
        lines = in_work_tree(repository, since or at)
    elif since:
        lines = between(repository, since, at)
    found = 0
    for added in islice(lines, _READ):
        text = added.text.decode("utf-8", "replace")
        why = suspicious(added.path, text)
        if why:
            yield LeftOver(path=added.path, line=added.line, text=text[:_WIDEST], why=why)
            found += 1
            if found > MOST:
                return


def _traced(
    repository: Repository, at: str, working: bool, lines: Iterable[LeftOver]
) -> Iterator[LeftOver]:
    """Name the commit that added each line; none for one that is not committed."""
    by_path: dict[str, list[LeftOver]] = {}
    for line in lines:
        by_path.setdefault(line.path, []).append(line)
    loose = set(untracked(repository)) if working else set()
    for number, (path, here) in enumerate(by_path.items()):
        blamed: Mapping[int, str] = {}
        if path not in loose and number < _BLAMED:
            blamed = _blamed(repository, "" if working else at, path, [line.line for line in here])
        for line in here:
            yield replace(line, commit=blamed.get(line.line, ""))


def _blamed(repository: Repository, at: str, path: str, lines: Iterable[int]) -> Mapping[int, str]:
    """Give the commits of lines of a file, without those of nobody yet."""
    wanted = [f"-L{line},{line}" for line in lines]
    where, git = ((checked(at),), repository.objects) if at else ((), repository.git)
    try:
        said = git.run("blame", "--porcelain", "--ignore-revs-file=", *wanted, *where, "--", path)
    except GitFailed:  # staged and never committed, or gone from the work tree meanwhile
        return {}
    found = {}
    for head in re.finditer(rb"^([0-9a-f]{40,64}) [0-9]+ ([0-9]+)", said, re.MULTILINE):
        sha = head[1].decode()
        if sha.strip(_NOBODY):
            found[int(head[2])] = sha
    return found
