"""Numbers for new hypotheses: never given twice, and no name leaves the campaign's folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.store.campaign_examples import ANA, BOT
from tests.store.examples import AT_ONCE
from workbench.errors import StoreError, UsageError, VersionTooNew
from workbench.model.event import Note, Proposed
from workbench.store.allocate import add_hypothesis, hypothesis_files, id_of, next_id
from workbench.store.atomic import create_file
from workbench.store.disk import REAL_OS
from workbench.store.eventlog import EventLog
from workbench.store.jsonl import seal
from workbench.store.layout import LOG_FILE
from workbench.store.names import check_slug


def render(id: str) -> tuple[str, str]:
    return "a-suspect", f"schema: workbench/hypothesis@1\nid: {id}\ntitle: 'A suspect'\n"


def add(root: Path, slug: str = "a-suspect") -> tuple[str, str]:
    return add_hypothesis(root, lambda id: (slug, render(id)[1]), ANA, AT_ONCE)


def test_a_hypothesis_gets_a_number_a_file_and_an_event(tmp_path: Path) -> None:
    assert add_hypothesis(tmp_path, render, BOT, AT_ONCE) == ("H1", "hypotheses/H01-a-suspect.yaml")
    assert add_hypothesis(tmp_path, render, ANA, AT_ONCE, title="Told") == (
        "H2",
        "hypotheses/H02-a-suspect.yaml",
    )
    assert (tmp_path / "hypotheses/H01-a-suspect.yaml").read_text() == render("H1")[1]
    one, two = EventLog(tmp_path).read().events
    assert one.body == Proposed(
        hypothesis="H1", file="hypotheses/H01-a-suspect.yaml", title="A suspect"
    )
    assert one.by == BOT
    assert isinstance(two.body, Proposed)
    assert two.body.title == "Told"
    assert add(tmp_path, slug="") == ("H3", "hypotheses/H03.yaml")


@pytest.mark.parametrize(
    ("files", "about", "expected"),
    [
        ({}, (), "H1"),
        ({"H07-by-hand.yaml": "title: no id yet\n"}, (), "H8"),
        ({"by-hand.yaml": 'id: "H7"  # mine\ntitle: x\n'}, (), "H8"),
        ({"H02-x.yaml": "id: H9\n"}, (), "H10"),
        ({"H99-x.yaml": "id: H99\n"}, (), "H100"),
        ({}, ("H4", "20261129T151200Z-k3m7q2xa"), "H5"),  # spoken of, with a file that is gone
        ({"notes.txt": "id: H50\n", ".H60-x.yaml": "id: H60\n"}, (), "H1"),
        ({"H03-bad.yaml": "\x00\xff"}, (), "H4"),
    ],
)
def test_the_next_number_is_above_all_that_were_ever_used(
    tmp_path: Path, files: dict[str, str], about: tuple[str, ...], expected: str
) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    log.append(Note(text="x", about=about), ANA)
    for name, text in files.items():
        (tmp_path / "hypotheses" / name).write_text(text)
    assert next_id(tmp_path, log.read()) == expected
    assert add(tmp_path)[0] == expected


def test_the_last_number_is_the_last(tmp_path: Path) -> None:
    EventLog(tmp_path, AT_ONCE).append(Note(text="x", about=("H999999999",)), ANA)
    with pytest.raises(StoreError, match="no number is left"):
        add(tmp_path)


def test_a_newer_log_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    add(tmp_path)
    path = tmp_path / LOG_FILE
    path.write_bytes(path.read_bytes() + seal(b'{"schema":"workbench/event@2"}'))
    with pytest.raises(VersionTooNew):
        add(tmp_path)
    assert len(hypothesis_files(tmp_path)) == 1


@pytest.mark.parametrize(
    "slug",
    ["../x", "a/b", ".", "..", "-x", "A", "x" * 81, "ä", "a\n", "a\x00", "a b", "x.yaml", "\u202e"],
)
def test_no_slug_leads_out_of_the_folder(tmp_path: Path, slug: str) -> None:
    with pytest.raises(UsageError, match="cannot be part of a file name"):
        add(tmp_path, slug=slug)
    assert hypothesis_files(tmp_path) == []
    assert EventLog(tmp_path).read().events == ()


@given(st.text(max_size=12))
def test_a_slug_is_accepted_only_if_it_stays_one_name(slug: str) -> None:
    try:
        check_slug(slug)
    except UsageError:
        return
    assert (Path("a") / f"H01-{slug}.yaml").resolve().parent == Path("a").resolve()
    assert slug.isascii()


def test_a_symbolic_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "campaign", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "hypotheses").symlink_to(outside)
    with pytest.raises(StoreError, match="symbolic link"):
        add(root)
    assert list(outside.iterdir()) == []


def test_a_text_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="half of a character pair"):
        add_hypothesis(tmp_path, lambda id: ("x", "title: \ud800"), ANA, AT_ONCE)
    assert hypothesis_files(tmp_path) == []


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "H01-x.yaml"
    path.write_text("mine")
    with pytest.raises(StoreError, match="is there already"):
        create_file(path, b"yours", disk=REAL_OS)
    assert path.read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["H01-x.yaml"]


def test_what_a_killed_writer_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "hypotheses"
    folder.mkdir()
    (folder / ".H03-x.yaml.0a1b2c3d.tmp").write_text("half")
    (folder / ".swap.tmp").write_text("an editor's")
    add(tmp_path)
    assert not (folder / ".H03-x.yaml.0a1b2c3d.tmp").exists()
    assert (folder / ".swap.tmp").exists()


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("id: H5\n", "H5"),
        ("schema: x\nid:   'H5'   # mine\r\ntitle: y\n", "H5"),
        ("parent: H2\n", ""),
        ("statement: >\n  id: H5\n", ""),
        ("id: H5\nid: H6\n", ""),
        ("id: H05\n", ""),
        ("id: H5 H6\n", ""),
        ("", ""),
    ],
)
def test_the_id_is_read_from_a_line_of_its_own(text: str, id: str) -> None:
    assert id_of(text.encode()) == id


ADDER = """
import sys
from pathlib import Path
from tests.store.campaign_examples import ANA
from tests.store.examples import AT_ONCE
from workbench.store.allocate import add_hypothesis
def render(id):
    return "x", f"id: {id}\\ntitle: x\\n"
for _ in range(int(sys.argv[2])):
    print(add_hypothesis(Path(sys.argv[1]), render, ANA, AT_ONCE)[0])
"""


def test_processes_that_add_at_once_get_different_numbers(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", ADDER, str(tmp_path), "10"]
    processes = [subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    given_out = [id for process in processes for id in process.communicate()[0].split()]
    assert sorted(given_out) == sorted(f"H{place}" for place in range(1, 41))
    assert len(hypothesis_files(tmp_path)) == 40
    assert EventLog(tmp_path).read().problems == ()
