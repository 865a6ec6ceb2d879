"""Servers from commits, by the real command: what they tell of their code is held against it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commits import Home
from tests.conftest import Workbench
from workbench.model.run import Manifest
from workbench.model.start import Reading
from workbench.store import RunView

SERVER = '''"""Answers rightly, or as its commit has it; tells of its code what TELLS says."""
import hashlib, json, os, subprocess, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from says import SAYS

HERE = Path(__file__).parent


def told():
    how = os.environ.get("TELLS", "all")
    if how == "nothing":
        return {}
    sha = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=HERE, text=True).strip()
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in HERE.glob("*.py")}
    if how == "another commit":
        sha = "1" * 40
    if how == "another file":
        files["says.py"] = "1" * 64
    root = "/elsewhere" if how == "elsewhere" else str(HERE)
    return {"code": {"commit": sha, "files": files, "root": root}}


class Serves(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"model_path": "m", **told()} if "server_info" in self.path else {"status": "ok"})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": SAYS}
        self.answer({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def answer(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Serves).serve_forever()
'''


class Served(Home):
    """A campaign on a server whose commit `before` answers wrongly."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.shas["before"] = self.tree.commit(serve__py=SERVER, says__py="SAYS = 'wrong'\n")
        self.tree.tag("before")
        self.shas["after"] = self.tree.commit(says__py="SAYS = 'right'\n")
        self.tree.tag("after")
        self.write()
        self.suspect(prediction="0.99:removes")

    def write(self, **changes: Any) -> None:
        server = {"argv": ["{python}", "serve.py", "{port}"], "cwd": "engine", "health": "/health"}
        engine = {"lifecycle": "process", "dialect": "sglang", "components": {"server": server}}
        wrong = {"kind": "regex", "patterns": {"wrong": "wrong"}}
        defaults: dict[str, Any] = {
            "engines__it": engine,
            "symptoms__fails": {"classifier": wrong, "labels": ["wrong"]},
            "workloads__trials": {
                "kind": "single",
                "sessions": 10,
                "prompt": "say it",
                "body": {"stream": False},
            },
        }
        super().write(**{**defaults, **changes})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # leases of its own
    return Served(tmp_path / "c")


def run(workbench: Workbench, home: Served, code: int) -> RunView:
    words = ("--seed", "7", "--json", "--display", "none")
    done = workbench("test", "H1", *words, cwd=home.path)
    assert done.returncode == code, done.stdout + done.stderr
    return RunView.read(max((home.path / "runs").iterdir(), key=lambda path: path.name))


def readings(found: RunView) -> list[Reading]:
    """Give what was read back of the code of each start."""
    starts = [each.start for each in found.fingerprints() if each.start]
    return [each for start in starts for each in start.readbacks if each.about == "knob build"]


def guard_of(manifest: Manifest) -> tuple[str, str]:
    assert manifest.guards
    return manifest.guards[0].name, manifest.guards[0].detail


def test_what_runs_is_what_was_checked_out_and_is_on_record(workbench: Workbench, home: Served) -> None:
    found = run(workbench, home, 0)
    told = {(each.source, each.found) for each in readings(found)}
    assert told == {
        ("process of server", "{checkout}"),
        ("server_info code.files.* of server", "3 files, all the same"),
        ("server_info code.commit of server", home.shas["before"]),
        ("server_info code.commit of server", home.shas["after"]),
    }
    for each in found.fingerprints():
        arm = {"control": "before", "treatment": "after"}[each.arm]
        assert each.config["server info code.root"] == os.path.realpath(home.worktree(arm))
        assert "{checkout}/serve.py" in each.files


@pytest.mark.parametrize(
    ("tells", "wrong"),
    [
        ("another commit", "server_info code.commit of server is 1111"),
        ("another file", "server_info code.files.* of server is other: says.py"),
        ("elsewhere", "server_info code.files.* of server is other: they lie in /elsewhere"),
    ],
)
def test_a_server_that_tells_of_other_code_makes_the_run_invalid(
    tells: str, wrong: str, workbench: Workbench, home: Served
) -> None:
    home.write(engines__it__components__server__env={"TELLS": tells})
    found = run(workbench, home, 5)
    name, detail = guard_of(found.manifest)
    assert name == "readback-differs"
    assert f"knob build: {wrong}" in detail
    assert list(found.samples()) == []  # nothing has been sent


