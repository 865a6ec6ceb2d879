"""What can go wrong, as one tree; each class names a cause, and its `exit_code` is what a shell sees.

    WorkbenchError
    ├── UsageError           the request makes no sense as given                       exit 2
    ├── StoreError           a file of ours is missing, damaged or in use              exit 2
    │   ├── LockHeld         another process owns the run
    │   ├── VersionTooNew    written by a newer workbench; reading only
    │   ├── InvalidFiles     files that people write have mistakes; each is named with its place
    │   └── StorageFull      the disk refused a write; what was written before is whole
    ├── GitError             git, a repository or a revision is not what is needed     exit 2
    ├── PluginError          an engine, workload or classifier cannot be loaded        exit 2
    ├── ResumeRefused        code, plan or environment changed since the run started   exit 2
    ├── AlreadyDecided       earlier runs of a test have said its word                 exit 0
    ├── EngineError          the system under test                                     exit 3
    │   ├── ArmCouldNotStart an arm's command or process cannot be started
    │   ├── EngineBusy       another run has the engine, or a file that is to be changed
    │   └── NotPutBack       a file that was changed for an arm could not be put back
    └── Interrupted          stopped by the user; everything finished is saved         exit 130

Every error carries what happened, and where it can a hint that says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def nearest(name: str, known: Iterable[str]) -> str:
    """Give a hint that names what somebody may have meant by `name`, or what there is."""
    import difflib  # slow to import, and only who is wrong needs it

    there = list(known)
    near = difflib.get_close_matches(name, there, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if not there:
        return ""
    shown = ", ".join(there[:12])
    return f"known: {shown}, ..." if len(there) > 12 else f"known: {shown}"


class WorkbenchError(Exception):
    """Base of all errors that a user can meet.

    Args:
        what: What happened, one line, without a full stop.
        hint: What to do about it, one line; empty when there is nothing useful to say.
    """

    exit_code = 2

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}; {self.hint}" if self.hint else self.what


class UsageError(WorkbenchError):
    """The request contradicts itself or leaves something out."""


class StoreError(WorkbenchError):
    """A file of the workbench is missing, damaged or in use."""


class LockHeld(StoreError):
    """Another live process owns this run."""


class VersionTooNew(StoreError):
    """The file was written by a newer version of the workbench."""


class InvalidFiles(StoreError):
    """Files that people write have mistakes, and what was asked needs them whole.

    Args:
        problems: One line each, `file:line:column: what; hint`.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems), hint="`workbench check` lists all that is wrong")
        self.problems = tuple(problems)


class StorageFull(StoreError):
    """The disk refused a write; everything acknowledged before is readable."""


class GitError(WorkbenchError):
    """Git is not there, or a repository or revision is not what is needed."""


class PluginError(WorkbenchError):
    """A plug-in is unknown, broken, or refuses its options."""


class ResumeRefused(WorkbenchError):
    """A run cannot be continued, because something else would be tested now."""


class AlreadyDecided(WorkbenchError):
    """Nothing was run: earlier runs of the same test have said the word. No fault of anybody.

    Args:
        by: Hypothesis to the run that brought its word, and the word.
    """

    exit_code = 0

    def __init__(self, by: Mapping[str, tuple[str, str]]) -> None:
        said = ", ".join(f"{hypothesis} {word} by run {run}" for hypothesis, (run, word) in by.items())
        super().__init__(
            f"decided already: {said}",
            hint="resume that run if it has not ended; another prediction or margin is another test",
        )
        self.by = dict(by)


class EngineError(WorkbenchError):
    """The system under test did not do what the run needs."""

    exit_code = 3


class ArmCouldNotStart(EngineError):
    """An arm's command or process cannot be started; the run has no verdict.

    Args:
        arm: Name of the arm.
        cause: Why, in the words of the operating system or the engine.
        hint: What to do about it.
    """

    def __init__(self, arm: str, cause: str, *, hint: str = "") -> None:
        super().__init__(f"arm could not start: {arm}: {cause}", hint=hint)
        self.arm = arm
        self.cause = cause


class EngineBusy(EngineError):
    """Another run has the engine, or a file that is to be changed for an arm."""


class NotPutBack(EngineError):
    """Files that were changed for an arm are not as they were; each is named with its original.

    Args:
        lines: One line for each file.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(
            "\n".join(lines),
            hint="look at both, then: `workbench doctor --restore` puts back what it can",
        )
        self.lines = tuple(lines)


class Interrupted(WorkbenchError):
    """The user stopped the run; everything that had finished is on disk."""

    exit_code = 130
