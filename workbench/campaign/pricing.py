"""What a test takes: its starts and sessions, by what earlier runs took, rehearsed until a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.judge.next import Price, Times
from workbench.judge.patterns import PATTERNS, Pattern
from workbench.model.event import VerdictGiven
from workbench.model.plan import Cluster, Plan
from workbench.model.prediction import Prediction
from workbench.model.registry import RunLine
from workbench.stats import Terms, forecast

START_SECONDS, SESSION_SECONDS = 60.0, 2.0
"""What a start and a session are taken to take where no run has measured it."""

USUAL_RATE = 0.2
"""How often a control is taken to fail where nobody has said it."""


class Pricing:
    """Prices of tests.

    Args:
        runs: The runs of the campaign.
        verdicts: What they said, oldest first.
    """

    def __init__(self, runs: Iterable[RunLine], verdicts: Sequence[VerdictGiven]) -> None:
        self._runs = {line.id: line for line in runs}
        self._verdicts = verdicts
        self._forecasts: dict[object, float] = {}

    def times(self, plan: Plan, engine: str) -> Times:
        """Give what the newest run on the same engine took, else what is usual."""
        for verdict in reversed(self._verdicts):
            line, told = self._runs.get(verdict.run), verdict.circumstances
            sessions = sum(counts.total for counts in line.counts.values()) if line else 0
            if verdict.engine != engine or line is None or not sessions or told is None:
                continue
            start = told.start_seconds or 0.0
            rest = max(line.seconds - told.starts * start, 0.001 * sessions)
            return Times(start=start, session=rest / sessions, measured=True)
        trial = plan.rules.cluster is Cluster.TRIAL
        return Times(start=0.0 if trial else START_SECONDS, session=SESSION_SECONDS, measured=False)

    def price(self, plan: Plan, prediction: Prediction | None, times: Times) -> Price:
        """Give what a test takes under each pattern.

        Args:
            plan: Of the test.
            prediction: What its hypothesis claims.
            times: From `times`.
        """
        rules, said = plan.rules, prediction or Prediction()
        trial = rules.cluster is Cluster.TRIAL
        return Price(
            sessions={pattern: self._sessions(plan, said, pattern) for pattern in PATTERNS},
            sessions_per_start=rules.block_size,
            start_minutes=0.0 if trial else times.start / 60,
            session_minutes=times.session / 60,
        )

    def _sessions(self, plan: Plan, said: Prediction, pattern: Pattern) -> float:
        """Rehearse a test under a pattern: an arm that fails does so at the rate that is predicted."""
        rules = plan.rules
        fails = said.control or rules.reference or USUAL_RATE
        spared = said.treatment or 0.0
        control, treatment = (fails if each else spared for each in pattern)
        terms = Terms.of(rules, said, fails)
        key = (terms, control, treatment, rules.block_size)
        if key not in self._forecasts:
            most = 2 * rules.block_size * rules.max_blocks
            outlook = forecast(terms, control, treatment, rules.block_size)
            self._forecasts[key] = min(float(outlook.sessions), float(most))
        return self._forecasts[key]
