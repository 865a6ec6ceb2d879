"""Knob kind `commit`: which commit an arm is run from, each in a worktree of its own.

The knob only says which. The conductor checks it out, builds it and moves the components there; what
git does for that is in `vcs/checkouts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from workbench.knobs.values import check_command
from workbench.ports import Checkout, Launch


@dataclass(frozen=True, kw_only=True)
class CommitKnobOptions:
    """Options of the knob.

    Attributes:
        build: Command, word by word, that is executed once in each worktree.
        build_timeout: Seconds that it may take, or a text such as `20m`.
    """

    build: tuple[str, ...] = ()
    build_timeout: float = Checkout().build_timeout

    def __post_init__(self) -> None:
        check_command(self.build, self.build_timeout)


class CommitKnob:
    """Runs an arm from a commit: a level is a commit's id, a branch, or a tag."""

    Options = CommitKnobOptions

    def __init__(self, options: CommitKnobOptions) -> None:
        self._options = options

    def apply(self, value: Any, launch: Launch) -> Launch:
        """Say in the launch which commit it is to be run from."""
        if not isinstance(value, str) or not value or "\0" in value:
            raise ValueError(f"{value!r} names no commit; write an id, a branch or a tag, in quotes")
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise ValueError(f"{value!r} names no commit: it is no UTF-8")
        found = launch.checkout or Checkout()
        built = with_build(found, self._options.build, self._options.build_timeout)
        return replace(launch, checkout=replace(built, commit=value))


def with_build(checkout: Checkout, build: tuple[str, ...], timeout: float) -> Checkout:
    """Add the command that builds it. Raises ValueError if another knob has named another one."""
    if not build:
        return checkout
    if checkout.build not in ((), build):
        raise ValueError("another knob of the arm builds the code by another command; name one of them")
    return replace(checkout, build=build, build_timeout=timeout)
