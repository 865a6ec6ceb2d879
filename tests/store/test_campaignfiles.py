"""A campaign's folder as people wrote it: nothing hides, nothing is stale, nothing raises."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.people import CAMPAIGN, TEST, hypothesis, write
from workbench.errors import UsageError
from workbench.model.campaign import CampaignSpec
from workbench.store.campaignfiles import CampaignFiles, find_root, read_files
from workbench.store.filecache import CACHE_FILE, digest


def told(found: CampaignFiles) -> list[str]:
    return [str(each) for each in found.problems]


def titles(found: CampaignFiles) -> dict[str, str]:
    return {each.id: each.hypothesis.title for each in found.files if each.hypothesis}


def test_the_root_is_found_from_below(tmp_path: Path) -> None:
    root = write(tmp_path / "a", {})
    below = root / "runs" / "x"
    below.mkdir(parents=True)
    assert find_root(below) == root
    assert find_root(root) == root
    assert find_root(root / "campaign.yaml") == root
    with pytest.raises(
        UsageError, match=r"no campaign\.yaml here or above; begin one with `workbench init`"
    ):
        find_root(tmp_path)


def test_files_are_given_with_their_bytes(tmp_path: Path) -> None:
    text = hypothesis("H1", TEST)
    found = read_files(write(tmp_path, {"H01-a.yaml": text, "notes.md": "x", ".H02.yaml.swp": "x"}))
    (file,) = found.files
    assert (file.path, file.id, file.data) == ("hypotheses/H01-a.yaml", "H1", text.encode())
    assert file.sha256 == digest(text.encode())
    assert file.hypothesis is not None
    assert file.hypothesis.file == file.path
    assert found.spec.title == "Something fails"
    assert found.problems == ()


BAD: dict[str, bytes] = {
    "H10-empty.yaml": b"",
    "H11-nul.yaml": b"a: \x00",
    "H12-latin.yaml": b"title: \xe4",
    "H13-open.yaml": b"[",
    "H14-list.yaml": b"- a",
    "H15-laughs.yaml": b"a: &a [x]\nb: [*a, *a]",
    "H16-large.yaml": b"x" * 2_000_000,
    "H17-deep.yaml": b"[" * 5000,
    "H18-other.yaml": b"schema: workbench/campaign@1\ntitle: x\n",
}


def test_no_bad_file_hides_another(tmp_path: Path) -> None:
    good = {f"H{n:02}-good.yaml": hypothesis(f"H{n}", TEST) for n in (1, 2, 99)}
    root = write(tmp_path, good)
    folder = root / "hypotheses"
    for name, data in BAD.items():
        (folder / name).write_bytes(data)
    (folder / "H20-folder.yaml").mkdir()
    (folder / "H21-link.yaml").symlink_to(folder / "H01-good.yaml")
    os.mkfifo(folder / "H22-pipe.yaml")
    (folder / "H23-line\nbreak.yaml").write_text("x")
    (folder / "H24.yml").write_text("x")
    os.close(os.open(os.fsencode(folder) + b"/H25-\xff.yaml", os.O_CREAT | os.O_WRONLY))
    found = read_files(root)
    assert sorted(titles(found)) == ["H1", "H2", "H99"]
    named = {each.file for each in found.problems}
    assert named == {
        *(f"hypotheses/{name}" for name in BAD),
        "hypotheses/H20-folder.yaml",
        "hypotheses/H21-link.yaml",
        "hypotheses/H22-pipe.yaml",
        "hypotheses/H23-line\\x0abreak.yaml",
        "hypotheses/H24.yml",
        "hypotheses/H25-\\xdcff.yaml",
    }
    for each in found.problems:
        assert each.what.isprintable()
        assert each.line >= 1
        assert each.column >= 1
    assert [(each.file, each.line, each.column) for each in found.problems] == sorted(
        (each.file, each.line, each.column) for each in found.problems
    )
    broken = next(each for each in found.files if each.path.endswith("H13-open.yaml"))
    assert broken.id == "H13"  # by its name, so that others may refer to it
    assert told(read_files(root)) == told(found)  # the same from memory


def test_five_mistakes_in_one_file_are_told_in_one_pass_and_the_others_are_listed(
    tmp_path: Path,
) -> None:
    five = hypothesis(
        "H2",
        "titel: y\n"
        "parent: H7\n"
        "fails_when: {hicache: on}\n"
        "prediction: {control: 0.1, treatment: 0.4}\n"
        "test: {control: {index_k: bf16}, treatment: {index_k: bf16}}\n",
    )
    found = read_files(write(tmp_path, {"H01-a.yaml": hypothesis("H1"), "H02-b.yaml": five}))
    assert list(titles(found)) == ["H1"]
    places = [(each.line, each.column) for each in found.problems]
    assert places == [(4, 1), (5, 9), (6, 23), (7, 39), (8, 34)]
    assert {each.file for each in found.problems} == {"hypotheses/H02-b.yaml"}


@pytest.mark.parametrize("kind", ["none", "folder", "link", "text"])
def test_a_campaign_file_that_is_none_hides_no_hypothesis(tmp_path: Path, kind: str) -> None:
    root = write(tmp_path, {"H1.yaml": hypothesis("H1", TEST)}, None)
    path = root / "campaign.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(root / "hypotheses" / "H1.yaml")
    elif kind == "text":
        path.write_text("words")
    found = read_files(root)
    assert found.spec == CampaignSpec(title="")
    assert list(titles(found)) == ["H1"]
    assert {each.file for each in found.problems} == {"campaign.yaml"}
    assert len(found.problems) == 2


@pytest.mark.parametrize("kind", ["none", "file", "link"])
def test_a_folder_of_hypotheses_that_is_none_is_told(tmp_path: Path, kind: str) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    folder = tmp_path / "hypotheses"
    if kind == "file":
        folder.write_text("x")
    elif kind == "link":
        folder.symlink_to(tmp_path)
    found = read_files(tmp_path)
    assert found.files == ()
    assert [each.file for each in found.problems] == ([] if kind == "none" else ["hypotheses"])


# --- names and ids --------------------------------------------------------------------------------


def test_two_files_with_one_id_are_both_named_and_the_first_is_listed(tmp_path: Path) -> None:
    files = {"H07-a.yaml": hypothesis("H7", "component: first\n"), "H07-b.yaml": hypothesis("H7")}
    found = read_files(write(tmp_path, files))
    assert told(found) == [
        "hypotheses/H07-a.yaml:2:5: H7 is also the id of hypotheses/H07-b.yaml; "
        "workbench renumber H7 hypotheses/H07-b.yaml",
        "hypotheses/H07-b.yaml:2:5: H7 is also the id of hypotheses/H07-a.yaml; "
        "workbench renumber H7 hypotheses/H07-b.yaml",
    ]
    assert [each.id for each in found.files] == ["H7", "H7"]
    assert [each.hypothesis is not None for each in found.files] == [True, False]
    assert [len(each.problems) for each in found.files] == [1, 1]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("H06-a.yaml", "the file name says H6, the id H7; name it H07-a.yaml, or mend the id"),
        (
            "h07-a.yaml",
            "the file name 'h07-a.yaml' does not begin with an id; name it H07-some-words.yaml",
        ),
        ("words.yaml", "the file name 'words.yaml' does not begin with an id"),
        ("H07 copy.yaml", "the file name 'H07 copy.yaml' does not begin with an id"),
    ],
)
def test_a_file_is_named_after_its_id(tmp_path: Path, name: str, what: str) -> None:
    (problem,) = told(read_files(write(tmp_path, {name: hypothesis("H7")})))
    assert problem.startswith(f"hypotheses/{name}:2:5: {what}")


@pytest.mark.parametrize("name", ["H7.yaml", "H07.yaml", "H007-a.yaml", "H07-größe mit raum.yaml"])
def test_names_that_will_do(tmp_path: Path, name: str) -> None:
    assert told(read_files(write(tmp_path, {name: hypothesis("H7")}))) == []


# --- memory ---------------------------------------------------------------------------------------


def test_an_edit_is_seen_however_alike_it_looks(tmp_path: Path) -> None:
    root = write(tmp_path, {"H1.yaml": hypothesis("H1"), "H2.yaml": hypothesis("H2")})
    read_files(root)
    path = root / "hypotheses" / "H1.yaml"
    before = path.stat()
    path.write_text(path.read_text().replace("Suspect", "SUSPECT"))  # the same size,
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # and the same time
    assert path.stat().st_ino == before.st_ino
    assert titles(read_files(root)) == {"H1": "SUSPECT H1", "H2": "Suspect H2"}


def test_an_edit_of_the_campaign_is_seen_by_files_that_did_not_change(tmp_path: Path) -> None:
    root = write(tmp_path, {"H1.yaml": hypothesis("H1", TEST)})
    assert told(read_files(root)) == []
    (root / "campaign.yaml").write_text(CAMPAIGN.replace("fp8:", "fp9:"))
    (problem,) = told(read_files(root))
    assert problem.startswith("hypotheses/H1.yaml:7:24: knob index_k has no level 'fp8'")
    (root / "campaign.yaml").write_text(CAMPAIGN)
    assert told(read_files(root)) == []


def test_files_that_come_go_and_change_places_are_seen(tmp_path: Path) -> None:
    child = hypothesis("H2", "parent: H1\n")
    root = write(tmp_path, {"H1.yaml": hypothesis("H1"), "H2.yaml": child})
    folder = root / "hypotheses"
    assert told(read_files(root)) == []
    (folder / "H1.yaml").rename(tmp_path / "aside")
    assert [each.id for each in read_files(root).files] == ["H2"]
    assert told(read_files(root)) == ["hypotheses/H2.yaml:4:9: there is no hypothesis H1"]
    (tmp_path / "aside").rename(folder / "H1.yaml")
    assert told(read_files(root)) == []
    (folder / "H2.yaml").rename(folder / "H2-renamed.yaml")
    found = read_files(root)
    assert [each.path for each in found.files] == ["hypotheses/H1.yaml", "hypotheses/H2-renamed.yaml"]
    assert found.files[1].hypothesis is not None
    assert found.files[1].hypothesis.file == "hypotheses/H2-renamed.yaml"


def test_what_is_remembered_is_what_is_read(tmp_path: Path) -> None:
    files = {
        "H1.yaml": hypothesis("H1", TEST),
        "H2.yaml": hypothesis("H2", "titel: x\nparent: H9\n"),
        "H3.yaml": "[",
    }
    root = write(tmp_path, files)
    first = read_files(root)
    assert read_files(root) == first
    (root / CACHE_FILE).unlink()
    assert read_files(root) == first


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other version", "other shape", "folder"])
def test_a_damaged_memory_is_none(tmp_path: Path, damage: str) -> None:
    root = write(tmp_path, {"H1.yaml": hypothesis("H1", TEST)})
    first = read_files(root)
    path = root / CACHE_FILE
    data = path.read_bytes()
    head, _, body = data.partition(b"\n")
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "cut": data[:-1],
                "flip": data.replace(b"Suspect", b"Suspekt"),
                "empty": b"",
                "other version": b"workbench files 0.0 " + head.split()[-1] + b"\n" + body,
                "other shape": data.replace(head, head[:-8] + b"d202ef8d") + b"",
            }[damage]
        )
    assert read_files(root) == first


def test_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    root = write(tmp_path, {"H1.yaml": hypothesis("H1")})
    (root / ".workbench").write_text("a file in the place of the folder")
    assert list(titles(read_files(root))) == ["H1"]


def test_readers_and_writers_at_the_same_time_see_whole_files(tmp_path: Path) -> None:
    root = write(tmp_path, {f"H{n}.yaml": hypothesis(f"H{n}") for n in range(1, 20)})
    wrong: list[object] = []

    def work(own: int) -> None:
        for turn in range(10):
            (root / "hypotheses" / f"H{100 + own}.yaml").write_text(
                hypothesis(f"H{100 + own}", f"component: c{turn}\n")
            )
            found = read_files(root)
            mine = next(each for each in found.files if each.id == f"H{100 + own}")
            if mine.hypothesis is None or mine.hypothesis.component != f"c{turn}":
                wrong.append(mine)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(titles(read_files(root))) == 23
    assert [each.name for each in (root / ".workbench").iterdir()] == [CACHE_FILE.name]


PROBE = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from workbench.store.campaignfiles import read_files
found = read_files(Path(sys.argv[1]))
heavy = {"yaml", "pydantic", "numpy", "scipy"} & set(sys.modules)
print(len(found.files), len(found.problems), sorted(heavy))
"""


