"""The bisection workbench: find the cause of a failure that happens only sometimes.

The map, from the top floor down; imports go downwards only, and a test holds them to it:

    cli/                 verbs of the command line; data on stdout, narration on stderr
    notebook/            the public interface of notebooks and scripts: `import workbench as wb`
    campaign, report/    the facade that wires a run together; words, tables, JSON for people
    conduct/             plan, drive, journal, judge after each block, stop, resume
    plugins              finds engines, workloads, knobs and classifiers by name
    engines/ workloads/ knobs/ classifiers/     what touches the system under test
    http/                the HTTP client beneath them: how each attempt ended, in one word
    vcs/                 what git says of commits; worktrees; the only user of git
    store/               campaigns and runs: the only reader and writer of our files
    judge/               trials to counts to verdicts to states; guards
    stats/               e-values, intervals, design effect, planning: numbers in, numbers out
    ports                the Protocols that plug-ins implement
    model/, errors       the nouns, and the tree of what can go wrong

Ten minutes to find your way: this page, `ports.py`, `conduct/experiment.py`, `stats/abtest.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench._version import __version__

if TYPE_CHECKING:
    from workbench.notebook import Campaign, Hypothesis, Run, compare, open, relabel

__all__ = ["__version__", "open", "compare", "relabel", "Campaign", "Hypothesis", "Run"]


def __getattr__(name: str) -> Any:
    """Load the interface of notebooks when one of its names is first used, and nothing before."""
    if name in __all__:
        from workbench import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
