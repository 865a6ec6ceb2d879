"""A campaign's folder: files, log and runs, read when asked and joined into one `Registry`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from workbench.errors import InvalidFiles, StoreError, UsageError
from workbench.judge.states import standings
from workbench.model.campaign import CampaignSpec
from workbench.model.hypothesis import Hypothesis, number
from workbench.model.registry import Registry, RunLine
from workbench.store.campaignfiles import (
    CampaignFiles,
    HypothesisFile,
    find_root,
    read_files,
)
from workbench.store.eventlog import EventLog, Log
from workbench.store.find import find_run
from workbench.store.layout import CAMPAIGN_FILE, RUNS
from workbench.store.runindex import run_lines, under_new_ids
from workbench.store.view import RunView


class Campaign:
    """A campaign as it stands when it is first asked; make a new one to look again.

    Args:
        root: The folder that holds `campaign.yaml`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = EventLog(root)

    @classmethod
    def find(cls, start: Path | None = None) -> Campaign:
        """Open the campaign that a folder, by default the current one, lies in.

        Raises:
            UsageError: There is none.
        """
        return cls(find_root(start or Path.cwd()))

    @cached_property
    def files(self) -> CampaignFiles:
        """`campaign.yaml` and the hypotheses, as far as they can be read."""
        return read_files(self.root)

    @cached_property
    def log(self) -> Log:
        """The event log."""
        return self.journal.read()

    @cached_property
    def run_lines(self) -> tuple[RunLine, ...]:
        """The runs, oldest first, under the ids that their hypotheses have now."""
        return under_new_ids(self._lines_on_record, self.log.events)

    @cached_property
    def _lines_on_record(self) -> tuple[RunLine, ...]:
        return run_lines(self.root)

    def ids_on_record(self, run: str) -> dict[str, str]:
        """Give the hypotheses that a run serves: id now, and the id that its manifest has."""
        for now, then in zip(self.run_lines, self._lines_on_record, strict=True):
            if now.id == run:
                return dict(zip(now.hypotheses, then.hypotheses, strict=True))
        return {}

    @cached_property
    def registry(self) -> Registry:
        """Everything, joined."""
        files, log = self.files, self.log
        found = [file.hypothesis for file in files.files if file.hypothesis is not None]
        hypotheses = sorted(found, key=lambda each: number(each.id))
        return Registry(
            root=str(self.root),
            spec=files.spec,
            hypotheses=tuple(hypotheses),
            standings=standings(log.events, [each.id for each in hypotheses]),
            events=log.events,
            heads=log.heads,
            runs=self.run_lines,
            edited=self._edited(),
            problems=(*files.problems, *log.problems),
        )

    @property
    def spec(self) -> CampaignSpec:
        """`campaign.yaml`, whole.

        Raises:
            InvalidFiles: It has mistakes; nothing is run on what could only half be read.
        """
        wrong = [str(problem) for problem in self.files.problems if problem.file == CAMPAIGN_FILE]
        if wrong:
            raise InvalidFiles(wrong)
        return self.files.spec

    def hypothesis_file(self, id: str) -> HypothesisFile:
        """Look a valid hypothesis up by its id, in whatever case.

        Raises:
            UsageError: There is none of that id.
            InvalidFiles: Its file has mistakes.
        """
        id = id.upper()
        found = [file for file in self.files.files if file.id == id]
        wrong = [str(problem) for file in found for problem in file.problems]
        if wrong:
            raise InvalidFiles(wrong)
        if not found:
            raise unknown(id, (file.id for file in self.files.files))
        return found[0]

    def hypothesis(self, id: str) -> Hypothesis:
        """Look a valid hypothesis up; raises as `hypothesis_file` does."""
        found = self.hypothesis_file(id).hypothesis
        assert found is not None  # a file without problems holds one
        return found

    def known(self, id: str) -> str:
        """Give an id as the files spell it, valid or not; raises UsageError for one without a file."""
        id = id.upper()
        ids = [file.id for file in self.files.files]
        if id not in ids:
            raise unknown(id, ids)
        return id

    def run_folder(self, run: str) -> Path:
        """Find a run by its folder, its id, or the start of one; raises UsageError for none."""
        return find_run(run, self.root / RUNS)

    def named(self, name: str) -> str:
        """Give the id of a hypothesis, an item of the log, or a run, from what a person wrote."""
        if name[:2] in ("E-", "N-"):
            return name
        return self.known(name) if name[:1] in ("h", "H") else self.run_folder(name).name

    def _edited(self) -> dict[str, tuple[str, ...]]:
        """Name the runs after which the claim of a hypothesis was edited.

        Digests tell of most files that they never changed; only where they differ is the copy that the
        run kept read and compared.
        """
        edited: dict[str, list[str]] = {}
        differs: dict[tuple[str, str], bool] = {}  # by id and digest: many runs kept the same copy
        now = {file.id: file for file in self.files.files if file.hypothesis is not None}
        for line in self.run_lines:
            for id, sha256 in line.planned.items():
                if id not in now or now[id].sha256 == sha256:
                    continue
                if (id, sha256) not in differs:
                    differs[id, sha256] = self._claim_differs(now[id], line)
                if differs[id, sha256]:
                    edited.setdefault(id, []).append(line.id)
        return {id: tuple(runs) for id, runs in edited.items()}

    def _claim_differs(self, file: HypothesisFile, line: RunLine) -> bool:
        try:
            serves = RunView.read(self.root / line.path).manifest.serves
        except StoreError:  # a list of runs names it
            return False
        from workbench.store.validation import read_hypothesis

        kept = [served for served in serves if served.sha256 == line.planned[file.id]]
        then = [read_hypothesis(served.text.encode(), served.file).hypothesis for served in kept]
        return any(_claim(each) != _claim(file.hypothesis) for each in then)


def unknown(id: str, known: Iterable[str]) -> UsageError:
    """Say that there is no such hypothesis, and which one may be meant."""
    ids = sorted({each for each in known if each}, key=lambda each: (len(each), each))
    near = difflib.get_close_matches(id, ids, n=1)
    if not ids:
        hint = "there is none yet: workbench new TITLE"
    else:
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(ids[:12])}"
    return UsageError(f"there is no hypothesis {id!r}", hint=hint)


def _claim(hypothesis: Hypothesis | None) -> tuple[object, ...] | None:
    """Give what the verdicts on a hypothesis rest on (RULES 6)."""
    if hypothesis is None:
        return None
    return hypothesis.prediction, hypothesis.test, hypothesis.falsified_by
