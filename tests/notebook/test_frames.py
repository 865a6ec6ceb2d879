"""Tidy frames: the same columns always, the numbers of the record, and a cache that only saves time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.report.campaign import build
from tests.store.examples import sample
from workbench.judge.fold import trial_status
from workbench.model.columns import Words
from workbench.model.ids import SessionKey
from workbench.model.outcome import Status
from workbench.model.run import Sample
from workbench.notebook import Campaign, Run
from workbench.report import frames
from workbench.report.framecolumns import COLUMNS
from workbench.report.sessions import sessions
from workbench.store import columncache
from workbench.store.columns import columns_of, read_columns
from workbench.store.view import RunView

ALL = ("hypotheses", "runs", "arms", "verdicts", "commits", "trials", "exchanges")
SMALL = "20261130T170653Z-22rhjpvp"


def kinds(frame: Any) -> dict[str, str]:
    return {name: str(kind) for name, kind in frame.dtypes.items()}


@pytest.mark.parametrize("name", ALL)
def test_columns_and_types_are_those_that_are_documented(campaign: Campaign, name: str) -> None:
    assert kinds(getattr(campaign, name)) == dict(COLUMNS[name])


@pytest.mark.parametrize("name", ALL)
def test_nothing_has_the_same_columns(tmp_path: Path, name: str) -> None:
    (tmp_path / "campaign.yaml").write_text("schema: workbench/campaign@1\ntitle: none\n")
    frame = getattr(Campaign(tmp_path), name)
    assert len(frame) == 0
    assert kinds(frame) == dict(COLUMNS[name])


def test_the_manual_names_every_column() -> None:
    manual = (ROOT / "docs" / "notebook.md").read_text()
    for name, columns in COLUMNS.items():
        part = manual.partition(f"### `{name}`")[2].partition("\n### ")[0]
        for column in columns:
            bare = column.removeprefix("control_").removeprefix("treatment_")
            assert f"`{column}`" in part or f"`..._{bare}`" in part, (name, column)


def test_counts_of_frames_are_those_of_the_manifests(campaign: Campaign) -> None:
    arms, trials = campaign.arms, campaign.trials
    counted = trials.groupby(["run", "arm", "status"], observed=True).size()
    assert len(arms) == 29
    for row in arms.itertuples():
        for status in Status:
            found = counted.get((row.run, row.arm, str(status)), 0)
            assert found == getattr(row, str(status)), (row.run, row.arm, status)
        assert row.low <= row.rate <= row.high
    runs = campaign.runs.set_index("run")
    assert arms.groupby("run").hit.sum().to_dict() == runs.hit.to_dict()


def test_exchanges_are_the_samples_of_the_journal(campaign: Campaign) -> None:
    run = campaign[SMALL]
    assert isinstance(run, Run)
    samples = list(RunView.read(run.path).samples())
    frame = run.exchanges
    assert len(frame) == len(samples)
    for row, found in zip(frame.itertuples(), samples, strict=True):
        key, exchange = found.exchange.key, found.exchange
        assert (row.arm, row.block, row.session, row.turn) == (
            *(key.session.arm, key.session.block, key.session.session),
            key.turn,
        )
        assert (row.status, row.label, row.ending) == (found.status, found.label.word, exchange.ending)
        assert row.seconds == exchange.seconds
        assert row.at.to_pydatetime() == found.at
        assert row.completion_tokens == exchange.completion_tokens


def test_verdicts_and_states_are_those_on_record(campaign: Campaign) -> None:
    verdicts = campaign.verdicts
    assert len(verdicts) == 15
    last = verdicts[verdicts.hypothesis == "H5"].iloc[-1]
    row = campaign.hypotheses.set_index("hypothesis").loc["H5"]
    assert (row.state, row.run, row.verdict) == ("confirmed", last.run, last.verdict)
    assert (row.control_hit, row.control_n, row.treatment_hit) == (44, 120, 0)
    assert row.difference_low < row.difference < row.difference_high


def test_the_matrix_is_a_frame_too(campaign: Campaign) -> None:
    matrix = campaign.matrix()
    words = {"for", "against", "neutral", "unknown"}
    assert list(matrix.frame.columns) == [each["id"] for each in matrix.record["suspects"]]
    assert set(matrix.frame.stack().dropna()) <= words
    for row in matrix.record["rows"]:
        assert matrix.frame.loc[row["id"]].dropna().to_dict() == row["cells"]


def test_a_rich_campaign_fits_into_frames() -> None:
    registry = build()
    assert list(frames.hypotheses(registry).hypothesis) == sorted(
        registry.standings,
        key=lambda id: (not id.startswith("H"), int(id[1:]) if id[1:].isdigit() else 0),
    )
    assert len(frames.runs(registry)) == len(registry.runs)
    assert frames.verdicts(registry).e_no_effect.notna().all()


# --- sessions --------------------------------------------------------------------------------------


@st.composite
def journals(draw: st.DrawFn) -> list[Sample]:
    """Draw sessions of one to four turns, some of which have not ended."""
    found = []
    for number in range(draw(st.integers(0, 12))):
        turns = draw(st.integers(1, 4))
        ended = draw(st.booleans())
        for turn in range(turns):
            one = sample(number, turn=turn, status=draw(st.sampled_from(Status)))
            last = ended and turn == turns - 1
            found.append(with_end(one, last=last))
    return found


def with_end(one: Sample, *, last: bool) -> Sample:
    from dataclasses import replace

    return replace(one, exchange=replace(one.exchange, last=last))


@given(journal=journals())
def test_sessions_are_folded_as_they_are_judged(journal: list[Sample]) -> None:
    found = sessions(columns_of(journal))
    turns: dict[SessionKey, list[Sample]] = {}
    for one in journal:
        turns.setdefault(one.exchange.key.session, []).append(one)
    ended = {key: each for key, each in turns.items() if each[-1].exchange.last}
    status, number = found["status"], found["session"]
    assert isinstance(status, Words)
    assert not isinstance(number, Words)
    got = {int(n): status.words[code] for n, code in zip(number, status.codes, strict=True)}
    assert got == {
        key.session: str(trial_status([one.status for one in each])) for key, each in ended.items()
    }
    counted = found["turns"]
    assert not isinstance(counted, Words)
    assert [int(n) for n in counted] == [len(each) for each in ended.values()]


# --- cache -----------------------------------------------------------------------------------------


@pytest.fixture
def one(example: Path, tmp_path: Path) -> Campaign:
    """A campaign of one run, settled long ago, with nothing remembered."""
    shutil.copy2(example / "campaign.yaml", tmp_path)
    folder = tmp_path / "runs" / SMALL
    shutil.copytree(example / "runs" / SMALL, folder)
    for path in folder.iterdir():
        os.utime(path, (1.7e9, 1.7e9))
    return Campaign(tmp_path)


def remembered(campaign: Campaign) -> Path:
    return campaign.root / ".workbench" / "exchanges" / f"{SMALL}.parquet"


def test_what_is_remembered_is_what_is_read(one: Campaign) -> None:
    first = one.exchanges
    assert remembered(one).is_file()
    assert one.exchanges.equals(first)
    assert Counter(one.trials.status)["hit"] == 25


@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more", None], ids=["empty", "torn", "gone"])
def test_a_damaged_cache_is_no_cache(one: Campaign, damage: bytes | None) -> None:
    first = one.exchanges
    path = remembered(one)
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    assert one.exchanges.equals(first)
    assert path.stat().st_size > 1000


def test_a_changed_journal_is_read_again(one: Campaign) -> None:
    before = len(one.exchanges)
    journal = one.root / "runs" / SMALL / "samples-w0.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-4]))
    os.utime(journal, (1.8e9, 1.8e9))
    assert len(one.exchanges) == before - 4


def test_a_journal_that_is_being_written_is_not_remembered(one: Campaign) -> None:
    journal = one.root / "runs" / SMALL / "samples-w0.jsonl"
    journal.touch()
    assert len(one.exchanges)
    assert not remembered(one).exists()


def test_a_folder_that_leads_elsewhere_is_not_written_to(one: Campaign, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (one.root / ".workbench").mkdir(exist_ok=True)
    (one.root / ".workbench" / "exchanges").symlink_to(elsewhere)
    assert len(one.exchanges)
    assert list(elsewhere.iterdir()) == []


def test_without_pyarrow_journals_are_read_as_they_are(one: Campaign) -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import workbench
trials = workbench.open(sys.argv[1]).trials
print((trials.status == "hit").sum(), len(trials))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(one.root)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["25", "60"]
    assert not remembered(one).exists()


def test_columns_are_the_same_from_both(one: Campaign) -> None:
    folder = one.root / "runs" / SMALL
    straight = read_columns(folder)
    for _ in range(2):
        found = columncache.columns(one.root, folder)
        assert list(found) == list(straight)
        for name, column in straight.items():
            other = found[name]
            if isinstance(column, Words):
                assert isinstance(other, Words)
                assert [other.words[code] for code in other.codes] == [
                    column.words[code] for code in column.codes
                ]
            else:
                assert not isinstance(other, Words)
                assert other.dtype == column.dtype
                assert ((other == column) | ((other != other) & (column != column))).all()
