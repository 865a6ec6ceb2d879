"""Adapters between the yardsticks' protocols and `ABTest`; no judgement of their own.

`factory` serves `verdict.py product` (whole blocks, every word); `two_words` serves `abtest.py product`
(response by response, `present` and `falsified` only, absolute margin).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from workbench.model.outcome import Counts
from workbench.model.plan import Cluster
from workbench.stats import ABTest


class Factory:
    """One trial after another: `start`, then `block` until a word falls, then `close`."""

    def start(self, cfg: dict[str, Any]) -> None:
        settings = {
            name: cfg[name] for name in ("alpha", "removes", "floor", "min_blocks", "max_blocks", "p0")
        }
        self.test = ABTest(
            margin=None if cfg["margin"] == "half-control" else cfg["margin"],
            predicted=cfg["predicted"],
            design_effect=cfg["design_effect"],
            cluster=Cluster.TRIAL if cfg["lifecycle"] == "command" else Cluster.START,
            **settings,
        )

    def block(self, message: dict[str, Any]) -> dict[str, Any]:
        arms = {arm: Counts(**message[arm]) for arm in ("control", "treatment")}
        return {"verdict": self.test.add_block(**arms, first=message["first"])}

    def close(self) -> dict[str, Any]:
        return {"verdict": self.test.close()}


class TwoWords:
    """One trial after another; a session hits if any of its responses is corrupted."""

    design_effect: str | None = None

    def start(self, cfg: dict[str, Any]) -> None:
        self.test = ABTest(
            alpha=cfg["alpha"],
            margin=cfg["margin"],
            predicted=cfg["predicted"],
            design_effect=self.design_effect,  # type: ignore[arg-type]
            min_blocks=1,
            max_blocks=1_000_000,
        )

    def block(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        hit: dict[str, dict[int, bool]] = defaultdict(lambda: defaultdict(bool))
        for row in rows:
            hit[row["arm"]][row["session"]] |= row["outcome"] == "corrupted"
        arms = {arm: (sum(sessions.values()), len(sessions)) for arm, sessions in hit.items()}
        word = self.test.add_block(arms["control"], arms["treatment"])
        return {"verdict": word or "continue"}


class TwoWordsDispersed(TwoWords):
    """The same with the design effect on."""

    design_effect = "starts"


factory, two_words, two_words_dispersed = Factory, TwoWords, TwoWordsDispersed
