"""A campaign in a notebook; whatever is asked is looked up anew, so that an old cell is never stale."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.campaign.registry import Campaign as Files
from workbench.errors import UsageError
from workbench.model.hypothesis import HYPOTHESIS_ID
from workbench.model.registry import Registry
from workbench.notebook.hypothesis import Hypothesis
from workbench.notebook.run import Run
from workbench.notebook.shown import Mermaid, Report, Shown
from workbench.report import html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.model.commits import History
    from workbench.report.frames import Frame


class Campaign(Shown):
    """A campaign: shows its status card, and gives everything else by name.

    Args:
        root: The folder that holds `campaign.yaml`.

    Attributes:
        root: The same.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def files(self) -> Files:
        """The campaign as it stands now."""
        return Files(self.root)

    @property
    def registry(self) -> Registry:
        """All that is on record, as nouns of `workbench.model`."""
        return self.files.registry

    def lines(self) -> Iterable[str]:
        """Give the status card, as `workbench status` prints it."""
        from workbench.report.status import status

        return status(self.registry)

    def html(self) -> str:
        """Give the status card as HTML."""
        return html.card(self.registry)

    @property
    def tree(self) -> Tree:
        """The falsification tree."""
        return Tree(self.registry)

    # --- frames -----------------------------------------------------------------------------------

    @property
    def hypotheses(self) -> Frame:
        """One row a hypothesis: where it stands, with the verdict that this rests on."""
        return _frames().hypotheses(self.registry)

    @property
    def runs(self) -> Frame:
        """One row a run, oldest first; counts are over all arms."""
        return _frames().runs(self.registry)

    @property
    def arms(self) -> Frame:
        """One row an arm of a run, with the interval of its rate."""
        return _frames().arms(self.registry)

    @property
    def verdicts(self) -> Frame:
        """One row a verdict on record, in the order of the log."""
        return _frames().verdicts(self.registry)

    @property
    def commits(self) -> Frame:
        """One row a linked commit and what it is linked as, with what git says of it."""
        files = self.files
        return _frames().commits(files.registry, _history(files))

    @property
    def trials(self) -> Frame:
        """One row a session that has ended, of all runs."""
        from workbench.campaign import records

        return _frames().trials(records.exchanges(self.files))

    @property
    def exchanges(self) -> Frame:
        """One row an exchange, of all runs; replies are left out, `Run.failures` has some."""
        from workbench.campaign import records

        return _frames().exchanges(records.exchanges(self.files))

    def plot(self, kind: str = "tree") -> Figure:
        """Draw the campaign.

        Args:
            kind: The falsification `tree`, the `timeline` with commits, or rates over `load`.

        Raises:
            UsageError: There is no such plot, nothing to draw, or matplotlib is missing.
        """
        from workbench.notebook.drawing import campaign_plot

        files = self.files
        return campaign_plot(files.registry, kind, lambda: _history(files))

    # --- reports ----------------------------------------------------------------------------------

    def matrix(self) -> Matrix:
        """Lay the evidence against the suspects, and say whether any run tells them apart."""
        return Matrix(self.registry)

    def next(self) -> Report:
        """Say which test would tell most a minute."""
        from workbench.campaign import asking
        from workbench.report import next as report

        asked = asking.ask(self.files)
        return Report(report.following(asked), records=report.next_records(asked))

    def check(self) -> Report:
        """Name every mistake in the files; `records` is empty where there is none."""
        from workbench.campaign.checks import check
        from workbench.report import values
        from workbench.report.text import inert

        problems = check(self.files)
        said = [inert(str(problem)) for problem in problems] or ["all files are in order"]
        return Report(said, records=[values.plain(problem) for problem in problems])

    def export(self, path: str | Path) -> Path:
        """Write the ledger.

        Args:
            path: Where to; its ending says the form: `.md`, or `.json`.

        Raises:
            UsageError: The ending says no form.
            StoreError: It cannot be written.
        """
        from workbench.campaign.exporting import cleared, save
        from workbench.report.ledger import ledger, ledger_record

        path, registry = Path(path), self.registry
        if path.suffix == ".json":
            text = json.dumps(cleared(ledger_record(registry)), indent=2) + "\n"
        elif path.suffix == ".md":
            text = cleared(ledger(registry))
        else:
            raise UsageError(f"{path.name}: no form is known by that ending", hint="use .md or .json")
        save(path, text)
        return path

    # --- what is in it ----------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Hypothesis | Run:
        """Give a hypothesis by its id, or a run by its id or the start of one.

        Raises:
            KeyError: There is none.
        """
        try:
            if HYPOTHESIS_ID.match(name.upper()):
                return Hypothesis(self.root, self.files.known(name))
            return Run(self.files.run_folder(name))
        except UsageError as error:
            raise KeyError(str(error)) from error

    def _ipython_key_completions_(self) -> list[str]:
        """Name what can be asked for, for a notebook's completion."""
        files = self.files
        return [*(file.id for file in files.files.files), *(line.id for line in files.run_lines)]


