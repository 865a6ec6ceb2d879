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
from workbench.vcs.ancestry import ABSENT
from workbench.vcs.changes import Changes
from workbench.vcs.choosing import MOSTLY, PART, Chooser, Suspect, apart, newest
from workbench.vcs.index import Index
from workbench.vcs.repository import Repository
from workbench.vcs.titles import Claim, Verb

FEW = 3  # telling lines; fewer come back by chance
CHANCE = 0.2  # share of lines; a smaller one comes back in any work on the same code
MOST_SEARCHED = 300  # earlier commits whose lines are searched, where a message names none
MOST_LOST = 100  # commits between a commit and the restoring of its files
MOST_PATHS = 1000  # files of a commit that are searched for by their names
NOT_HERE = "what it needs was never fetched"

_Clues = Mapping[int, Sequence[Clue]]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A commit that is asked about.

    Attributes:
        place: Its place.
        claim: What its message claims.
        changes: What it changes.
        earlier: All that it can be reached by.
        clues: What its message names.
        alike: Earlier changes that are its own, turned round, by patch-id.
        restored: Commits before which files were as it makes them again.
    """

    place: int
    claim: Claim | None
    changes: Changes
    earlier: set[int]
    clues: _Clues
    alike: Collection[int]
    restored: Collection[int]

    @property
    def verb(self) -> Verb | None:
        """What its message says that it does."""
        return self.claim.verb if self.claim else None


class Finder:
    """Finds what commits take back, of those that an index holds.

    Args:
        repository: The repository.
        index: Its index.
    """

    def __init__(self, repository: Repository, index: Index) -> None:
        self._repository = repository
        self._index = index
        self._chooser = Chooser(repository, index)

    def find(self, place: int) -> Undoing | None:
        """Give what a commit does, whether or not what it takes back is itself a revert.

        None where it claims nothing and content does not show anything.
        """
        index = self._index
        claim = index.claims.get(place)
        if index.is_merge(place) and (claim is None or claim.verb is Verb.MENTION):
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
        case = _Case(
            place=place,
            claim=claim,
            changes=mine,
            earlier=earlier,
            clues=clues,
            alike=alike,
            restored=restored,
        )
        return self._decide(case, read)

    def _decide(self, case: _Case, read: Mapping[int, Changes | None]) -> Undoing | None:
        if case.verb is Verb.RELAND and (again := self._again(case, read)):
            return again
        # what a reland names is made again, and not taken back
        held = self._held(case, read, {} if case.verb is Verb.RELAND else case.clues)
        chosen: list[Suspect] = []
        because = ""
        if case.claim:
            chosen, because = self._chooser.choose(case.claim, case.changes, held)
        if not any(each.overlap.purity >= MOSTLY for each in chosen):
            shown = self._shown(case, held)
            if shown and (not chosen or shown[0].overlap.whole):
                chosen, because = shown, ""
        if not (chosen or because or case.clues) and case.verb not in (None, Verb.RELAND):
            chosen, because = self._search(case)
        if chosen:
            return self._taken_back(case, [*chosen, *self._lost_with(case, chosen)])
        if case.claim is None:
            return None
        return self._nothing(case, NOT_HERE if None in read.values() else because)

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

    def _held(self, case: _Case, read: Mapping[int, Changes | None], clues: _Clues) -> list[Suspect]:
        """Hold earlier commits against what a case takes back: those borne out, newest first."""
        held = [
            Suspect(
                place=place,
                changes=theirs,
                overlap=overlap.taken_back(theirs, case.changes),
                clues=tuple(clues.get(place, ())),
                alike=place in case.alike,
            )
            for place, theirs in read.items()
            if theirs is not None
        ]
        return sorted((each for each in held if each.is_shown), key=newest)

    def _again(self, case: _Case, read: Mapping[int, Changes | None]) -> Undoing | None:
        """Give what a commit that says so makes again."""
        assert case.claim is not None
        held = [
            Suspect(
                place=place,
                changes=theirs,
                overlap=overlap.made_again(theirs, case.changes),
                clues=tuple(case.clues[place]),
            )
            for place, theirs in read.items()
            if theirs is not None and place in case.clues
        ]
        shown = sorted((each for each in held if each.is_shown), key=newest)
        chosen, _because = self._chooser.choose(case.claim, case.changes, shown)
        if not chosen or max(each.overlap.coverage for each in chosen) < PART:
            return None
        matches = tuple(self._match(case, each, "made again") for each in chosen)
        return self._undoing(case.place, RevertKind.RELAND, matches)

    def _shown(self, case: _Case, held: Sequence[Suspect]) -> list[Suspect]:
        """Choose by content alone: a change turned round, or else whose files are as before it."""
        found = [
            each
            for each in held
            if (each.alike and each.overlap.whole) or each.place in case.restored
            if each.overlap.telling >= FEW or (each.overlap.whole and self._is_nearest(case, each))
        ]
        whole = [each for each in found if each.overlap.whole]
        own = [each for each in whole if not self._index.is_merge(each.place)]
        if one := self._chooser.nearest(own or whole):
            return [one]
        return [] if whole else apart(case.changes, found)

    def _is_nearest(self, case: _Case, suspect: Suspect) -> bool:
        """Say whether nobody changed a suspect's files between it and the case."""
        paths = [path for path, _before, _after in self._index.files(suspect.place)]
        return not suspects.between(self._index, suspect.place, case.place, paths)

    def _search(self, case: _Case) -> tuple[list[Suspect], str]:
        """Search by lines for what a message claims without naming it; or say why it is not found.

        That lines go which somebody once wrote is no revert: it is most of what they wrote, or lines
        that they took out come back.
        """
        places = suspects.of_same_files(self._index, case.place, case.earlier, MOST_SEARCHED)
        if not places:
            return [], ""
        paths = list(case.changes.files)
        near = self._held(case, self._read(places, paths if len(paths) <= MOST_PATHS else ()), {})
        near = sorted(near, key=lambda each: (-each.overlap.telling, -each.place))[:5]
        if not near:
            return [], "too many earlier commits change its files" * (len(places) == MOST_SEARCHED)
        whole = self._held(case, self._read([each.place for each in near]), {})
        fit = [
            each
            for each in whole
            if each.overlap.telling >= FEW and each.overlap.purity >= MOSTLY
            if each.overlap.coverage >= PART
            or (each.overlap.restored and case.verb is not Verb.MENTION)
        ]
        if fit:
            one, because = self._chooser.leading(fit)
            return [one] if one else [], because
        if case.verb is Verb.MENTION and all(
            max(each.overlap.purity, each.overlap.coverage) < CHANCE for each in whole
        ):
            return [], ""
        told = ", ".join(
            f"{self._index.sha(each.place)[:12]} ({each.overlap.lines} of {each.overlap.later} lines)"
            for each in near[:3]
        )
        return [], f"it names no commit, and none explains it; nearest by lines: {told}"

    def _lost_with(self, case: _Case, chosen: Sequence[Suspect]) -> list[Suspect]:
        """Give later commits that went when a file was made what it was before a chosen one."""
        rest = overlap.without(case.changes, [each.changes for each in chosen])
        if not rest.size:
            return []
        places: set[int] = set()
        for each in chosen:
            after = {path: after for path, _before, after in self._index.files(case.place)}
            paths = [
                path
                for path, before, _after in self._index.files(each.place)
                if before and after.get(path) == before
            ]
            places.update(suspects.between(self._index, each.place, case.place, paths)[:MOST_LOST])
        places -= {each.place for each in chosen}
        lost = []
        read = self._read(sorted(places, reverse=True))
        for place, theirs in read.items():
            if theirs is None or self._index.is_merge(place):
                continue
            if overlap.taken_back(theirs, rest).telling:
                held = overlap.taken_back(theirs, case.changes)
                lost.append(Suspect(place=place, changes=theirs, overlap=held))
                rest = overlap.without(rest, [theirs])
        return lost

    def _taken_back(self, case: _Case, chosen: Sequence[Suspect]) -> Undoing:
        matches = tuple(self._match(case, each, "taken back") for each in sorted(chosen, key=newest))
        if len(chosen) > 1:
            return self._undoing(case.place, RevertKind.MULTI, matches)
        held = chosen[0].overlap
        kind = RevertKind.PARTIAL
        if held.whole:
            kind = RevertKind.FULL
        elif held.coverage >= MOSTLY:
            kind = RevertKind.ADAPTED
        return self._undoing(case.place, kind, matches)

    def _match(self, case: _Case, suspect: Suspect, done: str) -> Match:
        held = suspect.overlap
        clues = list(suspect.clues)
        few = case.claim is None and held.telling < FEW  # it is said for its lines alone
        if suspect.alike and held.whole and not few:
            clues.append(Clue(how=How.PATCH_ID, detail="its change is that one's, turned round"))
        detail = (
            f"{held.lines} of {held.earlier} lines {done}, "
            f"which are {held.lines} of its own {held.later}"
        )
        if few:
            detail += "; nobody else changed these files in between"
        return Match(
            commit=self._index.sha(suspect.place),
            clues=(*clues, Clue(how=How.LINES, detail=detail)),
            coverage=held.coverage,
            purity=held.purity,
        )

    def _nothing(self, case: _Case, because: str) -> Undoing:
        """Say that a claim is not borne out, and why."""
        if because:
            return self._undoing(case.place, RevertKind.UNKNOWN, because=because)
        named = ", ".join(self._index.sha(place)[:12] for place in sorted(case.clues, reverse=True)[:3])
        if not case.changes.files:
            because = "it changes nothing"
        elif named:
            because = f"it has no line in common with what it names: {named}"
        elif case.verb is Verb.RELAND:
            because = "it names no earlier commit, and takes no revert back"
        else:
            because = "hardly a line that it changes was changed the other way before"
        empty_or_mention = case.verb is Verb.MENTION or not case.changes.files
        kind = RevertKind.NOT_A_REVERT if empty_or_mention else RevertKind.UNKNOWN
        return self._undoing(case.place, kind, because=because)

    def _undoing(
        self, place: int, kind: RevertKind, matches: tuple[Match, ...] = (), because: str = ""
    ) -> Undoing:
        return Undoing(commit=self._index.sha(place), kind=kind, matches=matches, because=because)
