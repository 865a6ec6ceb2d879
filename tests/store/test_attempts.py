"""Of a session the lines of one attempt count: what a kill cut short is run again from its start."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.examples import AT_ONCE, manifest, plan, sample
from workbench.conduct.books import Books
from workbench.judge.fold import trial_status
from workbench.model.ids import SessionKey
from workbench.model.outcome import Counts, Status
from workbench.model.run import Sample
from workbench.store import RunFolder, RunView

TURNS, SESSIONS = 3, 6


def turns_of(attempt: int, *statuses: Status, session: int = 0, ended: bool = True) -> list[Sample]:
    last = len(statuses) - 1
    return [
        sample(session, turn=turn, status=status, attempt=attempt, last=ended and turn == last)
        for turn, status in enumerate(statuses)
    ]


HIT, CLEAN = Status.HIT, Status.CLEAN
HALF = turns_of(1, HIT, CLEAN, ended=False)
WHOLE = turns_of(2, CLEAN, CLEAN, CLEAN)
OTHER = [sample(1)]
HISTORIES = {
    "the attempt that ended counts, whole": ([HALF, WHOLE], WHOLE, 0),
    "also a shorter one": ([HALF, turns_of(2, CLEAN)], turns_of(2, CLEAN), 0),
    "the newest that has not ended": ([HALF, turns_of(2, CLEAN, ended=False)], None, 0),
    "the first that ended": ([WHOLE, turns_of(3, HIT, HIT)], WHOLE, 2),
    "others beside it": ([[HALF[0], *OTHER, HALF[1]], WHOLE], [*OTHER, *WHOLE], 0),
    "what is under way comes last": ([[*HALF, *OTHER]], [*OTHER, *HALF], 0),
    "a line twice": ([[HALF[0], *HALF]], HALF, 1),
}


@pytest.mark.parametrize(("shards", "counts", "twice"), HISTORIES.values(), ids=HISTORIES.keys())
def test_one_attempt_counts(
    tmp_path: Path, shards: list[list[Sample]], counts: list[Sample] | None, twice: int
) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        path = folder.path
    for lines in shards:
        with RunFolder.resume(path, AT_ONCE) as folder:
            for each in lines:
                folder.append_sample(each)
    view = RunView.read(path)
    assert list(view.samples()) == (shards[-1] if counts is None else counts)
    assert view.damage().duplicates == twice


class Opening:
    """One opening of a run: sessions that are not on record, three at a time, until it is killed."""

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder.resume(path, AT_ONCE)
        self.books = Books(plan())
        self.books.recall(self.folder.samples())
        done = self.books.tally.done("control", 1)
        self.waiting = [number for number in range(SESSIONS) if number not in done]
        self.under_way: dict[int, int] = {}

    def step(self, which: int, status: Status, length: int) -> None:
        """Let one of the sessions in flight end a turn."""
        while self.waiting and len(self.under_way) < 3:
            self.under_way[self.waiting.pop(0)] = 0
        if not self.under_way:
            return
        session = sorted(self.under_way)[which % len(self.under_way)]
        turn = self.under_way.pop(session)
        last = turn + 1 >= length
        if not last:
            self.under_way[session] = turn + 1
        line = sample(
            session,
            turn=turn,
            status=status,
            attempt=self.folder.manifest.openings,
            last=last,
        )
        self.folder.append_sample(line)
        self.books.count(line)

    def killed(self) -> Counts:
        """Die; give what the live tally held of sessions that had ended."""
        self.folder.abandon()
        return self.books.tally.counts("control", 1)


steps = st.tuples(st.integers(0, 2), st.sampled_from(Status), st.integers(1, TURNS))
openings = st.lists(st.lists(steps, max_size=14), min_size=1, max_size=6)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(openings)
def test_whoever_counts_counts_the_same_whenever_it_was_killed(
    lives: list[list[tuple[int, Status, int]]],
) -> None:
    parent = Path(tempfile.mkdtemp())
    try:
        with RunFolder.create(parent, manifest(), AT_ONCE) as folder:
            path = folder.path
        for life in lives:
            opening = Opening(path)
            for step in life:
                opening.step(*step)
            live = opening.killed()
            agree(RunView.read(path), live)
    finally:
        shutil.rmtree(parent)


def agree(view: RunView, live: Counts) -> None:
    """The live tally, one recalled by a reader, and the plain recount are one."""
    books = Books(plan())
    books.recall(view.samples())
    recalled = books.tally.counts("control", 1)
    counted = view.counts().get("control/1", Counts.of(()))
    assert live.order == recalled.order == counted.order
    assert view.damage().duplicates == 0
    sessions: dict[SessionKey, list[Sample]] = {}
    for each in view.samples():
        sessions.setdefault(each.exchange.key.session, []).append(each)
    for lines in sessions.values():
        assert len({line.attempt for line in lines}) == 1
        assert [line.exchange.key.turn for line in lines] == list(range(len(lines)))
    ended = {key: lines for key, lines in sessions.items() if lines[-1].exchange.last}
    order = [trial_status(line.status for line in ended[key]) for key in sorted(ended)]
    assert Counts.of(order).order == counted.order
