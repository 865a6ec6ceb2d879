"""The ledger: what a campaign knows, as GitHub Markdown that anybody can read half a year later.

Ten lines for those in a hurry, then the tree, what was ruled out, what is contested and what nobody has
verified, a section a suspect, the timeline, and how to check all of it. The same registry always gives
the same bytes: "when" is the newest event, and no path of the machine is in it.

`ledger_record` gives the same as JSON values:
    title, as_of, heads         as_of: time of the newest event; heads: digests that end the log
    status, symptoms, counts, contested, leading, verdicts, unverified, running, problems, next
                                as in the record of `status`; status: one sentence
    clean                       the newest arm shown clean: run, hypothesis, settings, counts, interval
    refuted                     ids of suspects that were falsified or overturned
    survives                    hypotheses whose effect survives the campaign-wide check
    spent                       seconds, sessions, runs
    hypotheses                  records of `show`
    log                         records of `log`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.model.commits import History
from workbench.model.registry import Registry
from workbench.model.standing import State
from workbench.report.dossier import dossier, ruled_out, surviving
from workbench.report.headlines import (
    REFUTED,
    clean_record,
    headlines,
    newest_clean,
    open_points,
    spent,
    status_sentence,
)
from workbench.report.log import line, log_records
from workbench.report.markdown import anchor, code, fence, link, plain, table
from workbench.report.reasons import arms, because
from workbench.report.show import suspect_record
from workbench.report.status import status_record
from workbench.report.steps import next_of_all
from workbench.report.suspects import Roster, Suspect, roster
from workbench.report.tree import mermaid


def ledger(registry: Registry, history: History | None = None) -> str:
    """Write the ledger as GitHub Markdown; a line ends with a newline, the last one too.

    Args:
        registry: The campaign.
        history: What git says of its commits; with it the ledger is that of a commit, too.
    """
    suspects = roster(registry, history)
    lines: list[str] = []
    for part in (headlines, _tree, _ruled_out, _contested, _not_verified, _suspects, _timeline, _check):
        lines += [*part(suspects), ""]
    return "\n".join(lines[:-1]) + "\n"


def ledger_record(registry: Registry, history: History | None = None) -> dict[str, Any]:
    """Give the ledger as JSON values."""
    suspects = roster(registry, history)
    clean = newest_clean(suspects)
    survivors = surviving(suspects)
    step = next_of_all(suspects)
    return {
        **status_record(registry),
        "status": status_sentence(suspects),
        "next": {"what": step.what, "command": step.command},
        "heads": list(registry.heads),
        "clean": clean_record(*clean) if clean else None,
        "refuted": [suspect.id for suspect in suspects if suspect.state in REFUTED],
        "survives": [suspect.id for suspect in suspects if suspect.id in survivors],
        "spent": spent(registry),
        "hypotheses": [suspect_record(suspect, suspects) for suspect in suspects],
        "log": list(log_records(registry.events)),
    }


def _tree(suspects: Roster) -> Iterator[str]:
    yield "## Tree"
    yield ""
    if not suspects.suspects:
        yield "Nobody has named a suspect yet."
        return
    yield from fence(mermaid(suspects.registry), "mermaid")
    yield ""
    rows = (
        (
            link(each.id),
            plain(each.title),
            str(each.state),
            str(each.standing.grade or "-"),
            _counted(each),
        )
        for each in suspects
    )
    yield from table(("suspect", "claim", "state", "grade", "control, treatment"), rows)


def _counted(suspect: Suspect) -> str:
    item = suspect.deciding
    return plain(arms(item.verdict)) if item and item.verdict else "no run"


def _ruled_out(suspects: Roster) -> Iterator[str]:
    yield "## Ruled out"
    yield ""
    out = [each for suspect in suspects if suspect.state in REFUTED for each in ruled_out(suspect)]
    yield from out or ["Nothing is ruled out yet."]
    named_anew = [each for each in suspects if each.state is State.SUPERSEDED]
    if named_anew:
        yield ""
        yield "Replaced by another suspect, which refutes nothing:"
        yield ""
        for each in named_anew:
            yield f"- {link(each.id)} {plain(each.title)}: {plain(because(each))}"


def _contested(suspects: Roster) -> Iterator[str]:
    yield "## Contested"
    yield ""
    found = [each for each in suspects if each.state is State.CONTESTED]
    for each in found:
        yield f"- {link(each.id)} {plain(each.title)}: {plain(because(each))}"
    if not found:
        yield "Nothing is contested."


def _not_verified(suspects: Roster) -> Iterator[str]:
    yield f"## {anchor('not-verified')}Not verified"
    yield ""
    yield from [f"- {point}" for point in open_points(suspects)] or ["Nothing known."]


def _suspects(suspects: Roster) -> Iterator[str]:
    yield "## Suspects"
    survivors = surviving(suspects)
    if not suspects.suspects:
        yield ""
        yield "None yet."
    for suspect in suspects:
        yield ""
        yield from dossier(suspect, suspects, survives=suspect.id in survivors)


def _timeline(suspects: Roster) -> Iterator[str]:
    yield "## Timeline"
    yield ""
    events = suspects.registry.events
    yield from [f"- {plain(line(event))} ({plain(event.id)})" for event in events] or ["No event yet."]


def _check(suspects: Roster) -> Iterator[str]:
    yield "## How to check this"
    yield ""
    heads = suspects.registry.heads
    if heads:
        named = ", ".join(map(code, heads))
        yield f"- The log ends with {named}: a line of it that is lost or altered changes that."
    yield f"- {code('workbench verify')} recomputes counts, evidence and verdicts from the runs alone."
    yield f"- {code('workbench export --check')} says whether this page is stale."
    yield (
        "- Intervals and evidence hold at every look. Where counts are divided by a measured design"
        " effect, the evidence is approximate."
    )
