"""A/Bs done by hand, put on record by the real command: what is taken, what is refused, what shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench
from workbench.campaign.importing import ImportDraft, bring_in
from workbench.campaign.registry import Campaign
from workbench.campaign.setup import init as set_up
from workbench.campaign.writing import draft, fields_of
from workbench.errors import UsageError
from workbench.model.event import Actor, EvidenceGiven
from workbench.model.standing import State

ANA = {"WORKBENCH_ACTOR": "ana"}
MONDAY = ("--source", "the A/B of Monday")


@pytest.fixture
def home(workbench: Workbench, tmp_path: Path) -> Path:
    return begin(workbench, tmp_path / "c")


def given(home: Path) -> list[EvidenceGiven]:
    return [event.body for event in Campaign(home).log.events if isinstance(event.body, EvidenceGiven)]


def refused(workbench: Workbench, home: Path, *words: str) -> str:
    before = given(home)
    done = workbench("import", *words, cwd=home, env=ANA)
    assert done.returncode == 2, done.stderr
    assert given(home) == before
    return done.stderr


def put(home: Path, fields: dict[str, Any], text: str | None = None) -> None:
    given_too = fields_of(None if text is None else (text.encode(), "monday.yaml"), fields)
    bring_in(Campaign(home), draft(ImportDraft, given_too), Actor(name="ana"))


def refusal(home: Path, fields: dict[str, Any], text: str | None = None) -> str:
    with pytest.raises(UsageError) as found:
        put(home, {"hypothesis": "H1", "source": "x", **fields}, text)
    assert given(home) == []
    return found.value.what


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign in which all is refused."""
    folder = tmp_path_factory.mktemp("untouched")
    set_up(folder, "command")
    return folder


def test_counts_on_the_command_line_take_the_arms_of_the_test(workbench: Workbench, home: Path) -> None:
    done = workbench("import", "h1", "--counts", "21/60:0/60", *MONDAY, cwd=home, env=ANA)
    assert done.returncode == 0
    assert "for H1, compared: present by its counts, control 21/60, treatment 0/60" in done.stderr
    standing = Campaign(home).registry.standings["H1"]
    assert (standing.state, standing.grade) == (State.SUPPORTED, "compared")
    (body,) = given(home)
    assert body.counted is not None
    assert body.counted.arms["control"].settings == {"cache": "on"}
    shown = succeeded(workbench("show", "H1", cwd=home))
    assert "control 21/60 (16 % to 58 %), with cache on" in shown
    assert "an A/B by hand confirms nothing\n  workbench test H1" in shown
    assert "21/60" in succeeded(workbench("export", cwd=home))
    assert "control 21/60, treatment 0/60" in succeeded(workbench("log", "H1", cwd=home))
    assert max(len(line) for line in shown.splitlines() if ".yaml" not in line) <= 80
    refusal = workbench("test", "H1", "--put-back", cwd=home, env=ANA)
    assert refusal.returncode == 2  # it removed nothing that could be put back


def test_a_file_gives_all_of_it(workbench: Workbench, home: Path) -> None:
    lost = {"hit": 11, "clean": 18, "errored": 1}
    document = {
        "control": {"cache": "on", "retry": "on"},
        "treatment": {"cache": "off", "retry": "on"},
        "counts": ["10/30:0/30", {"control": lost, "treatment": "0/30"}],
        "source": "two starts on the spare host",
        "text": "before the upgrade",
    }
    (home / "monday.yaml").write_text(json.dumps(document))
    (record,) = records(workbench("import", "H1", "monday.yaml", "--json", cwd=home, env=ANA))
    assert (record["hypothesis"], record["bearing"], record["grade"]) == ("H1", "for", "compared")
    assert record["counted"]["verdict"] == "present"
    assert record["counted"]["arms"]["control"]["counts"]["errored"] == 1
    assert len(record["counted"]["pairs"]) == 2
    (body,) = given(home)
    assert (body.text, body.source.text) == ("before the upgrade", "two starts on the spare host")


