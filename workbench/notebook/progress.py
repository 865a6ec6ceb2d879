"""How a run that is followed shows: redrawn in place in a notebook, else a line a block on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.model.outcome import Counts
from workbench.report import html
from workbench.report.figures import bar, rate_and_rest
from workbench.report.text import duration, inert, number

_SHOWS = ("started", "judged", "closed")


class Progress:
    """Shows where a run stands whenever it tells something new."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._in_notebook = _kernel()

    def show(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Show the newest of some events; without a notebook, a line for each.

        Args:
            events: Of a run, as `--display json` tells them.
        """
        told = [event for event in events if event.get("event") in _SHOWS]
        if not self._in_notebook:
            for event in told:
                sys.stderr.write(f"{line(event)}\n")
        elif told:
            self._redraw("\n".join(picture(told[-1])))

    def _redraw(self, text: str) -> None:
        from IPython.display import display

        shown = {"text/plain": text, "text/html": html.preformatted(text.split("\n"))}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown, raw=True)


def line(event: Mapping[str, Any]) -> str:
    """Say in one line where a run stands."""
    if event["event"] == "started":
        return inert(f"run {event['run']}, kept in {event['folder']}")
    arms = [f"{inert(name)} {rate_and_rest(Counts(**of))}" for name, of in event["arms"].items()]
    return "; ".join([f"block {event['block']}", *arms, *_words(event), duration(event["seconds"])])


def picture(event: Mapping[str, Any]) -> list[str]:
    """Draw where a run stands: each arm with its interval, evidence in words, time."""
    drawn = [inert(f"run {event['run']}: block {event['block']}")]
    for name, of in event["arms"].items():
        counts = Counts(**of)
        drawn.append(f"  {inert(name):<10} {bar(counts)} {rate_and_rest(counts)}")
    drawn += [f"  {word}" for word in _words(event)]
    return [*drawn, f"  {duration(event['seconds'])}"]


def _words(event: Mapping[str, Any]) -> list[str]:
    said = []
    for verdict, evidence in zip(event["verdicts"], event["evidence"], strict=True):
        so_far = f"evidence against `no effect` {number(evidence['no_effect'])}"
        said.append(inert(verdict) if verdict else so_far)
    return said


def _kernel() -> bool:
    """Say whether this runs in a notebook; IPython is never loaded for that."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
