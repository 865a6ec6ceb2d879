"""The campaign as it was read last: made once for each change, and handed to every view."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from workbench.model.commits import History
from workbench.model.registry import Registry
from workbench.report.suspects import Roster, roster


@dataclass(frozen=True, slots=True)
class Held:
    """A campaign at one moment.

    Attributes:
        registry: All that was read.
        history: What git says of its commits; None until somebody looks at commits.
        suspects: Its suspects, ready for reports.
    """

    registry: Registry
    history: History | None = None
    suspects: Roster = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "suspects", roster(self.registry, self.history))

    @property
    def root(self) -> Path:
        """The campaign's folder."""
        return Path(self.registry.root)
