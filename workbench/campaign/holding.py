"""What a run holds while it goes on, so that no other one uses it: the engine, and files it changes.

Everything is taken before the arms are read back: what they run is not certain while another run may
still have the files changed. Leftovers of a run that died are put back first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench.conduct.experiment import Parts
from workbench.conduct.settings import Settings
from workbench.model.plan import Plan
from workbench.ports import silent
from workbench.store import current_owner, putback
from workbench.store.lease import Lease, holder


def _no(_: str) -> bool:
    """Nobody is there to say yes."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Leave:
    """What a run may do to what others use, and whom it tells.

    Attributes:
        who: For whom it runs; empty for the user of this process.
        allow: Protected engines that it may start, stop, restart or edit.
        wait: Queue behind a run that has the engine.
        tell: Told, in a line, for whom it waits and what it has put back.
        ask: Puts a question to a person at a terminal; whether the answer was a typed yes.
    """

    who: str = ""
    allow: tuple[str, ...] = ()
    wait: bool = False
    tell: Callable[[str], None] = silent
    ask: Callable[[str], bool] = _no


class Held:
    """What a run holds."""

    def __init__(self, leases: list[Lease]) -> None:
        self._leases = leases

    def say(self, run: str) -> None:
        """Tell those who wait which run it is."""
        for lease in self._leases:
            lease.say(run)


@contextmanager
def held(root: Path, plan: Plan, parts: Parts, settings: Settings, leave: Leave) -> Iterator[Held]:
    """Hold what a plan needs for itself, and put back what dead runs left changed.

    Args:
        root: The campaign's folder.
        plan: What will be done.
        parts: Its plug-ins, built.
        settings: Its files.
        leave: Who holds it, and whether to wait.

    Raises:
        EngineBusy: Another run has it, and there is no leave to wait.
    """
    who = leave.who or current_owner().who
    names = [parts.engine.lease] if parts.engine.lease else []
    names += [f"file {path}" for path in settings.paths(plan.arms)]
    leases: list[Lease] = []
    try:
        for name in sorted(names):  # in one order, or two runs could wait for each other
            taken = Lease.take(holder(name, who, root), wait=leave.wait, tell=leave.tell)
            leases.append(taken)
        for each in putback.restore(root):
            leave.tell(each.what)
        yield Held(leases)
    finally:
        for lease in leases:
            lease.release()
