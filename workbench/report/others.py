"""Other symptoms than the one tested, as people read them: shown beside it, deciding nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.model.verdict import Other
from workbench.report.text import hits, inert, number, with_rest

SECONDARY = "secondary, decides nothing"
_WORTH_SAYING = 10.0  # e-value from which it is said that the treatment brings a symptom about


def in_short(others: Mapping[str, Other]) -> Iterator[str]:
    """Yield a line for each other symptom that showed, and one for all that did not."""
    for name, other in others.items():
        if other.seen:
            yield f"also seen: {inert(name)} {_against(other)} ({_evidence(other)}{SECONDARY})"
    unseen = [f"{inert(name)} {_against(other)}" for name, other in others.items() if not other.seen]
    if unseen:
        yield f"not seen: {', '.join(unseen)} ({SECONDARY})"


def in_full(others: Mapping[str, Other]) -> Iterator[str]:
    """Yield a line for each other symptom, with the interval of each arm's rate."""
    for name, other in others.items():
        yield f"{inert(name)}: {arms_of(other)} ({_evidence(other)}{SECONDARY})"


def arms_of(other: Other) -> str:
    """Write what both arms showed of another symptom, with intervals."""
    return ", ".join(f"{inert(arm)} {_counted(other, arm)}" for arm in other.arms)


def of_arm(others: Mapping[str, Other], arm: str) -> Iterator[str]:
    """Yield what one arm showed of each other symptom: its name, and k of n with the interval."""
    for name, other in others.items():
        if arm in other.arms:
            yield f"{inert(name)} {_counted(other, arm)}"


def _counted(other: Other, arm: str) -> str:
    counts = other.arms[arm]
    return with_rest(hits(counts, other.rates[arm]), counts)


def _against(other: Other) -> str:
    rates = (with_rest(f"{of.hit}/{of.decided}", of) for of in other.arms.values())
    return " against ".join(rates)


def _evidence(other: Other) -> str:
    """Write which way the evidence points, if there was anything to compare."""
    if not other.blocks:
        return "sampled; "
    if other.no_harm >= max(_WORTH_SAYING, other.no_effect):
        *_, treatment = other.arms
        return f"E {number(other.no_harm)} that {inert(treatment)} shows it more; "
    return f"E {number(other.no_effect)}; "
