"""Commits and trees as a `git fast-import` stream. Pure: the same series gives the same bytes.

Blobs come first and once each, then the commits in the order of the series, then the refs. Nothing of
the machine enters: names, dates, zones and modes are all declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .patch import Tree, blob_id
from .series import MAIN, Commit, Series, changed

_EMPTY: Tree = {}


def fast_import(series: Series, trees: Mapping[str, Tree]) -> bytes:
    """Write the stream.

    Args:
        series: The commits.
        trees: The tree of each, by name.
    """
    return b"".join(_stream(series, trees))


def marks(series: Series) -> dict[str, int]:
    """Give the mark by which the stream calls each commit."""
    return {commit.name: place for place, commit in enumerate(series.commits, 1)}


def _stream(series: Series, trees: Mapping[str, Tree]) -> Iterator[bytes]:
    mark = marks(series)
    blobs: dict[str, int] = {}
    yield b"feature done\n"
    for commit in series.commits:
        for _, text in sorted(trees[commit.name].items()):
            if (blob := blob_id(text)) not in blobs:
                blobs[blob] = len(mark) + len(blobs) + 1
                yield f"blob\nmark :{blobs[blob]}\n".encode() + _data(text)
    for commit in series.commits:
        yield from _commit(series, commit, mark)
        parents = series.parents(commit)
        before = trees[parents[0]] if parents else _EMPTY
        tree = trees[commit.name]
        for path in changed(before, tree):
            gone = path not in tree
            step = f"D {path}" if gone else f"M 100644 :{blobs[blob_id(tree[path])]} {path}"
            yield f"{step}\n".encode()
        yield b"\n"
    for name, commit in _refs(series):
        yield f"reset {name}\nfrom :{mark[commit.name]}\n\n".encode()
    yield b"done\n"


def _commit(series: Series, commit: Commit, mark: Mapping[str, int]) -> Iterator[bytes]:
    """Write a commit up to its changes. The ref that it needs is set anew at the end."""
    who = f"{commit.author} {int(commit.date.timestamp())} {commit.date:%z}"
    yield f"commit refs/heads/{MAIN}\nmark :{mark[commit.name]}\n".encode()
    yield f"author {who}\ncommitter {who}\n".encode()
    yield _data(commit.message.strip("\n") + "\n")
    for word, parent in zip(("from", "merge"), series.parents(commit), strict=False):
        yield f"{word} :{mark[parent]}\n".encode()


def _refs(series: Series) -> Iterator[tuple[str, Commit]]:
    yield f"refs/heads/{MAIN}", series.main_line[-1]
    for commit in series.commits:
        yield from ((f"refs/heads/{branch}", commit) for branch in commit.branches)
        yield from ((f"refs/tags/{tag}", commit) for tag in commit.tags)


def _data(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%b\n" % (len(data), data)
