"""Knob kind `patch`: changes that are laid over a commit, so that they need not be committed.

A level is a file as `git diff` writes it. The commit is that of another knob of the arm, or what is
checked out in the repository; the repository's own work tree is never touched.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.commit import with_build
from workbench.knobs.values import check_command
from workbench.ports import Checkout, Launch


@dataclass(frozen=True, kw_only=True)
class PatchKnobOptions:
    """Options of the knob.

    Attributes:
        onto: Commit that it is laid over if no other knob of the arm says which; else the one that is
            checked out in the repository.
        build: Command, word by word, that is executed once in each worktree.
        build_timeout: Seconds that it may take, or a text such as `20m`.
    """

    onto: str = ""
    build: tuple[str, ...] = ()
    build_timeout: float = Checkout().build_timeout

    def __post_init__(self) -> None:
        check_command(self.build, self.build_timeout)
        if "\0" in self.onto:
            raise ValueError(f"{self.onto!r} names no commit")


class PatchKnob:
    """Lays a patch over the code of an arm; null is none."""

    Options = PatchKnobOptions

    def __init__(self, options: PatchKnobOptions) -> None:
        self._options = options

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Add the patch to those of the launch; without one it is run from a worktree all the same."""
        found = launch.checkout or Checkout()
        found = with_build(found, self._options.build, self._options.build_timeout)
        found = replace(found, commit=found.commit or self._options.onto)
        if value is not None:
            path = _checked(value)
            if path not in found.patches:
                found = replace(found, patches=(*found.patches, path))
        return replace(launch, checkout=found)


def _checked(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or value.endswith("/"):
        raise ValueError(f"{value!r} is no path of a patch; null stands for none")
    return posixpath.normpath(value)