def test_a_server_that_tells_nothing_is_said_to_and_is_still_seen_to_run_there(
    workbench: Workbench, home: Served
) -> None:
    home.write(engines__it__components__server__env={"TELLS": "nothing"})
    found = run(workbench, home, 0)
    told = {(each.source, each.found) for each in readings(found)}
    assert told == {
        ("process of server", "{checkout}"),
        ("server_info code.commit", "(the engine does not tell)"),
    }
    explained = workbench("explain", found.manifest.id, cwd=home.path).stdout
    assert "?   knob build: server_info code.commit is (the engine does not tell)" in explained


def test_a_key_that_was_named_must_be_told(workbench: Workbench, home: Served) -> None:
    home.write(knobs__build__readback={"checkout": "build.sha"})
    found = run(workbench, home, 5)
    assert "knob build: server_info build.sha is nowhere" in guard_of(found.manifest)[1]


def test_a_process_that_runs_elsewhere_makes_the_run_invalid(
    workbench: Workbench, home: Served, tmp_path: Path
) -> None:
    for path in home.tree.path.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    server = {"argv": [sys.executable, str(tmp_path / "serve.py"), "{port}"], "health": "/health"}
    home.write(
        engines__it__components__server={**server, "cwd": str(tmp_path), "env": {"TELLS": "nothing"}}
    )
    found = run(workbench, home, 5)
    name, detail = guard_of(found.manifest)
    assert name == "readback-differs"
    assert f"knob build: process of server is {tmp_path}, not within the checkout" in detail


def test_the_placeholder_stands_for_the_worktree(workbench: Workbench, home: Served) -> None:
    argv = [sys.executable, "{checkout}/serve.py", "{port}"]
    home.write(engines__it__components__server={"argv": argv, "health": "/health", "cwd": "."})
    found = run(workbench, home, 0)
    processes = {each.found for each in readings(found) if each.source == "process of server"}
    assert processes == {"{checkout}/serve.py"}
    for fingerprint in found.fingerprints():
        assert "{checkout}/serve.py" in fingerprint.config["server argv"]  # no path of this machine


@pytest.mark.parametrize("path", ["engine/says.py", "./engine/../engine/says.py"])
@pytest.mark.parametrize("repo", ["engine", None])
def test_two_arms_may_differ_in_the_file_that_is_varied(
    repo: str | None, path: str, workbench: Workbench, home: Served
) -> None:
    """Of a server its files are looked at in each start, and this one must be another one."""
    levels = {"no": False, "yes": True}
    home.tree.write("says.py", "SAYS = 'wrong'\n")
    home.write(
        repo=repo,
        engines__it__files=["engine/*.py"],
        engines__it__components__server__env={"TELLS": "nothing"},
        knobs={"fix": {"kind": "file", "path": path, "line": "SAYS = 'right'", "levels": levels}},
    )
    home.suspect(prediction="0.99:removes", knob="fix", control="no", treatment="yes")
    found = run(workbench, home, 0)
    digests = {each.arm: set(each.files.values()) for each in found.fingerprints()}
    right = hashlib.sha256(b"SAYS = 'wrong'\nSAYS = 'right'\n").hexdigest()
    assert (right in digests["treatment"], right in digests["control"]) == (True, False)
    assert (home.tree.path / "says.py").read_text() == "SAYS = 'wrong'\n"


def test_a_server_and_its_file_are_those_of_the_worktree(workbench: Workbench, home: Served) -> None:
    """A knob of kind file changes the file that the arm runs, and nobody else's."""
    line = {"kind": "file", "path": "engine/says.py", "line": "SAYS = 'wrong'", "levels": {"y": True}}
    home.write(knobs__line=line)
    text = (home.path / "hypotheses" / "H01-it.yaml").read_text()
    spec = json.loads(text)
    for arm in spec["test"].values():
        arm["line"] = "y"
    spec["prediction"] = {"control": 0.9, "treatment": 0.4}
    (home.path / "hypotheses" / "H01-it.yaml").write_text(json.dumps(spec))
    words = ("--seed", "7", "--max-blocks", "2", "--json", "--display", "none")
    done = workbench("test", "H1", *words, cwd=home.path)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert [arm["hit"] for arm in told["arms"].values()] == [20, 20]  # both say it now
    for name, text in (("before", "SAYS = 'wrong'\n"), ("after", "SAYS = 'right'\n")):
        assert (home.worktree(name) / "says.py").read_text() == text
    assert (home.tree.path / "says.py").read_text() == "SAYS = 'right'\n"
