"""The `git` command, as it may be used on repositories that nobody vouches for.

Arguments are a list and never a shell's. What comes from a file or a person is a *name* (a revision, a
path) and reaches git only behind `--end-of-options` or `--`, so none is ever taken for an option.
A path is a path and never a pattern. Nothing is fetched; no hook, pager, editor, filter of diffs or
file system monitor is run; no lock is taken for reading; what `git replace` replaces is not followed.

Answers are bytes: messages and paths need not be UTF-8. As text, a path holds bytes that are none as
surrogates (`surrogateescape`), so it finds its way back: `as_path`, `as_bytes`.
"""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from workbench.errors import GitError

DEADLINE = 120.0  # seconds for one command, or for the next bytes of a long answer
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SETTINGS = (
    *("-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "color.ui=false", "-c", "log.showSignature=false", "-c", "log.follow=false"),
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "gc.auto=0"),
    # what is too large to be somebody's lines is compared by its id only
    *("-c", "core.bigFileThreshold=16m"),
)
# For what is read by ids alone: attributes of whatever is checked out have no say in what a change is.
_BY_ID = ("--git-dir=.", "-c", "core.attributesFile=/dev/null")
# An empty `diff.external` would be run, as a program without a name, so each command is told.
_PLAIN = ("--no-ext-diff", "--no-textconv")
_SHOWS_CHANGES = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})
_OURS: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # older ones know no other way to fetch nothing from a promisor
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class Git:
    """Runs git in one folder.

    Args:
        folder: A work tree, or a git directory.
        deadline: Seconds for one command; for `reading`, for the next bytes of its answer.
        by_id: The folder is a git directory, and only objects are asked for, by their ids.
    """

    def __init__(self, folder: Path, *, deadline: float = DEADLINE, by_id: bool = False) -> None:
        self.folder = folder
        self._deadline = deadline
        self._settings = (*_SETTINGS, *(_BY_ID if by_id else ()))

    def run(
        self,
        *arguments: str,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """Run one command and give what it prints.

        Args:
            arguments: The command and its arguments; names behind `--end-of-options` or `--`.
            input: What it reads.
            env: Variables laid over the environment.
            fine: Exit codes that are no error.

        Raises:
            GitError: It is not there, fails, or takes too long; the first line that it says is told.
        """
        try:
            done = subprocess.run(
                self._words(arguments),
                input=input,
                capture_output=True,
                env=_environment(env),
                timeout=self._deadline,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took more than {self._deadline:g} s") from error
        except (OSError, ValueError) as error:
            raise _cannot_run(error) from error
        if done.returncode not in fine:
            raise _failed(arguments[0], done.returncode, done.stderr)
        return done.stdout

    def text(self, *arguments: str) -> str:
        """Run one command whose answer is one line of text; see `run`."""
        return self.run(*arguments).decode("utf-8", "replace").strip()

    def fields(self, *arguments: str, input: bytes = b"") -> list[bytes]:
        """Run one command whose answer is a list that ends each entry with NUL; see `run`."""
        return self.run(*arguments, input=input).split(b"\0")[:-1]

    def succeeds(self, *arguments: str) -> bool:
        """Say whether a command that answers by its exit code, 0 or 1, says yes; see `run`."""
        try:
            self.run(*arguments)
        except GitError as error:
            if isinstance(error, GitFailed) and error.code == 1:
                return False
            raise
        return True

    @contextmanager
    def reading(
        self, *arguments: str, input: IO[bytes] | bytes | None = None
    ) -> Iterator[io.BufferedReader]:
        """Run one command whose answer is too long to hold, and give what it prints as it comes.

        Leaving early ends it.

        Args:
            arguments: As for `run`.
            input: What it reads: bytes, or what another command prints.

        Raises:
            GitError: It is not there, fails, or says nothing for too long.
        """
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
            if isinstance(input, bytes):  # through a file: nobody need write while we read
                given.write(input)
                given.seek(0)
            try:
                process = subprocess.Popen(
                    self._words(arguments),
                    stdin=(input if input is not None and not isinstance(input, bytes) else given),
                    stdout=subprocess.PIPE,
                    stderr=said,
                    env=_environment(None),
                )
            except (OSError, ValueError) as error:
                raise _cannot_run(error) from error
            assert process.stdout is not None
            late = GitError(f"git {arguments[0]} said nothing for {self._deadline:g} s")
            patient = _Patient(process.stdout.fileno(), self._deadline, late)
            answer: io.BufferedReader = io.BufferedReader(patient, 1 << 16)
            whole = False
            try:
                yield answer
                # What another command reads is not seen here, so it is asked for.
                whole = patient.ended or (not patient.begun and not answer.read(1))
            finally:
                if not whole:
                    process.kill()
                process.stdout.close()
                code = process.wait()
            if whole and code:
                said.seek(0)
                raise _failed(arguments[0], code, said.read())

    def _words(self, arguments: Sequence[str]) -> list[bytes]:
        command, *rest = arguments
        plain = _PLAIN if command in _SHOWS_CHANGES else ()
        words = ("git", *self._settings, command, *plain, *rest)
        return [b"git", b"-C", os.fsencode(self.folder), *(as_bytes(word) for word in words[1:])]


class _Patient(io.RawIOBase):
    """What a process prints, for whoever will not wait for ever."""

    def __init__(self, descriptor: int, deadline: float, late: GitError) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._deadline = deadline * 1000
        self._late = late
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN)
        self.begun = False  # something was asked for
        self.ended = False

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Any) -> int:
        if not self._ready.poll(self._deadline):
            raise self._late
        count = os.readv(self._descriptor, [buffer])
        self.begun, self.ended = True, not count
        return count


