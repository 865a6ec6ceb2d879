"""The `git` command, as it may be used on repositories that nobody vouches for.

Arguments are a list and never a shell's. What comes from a file or a person is a *name* (a revision, a
path) and reaches git only behind `--end-of-options` or `--`, so none is ever taken for an option.
Nothing is fetched; no hook, pager, editor, filter of diffs or file system monitor is run; no lock is
taken for reading. Answers are bytes: messages and paths need not be UTF-8.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from workbench.errors import GitError

DEADLINE = 120.0  # seconds for one command
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SETTINGS = (
    *("-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "color.ui=false", "-c", "log.showSignature=false", "-c", "diff.external="),
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "gc.auto=0"),
)
_OURS: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class Git:
    """Runs git in one folder.

    Args:
        folder: A work tree, or a git directory.
        deadline: Seconds for one command.
    """

    def __init__(self, folder: Path, *, deadline: float = DEADLINE) -> None:
        self.folder = folder
        self._deadline = deadline

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
    def reading(self, *arguments: str, input: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
        """Run one command whose answer is too long to hold, and give what it prints as it comes.

        Leaving early ends it.

        Raises:
            GitError: It is not there, or fails.
        """
        try:
            process = subprocess.Popen(
                self._words(arguments),
                stdin=input or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(None),
            )
        except (OSError, ValueError) as error:
            raise _cannot_run(error) from error
        assert process.stdout is not None
        assert process.stderr is not None
        whole = False
        try:
            yield process.stdout
            whole = not process.stdout.read(1)
        finally:
            if not whole:
                process.kill()
            said = process.stderr.read()
            process.stdout.close()
            process.stderr.close()
            code = process.wait()
        if whole and code:
            raise _failed(arguments[0], code, said)

    def _words(self, arguments: Sequence[str]) -> list[str]:
        return ["git", "-C", str(self.folder), *_SETTINGS, *arguments]


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
    first = said.decode("utf-8", "replace").strip().partition("\n")[0]
    shown = "".join(letter if letter.isprintable() else "?" for letter in first)[:200]
    return GitFailed(f"git {command} failed: {shown or f'exit code {code}'}", code)
