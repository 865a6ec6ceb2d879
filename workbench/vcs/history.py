"""Commits, listed and read; which touched a path, which are between two, which comes before which.

The order of commits is by parents and then by date: a clock that was wrong moves no commit before its
parents. Texts are UTF-8 whatever they were written in; bytes that no encoding explains become U+FFFD.
Ids are whole ones (`Repository.resolve` makes them of names), and each is checked before git sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BufferedReader
from itertools import islice, pairwise

from workbench.errors import GitError
from workbench.model.commits import Commit
from workbench.vcs.git import checked
from workbench.vcs.repository import Repository

# One field after another, each ended with NUL, which neither a name nor a message can hold.
_FIELDS = ("%H", "%P", "%an", "%ct", "%s", "%b")
_FORMAT = ("-z", "--encoding=UTF-8", "--no-show-signature", f"--format=tformat:{'%x00'.join(_FIELDS)}")
_CHUNK = 1 << 18
_EPOCH = datetime.fromtimestamp(0, UTC)


def commits(
    repository: Repository,
    tip: str,
    *,
    since: str | None = None,
    paths: Sequence[str] = (),
    limit: int | None = None,
    first_parent: bool = False,
) -> Iterator[Commit]:
    """Give the commits that a tip can be reached by, newest first, none before its children.

    Args:
        repository: The repository.
        tip: Id of a commit.
        since: Id of a commit; it and all that it can be reached by are left out.
        paths: Only commits that touch one of these, from the top of the repository; a folder means all
            in it. Renames are not followed, and a merge that agrees with a parent is left out.
        limit: How many at most.
        first_parent: Only the first parent of each merge is looked at.

    Raises:
        GitError: A commit is not there, or is no whole id.
    """
    words = [*_range(tip, since), *(["--first-parent"] if first_parent else []), *_behind(paths)]
    return _read(repository, words, None if limit is None else max(limit, 0), bool(paths))


def commit(repository: Repository, sha: str) -> Commit:
    """Give one commit by its id; see `many`.

    Raises:
        GitError: It is not there, or the id is not whole.
    """
    found = many(repository, [sha]).get(sha)
    if found is None:
        raise GitError(f"there is no commit {sha[:12]}")
    return found


def many(repository: Repository, shas: Iterable[str]) -> Mapping[str, Commit]:
    """Give commits by their ids, with one process; those that are not there are left out.

    Raises:
        GitError: An id is not whole.
    """
    asked = dict.fromkeys(checked(sha) for sha in shas)
    if not asked:
        return {}
    words = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
    told = "".join(f"{sha}\n" for sha in asked).encode()
    with repository.objects.reading("log", *_FORMAT, *words, input=told) as answer:
        read = {found.sha: found for found in _parse(answer)}
    return {sha: read[sha] for sha in asked if sha in read}


def is_ancestor(repository: Repository, earlier: str, later: str) -> bool:
    """Say whether one commit can be reached from another, by parents; each can from itself.

    Where a shallow clone has cut the history off, what lies behind is no ancestor.

    Raises:
        GitError: One of them is not there, or is no whole id.
    """
    return repository.objects.succeeds("merge-base", "--is-ancestor", checked(earlier), checked(later))


def between(
    repository: Repository, older: str, newer: str, paths: Sequence[str] = ()
) -> tuple[str, ...]:
    """Give the ids of commits that `newer` has and `older` has not, oldest first.

    Args:
        repository: The repository.
        older: Id of a commit, itself left out.
        newer: Id of a commit, itself among them.
        paths: Only commits that touch one of these; see `commits`.

    Raises:
        GitError: A commit is not there, or is no whole id.
    """
    words = [*_range(newer, older), *_behind(paths)]
    found = _listed(repository, "--date-order", "--reverse", *words)
    agreeing = _agreeing(repository, words) if paths else frozenset()
    return tuple(sha for sha in found if sha not in agreeing)


def _read(
    repository: Repository, words: Sequence[str], limit: int | None, with_paths: bool
) -> Iterator[Commit]:
    agreeing = _agreeing(repository, words) if with_paths else frozenset()
    most = () if limit is None else (f"--max-count={limit + len(agreeing)}",)
    with repository.objects.reading("log", *_FORMAT, "--date-order", *most, *words) as answer:
        wanted = (found for found in _parse(answer) if found.sha not in agreeing)
        yield from islice(wanted, limit)


def _agreeing(repository: Repository, words: Sequence[str]) -> frozenset[str]:
    """Give the merges that are listed for some paths, though they agree with a parent there."""
    merges = _listed(repository, "--merges", *words)
    if not merges:
        return frozenset()
    paths = words[words.index("--") :]
    asked = "".join(f"{sha}\n" for sha in merges).encode("ascii")
    # `-c` tells of files that differ from all parents
    own = ("diff-tree", "--stdin", "-c", "-r", "-z", "--name-only", "--no-renames", *paths)
    rest = {sha.encode("ascii") for sha in merges}
    fields = repository.objects.fields(
        *own, input=asked
    )  # each id, and then its files if there are any
    silent = (sha for sha, then in pairwise([*fields, fields[0]]) if sha in rest and then in rest)
    return frozenset(sha.decode("ascii") for sha in silent)


def _listed(repository: Repository, *words: str) -> list[str]:
    return repository.objects.run("rev-list", *words).decode("ascii").split()


def _range(tip: str, since: str | None) -> list[str]:
    return [checked(tip), *([f"^{checked(since)}"] if since is not None else [])]


def _behind(paths: Sequence[str]) -> list[str]:
    """Give what comes after the commits; with paths, side branches that came to nothing count, too."""
    return ["--full-history", "--", *paths] if paths else ["--"]


def _parse(answer: BufferedReader) -> Iterator[Commit]:
    """Give the commits in what `git log` prints."""
    width = len(_FIELDS)
    rest: list[bytes] = [b""]
    while chunk := answer.read1(_CHUNK):
        fields = (rest[-1] + chunk).split(b"\0")
        fields = [*rest[:-1], *fields]
        whole = (len(fields) - 1) // width * width
        for place in range(0, whole, width):
            yield _commit(fields[place : place + width])
        rest = fields[whole:]
    if rest != [b""]:
        raise GitError("git log ended within a commit")


def _commit(fields: Sequence[bytes]) -> Commit:
    sha, parents, author, at, subject, body = (field.decode("utf-8", "replace") for field in fields)
    return Commit(
        sha=sha,
        parents=tuple(parents.split()),
        author=author,
        at=_time(at),
        subject=subject,
        body=body,
    )


def _time(seconds: str) -> datetime:
    """Give a moment; 1970 for one that is none, since git keeps whatever it was given."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return _EPOCH