def test_figures_of_responses_are_shown_and_judge_nothing(workbench: Workbench, home: Path) -> None:
    words = ("--counts", "500/1000:0/1000", "--per", "response", *MONDAY)
    (record,) = records(workbench("import", "H1", *words, "--json", cwd=home, env=ANA))
    assert (record["bearing"], record["counted"]["verdict"]) == ("neutral", None)
    assert Campaign(home).registry.standings["H1"].state is State.INCONCLUSIVE
    shown = succeeded(workbench("show", "H1", cwd=home))
    assert "control 500/1000, per response, with cache on" in shown
    assert "evidence against" not in shown


def test_the_same_counts_are_taken_once(workbench: Workbench, home: Path) -> None:
    words = ("H1", "--counts", "9/60:0/60")
    id = succeeded(workbench("import", *words, *MONDAY, cwd=home, env=ANA)).strip()
    assert f"on record already, as {id}" in refused(workbench, home, *words, *MONDAY)
    succeeded(workbench("import", *words, "--source", "the A/B of Tuesday", cwd=home, env=ANA))
    assert len(given(home)) == 2


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"hypothesis": "H9", "counts": "9/60:0/60"}, "there is no hypothesis 'H9'"),
        ({}, "there are no counts"),
        ({"counts": ["9/60"]}, "'9/60' is not the counts of two arms"),
        ({"counts": ["9/60:x"]}, "'x' are no counts of the treatment"),
        ({"counts": ["9/60:0/60", "61/60:0/60"]}, "'61/60' are no counts of the control"),
        ({"counts": "0/0:0/60"}, "'0/0' are no counts of the control"),
        ({"counts": "-1/60:0/60"}, "'-1/60' are no counts of the control"),
        ({"counts": "9/60:0/60", "control": {"cache": "off"}}, "the same settings"),
        (
            {"counts": "9/60:0/60", "control": {"mode": "a"}, "treatment": {"mode": "b"}},
            "the arms differ in mode, and the test of H1 in cache",
        ),
        ({"counts": "9/60:0/60", "source": " "}, "counts were made somewhere"),
        ({"counts": ["1/2:0/2"] * 1001}, "1001 pairs of counts"),
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(
    untouched: Path, fields: dict[str, Any], what: str
) -> None:
    assert what in refusal(untouched, fields)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{counts: []}", "there are no counts"),
        ("{counts: {control: 1/2}}", "counts are of control and treatment, not of 'control'"),
        ("{counts: {control: {hits: 1}, treatment: 0/2}}", "'hits' is no status"),
        ("{counts: {control: {hit: -1}, treatment: 0/2}}", "-1 is no number of sessions"),
        ("{counts: {control: {hit: 0}, treatment: 0/2}}", "nothing was counted of the control"),
        ("{counts: 12}", "got `int`"),
        ("{counts: 1/2:0/2, grade: intervened}", "there is no field 'grade'"),
        ("{counts: 1/2:0/2, per: turn}", "turn"),
        ("{counts: [1/2:0/2", "monday.yaml:1"),
        ("", "monday.yaml:1:1: is empty"),
    ],
)
def test_what_a_file_may_not_hold(untouched: Path, text: str, what: str) -> None:
    assert what in refusal(untouched, {}, text)


def test_hostile_words_stay_words(workbench: Workbench, home: Path) -> None:
    words = (
        "--control",
        "cache=\x1b[2J",
        "--treatment",
        "cache=\u202e`x`<b>",
        "--source",
        "\x1b]0;red\x07|",
    )
    done = workbench("import", "H1", "--counts", "21/60:0/60", *words, cwd=home, env=ANA)
    assert done.returncode == 0
    told: list[Any] = [
        done.stderr,
        *(
            succeeded(workbench(*verb, cwd=home))
            for verb in (
                ("show", "H1"),
                ("log",),
                ("matrix",),
                ("status",),
                ("export",),
            )
        ),
    ]
    for text in told:
        assert all(line.isprintable() for line in text.splitlines())
    assert "<b>" not in told[-1]
