"""One of two files with the same id gets another: one line and one name change, the rest follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.campaign_examples import ANA, VERDICT
from tests.store.examples import AT_ONCE, manifest
from workbench.errors import StoreError, UsageError
from workbench.model.event import (
    Bearing,
    Event,
    EvidenceGiven,
    Grade,
    Link,
    Note,
    Proposed,
    Renumbered,
    Ruling,
    Source,
)
from workbench.model.run import Manifest, RunState, Served
from workbench.store import RunFolder, new_run_id
from workbench.store.allocate import add_hypothesis
from workbench.store.eventlines import decode, encode
from workbench.store.eventlog import EventLog
from workbench.store.renumber import naming, renumber
from workbench.store.runindex import run_lines, under_new_ids

OURS, THEIRS = "hypotheses/H07-ours.yaml", "hypotheses/H07-theirs.yaml"
TEXT = "# a comment\r\nschema: x\r\nid: 'H7'   # given by hand\r\ntitle: \u00fc H7\r\n"


def campaign(root: Path) -> dict[str, Event]:
    """Make a campaign in which two branches proposed H7, as it is after a merge; events by name."""
    (root / "hypotheses").mkdir()
    (root / OURS).write_bytes(TEXT.encode())
    (root / THEIRS).write_bytes(b"id: H7\ntitle: theirs\nparent: H7\n")
    events: dict[str, Event] = {}

    def put(name: str, body: object, *prev: str) -> None:
        bare = Event(
            id=f"{name:a<8}"[:8].replace("_", "b"),
            prev=tuple(sorted(events[each].digest for each in prev)),
            seq=1,
            at=manifest().created,
            by=ANA,
            body=body,  # type: ignore[arg-type]
            digest="",
        )
        events[name] = decode(encode(bare)[:-1]).event

    put("base", Note(text="base", about=("H7",)))
    put("ours", Proposed(hypothesis="H7", file=OURS, title="ours"), "base")
    put(
        "oursread",
        EvidenceGiven(grade=Grade.READ, bears={"H7": Bearing.FOR, "H1": Bearing.AGAINST}),
        "ours",
    )
    put("oursrule", Ruling(hypothesis="H1", because="x", replaced_by="H7"), "oursread")
    put("oursmisc", Link(hypothesis="H1", commit="0" * 40, role="fix"), "oursrule")
    put("theirs", Proposed(hypothesis="H7", file=THEIRS, title="theirs"), "base")
    put("theirsev", EvidenceGiven(grade=Grade.READ, bears={"H7": Bearing.AGAINST}), "theirs")
    put("both", Note(text="after the merge", about=("H7",)), "oursmisc", "theirsev")
    (root / "hypotheses/events.jsonl").write_bytes(b"".join(encode(each) for each in events.values()))
    return events


def run_of(root: Path, file: str, hypothesis: str = "H7") -> str:
    served = Served(hypothesis=hypothesis, file=file, sha256="0" * 64, text="x")
    planned: Manifest = manifest(id=new_run_id(manifest().created), serves=(served,))
    with RunFolder.create(root / "runs", planned, AT_ONCE) as folder:
        folder.close(RunState.FINISHED)
        return folder.manifest.id


def test_only_the_id_and_the_name_change(tmp_path: Path) -> None:
    campaign(tmp_path)
    before = (tmp_path / THEIRS).read_bytes()
    change = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    assert (change.was, change.to, change.file) == ("H7", "H8", "hypotheses/H08-ours.yaml")
    assert not (tmp_path / OURS).exists()
    assert (tmp_path / change.file).read_bytes() == TEXT.replace("id: 'H7'", "id: 'H8'").encode()
    assert (tmp_path / THEIRS).read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "hypotheses").iterdir()) == [
        *("H07-theirs.yaml", "H08-ours.yaml", "events.jsonl"),
    ]


def test_events_of_the_file_follow_it_and_no_others(tmp_path: Path) -> None:
    events = campaign(tmp_path)
    change = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    assert change.events == tuple(events[name].id for name in ("ours", "oursread", "oursrule"))
    found = {each.id: each.body for each in EventLog(tmp_path).read().events}
    assert getattr(found[events["ours"].id], "hypothesis", "") == "H8"
    assert getattr(found[events["ours"].id], "file", "") == "hypotheses/H08-ours.yaml"
    assert getattr(found[events["oursread"].id], "bears", {}).keys() == {"H8", "H1"}
    assert getattr(found[events["oursrule"].id], "replaced_by", "") == "H8"
    for name in ("base", "theirs", "theirsev", "both", "oursmisc"):
        assert found[events[name].id] == events[name].body
    assert EventLog(tmp_path).read().problems == ()


def test_runs_of_the_file_follow_it_with_what_they_and_others_say_of_them(tmp_path: Path) -> None:
    campaign(tmp_path)
    ours, theirs = run_of(tmp_path, OURS), run_of(tmp_path, THEIRS)
    other = run_of(tmp_path, OURS, "H3")
    log = EventLog(tmp_path, AT_ONCE)
    late = log.append(
        replace(VERDICT, run=ours, hypothesis="H7"), ANA
    )  # after the merge, so by its run
    cited = log.append(
        EvidenceGiven(grade=Grade.OBSERVED, bears={"H7": Bearing.FOR}, source=Source(run=ours)), ANA
    )
    log.append(replace(VERDICT, run=theirs, hypothesis="H7"), ANA)
    change = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    assert change.runs == (ours,)
    assert {late.id, cited.id} < set(change.events)
    later = log.append(replace(VERDICT, run=ours, hypothesis="H7"), ANA)  # its manifest says so
    found = {each.id: each.body for each in log.read().events}
    assert getattr(found[later.id], "hypothesis", "") == "H8"
    lines = under_new_ids(run_lines(tmp_path), log.read().events)
    assert {each.id: each.hypotheses for each in lines} == {
        ours: ("H8",),
        theirs: ("H7",),
        other: ("H3",),
    }
    assert {each.id: list(each.planned) for each in lines} == {
        ours: ["H8"],
        theirs: ["H7"],
        other: ["H3"],
    }

    again = renumber(tmp_path, "H8", change.file, ANA, AT_ONCE)  # and once more
    assert (again.to, again.runs) == ("H9", (ours,))
    assert set(again.events) >= {late.id, later.id}
    (line,) = [
        each for each in under_new_ids(run_lines(tmp_path), log.read().events) if each.id == ours
    ]
    assert line.hypotheses == ("H9",)
    assert {
        getattr(each.body, "hypothesis", "") for each in log.read().events if each.id == late.id
    } == {"H9"}


def test_without_a_clash_all_events_follow(tmp_path: Path) -> None:
    id, file = add_hypothesis(tmp_path, lambda id: ("x", f"id: {id}\ntitle: x\n"), ANA, AT_ONCE)
    note = EventLog(tmp_path, AT_ONCE).append(Note(text="x", about=(id,)), ANA)
    change = renumber(tmp_path, id, file, ANA, AT_ONCE, to="H30")
    assert change.to == "H30"
    assert change.file == "hypotheses/H30-x.yaml"
    assert note.id in change.events
    assert len(change.events) == 2


def test_a_file_without_an_event_takes_none_along_from_a_rival(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "hypotheses/H07-hand.yaml").write_text("id: H7\ntitle: by hand\n")
    change = renumber(tmp_path, "H7", "hypotheses/H07-hand.yaml", ANA, AT_ONCE)
    assert change.events == ()


def test_asked_again_it_answers_the_same_and_adds_nothing(tmp_path: Path) -> None:
    campaign(tmp_path)
    first = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    before = (tmp_path / "hypotheses/events.jsonl").read_bytes()
    assert renumber(tmp_path, "H7", OURS, ANA, AT_ONCE) == first
    assert (tmp_path / "hypotheses/events.jsonl").read_bytes() == before


def test_what_an_earlier_call_had_begun_is_finished_and_not_begun_anew(tmp_path: Path) -> None:
    campaign(tmp_path)
    first = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    (tmp_path / OURS).write_bytes(TEXT.encode())  # as if it had died before it removed the old name
    with pytest.raises(UsageError, match="on its way to H8"):
        renumber(tmp_path, "H7", OURS, ANA, AT_ONCE, to="H12")
    assert renumber(tmp_path, "H7", OURS, ANA, AT_ONCE) == first
    assert not (tmp_path / OURS).exists()
    (tmp_path / first.file).rename(tmp_path / OURS)  # as if it had died after the event
    (tmp_path / OURS).write_bytes(TEXT.encode())
    assert renumber(tmp_path, "H7", OURS, ANA, AT_ONCE) == first
    assert (tmp_path / first.file).exists()
    events = EventLog(tmp_path).read().events
    assert sum(isinstance(each.body, Renumbered) for each in events) == 1


def test_nobody_s_work_is_lost_when_the_target_holds_something_else(tmp_path: Path) -> None:
    campaign(tmp_path)
    first = renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    (tmp_path / OURS).write_bytes(TEXT.encode() + b"component: x\n")
    with pytest.raises(StoreError, match="differs from"):
        renumber(tmp_path, "H7", OURS, ANA, AT_ONCE)
    assert (tmp_path / OURS).exists()
    assert (tmp_path / first.file).exists()


@pytest.mark.parametrize(
    ("id", "file", "why"),
    [
        ("7", OURS, "not the id of a hypothesis"),
        ("H3", OURS, "has the id H7, not H3"),
        ("H7", "hypotheses/H07-nowhere.yaml", "no such file"),
        ("H7", "../x.yaml", "is not in hypotheses/"),
        ("H7", "hypotheses/../campaign.yaml", "is not in hypotheses/"),
        ("H7", "/etc/passwd", "is not in hypotheses/"),
        ("H7", "", "is not in hypotheses/"),
        ("H7", "hypotheses/H07-link.yaml", "symbolic link"),
        ("H7", "hypotheses/H07-none.yaml", "no line of the form"),
        ("H7", "hypotheses/H07-two.yaml", "2 lines of the form"),
        ("H7", "hypotheses/H07-\x00.yaml", "hypotheses"),
    ],
)
def test_wrong_use_is_refused_and_changes_nothing(tmp_path: Path, id: str, file: str, why: str) -> None:
    campaign(tmp_path)
    (tmp_path / "hypotheses/H07-link.yaml").symlink_to(tmp_path / OURS)
    (tmp_path / "hypotheses/H07-none.yaml").write_text("{id: H7, title: x}\n")
    (tmp_path / "hypotheses/H07-two.yaml").write_text("id: H7\nid: H7\n")
    before = {path.name: path.read_bytes() for path in (tmp_path / "hypotheses").iterdir()}
    with pytest.raises(UsageError, match=why):
        renumber(tmp_path, id, file, ANA, AT_ONCE)
    assert {path.name: path.read_bytes() for path in (tmp_path / "hypotheses").iterdir()} == before


@pytest.mark.parametrize("to", ["H7", "H1", "H20"])
def test_a_new_id_that_is_taken_is_refused(tmp_path: Path, to: str) -> None:
    campaign(tmp_path)
    (tmp_path / "hypotheses/any-name.yaml").write_text("id: H20\ntitle: x\n")
    with pytest.raises(UsageError, match="is taken"):
        renumber(tmp_path, "H7", OURS, ANA, AT_ONCE, to=to)
    assert (tmp_path / OURS).exists()


def test_files_that_name_the_old_id_are_told(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "hypotheses/H09-x.yaml").write_text(
        "id: H9\nparent: H70\nalso: [H1, H7]  # not H7\nstatement: H7 is not it\n"
    )
    (tmp_path / "hypotheses/H10-y.yaml").write_text("id: H10\nalso:\n  - H7\ntitle: H7\n")
    assert [(each.file, each.line, each.column) for each in naming(tmp_path, "H7")] == [
        (THEIRS, 3, 9),
        ("hypotheses/H09-x.yaml", 3, 12),
        ("hypotheses/H10-y.yaml", 3, 5),
    ]
