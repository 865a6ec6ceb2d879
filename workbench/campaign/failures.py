"""What was not clean in the runs of a hypothesis, by kind, with the first reply of each.

Hits of other symptoms that its runs watched are kinds of their own, under the symptom's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.campaign.registry import Campaign
from workbench.errors import StoreError
from workbench.model.outcome import Label, Status
from workbench.model.registry import Failure
from workbench.model.run import Sample
from workbench.store.view import RunView


def failures_of(campaign: Campaign, hypothesis: str) -> list[Failure]:
    """Give the failures of all runs that serve a hypothesis, the newest run first.

    A run that cannot be read has none here; lists of runs say why.
    """
    found: list[Failure] = []
    for line in reversed(campaign.run_lines):
        if hypothesis in line.hypotheses:
            try:
                found += failures_in(RunView.read(campaign.root / line.path))
            except StoreError:
                continue
    return found


def failures_in(view: RunView) -> list[Failure]:
    """Give the failures of one run, the most frequent kind first."""
    kinds: dict[tuple[str, str, str], list[str]] = {}
    first: dict[tuple[str, str, str], str] = {}
    for sample in view.samples():
        exchange = sample.exchange
        for named, label in _bad_labels(sample):
            word = f"{named}{label.word} ({label.rule})"
            kind = (exchange.key.session.arm, word, label.signature)
            kinds.setdefault(kind, []).append(str(exchange.key))
            first.setdefault(kind, exchange.text)
    return [
        Failure(
            run=view.manifest.id,
            arm=kind[0],
            label=kind[1],
            signature=kind[2],
            times=len(keys),
            key=keys[0],
            text=first[kind],
        )
        for kind, keys in sorted(kinds.items(), key=lambda each: (-len(each[1]), each[0]))
    ]


def _bad_labels(sample: Sample) -> Iterator[tuple[str, Label]]:
    """Yield the label of what was not clean, and those that are hits of other symptoms, by name."""
    if sample.status is not Status.CLEAN:
        yield "", sample.label
    for name, seen in sample.others.items():
        if seen.status is Status.HIT:
            yield f"{name}: ", seen.label