class GitFailed(GitError):
    """A command of git ended with an error.

    Args:
        what: What happened.
        code: Its exit code.
    """

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what)
        self.code = code


def is_sha(text: str) -> bool:
    """Say whether a text is a whole object id, as git prints them."""
    return bool(_SHA.fullmatch(text))


def checked(sha: str) -> str:
    """Give an object id, which is safe as an argument anywhere. Raises GitError for anything else."""
    if not is_sha(sha):
        raise GitError(f"{sha[:70]!r} is no id of a commit")
    return sha


def as_path(name: bytes) -> str:
    """Give a path, or another name that git prints, as text."""
    return name.decode("utf-8", "surrogateescape")


def as_bytes(name: str) -> bytes:
    """Give a name as git has it; ValueError for text that never was one."""
    return name.encode("utf-8", "surrogateescape")


def empty_tree(git: Git) -> str:
    """Give the id of the tree without files, which depends on how a repository makes ids."""
    return git.text("hash-object", "-t", "tree", "--stdin")


def is_binary(content: bytes) -> bool:
    """Say whether a content has no lines, as git does: by a NUL in what it begins with."""
    return b"\0" in content[:8000]


def shown(text: str, most: int = 200) -> str:
    """Give what git or a person has said for one line of a message: what cannot be shown is `?`."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:most]


def _environment(laid_over: Mapping[str, str] | None) -> dict[str, str]:
    """Give our environment without what would lead git to another repository than the folder's."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in ("GIT_EXEC_PATH", "GIT_SSL_NO_VERIFY")
    }
    return {**kept, **_OURS, **(laid_over or {})}


def _cannot_run(error: OSError | ValueError) -> GitError:
    if isinstance(error, FileNotFoundError):
        return GitError("git is not installed", hint="commits can only be looked up where it is")
    if isinstance(error, ValueError):  # a NUL byte, which no argument can hold
        return GitError("a name holds a character that git cannot be given")
    return GitError(f"git cannot be run: {error}")


def _failed(command: str, code: int, said: bytes) -> GitFailed:
    lines = said.decode("utf-8", "replace").strip().split("\n")
    # warnings may come before what went wrong
    first = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])
    return GitFailed(f"git {command} failed: {shown(first) or f'exit code {code}'}", code)