def test_an_unchanged_campaign_is_read_without_yaml_and_pydantic(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"H1.yaml": hypothesis("H1", TEST), "H2.yaml": hypothesis("H2", "parent: H9\n")}
    )

    def probe() -> str:
        return subprocess.run(
            [sys.executable, "-c", PROBE, str(root)], capture_output=True, text=True, check=True
        ).stdout.strip()

    assert probe() == "2 1 ['pydantic', 'yaml']"
    assert probe() == "2 1 []"


def test_a_folder_of_memories_that_leads_elsewhere_is_not_written_to(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"H1.yaml": hypothesis("H1")})
    (tmp_path / "elsewhere").mkdir()
    (root / ".workbench").symlink_to(tmp_path / "elsewhere")
    assert list(titles(read_files(root))) == ["H1"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_broken_file_takes_no_id_from_a_right_one(tmp_path: Path) -> None:
    found = read_files(write(tmp_path, {"H07-a.yaml": "[", "H07-b.yaml": hypothesis("H7")}))
    assert [each.hypothesis is not None for each in found.files] == [False, True]
    assert [len(each.problems) for each in found.files] == [2, 1]


def test_a_command_to_be_copied_is_quoted(tmp_path: Path) -> None:
    files = {"H07-a.yaml": hypothesis("H7"), "H07-b; rm -rf x.yaml": hypothesis("H7")}
    found = read_files(write(tmp_path, files))
    assert found.problems[0].hint == "workbench renumber H7 'hypotheses/H07-b; rm -rf x.yaml'"


SHREDS = st.lists(
    st.sampled_from(
        [
            *[
                "H1",
                "H2",
                "on",
                "x",
                "0.4",
                "-1",
                "null",
                "{}",
                "[]",
                ",",
                ":",
                "{",
                "}",
                "[",
                "]",
                "|",
                ">",
                "\n",
            ],
            "\n  ",
            *(
                f"\n{name}: "
                for name in [
                    "schema",
                    "id",
                    "title",
                    "parent",
                    "also",
                    "symptom",
                    "fails_when",
                    "prediction",
                    "test",
                ]
            ),
            *(
                f"\n{name}: "
                for name in [
                    "symptoms",
                    "engines",
                    "workloads",
                    "knobs",
                    "constraints",
                    "defaults",
                    "engine",
                ]
            ),
            *(
                "kind: env",
                "levels: {a: 1}",
                "control: {k: a}",
                "treatment: {k: b}",
                "lifecycle: command",
            ),
            "workbench/hypothesis@1",
            "workbench/campaign@1",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=60)
@given(SHREDS, SHREDS, SHREDS)
def test_whatever_stands_in_the_files_they_are_read_and_remembered(
    one: str, two: str, campaign: str
) -> None:
    with TemporaryDirectory() as folder:
        head = "schema: workbench/{}@1\ntitle: x\n"
        files = {"H1.yaml": head.format("hypothesis") + "id: H1\n" + one, "H2.yaml": two}
        root = write(Path(folder), files, head.format("campaign") + campaign)
        found = read_files(root)
        assert len(found.files) == 2
        assert read_files(root) == found


def test_reading_runs_loads_nothing_that_reading_files_needs() -> None:
    probe = "import sys, workbench.store; print(sorted({'yaml', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
