"""A campaign's folder as people wrote it: `campaign.yaml`, the hypothesis files, and all that is wrong.

One bad file never hides another: whatever a file holds, it is listed, and what is wrong in it is told
with line and column. A hypothesis is given when its file is right by itself; where it does not fit with
the other files, its problems say so, and it must not be run.

YAML and validation are loaded only for files that have changed since they were last read.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.model.campaign import CampaignSpec
from workbench.model.hypothesis import Hypothesis, Problem
from workbench.store.filecache import CampaignEntry, FileEntry, Remembered, digest, recall, remember
from workbench.store.known import Known
from workbench.store.layout import CAMPAIGN_FILE, HYPOTHESES
from workbench.store.plainfile import printable, read_file
from workbench.store.references import Facts, Finding, check_campaign, check_hypothesis, check_tree

if TYPE_CHECKING:
    from workbench.store.yamltext import Document

OptionsOf = Callable[[str, str], type | None]
"""Group (`engines`, `workloads`, `knobs`, `classifiers`) and kind to the class of its options; None
when there is no such plug-in. May raise PluginError, whose words are then the problem."""
KindsOf = Callable[[str], Sequence[str]]
"""Group to the kinds that there are, for hints."""

_NAME = re.compile(r"H0*([1-9][0-9]{0,8})(-.*)?\.yaml")
_MOST = 100  # findings told of one file
_READ_ME = ".yaml"
_ALMOST = (".yml", ".yaml.txt")


@dataclass(frozen=True, kw_only=True, slots=True)
class HypothesisFile:
    """One file of the folder `hypotheses`.

    Attributes:
        path: Relative to the campaign's folder.
        data: Its bytes; empty when it cannot be read.
        sha256: Their digest.
        id: The id that it states, else the one of its name; empty when there is neither.
        hypothesis: What it says, None when it is not right by itself or its id is taken.
        problems: What is wrong with it, references included, by line and column.
    """

    path: str
    data: bytes
    sha256: str
    id: str
    hypothesis: Hypothesis | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignFiles:
    """All files that people write.

    Attributes:
        spec: `campaign.yaml` as far as it is right.
        files: Hypothesis files by name.
        problems: What is wrong in any of them, by file, line and column.
    """

    spec: CampaignSpec
    files: tuple[HypothesisFile, ...]
    problems: tuple[Problem, ...]


def find_root(start: Path) -> Path:
    """Give the campaign's folder: `start` or the nearest one above it that has a `campaign.yaml`.

    Raises:
        UsageError: There is none.
    """
    here = start.absolute()
    for folder in (here, *here.parents):
        if os.path.lexists(folder / CAMPAIGN_FILE):
            return folder
    raise UsageError(
        f"{start}: no {CAMPAIGN_FILE} here or above", hint="begin one with `workbench init`"
    )


def read_files(
    root: Path, options_of: OptionsOf | None = None, kinds_of: KindsOf | None = None
) -> CampaignFiles:
    """Read all files of the campaign at `root`; never raises for what stands in them.

    Args:
        root: The campaign's folder.
        options_of: Gives the options of plug-ins, to check those of `campaign.yaml`; None leaves them
            unchecked, and loads no plug-in.
        kinds_of: Gives the kinds that there are, for hints.
    """
    return _Reading(root).read(options_of, kinds_of)


@dataclass(slots=True)
class _File:
    """A hypothesis file on its way."""

    path: str
    data: bytes
    sha256: str
    entry: FileEntry
    named: re.Match[str] | None = field(init=False)  # its name as it should be
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.named = _NAME.fullmatch(self.path.rpartition("/")[2])
        self.id = self.entry.id or (f"H{self.named[1]}" if self.named else "")


class _Reading:
    """One reading of a campaign."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._old = recall(root)
        self._documents: dict[str, Document] = {}
        self._changed = False

    def read(self, options_of: OptionsOf | None, kinds_of: KindsOf | None) -> CampaignFiles:
        campaign, data = self._campaign()
        listing, stray = self._list()
        files = [self._file(path) for path in listing]
        key = digest(
            "\n".join([campaign.sha256, *(f"{each.sha256} {each.path}" for each in files)]).encode()
        )
        between = self._old.between if key == self._old.key else self._between(campaign, files)
        if self._changed or key != self._old.key or len(files) != len(self._old.files):
            entries = {each.path: each.entry for each in files}
            remember(self._root, Remembered(campaign=campaign, files=entries, between=between, key=key))
        problems = [*campaign.problems, *between.get(CAMPAIGN_FILE, ()), *stray]
        if options_of is not None and data:
            problems += self._options(data, options_of, kinds_of)
        found = tuple(self._found(files, between))
        problems += [problem for each in found for problem in each.problems]
        return CampaignFiles(
            spec=campaign.spec, files=found, problems=tuple(sorted(problems, key=_order))
        )

    def _campaign(self) -> tuple[CampaignEntry, bytes]:
        data = read_file(self._root / CAMPAIGN_FILE, CAMPAIGN_FILE)
        if isinstance(data, Problem):
            entry = CampaignEntry(
                sha256="", spec=CampaignSpec(title=""), known=Known(), problems=(data,)
            )
            return entry, b""
        sha256 = digest(data)
        if self._old.campaign is not None and self._old.campaign.sha256 == sha256:
            return self._old.campaign, data
        from workbench.store.validation import read_campaign

        self._changed = True
        read = read_campaign(data, CAMPAIGN_FILE)
        self._documents[CAMPAIGN_FILE] = read.document
        problems = [*read.document.problems]
        problems += self._problems(CAMPAIGN_FILE, data, check_campaign(read.spec, read.known))
        return CampaignEntry(
            sha256=sha256, spec=read.spec, known=read.known, problems=tuple(problems)
        ), data

    def _list(self) -> tuple[list[str], list[Problem]]:
        """Give the paths of the hypothesis files, and problems with names and the folder itself."""
        folder, paths, problems = self._root / HYPOTHESES, [], []
        try:
            if folder.is_symlink():
                return [], [_problem(HYPOTHESES, "is a symbolic link", "put the folder itself here")]
            names = sorted(os.listdir(folder))  # noqa: PTH208 - a thousand Paths cost more than the list
        except FileNotFoundError:
            return [], []
        except OSError as error:
            return [], [_problem(HYPOTHESES, f"cannot be read: {error.strerror or error}", "")]
        for name in names:
            if name.startswith("."):
                continue
            path = f"{HYPOTHESES}/{name}"
            if name.endswith(_READ_ME) and name.isprintable():
                paths.append(path)
            elif name.endswith(_READ_ME):
                problems.append(
                    _problem(printable(path), "is not read: its name is not printable", "rename it")
                )
            elif name.lower().endswith((*_ALMOST, _READ_ME)) and name.isprintable():
                hint = "hypothesis files end in .yaml"
                problems.append(_problem(path, "is not read", hint))
        return paths, problems

    def _file(self, path: str) -> _File:
        data = read_file(self._root / path, path)
        if isinstance(data, Problem):
            entry = FileEntry(sha256="", id="", hypothesis=None, facts=Facts(), problems=(data,))
            return _File(path, b"", "", entry)
        sha256 = digest(data)
        old = self._old.files.get(path)
        if old is not None and old.sha256 == sha256:
            return _File(path, data, sha256, old)
        from workbench.store.validation import read_hypothesis

        self._changed = True
        read = read_hypothesis(data, path)
        self._documents[path] = read.document
        facts = Facts.of(read.document.value or {})
        entry = FileEntry(
            sha256=sha256,
            id=read.id,
            hypothesis=read.hypothesis,
            facts=facts,
            problems=tuple(read.document.problems),
        )
        return _File(path, data, sha256, entry)

    def _between(
        self, campaign: CampaignEntry, files: Sequence[_File]
    ) -> dict[str, tuple[Problem, ...]]:
        """Find what is wrong between the files, by path of the file to blame."""
        ids = frozenset(each.id for each in files if each.id)
        firsts: dict[str, _File] = {}
        found: dict[str, list[Finding]] = {each.path: [*_name_of(each)] for each in files}
        for each in files:
            if each.id:
                first = firsts.setdefault(each.id, each)
                if first is not each:
                    found[first.path].append(_twice(first, each, each))
                    found[each.path].append(_twice(each, first, each))
            found[each.path] += check_hypothesis(each.id, each.entry.facts, campaign.known, ids)
        for id, finding in check_tree({id: each.entry.facts for id, each in firsts.items()}):
            found[firsts[id].path].append(finding)
        problems = {
            each.path: tuple(self._problems(each.path, each.data, found[each.path]))
            for each in files
            if found[each.path]
        }
        if files and not campaign.known.whole and campaign.problems:
            what = f"cannot tell of {len(files)} hypotheses whether all that they name is there"
            problems[CAMPAIGN_FILE] = (_problem(CAMPAIGN_FILE, what, "mend this file first"),)
        return problems

    def _problems(
        self, path: str, data: bytes, findings: Iterator[Finding] | Sequence[Finding]
    ) -> Iterator[Problem]:
        """Look up where findings stand."""
        for finding in islice(findings, _MOST):
            document = self._document(path, data)
            at = document.key_at if finding.at_key else document.value_at
            line, column = at(finding.keys)
            what, hint = printable(finding.what), printable(finding.hint)
            yield Problem(file=path, line=line, column=column, what=what, hint=hint)

    def _document(self, path: str, data: bytes) -> Document:
        if path not in self._documents:
            from workbench.store.yamltext import read_yaml

            self._documents[path] = read_yaml(data, path)
        return self._documents[path]

    def _options(
        self, data: bytes, options_of: OptionsOf, kinds_of: KindsOf | None
    ) -> Iterator[Problem]:
        """Ask the plug-ins; never from memory, for they may have been installed since."""
        from workbench.store.pluginoptions import check_options
        from workbench.store.validation import read_campaign

        read = read_campaign(data, CAMPAIGN_FILE)
        self._documents[CAMPAIGN_FILE] = read.document
        yield from self._problems(
            CAMPAIGN_FILE, data, check_options(read.spec, read.document, options_of, kinds_of)
        )

    def _found(
        self, files: Sequence[_File], between: dict[str, tuple[Problem, ...]]
    ) -> Iterator[HypothesisFile]:
        taken: set[str] = set()
        for each in files:
            problems = (*each.entry.problems, *between.get(each.path, ()))
            hypothesis = None if each.id in taken else each.entry.hypothesis
            if hypothesis is not None:
                taken.add(each.id)
            yield HypothesisFile(
                path=each.path,
                data=each.data,
                sha256=each.sha256,
                id=each.id,
                hypothesis=hypothesis,
                problems=tuple(sorted(problems, key=_order)),
            )


