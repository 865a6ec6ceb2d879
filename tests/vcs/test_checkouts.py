"""Worktrees of commits and patches: what is in them, when they are used again, and when not."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.vcs.trees import HOSTILE, Tree, git
from workbench.errors import GitError, StoreError
from workbench.store.kernellock import take
from workbench.vcs import checkouts as module
from workbench.vcs.checkouts import Checkouts, Patch, Stamp, Wanted
from workbench.vcs.repository import Repository

PATIENCE = 60.0
COUNT = ("sh", "-c", "echo built >> built.txt; cp serve.py served.py")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "engine")


def checkouts(tree: Path, tmp_path: Path) -> Checkouts:
    return Checkouts(Repository(tree), tmp_path / "campaign" / ".workbench")


@pytest.fixture
def kept(tree: Tree, tmp_path: Path) -> Checkouts:
    tree.commit(serve__py="one\n")
    (tmp_path / "campaign").mkdir()
    return checkouts(tree.path, tmp_path)


def make(checkouts: Checkouts, wanted: Wanted) -> tuple[Path, Stamp]:
    return checkouts.folder(wanted), asyncio.run(checkouts.make(wanted))


def test_each_commit_has_a_worktree_and_the_repository_stays_as_it_is(
    tree: Tree, kept: Checkouts
) -> None:
    one = git(tree.path, "rev-parse", "HEAD")
    two = tree.commit(serve__py="two\n")
    tree.write("serve.py", "edited\n")
    for sha, text in ((one, "one\n"), (two, "two\n")):
        folder, stamp = make(kept, Wanted(commit=sha))
        assert folder.name == sha[:12]
        assert (folder / "serve.py").read_text() == text
        assert stamp == Stamp(commit=sha)
        assert git(folder, "rev-parse", "HEAD") == sha
        assert git(folder, "branch", "--show-current") == ""
    assert (tree.path / "serve.py").read_text() == "edited\n"
    assert git(tree.path, "branch", "--show-current") == "main"


def test_one_that_is_there_is_used_again_and_built_once(tree: Tree, kept: Checkouts) -> None:
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=COUNT)
    folder, first = make(kept, wanted)
    assert (folder / "served.py").read_text() == "one\n"
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert make(kept, wanted) == (folder, first)
    assert times == {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert (folder / "built.txt").read_text() == "built\n"
    assert kept.folder(Wanted(commit=wanted.commit)) != folder  # one that is not built is another one


def test_one_whose_making_was_killed_is_made_anew(tree: Tree, kept: Checkouts) -> None:
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=COUNT)
    folder, stamp = make(kept, wanted)
    folder.with_name(f"{folder.name}.json").unlink()  # it is written last
    (folder / "half").write_text("of a build that was killed")
    assert make(kept, wanted) == (folder, stamp)
    assert not (folder / "half").exists()
    assert (folder / "built.txt").read_text() == "built\n"
    shutil.rmtree(folder)  # and so is one that somebody has removed
    assert make(kept, wanted) == (folder, stamp)


def test_two_that_want_the_same_at_once_make_it_once(
    tree: Tree, kept: Checkouts, tmp_path: Path
) -> None:
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=COUNT)

    async def both() -> tuple[Stamp, Stamp]:
        return await asyncio.gather(kept.make(wanted), checkouts(tree.path, tmp_path).make(wanted))

    first, second = asyncio.run(both())
    assert first == second
    assert (kept.folder(wanted) / "built.txt").read_text() == "built\n"


@pytest.mark.parametrize("change", ["edit", "remove", "stage", "commit"])
def test_one_that_somebody_has_changed_is_refused_and_left_alone(
    change: str, tree: Tree, kept: Checkouts
) -> None:
    tree.commit(other__py="other\n")
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"))
    folder, _ = make(kept, wanted)
    (folder / "notes.txt").write_text("unknown files do not matter")
    make(kept, wanted)
    there = Tree(folder)
    if change == "remove":
        (folder / "serve.py").unlink()
    else:
        there.write("serve.py", "work of theirs\n")
    if change == "stage":
        git(folder, "add", "-A")
    if change == "commit":
        there.commit()
    with pytest.raises(GitError) as raised:
        make(kept, wanted)
    what = "is at commit" if change == "commit" else "somebody has changed"
    assert what in raised.value.what
    assert ("serve.py" in raised.value.what) == (change != "commit")
    assert str(folder) in raised.value.what
    assert (folder / "serve.py").exists() == (change != "remove")


def test_a_patch_is_laid_over_the_commit(tree: Tree, kept: Checkouts) -> None:
    sha = tree.commit(serve__py="one\ntwo\nthree\n", other__py="a\n")
    first = Patch(name="a.patch", data=tree.patch("serve.py", "one\n2\nthree\n"))
    second = Patch(name="b.patch", data=tree.patch("other.py", "b\n"))
    folder, stamp = make(kept, Wanted(commit=sha, patches=(first, second)))
    assert (folder / "serve.py").read_text() == "one\n2\nthree\n"
    assert (folder / "other.py").read_text() == "b\n"
    assert stamp.patches == {"a.patch": first.sha256, "b.patch": second.sha256}
    assert stamp.tracked
    renamed = Wanted(commit=sha, patches=(Patch(name="c.patch", data=first.data), second))
    assert kept.folder(renamed) == folder  # it is what it does, whatever it is called
    make(kept, renamed)
    (folder / "serve.py").write_text("one\ntwo\nthree\n")  # taking it back is a change, too
    with pytest.raises(GitError, match="somebody has changed"):
        make(kept, renamed)


def test_a_patch_that_does_not_fit_is_named_with_file_and_line(tree: Tree, kept: Checkouts) -> None:
    sha = tree.commit(serve__py="one\n", other__py="a\n")
    fits = Patch(name="fits.patch", data=tree.patch("other.py", "b\n"))
    tree.commit(serve__py="another\n")
    data = fits.data + tree.patch("serve.py", "an edit\n")
    wanted = Wanted(commit=sha, patches=(fits, Patch(name="p/not.patch", data=data)))
    with pytest.raises(GitError, match=r"^p/not\.patch: does not fit: .*(serve|other)\.py") as raised:
        make(kept, wanted)
    assert "git diff" in raised.value.hint
    assert not kept.folder(wanted).with_suffix(".json").exists()
    assert make(kept, Wanted(commit=sha, patches=(fits,)))[1].patches  # others are not hurt by it


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"no patch at all\n", "No valid patches"),
        (b"--- a/../out.py\n+++ b/../out.py\n@@ -0,0 +1 @@\n+pwned\n", "invalid path"),
        (
            b"diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n"
            b"+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+pwned\n",
            "invalid path",
        ),
    ],
    ids=["nothing", "outside", "of-git"],
)
def test_a_patch_writes_nothing_outside(data: bytes, what: str, tree: Tree, kept: Checkouts) -> None:
    wanted = Wanted(
        commit=git(tree.path, "rev-parse", "HEAD"), patches=(Patch(name="x.patch", data=data),)
    )
    with pytest.raises(GitError, match=f"x\\.patch: does not fit: .*{what}"):
        make(kept, wanted)
    assert not (kept.folder(wanted).parent / "out.py").exists()
    assert not (tree.path / ".git" / "hooks" / "x").exists()


def test_a_build_that_fails_is_told_by_its_last_lines_and_its_log(tree: Tree, kept: Checkouts) -> None:
    lines = "for each in 1 2 3 4 5; do echo line $each; done; printf '\\033[31mred\\n'; exit 3"
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=("sh", "-c", lines))
    with pytest.raises(GitError) as raised:
        make(kept, wanted)
    assert raised.value.what == (
        f"the build of commit {wanted.commit[:12]} ended with exit code 3: line 4 | line 5 | ?[31mred"
    )
    log = Path(raised.value.hint.partition(" has all")[0])
    assert log.name == f"{kept.folder(wanted).name}.log"
    assert log.read_text().startswith("line 1\n")
    with pytest.raises(GitError, match="exit code 3"):  # not taken for a whole one
        make(kept, wanted)


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (("no-such-program",), "cannot be executed: no-such-program: No such file"),
        (("sh", "-c", "kill -9 $$"), "signal 9"),
        (
            ("sh", "-c", "echo $1; exit 1", "-", "$(touch pwned); `touch pwned`"),
            r"exit code 1: \$\(touch",
        ),
    ],
    ids=["missing", "killed", "hostile"],
)
def test_a_build_is_no_shell_and_says_how_it_ended(
    build: tuple[str, ...], what: str, tree: Tree, kept: Checkouts
) -> None:
    with pytest.raises(GitError, match=what):
        make(kept, Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=build))
    assert not list(tree.path.parent.rglob("pwned"))


def test_a_build_that_takes_too_long_is_ended(tree: Tree, kept: Checkouts) -> None:
    wanted = Wanted(
        commit=git(tree.path, "rev-parse", "HEAD"),
        build=("sh", "-c", "echo begun; sleep 600 & sleep 600"),
        build_timeout=0.5,
    )
    with pytest.raises(GitError, match=r"took more than 0\.5 s"):
        make(kept, wanted)
    assert not psutil.Process().children(recursive=True)


def test_a_build_that_is_cancelled_is_ended(tree: Tree, kept: Checkouts, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    wanted = Wanted(
        commit=git(tree.path, "rev-parse", "HEAD"),
        build=("sh", "-c", f"echo $$ > {told}; exec sleep 600"),
    )

    async def cancelled() -> int:
        async with asyncio.timeout(PATIENCE):
            making = asyncio.create_task(kept.make(wanted))
            pid = int(await asyncio.to_thread(told.read_text))
            making.cancel()
            with pytest.raises(asyncio.CancelledError):
                await making
            return pid

    assert not psutil.pid_exists(asyncio.run(cancelled()))
    folder = kept.folder(wanted)
    assert take(folder.with_name(f"{folder.name}.lock"), wait=0) is not None  # nobody has it any more


def test_what_a_killed_build_has_left_running_is_ended_before_it_is_built_anew(
    tree: Tree, kept: Checkouts, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    leave = (
        "import os, sys, subprocess;"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True);"
        f"open({str(told)!r}, 'w').write(str(child.pid))"
    )
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=("{python}", "-c", leave))
    folder, _ = make(kept, wanted)
    left = psutil.Process(int(told.read_text()))
    assert left.is_running()
    folder.with_name(f"{folder.name}.json").unlink()
    make(kept, wanted)
    assert psutil.wait_procs([left], timeout=PATIENCE)[0]
    psutil.Process(int(told.read_text())).kill()


def test_a_build_knows_its_folder_and_not_somebody_elses_repository(
    tree: Tree, kept: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    code = (
        "import os, sys; print(os.getcwd(), sys.argv[1:], os.environ.get('GIT_DIR'), sys.stdin.read())"
    )
    build = ("{python}", "-c", f"{code}; sys.exit(1)", "{checkout}/lib")
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"), build=build)
    folder = os.path.realpath(kept.folder(wanted))
    with pytest.raises(GitError) as raised:
        make(kept, wanted)
    assert f"{folder} ['{kept.folder(wanted)}/lib'] None" in raised.value.what


def test_no_hook_and_no_program_of_the_repository_is_run(tree: Tree, kept: Checkouts) -> None:
    pwned = tree.path.parent / "pwned"
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        file = tree.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {pwned}\n")
        file.chmod(0o755)
    git(tree.path, "config", "core.fsmonitor", f"touch {pwned}")
    git(tree.path, "config", "diff.external", f"touch {pwned}")
    pwned.unlink(missing_ok=True)
    wanted = Wanted(commit=git(tree.path, "rev-parse", "--verify", "main"))
    pwned.unlink(missing_ok=True)  # what our own git has just run
    make(kept, wanted)
    make(kept, wanted)
    assert not pwned.exists()


def test_names_that_look_like_something_else_are_files(tree: Tree, kept: Checkouts) -> None:
    tree.write(HOSTILE, "one\n")
    tree.write("-b", "one\n")
    folder, _ = make(kept, Wanted(commit=tree.commit()))
    assert {path.name for path in folder.iterdir()} == {".git", "serve.py", "-b", HOSTILE}
    (folder / HOSTILE).write_text("two\n")
    with pytest.raises(GitError) as raised:
        make(kept, Wanted(commit=git(tree.path, "rev-parse", "HEAD")))
    assert raised.value.what.isprintable()
    assert "-rf?--upload-pack=x" in raised.value.what
    assert not list(tree.path.parent.rglob("pwned"))


REVISIONS = [
    "--help", "-h", "--git-dir=/", "--output=pwned", "-", "--", "--end-of-options", "@{upstream}", "",
    " ", "\n", "main\n", "\nmain", "main\0", "$(touch pwned)", "main; touch pwned", "main..HEAD",
    "^main", ":/a change$(touch pwned)", "main:serve.py", "HEAD^{tree}", "../../etc",
    "\ud800", "a" * 9000,
]  # fmt: skip


@pytest.mark.parametrize("revision", REVISIONS, ids=range(len(REVISIONS)))
def test_a_revision_is_never_taken_for_something_else(
    revision: str, tree: Tree, kept: Checkouts
) -> None:
    with pytest.raises(GitError) as raised:
        Repository(tree.path).resolve(revision)
    assert raised.value.what.isprintable()
    assert len(raised.value.what) < 300
    with pytest.raises(GitError):
        make(kept, Wanted(commit=revision))  # only whole ids get there
    assert not list(tree.path.parent.rglob("pwned"))


def test_a_branch_may_be_called_like_an_option(tree: Tree, kept: Checkouts) -> None:
    sha = tree.commit(serve__py="two\n")
    git(tree.path, "update-ref", "refs/heads/-x", sha)
    git(tree.path, "update-ref", "refs/heads/--help", sha)
    for name in ("-x", "--help", "refs/heads/-x"):
        assert Repository(tree.path).resolve(name) == sha


def test_a_bare_repository_and_a_linked_worktree_will_do(tree: Tree, kept: Checkouts) -> None:
    sha = git(tree.path, "rev-parse", "HEAD")
    home = tree.path.parent
    git(home, "clone", "-q", "--bare", str(tree.path), "bare.git")
    git(tree.path, "worktree", "add", "-q", "--detach", str(home / "linked"))
    for number, path in enumerate(("bare.git", "linked")):
        (home / str(number) / "campaign").mkdir(parents=True)
        folder, _ = make(checkouts(home / path, home / str(number)), Wanted(commit=sha))
        assert (folder / "serve.py").read_text() == "one\n"


def test_one_whose_repository_has_moved_is_used_again(
    tree: Tree, kept: Checkouts, tmp_path: Path
) -> None:
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"))
    folder, stamp = make(kept, wanted)
    tree.path.rename(tmp_path / "moved")
    assert make(checkouts(tmp_path / "moved", tmp_path), wanted) == (folder, stamp)
    assert git(folder, "status", "--porcelain") == ""


def test_submodules_are_named_as_not_populated(tree: Tree, kept: Checkouts) -> None:
    sha = git(tree.path, "rev-parse", "HEAD")
    git(tree.path, "update-index", "--add", "--cacheinfo", f"160000,{sha},third/party")
    git(tree.path, "commit", "-q", "-m", "a submodule")
    wanted = Wanted(commit=git(tree.path, "rev-parse", "HEAD"))
    folder, stamp = make(kept, wanted)
    assert stamp.submodules == ("third/party",)
    assert make(kept, wanted) == (folder, stamp)
    with pytest.raises(GitError, match="submodules are not populated: third/party"):
        make(kept, Wanted(commit=wanted.commit, build=("false",)))


def test_a_commit_that_is_gone_is_told(tree: Tree, kept: Checkouts) -> None:
    with pytest.raises(GitError, match="git worktree failed"):
        make(kept, Wanted(commit="1" * 40))


@pytest.mark.parametrize("name", [".workbench", ".workbench/worktrees"])
def test_worktrees_stay_in_the_campaign(name: str, tree: Tree, kept: Checkouts, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = tmp_path / "campaign" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(StoreError):
        make(kept, Wanted(commit=git(tree.path, "rev-parse", "HEAD")))
    assert not list(outside.iterdir())


def test_those_that_are_kept_are_listed_with_their_sizes(
    tree: Tree, kept: Checkouts, tmp_path: Path
) -> None:
    work = tmp_path / "campaign" / ".workbench"
    assert list(module.kept(work)) == []
    sha = tree.commit(large__txt="x" * 100_000)
    folder, _ = make(kept, Wanted(commit=sha))
    ((path, size),) = module.kept(work)
    assert path == folder
    assert 100_000 < size < 110_000


def test_two_processes_make_one(tree: Tree, kept: Checkouts, tmp_path: Path) -> None:
    """The lock is the kernel's: whoever comes second waits, and uses what the first has made."""
    sha = git(tree.path, "rev-parse", "HEAD")
    code = (
        "import asyncio, sys; from pathlib import Path;"
        "from workbench.vcs.checkouts import *;"
        "there = Checkouts(Repository(Path(sys.argv[1])), Path(sys.argv[2]));"
        f"asyncio.run(there.make(Wanted(commit={sha!r}, build={COUNT!r})))"
    )
    words = [sys.executable, "-c", code, str(tree.path), str(tmp_path / "campaign" / ".workbench")]
    both = [subprocess.Popen(words) for _ in range(2)]
    assert [each.wait(PATIENCE) for each in both] == [0, 0]
    assert (kept.folder(Wanted(commit=sha, build=COUNT)) / "built.txt").read_text() == "built\n"
