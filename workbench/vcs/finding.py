"""What one commit takes back: suspects, held against content; the first that content bears out.

Who may be meant is asked for in this order (`suspects`): titles, ids and numbers that the message
names; the same change turned round, by patch-id; files that are again what they were before a commit;
and, where a message claims something that all this does not explain, lines. One that shares no telling
line (`overlap`) is never named, whatever the message says; of two that nothing tells apart, neither is.

Where nothing is said, only content speaks, and only what can hardly be chance is named: a change turned
round, or a file that is again what it was, by some telling lines; or, if there are few, when nobody
else has changed these files in between.

What is not looked into: a merge is held against its first parent, and only where its own message claims
something, since the commits of its branch are looked at by themselves; renamed files only where the
name stays; commits that were never fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.model.commits import Clue, How, Match, RevertKind, Undoing
from workbench.vcs import changes, overlap, suspects
from workbench.vcs.changes import Changes
from workbench.vcs.index import ABSENT, Index
from workbench.vcs.overlap import Overlap
from workbench.vcs.repository import Repository
from workbench.vcs.titles import Claim, Verb

FEW = 3  # telling lines; fewer come back by chance
MOSTLY = 0.8  # share of lines that is nearly all
PART = 0.5
NEAR = 0.2  # of coverage and purity together; closer ones cannot be told apart
MOST_SEARCHED = 300  # earlier commits whose lines are searched, where a message names none
MOST_LOST = 100  # commits between a commit and the restoring of its files
NOT_HERE = "what it needs was never fetched"

_Clues = Mapping[int, Sequence[Clue]]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A commit that is asked about: where it is, what its message claims, what it changes, its past."""

    place: int
    claim: Claim | None
    changes: Changes
    earlier: set[int]


