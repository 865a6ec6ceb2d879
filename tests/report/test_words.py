"""Every word that the workbench ends a run or judges a suspect with is explained, once."""

from __future__ import annotations

from collections import Counter

import pytest

from workbench.model.commits import Presence
from workbench.model.event import Grade, Role
from workbench.model.intervention import Effect, InterventionState, LinkRole
from workbench.model.outcome import Status
from workbench.model.standing import State
from workbench.model.verdict import Held, Verdict
from workbench.report import words

JUDGEMENTS = {*Verdict, *State, *Grade, *Role, *Status, *Held}
OF_COMMITS = {*LinkRole, *InterventionState, *Effect, *Presence}


@pytest.mark.parametrize("word", sorted(map(str, {*JUDGEMENTS, *OF_COMMITS})))
def test_every_word_has_its_meaning(word: str) -> None:
    assert words.meaning(word)


def test_no_word_is_explained_twice() -> None:
    said = Counter(line.split()[0] for line in words.listing() if line.startswith("  "))
    assert set(said.values()) == {1}
