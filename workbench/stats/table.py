"""The verdict table: what a run's findings add up to, first match wins.

Row 1 (a guard tripped: invalid) belongs to whoever watches the run; these are the rows on counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.model.verdict import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """Answers to the questions of the table after a complete block.

    Attributes:
        effect: "No effect" is refuted.
        below_margin: "The effect is at least the margin" is refuted.
        leans_below_margin: The data lean that way: its e-value is at least 1.
        control_shows: "The control's rate is at most the floor" is refuted: the failure was there.
        control_silent: "The control's rate is at least the floor" is refuted: it was not.
        removal_refuted: The treatment was said to remove the failure, and that is refuted with hits in
            two starts.
        enough_blocks: The least number of blocks is reached.
        exhausted: No further block will come.
    """

    effect: bool
    below_margin: bool
    leans_below_margin: bool
    control_shows: bool
    control_silent: bool
    removal_refuted: bool
    enough_blocks: bool
    exhausted: bool


def first_match(found: Findings) -> tuple[Verdict | None, int]:
    """Read the table from the top.

    Returns:
        The word and the number of the row that gave it; None with row 3 when there are too few blocks,
        and None with row 0 when no row matches: go on.
    """
    claim_fell = found.removal_refuted and not found.effect and found.leans_below_margin
    too_few = not found.enough_blocks
    table = (
        (2, claim_fell, Verdict.PREDICTION_REFUTED),
        (7, too_few and found.exhausted, Verdict.INCONCLUSIVE),
        (3, too_few, None),
        (4, found.effect and found.below_margin, Verdict.PRESENT_BUT_SMALL),
        (4, found.effect, Verdict.PRESENT),
        (5, found.below_margin and found.control_shows, Verdict.FALSIFIED),
        (6, found.control_silent, Verdict.NOT_REPRODUCED),
        (7, found.exhausted, Verdict.INCONCLUSIVE),
    )
    return next(((word, row) for row, matches, word in table if matches), (None, 0))
