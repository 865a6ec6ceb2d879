"""Makes the history: `python -m workbench.local_engine.history.build DIR [--json]`.

DIR becomes a repository with `main` checked out. It appears in one step, whole, or not at all. The ids
of all commits depend on the shipped engine and the series alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from . import series as declared
from . import shipped
from .git import GitError, git
from .patch import Tree
from .series import MAIN, Series, SeriesError, trees
from .stream import fast_import, marks


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """A repository that was made.

    Attributes:
        path: Its folder.
        head: Id of the tip of `main`.
        refs: Id by branch and tag.
        commits: Id by name in the series.
    """

    path: str
    head: str
    refs: dict[str, str]
    commits: dict[str, str]


def build(folder: Path, series: Series | None = None, tree: Tree | None = None) -> Built:
    """Make the repository.

    Args:
        folder: Where; must not exist, or be empty.
        series: The commits; by default the engine's.
        tree: The tree of the tip of `main`; by default the shipped one.

    Raises:
        FileExistsError: The folder is there and not empty.
        SeriesError: The series does not fit the tree.
        GitError: git could not do its part.
    """
    series = series or declared.read(shipped.HERE)
    stream = fast_import(series, trees(series, shipped.tree() if tree is None else tree))
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        ids = _import(draft, stream)
        draft.chmod(0o755)  # mkdtemp keeps others out
        draft.replace(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return Built(
        path=str(folder),
        head=ids[marks(series)[series.main_line[-1].name]],
        refs=_refs(folder),
        commits={name: ids[mark] for name, mark in marks(series).items()},
    )


def _import(draft: Path, stream: bytes) -> dict[int, str]:
    """Fill an empty folder and give the id of each mark."""
    written = draft.absolute() / ".git" / "marks"
    git(draft, "init", "--quiet", f"--initial-branch={MAIN}", "--object-format=sha1", "--template=")
    git(draft, "fast-import", "--quiet", "--done", f"--export-marks={written}", stdin=stream)
    git(draft, "reset", "--quiet", "--hard", MAIN)
    lines = (line.split() for line in written.read_text().splitlines())
    ids = {int(mark[1:]): commit for mark, commit in lines}
    written.unlink()
    return ids


def _refs(folder: Path) -> dict[str, str]:
    listed = git(folder, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)")
    return dict(line.split() for line in listed.splitlines())


def main(arguments: list[str] | None = None) -> int:
    """Run the command and give its exit code."""
    parser = argparse.ArgumentParser(prog="build", description="Make the engine's history.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="new folder of the repository")
    parser.add_argument("--json", action="store_true", help="print ids as one line of JSON")
    options = parser.parse_args(arguments)
    try:
        built = build(options.folder)
    except (FileExistsError, SeriesError, GitError) as error:
        sys.stderr.write(f"history: {error}\n")
        return 2
    if options.json:
        sys.stdout.write(json.dumps(asdict(built)) + "\n")
    else:
        refs = "".join(f"  {commit[:12]} {name}\n" for name, commit in built.refs.items())
        sys.stdout.write(f"{built.path}: {len(built.commits)} commits\n{refs}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
