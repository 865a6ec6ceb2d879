"""Files of an arm: changed while it is up, put back whatever happens, refused when that cannot be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from workbench.conduct.knobs import Knobs
from workbench.conduct.settings import Ground, Settings
from workbench.errors import ArmCouldNotStart, NotPutBack
from workbench.model.plan import Arm, Part
from workbench.model.run import Fingerprint
from workbench.store.putback import kept

SCRIPT = b"#!/bin/sh\nserve \\\n  --fast \\\n  --port 1\n"
CONFIG = b"cache: {dtype: bf16}\n"
WITHOUT = Arm(name="treatment", settings={"fast": "off"})
BOTH = Arm(name="treatment", settings={"fast": "off", "port": "2", "dtype": "fp8"})


def settings(root: Path, **knobs: Part) -> Settings:
    parts = {
        "fast": Part(
            kind="file",
            options={"path": "serve.sh", "line": "--fast", "levels": {"on": True, "off": False}},
        ),
        "port": Part(
            kind="file", options={"path": "link.sh", "line": "--port", "levels": {"2": 2, "bad": "\n"}}
        ),
        "dtype": Part(
            kind="file", options={"path": "a.yaml", "key": "cache.dtype", "levels": {"fp8": "fp8"}}
        ),
        **knobs,
    }
    return Settings(Knobs(parts), Ground(root=root, base=root), "RUN")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "serve.sh").write_bytes(SCRIPT)
    (tmp_path / "link.sh").symlink_to("serve.sh")
    (tmp_path / "a.yaml").write_bytes(CONFIG)
    return tmp_path


def contents(root: Path) -> tuple[bytes, bytes]:
    return (root / "serve.sh").read_bytes(), (root / "a.yaml").read_bytes()


def test_files_are_changed_within_and_as_they_were_after(root: Path) -> None:
    with settings(root).of(BOTH):
        assert contents(root) == (
            b"#!/bin/sh\nserve \\\n  --port 2\n",  # two knobs, one file by two names
            b"cache: {dtype: fp8}\n",
        )
        assert len(list(kept(root))) == 2
    assert contents(root) == (SCRIPT, CONFIG)
    assert list(kept(root)) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_whatever_happens_they_are_put_back(root: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), settings(root).of(BOTH):
        raise error
    assert contents(root) == (SCRIPT, CONFIG)


def test_an_arm_without_files_leaves_nothing_in_the_campaign(root: Path) -> None:
    with settings(root).of(Arm(name="control", settings={})):
        pass
    with settings(root).of(Arm(name="control", settings={"fast": "on"})):
        assert contents(root) == (SCRIPT, CONFIG)
    assert not (root / ".workbench" / "putback").exists()


def test_when_the_second_file_cannot_be_changed_the_first_is_put_back(root: Path) -> None:
    (root / "serve.sh").write_bytes(SCRIPT + b"serve --fast\n")
    twice = r"serve\.sh: lines 3, 5: --fast stands there 2 times"
    with pytest.raises(ArmCouldNotStart, match=twice), settings(root).of(BOTH):
        pytest.fail("it was entered")
    assert contents(root) == (SCRIPT + b"serve --fast\n", CONFIG)
    assert list(kept(root)) == []


def test_what_somebody_has_changed_meanwhile_is_told_and_the_rest_is_put_back(root: Path) -> None:
    with pytest.raises(NotPutBack) as raised, settings(root).of(BOTH):
        (root / "a.yaml").write_bytes(b"theirs\n")
    assert raised.value.exit_code == 3
    (record,) = kept(root)
    assert str(root / "a.yaml") in raised.value.what
    assert str(record.original) in raised.value.what
    assert contents(root) == (SCRIPT, b"theirs\n")


def test_it_hides_no_interrupt(root: Path) -> None:
    def interrupted() -> None:
        (root / "a.yaml").write_bytes(b"theirs\n")
        raise KeyboardInterrupt

    with pytest.raises(NotPutBack) as raised, settings(root).of(BOTH):
        interrupted()
    assert isinstance(raised.value.__context__, KeyboardInterrupt)


def test_what_is_read_back_is_what_the_arm_will_run(root: Path) -> None:
    found = Fingerprint(arm="treatment", config={}, files={"serve.sh": "as it is", "other": "x"})
    edited = settings(root).edited(found, WITHOUT)
    due = hashlib.sha256(b"#!/bin/sh\nserve \\\n  --port 1\n").hexdigest()
    assert edited.files == {"serve.sh": due, "other": "x"}
    assert contents(root) == (SCRIPT, CONFIG)
    assert settings(root).edited(found, Arm(name="control", settings={})) is found


@pytest.mark.parametrize(
    ("knob", "why"),
    [
        ({"path": "none.sh", "line": "--x"}, "none.sh: No such file"),
        ({"path": "a.yaml", "key": "cache.d"}, "a.yaml: there is no cache.d"),
        ({"path": "serve.sh", "line": "\x2d-x y"}, "may never be reached"),
    ],
)
def test_an_arm_whose_file_cannot_be_changed_is_told_before_anything_runs(
    root: Path, knob: dict[str, Any], why: str
) -> None:
    part = Part(kind="file", options={**knob, "levels": {"on": True}})
    arm = Arm(name="control", settings={"it": "on"})
    with pytest.raises(ArmCouldNotStart, match=f"control: .*{why}"):
        settings(root, it=part).edited(Fingerprint(arm="control", config={}), arm)


def test_the_files_of_all_arms_are_named_once(root: Path) -> None:
    named = settings(root).paths([Arm(name="control", settings={}), WITHOUT, BOTH])
    assert named == [root / "a.yaml", root / "serve.sh"]
