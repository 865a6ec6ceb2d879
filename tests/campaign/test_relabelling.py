"""What a run would count if its replies were labelled today; and what of that cannot be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests import simulated
from tests.store.examples import AT_ONCE, manifest, plan, sample
from workbench.campaign.relabelling import relabel
from workbench.errors import StoreError, UsageError
from workbench.model.outcome import Counts, Ending, Label, Status, Symptom
from workbench.model.plan import Part, Plan, Watched
from workbench.model.relabelled import Origin
from workbench.model.run import RunState
from workbench.store import RunFolder

REGEX = Part(kind="regex", options={"patterns": {"leaked": "DSML"}})
GARBLED = Symptom(name="garbled", labels=("leaked",))
TIMEOUTS = Watched(
    symptom=Symptom(name="wedged", endings=(Ending.TIMEOUT,), clean=("clean", "leaked")),
    classifier=REGEX,
)
OURS = replace(plan(), symptom=GARBLED, classifier=REGEX, measurement=None, also=(TIMEOUTS,))


def recorded(path: Path, texts: Sequence[str | None], of: Plan = OURS, **also: object) -> str:
    """A run of control sessions labelled clean, each with a reply, or with one that was not kept."""
    with RunFolder.create(path / "runs", manifest(plan=of, **also), AT_ONCE) as folder:
        for session, text in enumerate(texts):
            made = sample(session, text="lost" if text is None else text)
            lost = replace(made, exchange=replace(made.exchange, text=""))
            folder.append_sample(lost if text is None else made)
        folder.close(RunState.FINISHED, why="", seconds=1.0)
    return str(folder.path)


def test_labels_and_sessions_are_counted_before_and_now(tmp_path: Path) -> None:
    found = relabel(recorded(tmp_path, ["fine", "a DSML tag", "DSML", None]))
    assert [(pair.before, pair.now, pair.times) for pair in found.labels] == [
        ("clean", "leaked", 2),
        ("clean", "clean", 1),
    ]
    (control,) = found.arms
    assert (control.before, control.now) == (Counts(0, 4), Counts(2, 2))
    assert control.moved == {"clean -> hit": 2}
    assert (found.relabelled, found.not_kept, found.altered) == (3, 1, 0)
    assert found.origin is Origin.PLAN
    assert found.as_recorded
    first = found.examples[0]
    assert (first.key, first.was, first.status) == ("control/1/1/0", Status.CLEAN, Status.HIT)
    assert first.now.rule == "pattern 'leaked' is found in the text"
    assert first.text == "a DSML tag"


def test_no_more_than_ten_examples_those_of_another_status_first(tmp_path: Path) -> None:
    found = relabel(recorded(tmp_path, ["fine"] * 5 + ["DSML"] * 12))
    assert len(found.examples) == 10
    assert {each.status for each in found.examples} == {Status.HIT}
    assert found.changed == 17  # the rule that fired differs for the others


def test_nothing_is_written(tmp_path: Path) -> None:
    run = recorded(tmp_path, ["DSML"])
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(run).iterdir()}
    relabel(run)
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path(run).iterdir()
    }


def test_a_reply_that_was_not_kept_keeps_its_label(tmp_path: Path) -> None:
    found = relabel(recorded(tmp_path, [None, None]))
    assert (found.labels, found.changed) == ((), 0)
    assert found.arms[0].before == found.arms[0].now == Counts(0, 2)


def test_an_empty_reply_is_a_reply_unless_none_was_kept(tmp_path: Path) -> None:
    assert relabel(recorded(tmp_path / "a", [""])).relabelled == 1
    none = replace(OURS, keep_texts="none")
    assert relabel(recorded(tmp_path / "b", [""], none)).not_kept == 1


def test_a_reply_that_is_kept_masked_is_said_to_be(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(plan=OURS), AT_ONCE) as folder:
        folder.append_sample(replace(sample(0, text="what was"), text_sha256="0" * 64))
    assert relabel(str(folder.path)).altered == 1


def test_another_classifier_is_asked_by_its_kind(tmp_path: Path) -> None:
    run = recorded(
        tmp_path, ["x"], replace(OURS, symptom=replace(GARBLED, labels=("failed", "leaked")))
    )
    found = relabel(run, classifier="exit_code")
    assert (found.origin, found.classifier, found.as_recorded) == (
        Origin.CLASSIFIER,
        "exit_code",
        False,
    )
    with pytest.raises(UsageError, match="gives none of the labels of 'garbled'"):
        relabel(recorded(tmp_path, ["x"]), classifier="exit_code")


def test_another_symptom_that_the_run_watched(tmp_path: Path) -> None:
    late = replace(sample(1), exchange=replace(sample(1).exchange, ending=Ending.TIMEOUT))
    word = Label(word="unfinished", rule="timeout")
    with RunFolder.create(tmp_path, manifest(plan=OURS), AT_ONCE) as folder:
        folder.append_sample(sample(0))
        folder.append_sample(replace(late, label=word, status=Status.ERRORED))
    found = relabel(str(folder.path), symptom="wedged")
    assert (found.origin, found.watched) == (Origin.SYMPTOM, True)
    assert found.arms[0].before == Counts(0, 2)  # the line says nothing of it, and that is clean
    assert found.arms[0].now == Counts(1, 1)


def test_what_is_unknown_is_named_with_what_there_is(tmp_path: Path) -> None:
    run = recorded(tmp_path, ["x"])
    with pytest.raises(UsageError, match="no symptom 'wedgd'") as raised:
        relabel(run, symptom="wedgd")
    assert "wedged" in raised.value.hint
    with pytest.raises(UsageError, match="no such run"):
        relabel("nothing-of-that-name")


def test_a_damaged_line_is_told_and_a_damaged_manifest_refused(tmp_path: Path) -> None:
    run = Path(recorded(tmp_path, ["DSML", "fine"]))
    shard = run / "samples-w0.jsonl"
    shard.write_bytes(shard.read_bytes().replace(b"fine", b"f!ne"))
    assert any("samples-w0.jsonl:2" in problem for problem in relabel(str(run)).problems)
    (run / "manifest.json").write_text("{")
    with pytest.raises(StoreError):
        relabel(str(run))


def test_a_sampled_control_stands_apart(tmp_path: Path) -> None:
    simulated.run(simulated.plan(0.5, 0.0), tmp_path / "run")
    found = relabel(str(tmp_path / "run"))
    assert [(each.arm, each.sampled) for each in found.arms] == [
        ("control", True),
        ("control", False),
        ("treatment", False),
    ]
    assert found.changed == 0
    assert all(each.moved == {} for each in found.arms)
