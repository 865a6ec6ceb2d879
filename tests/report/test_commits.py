"""What git says of commits, in words: all facts are there, and none is more than text."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from tests.report.campaign import build
from tests.report.hostile import HOSTILE, poisoned
from tests.report.linked import DEAD_FIX, HISTORY, LEFT, NO_GIT, SHA, linked
from tests.report.test_hostile import values_of
from tests.report.test_ledger import parse
from workbench.model.campaign import CampaignSpec
from workbench.model.commits import History, LeftOvers, Presence
from workbench.model.registry import Registry
from workbench.report import ledger, show
from workbench.report.commitrecords import commit_records
from workbench.report.commits import commits, rows
from workbench.report.leftovers import left_over, left_over_records

RICH = linked(build())
ADDRESS = re.compile(r"https://github\.com/ana/engine/commit/[0-9a-f]{40}")


def records(history: History = HISTORY) -> dict[tuple[str, str], dict[str, object]]:
    return {(each["named"], each["kind"]): each for each in commit_records(RICH, history)}


def test_each_commit_stands_once_with_all_its_hypotheses() -> None:
    found = records()
    assert len(found) == len(rows(RICH, HISTORY)) == 11
    guard = found[SHA["guard"], "mitigation"]
    assert (guard["hypotheses"], guard["effect"]) == (["H1", "H2"], "guarded")
    states = {named: each["state"] for (named, _), each in found.items()}
    assert states[DEAD_FIX] == "reverted"
    assert found[DEAD_FIX, "fix"]["was_dead"] is True
    assert states[SHA["cause"]] == states[SHA["half"]] == states[SHA["guard"]] == "live"
    assert states[SHA["probe"]] == "live"  # H5 fell, and H1 did not
    assert states[SHA["picked"]] == "planned"


def test_hypotheses_can_be_chosen() -> None:
    chosen = list(commit_records(RICH, HISTORY, ["H2"]))
    assert {each["named"] for each in chosen} == {SHA["cause"], SHA["guard"]}
    assert all(each["hypotheses"] == ["H2"] for each in chosen)


def test_a_record_has_what_scripts_rely_on_first() -> None:
    for record in commit_records(RICH, HISTORY):
        assert list(record)[:7] == [
            *("commit", "hypotheses", "kind", "state", "was_dead"),
            *("reverted_by", "checkout_would_lose"),
        ]
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        for match in record["reverted_by"]:
            assert list(match)[:3] == ["commit", "how", "coverage"]
    kinds = {type(value) for value in values_of(list(commit_records(RICH, HISTORY)))}
    assert kinds <= {str, int, float, bool, type(None)}


def test_without_git_what_was_noted_is_told() -> None:
    found = records(NO_GIT)
    assert found[DEAD_FIX, "fix"]["state"] == "dead"
    assert found[SHA["guard"], "mitigation"]["seen"] is False
    assert found[SHA["half"], "fix"]["presence"] == "unknown"
    assert "nothing was held against a tree" in next(iter(commits(RICH, NO_GIT)))


def test_an_empty_list_names_the_next_command() -> None:
    empty = Registry(root="", spec=CampaignSpec(title=""))
    assert list(commits(empty, History(at="", name=""))) == [
        "no commit is linked yet; link one: workbench link ID COMMIT --as fix"
    ]
    assert list(left_over(LeftOvers(at="f" * 40))) == ["nothing is left over (tags in the tree)"]


def test_a_change_that_is_dead_is_named_at_the_end() -> None:
    standing = replace(HISTORY.commits[DEAD_FIX], presence=Presence.PARTLY)
    history = replace(HISTORY, commits={**HISTORY.commits, DEAD_FIX: standing})
    said = list(commits(RICH, history))
    assert f"{DEAD_FIX[:12]}  fix of H5: dead in part, effect none" in said
    assert DEAD_FIX[:12] in " ".join(said).rpartition("dead, and still in the tree: ")[2]
    assert "bbbbbbbbbbbb" not in said[-1]  # dead as far as is known, and nobody sees it in the tree


@pytest.mark.parametrize("verbose", [False, True])
def test_lines_fit_a_terminal(verbose: bool) -> None:
    lines = [*commits(RICH, HISTORY, verbose=verbose), *left_over(LEFT)]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("links", [False, True])
def test_what_git_says_is_text(text: str, links: bool) -> None:
    registry = poisoned(RICH, text, links=links)
    history, left = (poisoned(each, text, links=links) for each in (HISTORY, LEFT))
    for page in (
        commits(registry, history, verbose=True),
        left_over(left),
        *(show.show(registry, id, history) for id in registry.standings),
    ):
        for line in page:
            assert line.isprintable()
    found = [*commit_records(registry, history), *left_over_records(left)]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("text", HOSTILE)
def test_a_ledger_links_to_no_address_but_those_made_here(text: str) -> None:
    def addresses(page: str) -> set[str]:
        assert all(line.isprintable() for line in page.split("\n"))
        tokens = [child for token in parse(page) for child in token.children or []]
        found = {str(each.attrs["href"]) for each in tokens if each.type == "link_open"}
        return {each for each in found if not each.startswith("#")}

    assert addresses(ledger.ledger(poisoned(RICH, text), poisoned(HISTORY, text))) == set()
    (address,) = addresses(ledger.ledger(RICH, HISTORY))
    assert ADDRESS.fullmatch(address)


def test_a_ledger_tells_the_states_that_git_sees() -> None:
    noted, seen = ledger.ledger(RICH), ledger.ledger(RICH, HISTORY)
    assert f"{DEAD_FIX}: dead" in noted.replace("\\", "")
    assert "dead fix, reverted by 333333333333" in seen
    dead = re.compile(r"H5.*: fix .*dead, .*, not noted as reverted")
    assert dead.search(noted)
    assert not dead.search(seen)
