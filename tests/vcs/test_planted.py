"""Histories that nobody thought up, with one revert planted in them: its target is named, or unknown.

What may be mistaken for the target is in there, too: commits of the same title, copies of its lines
elsewhere, commits that change what it changed. The oracle is what was planted, and counts of lines of
whole files, made anew here.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vcs.repositories import Made, Story
from workbench.model.commits import RevertKind
from workbench.vcs.index import Index
from workbench.vcs.reverts import Reverts

EXAMPLES = 25
SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TITLES = ("Take the new path", "Fix the cache", "Update docs")
PATHS = ("src/a.py", "src/b.py", "c.md")


@dataclass
class Edit:
    """One change to one file: where, how many lines go, which lines come."""

    path: str
    at: float
    gone: int
    come: list[str]


@dataclass
class Plan:
    """A history before it is written: files as lists of lines, and who changed what how."""

    story: Story = field(default_factory=Story)
    files: dict[str, list[str]] = field(default_factory=dict)
    fresh: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def line(self) -> str:
        number = next(self.fresh)
        return f"value_{number} = measure(step={number * 7}, twice=True)"

    def commit(self, message: str, edits: Sequence[Edit] = ()) -> int:
        for edit in edits:
            lines = self.files[edit.path]
            at = int(edit.at * len(lines))
            self.files[edit.path] = [*lines[:at], *edit.come, *lines[at + edit.gone :]]
        return self.put(message)

    def put(self, message: str) -> int:
        texts = {path: "".join(f"{line}\n" for line in lines) for path, lines in self.files.items()}
        return self.story.commit(message, texts)

    def delta(self, number: int) -> dict[str, tuple[Counter[str], Counter[str]]]:
        """Give what a commit has taken out and put in, file by file, by counting whole files."""
        entry = self.story.entries[number]
        before = self.story.entries[entry.parents[0]].tree if entry.parents else {}
        found = {}
        for path, content in entry.tree.items():
            new = Counter(content.data.decode().splitlines())
            old = Counter(before[path].data.decode().splitlines()) if path in before else Counter[str]()
            if new != old:
                found[path.decode()] = (old - new, new - old)
        return found

    def take_back(self, number: int, share: float = 1.0) -> None:
        """Change files as one does who takes a commit back by hand, or the first part of it."""
        for path, (gone, come) in self.delta(number).items():
            lines = self.files[path]
            out = Counter(dict(list(come.items())[: max(1, round(share * len(come)))]))
            back = list(gone.elements())[: round(share * gone.total())]
            place = next((at for at, line in enumerate(lines) if out[line]), len(lines) // 2)
            kept = []
            for line in lines:
                if out[line]:
                    out[line] -= 1
                else:
                    kept.append(line)
            self.files[path] = [*kept[:place], *back, *kept[place:]]

    def common(self, earlier: int, later: int, *, again: bool) -> int:
        """Give how many lines of an earlier commit a later one takes back, or makes again."""
        theirs, mine = self.delta(earlier), self.delta(later)
        total = 0
        for path in theirs.keys() & mine.keys():
            gone, come = theirs[path]
            out, back = mine[path] if not again else mine[path][::-1]
            total += (come & out).total() + (gone & back).total()
        return total


@st.composite
def histories(draw: st.DrawFn) -> tuple[Plan, int]:
    """Give a history, and the number of a commit in it that is to be taken back."""
    plan = Plan()
    for path in PATHS:
        plan.files[path] = [plan.line() for _ in range(draw(st.integers(12, 30)))]
    plan.commit("Begin")
    count = draw(st.integers(3, 7))
    for number in range(count):
        title = draw(st.sampled_from(TITLES))
        edits = []
        for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=2, unique=True)):
            come = [plan.line() for _ in range(draw(st.integers(2, 8)))]
            if number and draw(st.booleans()):  # a copy of lines that an earlier commit put in
                come[1:] = list(draw(st.sampled_from(copies(plan))))[: len(come)]
            edits.append(
                Edit(path=path, at=draw(st.floats(0, 0.9)), gone=draw(st.integers(0, 4)), come=come)
            )
        plan.commit(f"{title} (#{100 + number})", edits)
    return plan, draw(st.integers(1, count))


def copies(plan: Plan) -> list[list[str]]:
    return [
        list(come)
        for number in range(1, len(plan.story.entries))
        for _gone, come in plan.delta(number).values()
    ] or [[]]


def later(draw: st.DrawFn, plan: Plan) -> None:
    """Go on working for a while."""
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(PATHS))
        edit = Edit(path=path, at=draw(st.floats(0, 0.9)), gone=0, come=[plan.line(), plan.line()])
        plan.commit(draw(st.sampled_from(TITLES)), [edit])


MESSAGES = {
    "title": 'Revert "{title}" (#900)',
    "number": "hotfix: revert #{number} for now",
    "id": 'Revert "{title}"\n\nThis reverts commit {sha}.',
    "vague": "Revert the last attempt",
    "nothing": "Work around the crash",
}
# Kind, way to say it, and the share of histories in which the target must be named.
CASES = (
    ("full", "title", 0.9),
    ("full", "number", 0.9),
    ("full", "id", 0.9),
    ("full", "vague", 0.5),
    ("full", "nothing", 0.25),  # 54 of 150: small changes without a word are left unknown on purpose
    ("adapted", "title", 0.8),
    ("partial", "title", 0.8),
    ("partial", "number", 0.8),
    ("partial", "nothing", 0.0),
    ("multi", "title", 0.8),
    ("checkout", "title", 0.8),
    ("checkout", "nothing", 0.3),
    ("reland", "title", 0.8),
    ("revert-of-revert", "title", 0.8),
)


@dataclass(kw_only=True)
class Planted:
    """A history with a revert in it.

    Attributes:
        plan: The history.
        number: Number of the revert.
        targets: What it takes back, or makes again.
        lost: What else may go with it.
    """

    plan: Plan
    number: int
    targets: set[int]
    lost: set[int] = field(default_factory=set)


def title_of(plan: Plan, number: int) -> str:
    return plan.story.entries[number].message.decode().split("\n")[0]


def plant(draw: st.DrawFn, kind: str, say: str) -> Planted:
    plan, target = draw(histories())
    later(draw, plan)
    targets, lost = {target}, set[int]()
    before = {path: list(lines) for path, lines in plan.files.items()}
    if kind == "checkout":
        tree = plan.story.entries[target - 1].tree
        for path in plan.delta(target):
            plan.files[path] = tree[path.encode()].data.decode().splitlines()
        lost = set(range(target + 1, len(plan.story.entries)))
    else:
        plan.take_back(target, 0.5 if kind == "partial" else 1.0)
    title = title_of(plan, target)
    message = MESSAGES[say].format(
        title=title, number=title.split("#")[1].rstrip(")"), sha="0" * 40
    )  # a squash leaves ids behind that are nowhere
    if kind == "adapted":
        plan.files[next(iter(plan.delta(target)))].append(plan.line())
    if kind == "multi":
        other = draw(st.integers(1, len(plan.story.entries) - 1))
        plan.take_back(other)
        targets.add(other)
        message = f'Revert "{title}" and "{title_of(plan, other)}"'
    number = plan.put(message)
    if kind in ("reland", "revert-of-revert"):
        plan.files = before
        targets = targets if kind == "reland" else {number}
        number = plan.put(f'Reland "{title}"' if kind == "reland" else f'Revert "{message}"')
    later(draw, plan)
    return Planted(plan=plan, number=number, targets=targets, lost=lost)


def opened(plan: Plan, folder: Path) -> tuple[Made, Reverts]:
    made = plan.story.write(folder / "repository")
    repository = made.repository
    return made, Reverts(repository, Index.open(repository, folder / "cache"))


@pytest.mark.parametrize(("kind", "say", "floor"), CASES)
def test_the_target_is_the_planted_one_or_unknown(kind: str, say: str, floor: float) -> None:
    score = Counter[str]()

    @SETTINGS
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        planted = data.draw(st.composite(plant)(kind, say))
        plan, number = planted.plan, planted.number
        if not all(plan.common(each, number, again=kind == "reland") for each in planted.targets):
            return  # later work has taken its lines away already
        score["planted"] += 1
        with tempfile.TemporaryDirectory() as folder:
            made, reverts = opened(plan, Path(folder))
            undoing = reverts.by(made[number])
            found = {made.number(match.commit) for match in undoing.matches} if undoing else set()
            assert found <= planted.targets | planted.lost, (undoing, planted.targets)
            assert not found or found & planted.targets, (undoing, planted.targets)
            for each in found:
                tip = made[-1]
                later_ones = (*reverts.of(made[each], tip), *reverts.remade(made[each], tip))
                assert made[number] in [match.commit for match in later_ones]
        score["named"] += bool(found)

    run()
    assert score["planted"] > EXAMPLES / 2
    assert score["named"] >= floor * score["planted"], score


def test_a_title_that_lies_names_nobody() -> None:
    @SETTINGS
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        plan, target = data.draw(histories())
        path = data.draw(st.sampled_from(PATHS))
        edit = Edit(path=path, at=0.5, gone=0, come=[plan.line(), plan.line()])
        number = plan.commit(f'Revert "{title_of(plan, target)}"', [edit])
        with tempfile.TemporaryDirectory() as folder:
            made, reverts = opened(plan, Path(folder))
            undoing = reverts.by(made[number])
            assert undoing is not None
            assert (undoing.kind, undoing.matches) == (RevertKind.UNKNOWN, ())
            assert undoing.because

    run()


def test_whatever_is_named_has_lines_in_common_with_its_target() -> None:
    @SETTINGS
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        planted = data.draw(st.composite(plant)("full", "nothing"))
        with tempfile.TemporaryDirectory() as folder:
            made, reverts = opened(planted.plan, Path(folder))
            for number in range(len(planted.plan.story.entries)):
                undoing = reverts.by(made[number])
                for match in undoing.matches if undoing else ():
                    assert planted.plan.common(made.number(match.commit), number, again=False)

    run()