def _name_of(file: _File) -> Iterator[Finding]:
    """Check that a file is named after its hypothesis."""
    name, found = file.path.rpartition("/")[2], file.named
    if found is None and file.data:
        hint = f"name it {_due(file.entry.id or 'H1', 'some-words')}"
        yield Finding(keys=("id",), what=f"the file name {name!r} does not begin with an id", hint=hint)
    elif found is not None and file.entry.id and f"H{found[1]}" != file.entry.id:
        hint = f"name it {_due(file.entry.id, (found[2] or '')[1:])}, or mend the id"
        yield Finding(
            keys=("id",), what=f"the file name says H{found[1]}, the id {file.entry.id}", hint=hint
        )


def _due(id: str, words: str) -> str:
    return f"H{int(id[1:]):02}-{words}.yaml" if words else f"H{int(id[1:]):02}.yaml"


def _twice(here: _File, other: _File, later: _File) -> Finding:
    hint = f"workbench renumber {here.id} {shlex.quote(later.path)}"
    return Finding(keys=("id",), what=f"{here.id} is also the id of {other.path}", hint=hint)


def _problem(file: str, what: str, hint: str) -> Problem:
    return Problem(file=file, line=1, column=1, what=what, hint=hint)


def _order(problem: Problem) -> tuple[str, int, int]:
    return problem.file, problem.line, problem.column