class Tree(Shown):
    """The falsification tree of a campaign at one moment.

    Args:
        registry: The campaign.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def lines(self) -> Iterable[str]:
        """Give it as text."""
        from workbench.report.tree import tree

        return tree(self._registry)

    def html(self) -> str:
        """Give it as nested lists."""
        return html.tree(self._registry)

    def mermaid(self) -> Mermaid:
        """Give it as a Mermaid flow chart of at most 60 nodes."""
        from workbench.report.tree import mermaid

        return Mermaid("\n".join(mermaid(self._registry)) + "\n")


class Matrix(Shown):
    """Evidence in rows, suspects in columns, at one moment.

    Args:
        registry: The campaign.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def lines(self) -> Iterable[str]:
        """Give it as text."""
        from workbench.report.matrix import matrix

        return matrix(self._registry)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The same as JSON values."""
        from workbench.report.matrix import matrix_record

        return matrix_record(self._registry)

    @property
    def frame(self) -> Frame:
        """The same as a frame: for, against, neutral or unknown in each cell."""
        return _frames().matrix(self._registry)


def open(path: str | Path = ".") -> Campaign:
    """Open the campaign that a folder lies in.

    Args:
        path: The campaign's folder, or one in it.

    Raises:
        UsageError: There is none.
    """
    return Campaign(Files.find(Path(path).expanduser().resolve()).root)


def compare(one: Run | str, other: Run | str) -> Report:
    """Lay two runs side by side: what is the same, what differs, what each counted and said.

    Args:
        one: A run, its folder, or its id in the campaign around the current folder.
        other: Another one.

    Raises:
        UsageError: There is no such run, or both are the same.
        StoreError: A run cannot be read.
    """
    from workbench.campaign import comparing
    from workbench.report import compare as report

    found = comparing.compare(fspath(one), fspath(other))
    return Report(report.compare(found), records=[report.compare_record(found)])


def relabel(run: Run | str, *, classifier: str = "", symptom: str = "") -> Report:
    """Label a run's stored replies again; nothing is written, and its verdict stands.

    Args:
        run: A run, its folder, or its id in the campaign around the current folder.
        classifier: Kind of another classifier.
        symptom: Name of another symptom of the campaign.

    Raises:
        UsageError: There is no such run, classifier or symptom.
        StoreError: The run cannot be read.
    """
    from workbench.campaign import relabelling
    from workbench.report import relabel as report

    found = relabelling.relabel(fspath(run), classifier=classifier, symptom=symptom)
    return Report(report.relabel(found), records=[report.relabel_record(found)])


def _history(files: Files) -> History:
    """Ask git of the linked commits, without whose help there is what was noted."""
    from workbench.campaign.history import history_or_problem

    return history_or_problem(files)


def _frames() -> Any:
    from workbench.report import frames

    return frames
