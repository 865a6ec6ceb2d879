"""The guarded command: nothing is taken for an option, nothing runs besides, nothing hangs."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import psutil
import pytest

from tests.vcs.repositories import Made, Story, git
from workbench.errors import GitError
from workbench.vcs.git import Git, GitFailed, as_bytes, as_path, checked, is_sha

HOSTILE_NAMES = (
    "--all",
    "-n1",
    "--output=trap",
    "--upload-pack=touch trap",
    "--exec=touch trap",
    "-c core.pager=trap",
    "$(touch trap)",
    "; touch trap",
    "`touch trap`",
    "a\nb",
    "a\tb",
    'a"b',
    "a\\b",
    ":(glob)**",
    ":/x",
    ":!a",
    "*",
    "\udcff\udcfe",
    "\x1b[31m",
    "ä ö",
)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    story = Story()
    story.commit("Begin", {"a.py": "one\n"})
    story.commit("Go on", {"a.py": "two\n"})
    return story.write(tmp_path / "repository", bare=False)


def program(folder: Path, script: str) -> None:
    """Put a program in a folder that stands for git."""
    folder.mkdir()
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("text", ["a" * 40, "0" * 64, "0123456789abcdef0123456789abcdef01234567"])
def test_whole_ids_are_ids(text: str) -> None:
    assert is_sha(text)
    assert checked(text) == text


@pytest.mark.parametrize(
    "text", ["", "HEAD", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "-" * 40, "a" * 40 + "\n", "--all"]
)
def test_all_else_is_none(text: str) -> None:
    assert not is_sha(text)
    with pytest.raises(GitError, match="is no id of a commit"):
        checked(text)


@pytest.mark.parametrize("name", [b"plain", b"\xff\xfe", "ä".encode(), b"a\nb\t\"'\\", b"-n"])
def test_names_find_their_way_back(name: bytes) -> None:
    assert as_bytes(as_path(name)) == name


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_are_names_and_never_options(name: str, made: Made, tmp_path: Path) -> None:
    runner = Git(made.folder)
    with pytest.raises(GitFailed):
        runner.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    assert runner.run("log", "--format=%H", "HEAD", "--", name) == b""
    assert not list(tmp_path.rglob("*trap*"))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_paths_are_paths_and_never_patterns(name: str, tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"other": "x\n"})
    story.commit("Have it", {name: "y\n"})
    made = story.write(tmp_path / "repository")
    runner = Git(made.folder)
    assert runner.text("log", "--format=%H", "main", "--", name) == made[1]
    listed = runner.fields("ls-tree", "-z", "--name-only", "main", "--", name)
    assert [as_path(each) for each in listed] == [name]


def test_what_the_user_has_set_changes_nothing(made: Made, hostile: Path) -> None:
    runner = Git(made.folder)
    shown = runner.run("diff-tree", "-r", "--patch", made[0], made[1]).decode()
    assert "--- a/a.py\n+++ b/a.py\n" in shown
    assert "\x1b" not in shown
    assert runner.text("log", "--format=%s", "-1", "--end-of-options", made[1]) == "Go on"
    assert runner.text("show", "--format=%s", "-s", "--end-of-options", made[0]) == "Begin"
    assert not hostile.exists()


def test_hooks_do_not_run(made: Made, tmp_path: Path) -> None:
    hooks = made.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    trap = tmp_path / "trap"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (hooks / name).chmod(0o755)
    runner = Git(made.folder)
    runner.run("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), made[0])
    assert (tmp_path / "tree" / "a.py").read_text() == "one\n"
    assert not trap.exists()


def test_an_error_tells_the_first_line_that_matters(made: Made) -> None:
    with pytest.raises(GitFailed) as error:
        Git(made.folder).run("cat-file", "-p", "a" * 40)
    assert error.value.code == 128
    assert error.value.what.startswith("git cat-file failed: fatal:")
    assert "\n" not in error.value.what


def test_what_git_says_cannot_reach_a_terminal_as_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "printf 'warning: w\\nfatal: \\033[31mred\\007\\n' >&2; exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(GitFailed) as error:
        Git(tmp_path).run("status")
    assert error.value.what == "git status failed: fatal: ?[31mred?"
    assert error.value.code == 3


def test_codes_that_are_fine_are_no_error(made: Made) -> None:
    runner = Git(made.folder)
    assert runner.run("config", "--get", "not.there", fine=(0, 1)) == b""
    assert runner.succeeds("merge-base", "--is-ancestor", made[0], made[1])
    assert not runner.succeeds("merge-base", "--is-ancestor", made[1], made[0])
    with pytest.raises(GitFailed):
        runner.succeeds("merge-base", "--is-ancestor", "a" * 40, made[0])


def test_lists_end_each_entry(made: Made) -> None:
    runner = Git(made.folder)
    assert runner.fields("ls-files", "-z") == [b"a.py"]
    assert runner.fields("ls-files", "-z", "--", "not there") == []


def test_a_name_with_a_zero_byte_is_an_error(made: Made) -> None:
    with pytest.raises(GitError, match="cannot be given"):
        Git(made.folder).run("log", "--", "a\0b")


def test_where_git_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed"):
        Git(tmp_path).run("status")
    with pytest.raises(GitError, match="not installed"), Git(tmp_path).reading("log"):
        pass


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "exec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(GitError, match=r"took more than 0.2 s"):
        Git(tmp_path, deadline=0.2).run("status")
    with (
        pytest.raises(GitError, match=r"said nothing for 0.2 s"),
        Git(tmp_path, deadline=0.2).reading("log") as answer,
    ):
        answer.read()
    assert not psutil.Process().children(recursive=True)


def test_a_long_answer_comes_as_it_is_made_and_can_be_left(made: Made) -> None:
    runner = Git(made.folder)
    with runner.reading("log", "--format=%H") as answer:
        assert answer.readline().decode().strip() == made[1]
    with runner.reading("log", "--format=%H") as answer:
        assert answer.read().decode().split() == [made[1], made[0]]
    with pytest.raises(GitFailed), runner.reading("log", "a" * 40) as answer:
        answer.read()
    assert not psutil.Process().children(recursive=True)


def test_an_answer_that_is_left_ends_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "echo $$; exec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with Git(tmp_path).reading("log") as answer:
        pid = int(answer.readline())
        os.kill(pid, signal.SIG_DFL)  # it is there
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


def test_one_command_reads_what_another_prints(made: Made) -> None:
    runner = Git(made.folder)
    with (
        runner.reading("diff-tree", "-p", "--stdin", input=f"{made[1]}\n".encode()) as patches,
        runner.reading("patch-id", "--stable", input=patches) as ids,
    ):
        (line,) = ids.read().decode().splitlines()
    assert line.split()[1] == made[1]


def test_nothing_is_fetched(tmp_path: Path) -> None:
    story = Story()
    story.commit("Begin", {"a.py": "one\n"})
    made = story.write(tmp_path / "repository")
    made.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{made.folder}", str(clone))
    with pytest.raises(GitFailed):
        Git(clone).run("cat-file", "-p", f"{made[0]}:a.py")
    assert git(clone, "cat-file", "-p", f"{made[0]}:a.py") == "one"  # which can be fetched


def test_replaced_commits_are_what_they_were(made: Made) -> None:
    made.git("replace", made[0], made[1])
    assert Git(made.folder).text("log", "--format=%s", "-1", made[0]) == "Begin"
