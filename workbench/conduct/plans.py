"""What can be asked of test commands, and the plan that follows from it. Pure.

A request holds what a person said and defaults for the rest; a plan can be turned back into its
request, so that a resume is the old request with what is said anew laid over it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from workbench.model.outcome import Symptom
from workbench.model.plan import Arm, Cluster, Measurement, Part, Plan, Rules
from workbench.model.prediction import Prediction
from workbench.model.verdict import Comparison

CONTROL, TREATMENT, MEASURED = "control", "treatment", "command"
REFERENCE = Measurement(arm=CONTROL, max_trials=200, until_hits=5)  # RULES 4
SYMPTOM = Symptom(
    name="fails", labels=("failed", "crashed"), clean=("clean",), void=("skipped", "killed")
)


@dataclass(frozen=True, kw_only=True)
class CommandRequest:
    """What all requests about test commands share.

    Attributes:
        cwd: Folder in which the commands run, absolute, so that a resume from elsewhere finds it.
        seed: Fixes order and session seeds.
        hit_exit: Exit codes that are the symptom; empty for every failure.
        hit_regex: What the output of a failing execution must match to be the symptom.
        timeout: Seconds after which an execution is ended.
        in_flight: Executions at the same time.
        keep_texts: Which outputs are kept: `all`, `failing` or `none`.
    """

    cwd: str
    seed: int
    hit_exit: tuple[int, ...] = ()
    hit_regex: str | None = None
    timeout: float = 600.0
    in_flight: int = 1
    keep_texts: str = "failing"

    def _plan(
        self,
        arms: tuple[Arm, ...],
        comparisons: tuple[Comparison, ...],
        measurement: Measurement | None,
        rules: Rules,
    ) -> Plan:
        hits = {"hit_exit": list(self.hit_exit), "hit_regex": self.hit_regex}
        return Plan(
            arms=arms,
            comparisons=comparisons,
            measurement=measurement,
            rules=rules,
            symptom=SYMPTOM,
            engine=Part(kind="command", options={"cwd": self.cwd}),
            workload=Part(kind="command", options={"timeout": self.timeout, "cwd": self.cwd}),
            classifier=Part(kind="exit_code", options=hits),
            in_flight=self.in_flight,
            seed=self.seed,
            keep_texts=self.keep_texts,
        )


@dataclass(frozen=True, kw_only=True)
class CompareRequest(CommandRequest):
    """An A/B of two commands.

    Attributes:
        control: Command line predicted to fail.
        treatment: Command line with the suspect removed.
        prediction: Rates predicted; without a control rate its command is sampled first.
        block_size: Trials per arm and block.
        max_blocks: Blocks at most.
    """

    REQUIRED: ClassVar = ("control", "treatment")
    EXAMPLE: ClassVar = "workbench ab --control './test.sh on' --treatment './test.sh off'"

    control: str
    treatment: str
    prediction: Prediction = field(default_factory=Prediction)
    block_size: int = 20
    max_blocks: int = 60

    def plan(self) -> Plan:
        """Plan the A/B."""
        arms = (
            Arm(name=CONTROL, settings={"command": self.control}),
            Arm(name=TREATMENT, settings={"command": self.treatment}),
        )
        comparison = Comparison(control=CONTROL, treatment=TREATMENT, prediction=self.prediction)
        rules = Rules(
            block_size=self.block_size,
            min_blocks=min(2, self.max_blocks),
            max_blocks=self.max_blocks,
            cluster=Cluster.TRIAL,
        )
        measurement = REFERENCE if self.prediction.control is None else None
        return self._plan(arms, (comparison,), measurement, rules)

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Give the request that leads to this plan."""
        return cls(
            control=plan.arm(CONTROL).settings["command"],
            treatment=plan.arm(TREATMENT).settings["command"],
            prediction=plan.comparisons[0].prediction,
            block_size=plan.rules.block_size,
            max_blocks=plan.rules.max_blocks,
            **_shared(plan),
        )


@dataclass(frozen=True, kw_only=True)
class MeasureRequest(CommandRequest):
    """How often one command fails.

    Attributes:
        command: Its command line.
        max_trials: Trials at most.
        until_hits: Stop at so many hits; None to use all trials.
    """

    REQUIRED: ClassVar = ("command",)
    EXAMPLE: ClassVar = "workbench measure -- ./test.sh"

    command: str
    max_trials: int = REFERENCE.max_trials
    until_hits: int | None = REFERENCE.until_hits

    def plan(self) -> Plan:
        """Plan the measurement."""
        arm = Arm(name=MEASURED, settings={"command": self.command})
        measurement = Measurement(arm=MEASURED, max_trials=self.max_trials, until_hits=self.until_hits)
        return self._plan((arm,), (), measurement, Rules(cluster=Cluster.TRIAL))

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Give the request that leads to this plan."""
        assert plan.measurement is not None
        return cls(
            command=plan.arm(MEASURED).settings["command"],
            max_trials=plan.measurement.max_trials,
            until_hits=plan.measurement.until_hits,
            **_shared(plan),
        )


def _shared(plan: Plan) -> dict[str, Any]:
    """Give the fields of `CommandRequest` that lead to this plan."""
    return {
        "cwd": plan.engine.options["cwd"],
        "seed": plan.seed,
        "hit_exit": tuple(plan.classifier.options["hit_exit"]),
        "hit_regex": plan.classifier.options["hit_regex"],
        "timeout": plan.workload.options["timeout"],
        "in_flight": plan.in_flight,
        "keep_texts": plan.keep_texts,
    }


def same_test(plan: Plan) -> Plan:
    """Give the plan without what may differ between two openings of one run.

    How many blocks at most, how long, and whose output is kept change nothing of what is tested.
    """
    rules = replace(plan.rules, max_blocks=0, min_blocks=0)
    return replace(plan, rules=rules, keep_texts="", budget=None)
