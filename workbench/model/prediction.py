"""What a hypothesis says will happen, stated before any run.

The *control* is the arm predicted to show the symptom, the *treatment* has the suspect removed or
fixed. `removes` is the sharp form: the treatment is said to remove the symptom altogether, which one
unlucky treatment arm can refute cheaply.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """Rates per session that the hypothesis claims for the two arms.

    Attributes:
        control: Predicted rate of the control arm in (0, 1), or None to measure it first.
        treatment: Predicted rate of the treatment arm in [0, 1), or None when nothing is claimed.
        removes: The treatment is claimed to remove the symptom (implies `treatment` 0).
    """

    control: float | None = None
    treatment: float | None = None
    removes: bool = False

    def __post_init__(self) -> None:
        if self.control is not None and not 0 < self.control < 1:
            raise ValueError(f"the control rate must lie between 0 and 1, not {self.control:g}")
        if self.treatment is not None and not 0 <= self.treatment < 1:
            raise ValueError(f"the treatment rate must lie in [0, 1), not {self.treatment:g}")
        if self.treatment is not None and self.treatment >= (self.control or 1.0):
            raise ValueError("the control must be the arm predicted to fail more often")
        if self.removes and self.treatment not in (None, 0.0):
            raise ValueError("a treatment that removes the symptom has rate 0")

    @classmethod
    def parse(cls, text: str) -> Prediction:
        """Read `C:T`, `C:removes` or `removes`; T = 0 means removes.

        Raises:
            ValueError: The text has another form, or a rate is out of range.
        """
        if text == "removes":
            return cls(treatment=0.0, removes=True)
        control, colon, treatment = text.partition(":")
        if not colon:
            raise ValueError(f"{text!r} is not C:T, C:removes or removes")
        if treatment == "removes":
            return cls(control=float(control), treatment=0.0, removes=True)
        rate = float(treatment)
        return cls(control=float(control), treatment=rate, removes=rate == 0)

    def __str__(self) -> str:
        if self.treatment is None and self.control is None:
            return "none"
        treatment = "removes" if self.removes else f"{self.treatment:g}"
        return treatment if self.control is None else f"{self.control:g}:{treatment}"
