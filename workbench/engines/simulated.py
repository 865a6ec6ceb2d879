"""A public test double: an engine that is always up and always what it was asked to be.

With the workload of the same name it lets a whole campaign run in one process, with known rates and
no processes or sockets, through exactly the code that a real engine runs through.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import ArmCouldNotStart
from workbench.model.plan import Arm, Cluster
from workbench.model.run import Fingerprint
from workbench.ports import Endpoint, Engine, Launch, Turn, untouched


@dataclass(frozen=True, kw_only=True)
class SimulatedEngineOptions:
    """Options of the simulated engine.

    Attributes:
        cluster: What sessions share.
        broken: Arms that cannot be started.
        drifts: Arms whose files change after so many readings; by arm.
        lease: What only one run may have at a time.
        disturbs: Starting an arm counts as a restart of something that others use.
    """

    cluster: Cluster = Cluster.TRIAL
    broken: tuple[str, ...] = ()
    drifts: dict[str, int] | None = None
    lease: str = ""
    disturbs: bool = False


class SimulatedEngine(Engine):
    """Starts nothing and remembers how often it was asked."""

    Options = SimulatedEngineOptions

    def __init__(self, options: SimulatedEngineOptions) -> None:
        self.cluster = options.cluster
        self.lease = options.lease
        self.disturbs = options.disturbs
        self._options = options
        self._readings: dict[str, int] = {}

    async def start(self, arm: Arm, turn: Turn = untouched) -> Endpoint:
        """Bring an arm up, or fail as a broken one would."""
        if arm.name in self._options.broken:
            raise ArmCouldNotStart(arm.name, "it is simulated as broken")
        turn(Launch())
        return Endpoint(arm=arm.name)

    async def fingerprint(self, arm: Arm, turn: Turn = untouched) -> Fingerprint:
        """Report the arm's settings, and its launch, as its effective configuration."""
        launch = turn(Launch())
        readings = self._readings[arm.name] = self._readings.get(arm.name, 0) + 1
        limit = (self._options.drifts or {}).get(arm.name)
        build = "changed" if limit is not None and readings > limit else "as planned"
        config = dict(arm.settings) | {f"env {name}": str(value) for name, value in launch.env.items()}
        if launch.argv:
            config["flags"] = " ".join(launch.argv)
        return Fingerprint(arm=arm.name, config=config, files={"build": build})

    async def stop(self) -> None:
        """Nothing is up."""
