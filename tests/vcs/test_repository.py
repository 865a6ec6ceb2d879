"""A repository: found from anywhere, of every kind, and what is named in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vcs.repositories import Content, Made, Story, git
from tests.vcs.test_git import HOSTILE_NAMES
from workbench.errors import GitError
from workbench.vcs import changes, entries, history
from workbench.vcs.repository import Repository


def story() -> Story:
    told = Story()
    told.commit("Begin", {"a.py": "one\n", "sub/b.py": "one\n"})
    told.commit("Go on", {"a.py": "two\n"})
    told.commit("And on", {"a.py": "three\n"})
    return told


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return story().write(tmp_path / "repository", bare=False)


def test_it_is_found_from_a_folder_within(made: Made) -> None:
    found = Repository(made.folder / "sub")
    assert found.top == made.folder
    assert found.common == made.folder / ".git"
    assert (found.bare, found.shallow, found.partial) == (False, False, False)
    assert found.head() == made[2]


def test_its_git_directory_is_it(made: Made) -> None:
    found = Repository(made.folder / ".git")
    assert (found.top, found.common) == (made.folder, made.folder / ".git")


def test_a_folder_of_a_strange_name(made: Made) -> None:
    strange = made.folder / "-n1 \n\udcff"
    strange.mkdir()
    git(strange, "init", "-q")
    assert Repository(strange).top == strange


def test_a_bare_one(tmp_path: Path) -> None:
    made = story().write(tmp_path / "repository")
    found = Repository(made.folder)
    assert found.bare
    assert found.top is None
    assert found.head() == made[2]
    assert history.commit(found, made[1]).subject == "Go on"


def test_a_worktree_shares_its_history(made: Made, tmp_path: Path) -> None:
    made.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), made[1])
    found = Repository(tmp_path / "tree")
    assert found.top == tmp_path / "tree"
    assert found.common == made.folder / ".git"
    assert found.head() == made[1]
    assert [commit.sha for commit in history.commits(found, made[2])] == [made[2], made[1], made[0]]


def test_a_submodule_is_one_of_its_own(made: Made, tmp_path: Path) -> None:
    outer = Story()
    outer.commit("Begin", {"x": "x\n"})
    whole = outer.write(tmp_path / "outer", bare=False)
    whole.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", f"file://{made.folder}", "inner"
    )
    whole.git("commit", "-q", "-m", "Have it")
    inner = Repository(whole.folder / "inner")
    assert inner.top == whole.folder / "inner"
    assert inner.head() == made[2]
    head = whole.repository.head()
    assert head is not None
    change = changes.changes_of(whole.repository, head)
    assert change is not None
    assert change.files["inner"].submodule
    assert change.files["inner"].after == made[2]


def test_a_shallow_clone_says_so(made: Made, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{made.folder}", "clone")
    found = Repository(tmp_path / "clone")
    assert found.shallow
    assert found.cut == {made[2]}
    assert found.head() == made[2]
    with pytest.raises(GitError) as error:
        found.resolve(made[0])
    assert "shallow" in error.value.hint


def test_a_partial_clone_says_so(made: Made, tmp_path: Path) -> None:
    made.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{made.folder}", "clone")
    found = Repository(tmp_path / "clone")
    assert found.partial
    assert found.head() == made[2]


def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    found = Repository(tmp_path)
    assert found.head() is None
    assert found.refs() == {}


def test_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="there is no git repository at"):
        Repository(tmp_path)
    with pytest.raises(GitError, match="there is no folder"):
        Repository(tmp_path / "not there")


def test_a_damaged_one_is_an_error(made: Made) -> None:
    (made.folder / ".git" / "HEAD").write_text("rubbish\n")
    with pytest.raises(GitError):
        Repository(made.folder).resolve("main")


def test_the_environment_leads_nowhere_else(made: Made, tmp_path: Path, hostile: Path) -> None:
    found = Repository(made.folder)
    assert found.common == made.folder / ".git"
    assert found.head() == made[2]
    assert not hostile.exists()


def test_revisions_are_what_git_says(made: Made) -> None:
    made.git("tag", "-a", "-m", "a tag", "v1", made[0])
    found = Repository(made.folder)
    assert found.resolve("HEAD") == found.resolve("main") == made[2]
    assert found.resolve("HEAD~1") == found.resolve(made[1][:10]) == made[1]
    assert found.resolve("v1") == made[0]
    assert found.refs() == {"main": made[2], "v1": made[0]}


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "", "nothing", "HEAD:a.py", "main^{tree}"])
def test_a_revision_that_means_no_commit_is_an_error(name: str, made: Made, tmp_path: Path) -> None:
    with pytest.raises(GitError) as error:
        Repository(made.folder).resolve(name)
    assert error.value.what.isprintable()
    assert not list(tmp_path.rglob("*trap*"))


def test_a_name_that_is_nearly_one_is_offered(made: Made) -> None:
    with pytest.raises(GitError) as error:
        Repository(made.folder).resolve("mian")
    assert "main" in error.value.hint


@pytest.mark.parametrize("name", ["-n1", "--all", "a b", "\udcff"])
def test_branches_of_strange_names_are_there(name: str, made: Made) -> None:
    # git makes none of these itself, but another program may have
    path = made.folder / ".git" / "packed-refs"
    line = f"{made[1]} refs/heads/{name}\n"
    path.write_bytes(line.encode("utf-8", "surrogateescape"))
    found = Repository(made.folder)
    if " " in name:  # which git calls broken
        assert name not in found.refs()
    else:
        assert found.refs()[name] == made[1]
        assert found.resolve(name if not name.startswith("-") else f"refs/heads/{name}") == made[1]


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/ana/thing.git", "https://github.com/ana/thing/commit/"),
        ("git@github.com:ana/thing.git", "https://github.com/ana/thing/commit/"),
        ("ssh://git@gitlab.com/ana/thing", "https://gitlab.com/ana/thing/-/commit/"),
        ("https://ana:secret@github.com/ana/thing", "https://github.com/ana/thing/commit/"),
        ("https://github.com/ana/<b>\"'.git", "https://github.com/ana/%3Cb%3E%22%27/commit/"),
        ("https://example.org/thing.git", ""),
        ("javascript:alert(1)", ""),
        ("/srv/thing.git", ""),
        ("https://github.com/", ""),
        ("https://[github.com/ana/thing", ""),
    ],
)
def test_addresses_on_the_web(remote: str, address: str, made: Made) -> None:
    made.git("config", "remote.origin.url", remote)
    assert Repository(made.folder).permalink(made[0]) == (address and f"{address}{made[0]}")
    assert Repository(made.folder).permalink("HEAD") == ""


def test_no_remote_no_address(made: Made) -> None:
    assert Repository(made.folder).permalink(made[0]) == ""


def test_files_of_a_commit_can_be_links(tmp_path: Path) -> None:
    told = Story()
    told.commit("Begin", {"link": Content(b"../../etc/passwd", "120000")})
    made = told.write(tmp_path / "repository")
    link = entries.at(made.repository, made[0], ["link"])["link"]
    lines = changes.lines_in(made.repository, link.id)
    assert lines == {b"../../etc/passwd": 1}