@dataclass(frozen=True, kw_only=True)
class _Suspect:
    """An earlier commit, held against a later one."""

    place: int
    changes: Changes
    overlap: Overlap
    clues: tuple[Clue, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether content bears it out at all."""
        return self.overlap.telling > 0 or self.overlap.whole

    @property
    def explains(self) -> bool:
        """Whether it is nearly all of both."""
        return self.overlap.coverage >= MOSTLY and self.overlap.purity >= MOSTLY


class Finder:
    """Finds what commits take back, of those that an index holds.

    Args:
        repository: The repository.
        index: Its index.
    """

    def __init__(self, repository: Repository, index: Index) -> None:
        self._repository = repository
        self._index = index

    def find(self, place: int) -> Undoing | None:
        """Give what a commit does, whether or not what it takes back is itself a revert.

        None where it claims nothing and content does not show anything.
        """
        index = self._index
        claim = index.claims.get(place)
        says = claim.verb if claim else None
        if len(index.parents(place)) > 1 and says not in (Verb.REVERT, Verb.RELAND):
            return None
        earlier = index.ancestors(place) - {place}
        clues = suspects.named(index, claim, earlier) if claim else {}
        alike = suspects.alike(index, place, earlier)
        restored = suspects.restored(index, place, earlier)
        if not (claim or alike or restored):
            return None
        read = self._read([place, *clues, *alike, *restored])
        mine = read.pop(place)
        if mine is None:
            return self._undoing(place, RevertKind.UNKNOWN, because=NOT_HERE) if claim else None
        case = _Case(place=place, claim=claim, changes=mine, earlier=earlier)
        if says is Verb.RELAND and (again := self._again(case, read, clues)):
            return again
        if says is Verb.RELAND:
            clues = {}  # what it names is made again, and not taken back
        held = self._held(case, read, clues)
        chosen, because = _choose(index, case, held)
        if not (chosen or because):
            chosen, because = self._unsaid(case, held, alike, restored), ""
        if not (chosen or because) and claim and says is not Verb.RELAND:
            chosen, because = self._search(case)
        if chosen:
            return self._taken_back(case, [*chosen, *self._lost_with(case, chosen)])
        if claim is None:
            return None
        if None in read.values():
            because = NOT_HERE
        return self._nothing(case, clues, because)

    def _read(self, places: Collection[int], paths: Sequence[str] = ()) -> dict[int, Changes | None]:
        """Give what commits change; None for what was never fetched."""
        index = self._index
        parents: dict[str, str | None] = {}
        for place in places:
            parent = next(iter(index.parents(place)), None)
            if parent != ABSENT:
                parents[index.sha(place)] = None if parent is None else index.sha(parent)
        found = changes.many(self._repository, parents, parents=parents, paths=paths)
        return {place: found.get(index.sha(place)) for place in places}

    def _held(self, case: _Case, read: Mapping[int, Changes | None], clues: _Clues) -> list[_Suspect]:
        """Hold earlier commits against what a case takes back: those borne out, newest first."""
        held = [
            _Suspect(
                place=place,
                changes=theirs,
                overlap=overlap.taken_back(theirs, case.changes),
                clues=tuple(clues.get(place, ())),
            )
            for place, theirs in read.items()
            if theirs is not None
        ]
        return sorted((each for each in held if each.is_shown), key=_newest)

    def _again(self, case: _Case, read: Mapping[int, Changes | None], clues: _Clues) -> Undoing | None:
        """Give what a commit that says so makes again."""
        held = [
            _Suspect(
                place=place,
                changes=theirs,
                overlap=overlap.made_again(theirs, case.changes),
                clues=tuple(clues[place]),
            )
            for place, theirs in read.items()
            if theirs is not None and place in clues
        ]
        shown = sorted((each for each in held if each.is_shown), key=_newest)
        chosen, _because = _choose(self._index, case, shown)
        if not chosen or max(each.overlap.coverage for each in chosen) < PART:
            return None
        matches = tuple(self._match(case, each, "made again") for each in chosen)
        return self._undoing(case.place, RevertKind.RELAND, matches)

    def _unsaid(
        self,
        case: _Case,
        held: Sequence[_Suspect],
        alike: Collection[int],
        restored: Mapping[int, Collection[int]],
    ) -> list[_Suspect]:
        """Choose by content alone: a change turned round, or else whose files are as before it."""
        found = [
            each
            for each in held
            if (each.place in alike and each.overlap.whole) or each.place in restored
            if each.overlap.telling >= FEW or (each.overlap.whole and self._is_nearest(case, each))
        ]
        whole = [each for each in found if each.overlap.whole]
        own = [each for each in whole if len(self._index.parents(each.place)) < 2]
        if nearest := _nearest(self._index, own or whole):
            return [nearest]
        if whole:
            return []
        return _apart(case.changes, found)

    def _is_nearest(self, case: _Case, suspect: _Suspect) -> bool:
        """Say whether nobody changed a suspect's files between it and the case."""
        paths = [path for path, _before, _after in self._index.files(suspect.place)]
        return not suspects.between(self._index, suspect.place, case.place, paths)

    def _search(self, case: _Case) -> tuple[list[_Suspect], str]:
        """Search by lines for what a message claims without naming it; or say why it is not found."""
        places = suspects.of_same_lines(self._index, case.place, case.earlier, MOST_SEARCHED)
        if not places or not case.changes.files:
            return [], ""
        near = self._held(case, self._read(places, list(case.changes.files)), {})
        near = sorted(near, key=lambda each: (-each.overlap.telling, -each.place))[:5]
        if not near:
            return [], "too many earlier commits change its files" if len(
                places
            ) == MOST_SEARCHED else ""
        whole = self._held(case, self._read([each.place for each in near]), {})
        mention = case.claim is not None and case.claim.verb is Verb.MENTION
        fit = [
            each
            for each in whole
            if each.overlap.telling >= FEW
            and each.overlap.purity >= MOSTLY
            and (each.overlap.coverage >= PART or not mention)
        ]
        most = max((each.overlap.telling for each in fit), default=0)
        best = [each for each in fit if each.overlap.telling == most]
        if nearest := _nearest(self._index, best):
            return [nearest], ""
        told = ", ".join(
            f"{self._index.sha(each.place)[:12]} ({each.overlap.lines} of {each.overlap.later} lines)"
            for each in near[:3]
        )
        return [], f"it names no commit, and none explains it; nearest by lines: {told}"

    def _lost_with(self, case: _Case, chosen: Sequence[_Suspect]) -> list[_Suspect]:
        """Give later commits that went when a file was made what it was before a chosen one."""
        rest = overlap.without(case.changes, [each.changes for each in chosen])
        if not rest.size:
            return []
        places: set[int] = set()
        for each in chosen:
            paths = {
                path
                for path, theirs in each.changes.files.items()
                if theirs.before is not None
                and (mine := case.changes.files.get(path)) is not None
                and mine.after == theirs.before
            }
            files = [
                path
                for path, _b, _a in self._index.files(each.place)
                if self._index.path(path) in paths
            ]
            places.update(suspects.between(self._index, each.place, case.place, files)[:MOST_LOST])
        places -= {each.place for each in chosen}
        lost = []
        read = self._read(sorted(places, reverse=True))
        for place, theirs in read.items():
            if theirs is None or len(self._index.parents(place)) > 1:
                continue
            if overlap.taken_back(theirs, rest).telling:
                held = overlap.taken_back(theirs, case.changes)
                lost.append(_Suspect(place=place, changes=theirs, overlap=held))
                rest = overlap.without(rest, [theirs])
        return lost

    def _taken_back(self, case: _Case, chosen: Sequence[_Suspect]) -> Undoing:
        matches = tuple(self._match(case, each, "taken back") for each in sorted(chosen, key=_newest))
        if len(chosen) > 1:
            return self._undoing(case.place, RevertKind.MULTI, matches)
        held = chosen[0].overlap
        kind = RevertKind.PARTIAL
        if held.whole:
            kind = RevertKind.FULL
        elif held.coverage >= MOSTLY:
            kind = RevertKind.ADAPTED
        return self._undoing(case.place, kind, matches)

    def _match(self, case: _Case, suspect: _Suspect, done: str) -> Match:
        held = suspect.overlap
        clues = list(suspect.clues)
        few = case.claim is None and held.telling < FEW
        if (
            held.whole
            and not few
            and suspect.place in suspects.alike(self._index, case.place, {suspect.place})
        ):
            clues.append(Clue(how=How.PATCH_ID, detail="its change is that one's, turned round"))
        nearest = "; nobody else changed these files in between" if few else ""
        clues.append(
            Clue(
                how=How.LINES,
                detail=f"{held.lines} of {held.earlier} lines {done}, "
                f"which are {held.lines} of its own {held.later}{nearest}",
            )
        )
        return Match(
            commit=self._index.sha(suspect.place),
            clues=tuple(clues),
            coverage=held.coverage,
            purity=held.purity,
        )

    def _nothing(self, case: _Case, clues: _Clues, because: str) -> Undoing:
        """Say that a claim is not borne out, and why."""
        if because:
            return self._undoing(case.place, RevertKind.UNKNOWN, because=because)
        named = ", ".join(self._index.sha(place)[:12] for place in sorted(clues, reverse=True)[:3])
        because = "no line that it changes was changed the other way before"
        if not case.changes.files:
            because = "it changes nothing"
        elif named:
            because = f"it shares no line with what it names: {named}"
        strong = case.claim is not None and case.claim.verb is not Verb.MENTION
        kind = RevertKind.UNKNOWN if strong and case.changes.files else RevertKind.NOT_A_REVERT
        return self._undoing(case.place, kind, because=because)

    def _undoing(
        self, place: int, kind: RevertKind, matches: tuple[Match, ...] = (), because: str = ""
    ) -> Undoing:
        return Undoing(commit=self._index.sha(place), kind=kind, matches=matches, because=because)


def _newest(suspect: _Suspect) -> int:
    return -suspect.place


def _nearest(index: Index, held: Sequence[_Suspect]) -> _Suspect | None:
    """Give the newest of some commits if it comes after all others; None if two are side by side."""
    ordered = sorted(held, key=_newest)
    if ordered and all(index.is_ancestor(each.place, ordered[0].place) for each in ordered[1:]):
        return ordered[0]
    return None


def _apart(mine: Changes, held: Sequence[_Suspect]) -> list[_Suspect]:
    """Give those of which something is taken back that the others do not explain."""
    rest, found = mine, []
    for each in sorted(held, key=lambda each: (-each.overlap.coverage, -each.place)):
        if overlap.taken_back(each.changes, rest).telling:
            found.append(each)
            rest = overlap.without(rest, [each.changes])
    return found


def _choose(index: Index, case: _Case, held: Sequence[_Suspect]) -> tuple[list[_Suspect], str]:
    """Choose among commits that a message names, or say why that cannot be done.

    One that has nearly all of both changes is the only one. Otherwise each thing that is named means
    one commit: the only one that content bears out, or the one with by far the most lines.
    """
    if case.claim is None:
        return [], ""
    named = [each for each in held if each.clues]
    if case.claim.verb is Verb.MENTION:
        named = [each for each in named if max(each.overlap.coverage, each.overlap.purity) >= PART]
    ids = {each.place for each in named if any(map(index.sha(each.place).startswith, case.claim.shas))}
    if explains := [each for each in named if each.explains]:
        pool = [each for each in explains if each.place in ids] or _closest(explains)
        nearest = _nearest(index, pool)
        return ([nearest], "") if nearest else ([], _undecided(index, pool))
    groups: dict[str, list[_Suspect]] = {}
    for each in sorted(named, key=lambda each: each.place not in ids):
        for clue in each.clues:
            groups.setdefault(clue.detail, []).append(each)
    picked: dict[int, _Suspect] = {}
    for group in groups.values():
        if picked.keys() & {each.place for each in group}:
            continue
        first, *others = sorted(group, key=lambda each: -each.overlap.telling)
        if any(each.overlap.telling * 2 > first.overlap.telling for each in others):
            return [], _undecided(index, group)
        if not picked or first.overlap.coverage >= PART:  # beside a target, a number is often a reason
            picked[first.place] = first
    return (_apart(case.changes, list(picked.values())) if len(picked) > 1 else [*picked.values()]), ""


def _closest(explains: Sequence[_Suspect]) -> list[_Suspect]:
    """Give those that are each other's equal: those that agree line by line, or all that nearly do."""
    if whole := [each for each in explains if each.overlap.whole]:
        return whole
    best = max(each.overlap.coverage + each.overlap.purity for each in explains)
    return [each for each in explains if each.overlap.coverage + each.overlap.purity > best - NEAR]


def _undecided(index: Index, held: Sequence[_Suspect]) -> str:
    told = ", ".join(index.sha(each.place)[:12] for each in sorted(held, key=_newest)[:5])
    return f"several commits fit, and nothing tells which: {told}"
