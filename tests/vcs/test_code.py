"""What code lies in a folder, as it goes on record: and what must not."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.vcs.trees import HOSTILE, Tree, git
from workbench.errors import GitError
from workbench.model.commits import Code
from workbench.vcs import code

SECRET = "correct-horse-battery-staple"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "engine")
    tree.commit(serve__py="one\ntwo\n", notes__md="# notes\n", __gitignore="*.log\n")
    return tree


def head(tree: Tree) -> str:
    return git(tree.path, "rev-parse", "HEAD")


def test_a_clean_tree_is_its_commit(tree: Tree) -> None:
    tree.write("server.log", "ignored")
    tree.write("__pycache__/serve.cpython-311.pyc", "of no interest")
    found = code.look(tree.path)
    assert found.code == Code(commit=head(tree))
    assert found.patch == b""


@pytest.mark.parametrize("staged", [False, True])
def test_a_change_is_on_record_with_its_digest(staged: bool, tree: Tree) -> None:
    tree.write("serve.py", "one\n2\n")
    if staged:
        git(tree.path, "add", "-A")
    found = code.look(tree.path)
    assert (found.code.commit, found.code.dirty) == (head(tree), True)
    assert found.code.patch_sha256 == hashlib.sha256(found.patch).hexdigest()
    assert b"-two\n+2\n" in found.patch
    (tree.path / "serve.py").write_text("one\n3\n")
    assert code.look(tree.path).code.identity != found.code.identity
    tree.commit()
    assert code.look(tree.path).code == Code(commit=head(tree))


def test_a_change_can_be_made_again_from_what_is_on_record(tree: Tree, tmp_path: Path) -> None:
    tree.write("serve.py", "one\n2\n")
    (tree.path / "notes.md").unlink()
    patch = tmp_path / "dirty.patch"
    patch.write_bytes(code.look(tree.path).patch)
    git(tree.path, "checkout", "-q", "--", ".")
    git(tree.path, "apply", str(patch))
    assert (tree.path / "serve.py").read_text() == "one\n2\n"
    assert not (tree.path / "notes.md").exists()


def test_unknown_files_are_named_and_not_compared(tree: Tree) -> None:
    clean = code.look(tree.path).code
    for name in (HOSTILE, "-b", "new/file.py"):
        tree.write(name, "x")
    tree.write("__pycache__/a.pyc", "x")
    (tree.path / os.fsdecode(b"\xff.py")).touch()
    found = code.look(tree.path).code
    assert set(found.untracked) == {HOSTILE, "-b", "new/file.py", "\ufffd.py"}
    assert found.identity == clean.identity
    assert code.look(tree.path, untracked=("as listed before",)).code.untracked == ("as listed before",)


def test_of_many_unknown_files_the_first_are_named(tree: Tree) -> None:
    for number in range(507):
        tree.write(f"many/{number:03}", "")
    found = code.look(tree.path).code.untracked
    assert found[499:] == ("many/499", "... and 7 more")


def test_files_of_the_campaign_are_none_of_its_code(tree: Tree) -> None:
    tree.commit(campaign__yaml="one\n")
    tree.write("campaign.yaml", "two\n")
    tree.write("runs/a/manifest.json", "{}")
    own = ("campaign.yaml", "runs", "*")  # names, and no patterns
    assert code.look(tree.path, without=own).code == Code(commit=head(tree))
    assert code.changes(tree.path, own) == ()
    tree.write("serve.py", "2\n")
    assert code.look(tree.path, without=own).code.dirty
    assert code.changes(tree.path, own) == ("serve.py",)
    assert code.changes(tree.path) == ("campaign.yaml", "serve.py")


def test_patches_that_were_laid_over_it_belong_to_it(tree: Tree) -> None:
    plain = code.look(tree.path).code
    patched = code.look(tree.path, patches={"a.patch": "1" * 64}).code
    renamed = code.look(tree.path, patches={"b.patch": "1" * 64}).code
    assert patched.patches == {"a.patch": "1" * 64}
    assert plain.identity != patched.identity == renamed.identity


def test_secrets_in_changes_do_not_get_on_record(tree: Tree) -> None:
    key = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEow0123456789", "-----END RSA PRIVATE KEY-----"]
    tree.commit(key__pem="\n".join(["before", *key, "after", ""]))
    lines = ["before", *[line.replace("0123", "9876") for line in key], "after"]
    tree.write("key.pem", "\n".join([*lines, ""]))
    tree.write("serve.py", f"call({SECRET!r})\nAPI_KEY = 'sk-0123456789abcdefABCDEF0123456789'\n")
    found = code.look(tree.path, secrets=(SECRET,))
    for secret in (SECRET, "sk-0123456789abcdefABCDEF", "MIIEow"):
        assert secret.encode() not in found.patch
    for kept in (b"+call('<redacted>')", b" before", b" after", b"diff --git a/serve.py b/serve.py"):
        assert kept in found.patch
    assert found.code.patch_sha256 == hashlib.sha256(found.patch).hexdigest()


def test_changes_of_any_size_are_told_apart_and_cut(tree: Tree) -> None:
    digests = set()
    for last in ("x", "y"):
        tree.write("serve.py", "".join(f"{number} of many\n" for number in range(200_000)) + last)
        found = code.look(tree.path)
        assert len(found.patch) < 1_100_000
        assert b"more bytes, sha256 " in found.patch
        digests.add(found.code.patch_sha256)
    tree.write("serve.py", "x" * 500_000)
    assert len(code.look(tree.path).patch) < 1000
    assert len(digests) == 2


def test_files_that_are_no_text_are_told_by_their_digests(tree: Tree) -> None:
    (tree.path / "weights.bin").write_bytes(bytes(range(256)) * 10)
    tree.commit()
    (tree.path / "weights.bin").write_bytes(bytes(range(255)) * 10)
    one = code.look(tree.path)
    assert b"Binary files a/weights.bin and b/weights.bin differ" in one.patch
    (tree.path / "weights.bin").write_bytes(bytes(range(254)) * 10)
    assert code.look(tree.path).code.patch_sha256 != one.code.patch_sha256


def test_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "new")
    tree.write("serve.py", "one\n")
    assert code.look(tree.path).code == Code(commit=None, untracked=("serve.py",))


def test_where_there_is_no_repository_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(GitError):
        code.look(tmp_path)


def test_no_program_that_a_repository_names_is_run(tree: Tree, tmp_path: Path) -> None:
    pwned = tmp_path / "pwned"
    program = tree.write("program.sh", f"#!/bin/sh\ntouch {pwned}\n")
    program.chmod(0o755)
    tree.write(".gitattributes", "*.py diff=x\n")
    tree.commit()
    for setting in (
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "core.fsmonitor",
        "core.pager",
    ):
        git(tree.path, "config", setting, str(program))
    tree.write("serve.py", "changed\n")
    assert code.look(tree.path).code.dirty
    assert code.changes(tree.path) == ("serve.py",)
    assert code.newest(tree.path)
    assert not pwned.exists()


def test_the_newest_of_the_tracked_files_is_the_one_that_counts(tree: Tree) -> None:
    for path in tree.path.iterdir():
        if path.is_file():
            os.utime(path, (1000, 1000))
    tree.write("unknown.py", "now")
    assert code.newest(tree.path) == 1000.0
    os.utime(tree.path / "serve.py", (2000, 2000))
    assert code.newest(tree.path) == 2000.0
    (tree.path / "serve.py").unlink()
    assert code.newest(tree.path) == 1000.0


@pytest.mark.parametrize("name", ["a*.py", ":(top)x", "-b", "[ab].py", HOSTILE])
def test_a_name_is_no_pattern(name: str, tree: Tree) -> None:
    tree.commit(ab__py="")
    assert not code.knows(tree.path, name)
    tree.write(name, "")
    assert not code.knows(tree.path, name)
    tree.commit()
    assert code.knows(tree.path, name)
