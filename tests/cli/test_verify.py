"""A fresh clone recomputes to its verdicts, and whatever was altered since is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench
from workbench.store.jsonl import seal, unseal
from workbench.store.runindex import run_lines

IDENTITY = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
Alter = Callable[[Path], None]


@pytest.fixture
def clone(workbench: Workbench, tmp_path: Path) -> Path:
    """A fresh clone of a campaign with two runs, the second of which goes on from the first."""
    home = begin(workbench, tmp_path / "origin")
    arms = ("--control", "cache=on", "--treatment", "cache=off", "--predict", "0.3:0.1")
    succeeded(workbench("new", "The cache, said weaker", *arms, cwd=home))
    few = ("--max-blocks", "2", "--sessions", "5", "--display", "none")
    for seed in ("1", "2"):
        done = workbench("test", "H2", "--seed", seed, *few, cwd=home)
        assert done.returncode == 4, done.stdout  # inconclusive: ten sessions an arm say little
    for command in (["init", "-b", "main"], ["add", "-A"], ["commit", "-m", "A campaign"]):
        subprocess.run(["git", *IDENTITY, *command], cwd=home, check=True, capture_output=True)
    subprocess.run(["git", "clone", str(home), "clone"], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "clone"


def runs(home: Path) -> list[Path]:
    """Give the runs in the order in which they were made; two of one second go by their manifests."""
    return [home / "runs" / line.id for line in run_lines(home)]


def rewritten(path: Path, number: int, change: Callable[[bytes], bytes]) -> None:
    """Change one line of a file and give it the checksum that it ought to have then."""
    lines = path.read_bytes().split(b"\n")
    lines[number] = seal(change(unseal(lines[number])))[:-1]
    path.write_bytes(b"\n".join(lines))


def flip_a_label(home: Path) -> None:
    def flip(body: bytes) -> bytes:
        line = json.loads(body)
        line |= (
            {"status": "hit", "label": "failed"}
            if line["status"] == "clean"
            else {
                "status": "clean",
                "label": "clean",
            }
        )
        return json.dumps(line, separators=(",", ":")).encode()

    rewritten(runs(home)[0] / "samples-w0.jsonl", 3, flip)


def drop_a_line(home: Path) -> None:
    path = runs(home)[0] / "samples-w0.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))


def cut_the_tail(home: Path) -> None:
    path = runs(home)[1] / "samples-w0.jsonl"
    path.write_bytes(path.read_bytes()[:-40])


def change_a_verdict(home: Path) -> None:
    path = home / "hypotheses" / "events.jsonl"
    number = next(n for n, line in enumerate(path.read_bytes().split(b"\n")) if b'"verdict"' in line)
    rewritten(path, number, lambda body: body.replace(b'"inconclusive"', b'"falsified"', 1))


def cut_the_log(home: Path) -> None:
    path = home / "hypotheses" / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def drop_an_event(home: Path) -> None:
    path = home / "hypotheses" / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))


def lose_a_run(home: Path) -> None:
    runs(home)[0].rename(home / "elsewhere")


def test_a_fresh_clone_recomputes_to_its_verdicts(workbench: Workbench, clone: Path) -> None:
    found = records(workbench("verify", "--json", cwd=clone))
    assert [each["what"] for each in found] == ["log", *(path.name for path in runs(clone))]
    assert all(each["ok"] for each in found)
    events = records(workbench("log", "H2", "--json", cwd=clone))
    verdicts = [event["body"] for event in events if event["kind"] == "verdict"]
    assert [verdict["blocks"] for verdict in verdicts] == [2, 4]
    assert verdicts[1]["earlier"] == [{"run": runs(clone)[0].name, "blocks": 2}]


@pytest.mark.parametrize(
    ("alter", "named"),
    [
        (flip_a_label, "samples-w0.jsonl: differs from its digest"),
        (drop_a_line, "samples-w0.jsonl: differs from its digest"),
        (cut_the_tail, "samples-w0.jsonl: the last line is torn"),
        (change_a_verdict, "verdict is falsified on record and inconclusive in the run"),
        (cut_the_log, "no verdict of this run is on record"),
        (drop_an_event, "hypotheses/events.jsonl:2:"),
        (lose_a_run, "there is no such run"),
    ],
)
def test_what_was_altered_is_named(workbench: Workbench, clone: Path, alter: Alter, named: str) -> None:
    alter(clone)
    done = workbench("verify", cwd=clone)
    assert done.returncode == 1
    assert named in done.stdout


def test_an_edited_prediction_shows_and_the_verdict_stands_on_the_copy(
    workbench: Workbench, clone: Path
) -> None:
    (file,) = (clone / "hypotheses").glob("H02-*.yaml")
    text = file.read_text()
    assert "treatment: 0.1}" in text
    file.write_text(text.replace("treatment: 0.1}", "treatment: 0.2}"))
    (shown,) = records(workbench("show", "H2", "--json", cwd=clone))
    assert shown["edited"] == [path.name for path in runs(clone)]
    said = " ".join(succeeded(workbench("show", "H2", cwd=clone)).split())
    assert "the verdict stands on the copy" in said
    succeeded(workbench("verify", cwd=clone))
    done = workbench(
        "test", "H2", "--max-blocks", "2", "--sessions", "5", "--display", "none", "--json", cwd=clone
    )
    assert json.loads(done.stdout)["blocks"] == 2  # another test: it begins with no block
    file.write_text(text)
    (shown,) = records(workbench("show", "H2", "--json", cwd=clone))
    assert shown["edited"] == [runs(clone)[-1].name]


def test_another_margin_is_another_test(workbench: Workbench, clone: Path) -> None:
    (file,) = (clone / "hypotheses").glob("H02-*.yaml")
    text = file.read_text()
    file.write_text(text.replace("test:\n", "test:\n  margin: 0.02\n"))
    few = ("--max-blocks", "2", "--sessions", "5", "--display", "none", "--json")
    done = workbench("test", "H2", *few, cwd=clone)
    assert json.loads(done.stdout)["blocks"] == 2
    file.write_text(text)
    done = workbench("test", "H2", *few, cwd=clone)
    assert json.loads(done.stdout)["blocks"] == 6  # as before: the two runs of that margin go first


def test_a_verdict_that_could_not_be_said_is_put_on_record_by_who_asks_again(
    workbench: Workbench, tmp_path: Path
) -> None:
    """A run killed between its last manifest and its event has finished, and the log says nothing."""
    home = begin(workbench, tmp_path / "c")
    succeeded(workbench("test", "H1", "--seed", "7", "--display", "none", cwd=home))
    cut_the_log(home)
    assert workbench("verify", cwd=home).returncode == 1
    again = workbench("test", "H1", "--json", cwd=home)
    assert "decided already" in again.stderr
    assert json.loads(again.stdout)["verdict"] == "present"
    succeeded(workbench("verify", cwd=home))
    succeeded(workbench("test", "H1", "--json", cwd=home))
    kinds = [event["kind"] for event in records(workbench("log", "--json", cwd=home))]
    assert kinds.count("verdict") == 1
