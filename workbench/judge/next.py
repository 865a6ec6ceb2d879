"""Which test would tell most a minute: shares of suspects, bits and minutes (RULES 9).

    share     of a suspect, its weight times how well its patterns fit the counts of all valid runs; for
              each run two rates p0 < p1 of its own are integrated out, over all pairs alike
    bits      of a test, the entropy of its pattern by these shares: how much its outcome would tell.
              What a suspect leaves open is no news of it, and is taken off
    minutes   of a test, its starts, and its sessions until a verdict under each pattern

A fifth of the weight is with "none of these": four more suspects, one for each pattern. A suspect that
says nothing of an arm allows for any pattern.

Integrals are of products of powers. Where both arms have one rate they are beta functions; where each
has its own, two of these times the probability that one beta variable is below the other. That can be
far below what quantiles would find, so it is summed over log odds, from far under both to far above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, inf, isfinite, log

import numpy as np
from scipy import special

from workbench.judge.claims import AtWork
from workbench.judge.confirming import Pair
from workbench.judge.patterns import PATTERNS, Pattern, is_known

NONE = ""
"""Stands for "none of these" among the suspects."""

SHARE_OF_NONE = 0.2
LEAST_BITS = 0.005
"""What would be written as 0.00 bits is not proposed."""

_TINY = 1e-300
_POINTS = 2001
_WIDE = 20.0  # in standard deviations of log odds; without counts, where tails are heaviest, 36


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What a valid run counted, and what each suspect says of it.

    Attributes:
        control: Hits and clean sessions of the control, divided by the design effect.
        treatment: The same of the treatment.
        patterns: Suspect to pattern.
    """

    control: tuple[float, float]
    treatment: tuple[float, float]
    patterns: Mapping[str, Pattern]


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What a test takes.

    Attributes:
        sessions: Pattern to sessions of both arms until a verdict, not above what the test may have.
        sessions_per_start: Sessions of an arm and start.
        start_minutes: Minutes that a start takes; 0 where each session is one.
        session_minutes: Minutes that a session adds.
    """

    sessions: Mapping[Pattern, float]
    sessions_per_start: float
    start_minutes: float
    session_minutes: float

    def minutes(self, pattern: Pattern) -> float:
        """Give the minutes that a test takes if a pattern is the true one."""
        sessions = self.sessions[pattern]
        starts = sessions / self.sessions_per_start
        return starts * self.start_minutes + sessions * self.session_minutes


@dataclass(frozen=True, kw_only=True, slots=True)
class Worth:
    """What a test would tell, and what it takes.

    Attributes:
        bits: Entropy of its pattern, without what comes of suspects that leave it open.
        minutes: Expected minutes.
        sessions: Expected sessions of both arms.
        shares: Pattern to the share of the suspects that say so, "none of these" included.
        groups: Suspects by what they say of it; those of unknown pattern are in none.
    """

    bits: float
    minutes: float
    sessions: float
    shares: Mapping[Pattern, float]
    groups: Mapping[Pattern, tuple[str, ...]]

    @property
    def rate(self) -> float:
        """Bits a minute."""
        return self.bits / self.minutes if self.minutes else inf


class Kind(StrEnum):
    """What a candidate is."""

    TEST = "test"
    PUT_BACK = "put-back"
    SUFFICIENCY = "sufficiency"


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """What a start and a session take, in seconds, and whether a run has measured it."""

    start: float
    session: float
    measured: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A test that could be made.

    Attributes:
        kind: What it is.
        hypotheses: Those that it would be made for.
        pair: Its arms, and what they are tested with.
        worth: What it would tell, and take.
        times: What that rests on.
        at_work: Who works on these hypotheses already.
    """

    kind: Kind
    hypotheses: tuple[str, ...]
    pair: Pair
    worth: Worth
    times: Times
    at_work: tuple[AtWork, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What could be asked next.

    Attributes:
        candidates: Best first, by bits a minute; those that somebody works on already come last.
        shares: Symptom to the shares of its suspects, and of none of them under an empty id.
        refused: Suspect to why its test cannot be run as it stands.
    """

    candidates: tuple[Candidate, ...]
    shares: Mapping[str, Mapping[str, float]]
    refused: Mapping[str, str]


def posterior(suspects: Sequence[str], seen: Sequence[Seen]) -> dict[str, float]:
    """Give the share of each suspect, and of none of them under `NONE`; they sum to 1.

    Args:
        suspects: Ids of those that are in question.
        seen: The valid runs.
    """
    weights = {NONE: SHARE_OF_NONE if suspects else 1.0}
    weights |= {id: (1 - SHARE_OF_NONE) / len(suspects) for id in suspects}
    logs = {id: log(weight) for id, weight in weights.items()}
    for run in seen:
        fits = {pattern: fit(pattern, run.control, run.treatment) for pattern in PATTERNS}
        any_of_them = _mean(list(fits.values()))
        for id in logs:
            pattern = run.patterns.get(id)
            known = pattern is not None and is_known(pattern)
            logs[id] += fits[pattern] if known and pattern is not None else any_of_them
    most = max(logs.values())
    shares = {id: exp(value - most) for id, value in logs.items()}
    total = sum(shares.values())
    return {id: share / total for id, share in shares.items()}


def fit(pattern: Pattern, control: tuple[float, float], treatment: tuple[float, float]) -> float:
    """Give the logarithm of the mean likelihood of counts over all rates p0 < p1.

    Args:
        pattern: Known; an arm that fails has rate p1, one that does not p0.
        control: Hits and clean sessions; fractions are allowed.
        treatment: The same.
    """
    (a, b), (c, d) = control, treatment
    if pattern == (True, True):
        return log(2) + float(special.betaln(a + c + 2, b + d + 1))
    if pattern == (False, False):
        return log(2) + float(special.betaln(a + c + 1, b + d + 2))
    apart = float(special.betaln(a + 1, b + 1) + special.betaln(c + 1, d + 1))
    above = _below(treatment, control) if pattern == (True, False) else _below(control, treatment)
    return log(2) + apart + log(max(above, _TINY))


def _below(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Give the probability that a beta variable of one pair of counts is below that of another."""
    both = [(hit + 1, clean + 1) for hit, clean in (one, other)]
    centres = [log(a / b) for a, b in both]
    reach = [_WIDE * float(special.polygamma(1, a) + special.polygamma(1, b)) ** 0.5 for a, b in both]
    odds = np.linspace(
        min(at - far for at, far in zip(centres, reach, strict=True)),
        max(at + far for at, far in zip(centres, reach, strict=True)),
        _POINTS,
    )
    (a, b), (c, d) = both
    density = np.exp(c * special.log_expit(odds) + d * special.log_expit(-odds) - special.betaln(c, d))
    # the same rate from its nearer end, so that neither tail is rounded away
    under = np.where(
        odds < 0,
        special.betainc(a, b, special.expit(odds)),
        special.betaincc(b, a, special.expit(-odds)),
    )
    return min(float(density @ under) * float(odds[1] - odds[0]), 1.0)


def worth(patterns: Mapping[str, Pattern], shares: Mapping[str, float], price: Price) -> Worth:
    """Say what a test would tell.

    Args:
        patterns: Suspect to what it says of the test's arms; one that is missing says nothing.
        shares: From `posterior`.
        price: What the test takes.
    """
    by = dict.fromkeys(PATTERNS, 0.0)
    left_open = 0.0
    groups: dict[Pattern, list[str]] = {}
    for id, share in shares.items():
        pattern = patterns.get(id)
        if pattern is not None and is_known(pattern):
            by[pattern] += share
            groups.setdefault(pattern, []).append(id)
        else:
            left_open += share if id != NONE else 0.0
            for each in PATTERNS:
                by[each] += share / len(PATTERNS)
    entropy = -sum(share * log(share, 2) for share in by.values() if share > 0)
    bits = entropy - left_open * log(len(PATTERNS), 2)
    return Worth(
        bits=max(bits, 0.0),
        minutes=sum(share * price.minutes(pattern) for pattern, share in by.items()),
        sessions=sum(share * price.sessions[pattern] for pattern, share in by.items()),
        shares=by,
        groups={pattern: tuple(ids) for pattern, ids in groups.items()},
    )


def _mean(logs: Sequence[float]) -> float:
    """Give the logarithm of the mean of what these are the logarithms of."""
    most = max(logs)
    if not isfinite(most):
        return most
    return most + log(sum(exp(value - most) for value in logs) / len(logs))
