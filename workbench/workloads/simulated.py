"""A public test double: sessions that fail at stated rates, drawn from the session's own seed."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint, SessionRequest, Workload


@dataclass(frozen=True, kw_only=True)
class SimulatedWorkloadOptions:
    """Options of the simulated workload, all by arm.

    Attributes:
        rates: Probability that a session exits with 1.
        timeouts: Probability that a session times out, whatever it would have said.
    """

    rates: Mapping[str, float]
    timeouts: Mapping[str, float] = field(default_factory=dict)


class SimulatedWorkload(Workload):
    """One exchange a session, without waiting for anything."""

    Options = SimulatedWorkloadOptions

    def __init__(self, options: SimulatedWorkloadOptions) -> None:
        self._options = options

    async def drive(self, endpoint: Endpoint, session: SessionRequest) -> AsyncIterator[Exchange]:
        """Yield what a command failing at the arm's rate would have given."""
        draw = random.Random(session.seed)
        failed = draw.random() < self._options.rates[endpoint.arm]
        late = draw.random() < self._options.timeouts.get(endpoint.arm, 0.0)
        yield Exchange(
            key=ExchangeKey(session.key, 0),
            ending=Ending.TIMEOUT if late else Ending.COMPLETED,
            exit_code=None if late else int(failed),
            text="FAILED" if failed else "",
            seconds=0.001,
        )

    def leftovers(self, run: str) -> int:
        """Nothing is ever left behind."""
        return 0
