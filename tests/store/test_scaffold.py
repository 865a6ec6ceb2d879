"""A new campaign: ready to run, and nothing that was there is lost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from workbench.errors import StoreError, UsageError
from workbench.store.campaignfiles import read_files
from workbench.store.scaffold import scaffold, templates

SHARED = ["AGENTS.md", ".gitattributes", ".gitignore"]
OWN = {
    "command": ["hypotheses/H01-the-cache-hands-out-stale-values.yaml", "repro.sh"],
    "llamacpp": [
        "hypotheses/H01-replies-depend-on-who-else-is-served.yaml",
        "hypotheses/H02-prompts-in-the-cache-are-read-otherwise.yaml",
        "make_tiny_gguf.py",
        "record.py",
        "serve.py",
    ],
    "local": [
        "hypotheses/H01-bf16-index-keys.yaml",
        "hypotheses/H02-pages-come-back-from-the-host.yaml",
    ],
}
FILES = [*SHARED, *OWN["command"], "campaign.yaml"]


def test_a_new_campaign_is_right_and_its_suspect_can_be_run(tmp_path: Path) -> None:
    root = tmp_path / "new" / "campaign"
    assert scaffold(root, "command") == FILES
    assert sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file()) == sorted(
        FILES
    )
    found = read_files(root)
    assert found.problems == ()
    (file,) = found.files
    assert file.hypothesis is not None
    assert file.hypothesis.missing == ()
    assert found.spec.workloads["trials"].options == {"timeout": 60.0}
    assert {name: knob.kind for name, knob in found.spec.knobs.items()} == {
        "cache": "env",
        "retry": "flag",
    }
    assert len((root / "AGENTS.md").read_text().splitlines()) <= 30


@pytest.mark.parametrize("name", templates())
def test_each_template_is_whole_and_its_suspects_can_be_run(tmp_path: Path, name: str) -> None:
    assert scaffold(tmp_path, name) == [*SHARED, *OWN[name], "campaign.yaml"]
    found = read_files(tmp_path)
    assert found.problems == ()
    suspects = [file.hypothesis for file in found.files if file.hypothesis is not None]
    assert len(suspects) == sum(path.startswith("hypotheses/") for path in OWN[name])
    assert [each.missing for each in suspects] == [()] * len(suspects)
    assert found.spec.engine in found.spec.engines


def test_what_a_template_ignores_adds_up_with_what_all_do(tmp_path: Path) -> None:
    scaffold(tmp_path / "one", "command")
    scaffold(tmp_path / "other", "llamacpp")
    shared = (tmp_path / "one" / ".gitignore").read_text()
    assert (tmp_path / "other" / ".gitignore").read_text() == shared + "models/\n"


def test_the_reproduction_fails_sometimes_and_only_with_the_cache(tmp_path: Path) -> None:
    scaffold(tmp_path, "command")

    def fails(seed: int, cache: str) -> bool:
        environment = {"PATH": os.environ["PATH"], "WORKBENCH_SEED": str(seed), "CACHE": cache}
        done = subprocess.run(
            [tmp_path / "repro.sh", "--retry"], env=environment, capture_output=True, check=False
        )
        assert done.returncode in (0, 1)
        assert (done.returncode == 1) == (done.stderr == b"stale value read from the cache\n")
        return done.returncode == 1

    seeds = [number * 0x9E3779B97F4A7C15 % 2**63 for number in range(1, 101)]
    hits = [fails(seed, "1") for seed in seeds]
    assert 15 <= sum(hits) <= 45
    assert hits[:10] == [fails(seed, "1") for seed in seeds[:10]]
    assert not any(fails(seed, "0") for seed in seeds[:20])


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "repro.sh").write_text("mine")
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".gitignore").write_bytes(b"*.pyc\n.workbench/\nlast line without end")
    (tmp_path / ".gitattributes").write_text("hypotheses/events.jsonl merge=union\n")
    (tmp_path / "hypotheses").mkdir()
    (tmp_path / "hypotheses" / "H04-mine.yaml").write_text("mine")
    assert scaffold(tmp_path, "command") == [".gitignore", "campaign.yaml"]
    assert (tmp_path / "repro.sh").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    assert [each.name for each in (tmp_path / "hypotheses").iterdir()] == ["H04-mine.yaml"]
    ignored = (tmp_path / ".gitignore").read_text().splitlines()
    assert ignored[:3] == ["*.pyc", ".workbench/", "last line without end"]
    assert ignored.count(".workbench/") == 1
    assert "runs/*/blobs/" in ignored


def test_a_campaign_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text("mine")
    with pytest.raises(UsageError, match="there is a campaign already"):
        scaffold(tmp_path, "command")
    assert [each.name for each in tmp_path.iterdir()] == ["campaign.yaml"]


@pytest.mark.parametrize(
    ("name", "hint"), [("comand", "did you mean 'command'?"), ("x", "known: command, llamacpp, local")]
)
def test_an_unknown_template_writes_nothing(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        scaffold(tmp_path / "new", name)
    assert raised.value.hint == hint
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["../templates/command", "command/hypotheses", "", "/"])
def test_a_template_is_a_name_and_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        scaffold(tmp_path, name)


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "hypotheses").write_text("a file")
    with pytest.raises(StoreError, match="hypotheses"):
        scaffold(tmp_path, "command")
    assert not (tmp_path / "campaign.yaml").exists()  # it comes last: no half of a campaign


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def test_git_keeps_what_counts_and_leaves_out_the_rest(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    scaffold(tmp_path, "command")
    run = "runs/20261129T151200Z-k3m7q2xa"
    kept = [
        f"{run}/manifest.json",
        f"{run}/samples-w0.jsonl",
        f"{run}/events.jsonl",
        "hypotheses/events.jsonl",
    ]
    left = [
        f"{run}/blobs/ab/x",
        f"{run}/derived/x",
        f"{run}/owner.lock",
        f"{run}/samples-w0.torn",
        ".workbench/x",
    ]
    for name in [*kept, *left, f"{run}/.manifest.json.0a1b2c3d.tmp"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    seen = git(tmp_path, "ls-files", "--others", "--exclude-standard").splitlines()
    assert sorted(seen) == sorted([*FILES, *kept])
    assert git(tmp_path, "check-attr", "merge", "hypotheses/events.jsonl").strip().endswith("union")


def test_no_template_is_left_out_of_a_package() -> None:
    """What git ignores, the build leaves out."""
    folder = Path(__file__).parents[2] / "workbench" / "store" / "templates"
    paths = [str(each) for each in folder.rglob("*") if each.is_file() and each.suffix != ".pyc"]
    assert {Path(each).name for each in paths} >= {Path(each).name for each in OWN["llamacpp"]}
    done = subprocess.run(
        ["git", "check-ignore", *paths], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
