"""Earlier runs of a test, found by its digest and recalled from their folders (RULES 6).

What a run begins with is looked up once, before it is begun, and recorded by run and number of blocks.
From then on it is recalled by that record alone, whatever has come to lie beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from workbench.conduct.books import Books
from workbench.errors import LockHeld, StoreError
from workbench.judge import reference
from workbench.judge.continuation import NOTHING, Beginning, PairBlock, complete_blocks
from workbench.judge.fold import Tally
from workbench.model.event import Earlier
from workbench.model.outcome import Counts
from workbench.model.plan import Plan, Watched
from workbench.model.run import Manifest, RunState, Served
from workbench.model.verdict import Comparison
from workbench.store import RunView, current_owner, list_runs
from workbench.store.lock import elsewhere, is_held


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """A run read back: its manifest, and its sessions as its own and other symptoms see them."""

    manifest: Manifest
    tally: Tally
    others: Mapping[str, Tally]

    def comparison(self, digest: str) -> Comparison | None:
        """Give the comparison of this run with that test digest."""
        served = [each.digest for each in self.manifest.serves]
        return self.manifest.plan.comparisons[served.index(digest)] if digest in served else None

    def blocks(self, digest: str) -> Iterator[PairBlock]:
        """Yield the complete blocks that this run itself made for a test."""
        found = self.comparison(digest)
        return complete_blocks(self.manifest.plan, self.tally, found) if found else iter(())

    def blocks_beside(self, digest: str, other: Watched) -> Iterator[PairBlock] | None:
        """Yield the same blocks as another symptom sees them; None if the run did not watch it.

        A symptom of the same name under another definition is another one.
        """
        found = self.comparison(digest)
        if found is None or other not in self.manifest.plan.also:
            return None
        return complete_blocks(self.manifest.plan, self.others[other.symptom.name], found)

    @property
    def measured(self) -> Counts | None:
        """The measurement that this run made itself, if it is complete."""
        plan = self.manifest.plan
        if plan.measurement is None:
            return None
        counts, complete = reference.sample(
            self.tally.prefix(plan.measurement.arm, 0), plan.measurement
        )
        return counts if complete else None


class Past:
    """The runs of a campaign, each read once.

    Args:
        runs: Folder that holds them.
    """

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._recalled: dict[str, Recalled] = {}

    def run(self, id: str) -> Recalled:
        """Recall a run. Raises StoreError when it is not there or its manifest is damaged."""
        if id not in self._recalled:
            view = RunView.read(self._runs / id)
            books = Books(view.manifest.plan)
            books.recall(view.samples())
            self._recalled[id] = Recalled(
                manifest=view.manifest, tally=books.tally, others=books.others
            )
        return self._recalled[id]

    def of_test(self, digest: str) -> tuple[Earlier, ...]:
        """Find the runs whose complete blocks a new run of a test begins with, oldest first.

        All count but invalid ones: also those that were stopped or killed, and those with a word.

        Raises:
            LockHeld: One of them is under way; a run beside it would be a second process.
        """
        found = []
        for manifest in self._runs_of({digest}):
            if not self._stands_still(manifest):
                continue
            blocks = sum(1 for _ in self.run(manifest.id).blocks(digest))
            if blocks:
                found.append(Earlier(run=manifest.id, blocks=blocks))
        return tuple(found)

    def newer_run(self, manifest: Manifest) -> str:
        """Name the newest run of the same test, where that is not this one; else empty.

        Only the newest may go on: an older one that did would make two processes of one.
        """
        runs = self._runs_of({each.digest for each in manifest.serves})
        later = [run.id for run in runs if _age(run) > _age(manifest)]
        return later[-1] if later else ""

    def beginning(self, plan: Plan, serves: Sequence[Served]) -> Beginning:
        """Recall what a run begins with, by its record.

        Args:
            plan: The run's plan.
            serves: What it serves, with the earlier runs of each, in the order of the comparisons.

        Raises:
            StoreError: An earlier run is missing, or holds fewer blocks than were taken over.
        """
        if not any(each.earlier for each in serves):
            return NOTHING
        measured = None
        if plan.measurement is not None:
            runs = [self.run(earlier.run) for each in serves for earlier in each.earlier]
            runs.sort(key=lambda run: _age(run.manifest))
            measured = next((run.measured for run in runs if run.measured is not None), None)
        return Beginning(
            blocks=tuple(tuple(self._taken_over(each)) for each in serves),
            measured=measured,
            others={
                other.symptom.name: tuple(tuple(self._seen_by(other, each)) for each in serves)
                for other in plan.also
            },
        )

    def first_block(self, earlier: Sequence[Earlier]) -> int:
        """Give the number after those of all blocks that are taken over."""
        last = [self.run(each.run).manifest.plan.first_block - 1 + each.blocks for each in earlier]
        return 1 + max(last, default=0)

    def _taken_over(self, served: Served) -> Iterator[PairBlock]:
        for earlier in served.earlier:
            blocks = list(islice(self.run(earlier.run).blocks(served.digest), earlier.blocks))
            if len(blocks) < earlier.blocks:
                raise StoreError(
                    f"earlier run {earlier.run} holds {len(blocks)} complete blocks of this test,"
                    f" not the {earlier.blocks} that were taken over",
                    hint="restore its folder from a copy",
                )
            yield from blocks

    def _seen_by(self, other: Watched, served: Served) -> Iterator[PairBlock | None]:
        """Yield what is taken over as another symptom sees it."""
        for earlier in served.earlier:
            blocks = self.run(earlier.run).blocks_beside(served.digest, other)
            yield from (None,) * earlier.blocks if blocks is None else islice(blocks, earlier.blocks)

    def _runs_of(self, digests: Set[str]) -> list[Manifest]:
        """Give the valid runs of these tests, in order of creation; a damaged one hides no other."""
        listed = [run.manifest for run in list_runs(self._runs) if run.manifest is not None]
        wanted = [
            manifest
            for manifest in listed
            if not manifest.guards and any(each.digest in digests for each in manifest.serves)
        ]
        return sorted(wanted, key=_age)

    def _stands_still(self, manifest: Manifest) -> bool:
        """Say whether a run has ended, or died; of one that runs on another host nobody can tell."""
        if is_held(self._runs / manifest.id):
            raise LockHeld(
                f"run {manifest.id} of the same test is under way",
                hint="wait for it: a run beside it would count its evidence apart",
            )
        running = manifest.state is RunState.RUNNING
        return not (running and elsewhere(manifest.owner, current_owner()))


def _age(manifest: Manifest) -> tuple[datetime, str]:
    return (manifest.created, manifest.id)


def serves_with(
    serves: Sequence[Served], digests: Sequence[str], earlier: Mapping[str, tuple[Earlier, ...]]
) -> tuple[Served, ...]:
    """Give what a run serves with test digests and earlier runs filled in."""
    return tuple(
        replace(each, digest=digest, earlier=earlier[digest])
        for each, digest in zip(serves, digests, strict=True)
    )
