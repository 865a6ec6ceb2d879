"""Campaigns on the local engine, as a user has them: files in a folder, and the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from workbench.store.view import RunView

ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
SERVER = "workbench.local_engine.entrypoints.unified_server"
INDEX_K = "SGLANG_DSV4_BF16_INDEX_K"
MOVES = ["*scheduler_info.*"]


def campaign(**changes: Any) -> dict[str, Any]:
    """Give a campaign with one small server, and with what a test changes of it."""
    spec: dict[str, Any] = {
        "schema": "workbench/campaign@1",
        "title": "Tool calls come back garbled",
        "symptoms": {
            "garbled": {
                "classifier": {"kind": "tool_call", "family": "deepseek_v4", "call": "required"},
                "labels": ["markup_leaked", "call_lost", "invalid_json", "salad", "truncated"],
                "reference_rate": 0.4,
            }
        },
        "engine": "local",
        "engines": {
            "local": {
                "lifecycle": "process",
                "dialect": "sglang",
                "components": {"server": {"argv": ["{python}", "-m", SERVER, "--port", "{port}"]}},
            }
        },
        "workloads": {
            "calls": {
                "kind": "sessions",
                "sessions": 4,
                "in_flight": 4,
                "turns": 1,
                "context": {"start": 400, "grow": 200},
            }
        },
        "knobs": {
            "index_k": {
                "kind": "env",
                "name": INDEX_K,
                "levels": {"bf16": "1", "fp8": "0"},
                "readback": {
                    "server_info": "index_k_dtype",
                    "expect": {"bf16": "bfloat16", "fp8": "fp8_e4m3"},
                },
                "moves": MOVES,
            }
        },
        "defaults": {"max_blocks": 2},
    }
    for place, value in changes.items():
        at: Any = spec
        *way, last = place.split("__")
        for key in way:
            at = at[key]
        at[last] = value
    return spec


def suspect(**test: Any) -> dict[str, Any]:
    """Give a suspect about index keys."""
    return {
        "schema": "workbench/hypothesis@1",
        "id": "H1",
        "title": "Index keys in bf16",
        "prediction": {"control": 0.4, "removes": True},
        "test": {"control": {"index_k": "bf16"}, "treatment": {"index_k": "fp8"}, **test},
    }


def write(folder: Path, spec: dict[str, Any], *suspects: dict[str, Any]) -> Path:
    """Write a campaign into a folder."""
    (folder / "hypotheses").mkdir(parents=True, exist_ok=True)
    (folder / "campaign.yaml").write_text(_text(spec))
    for each in suspects:
        (folder / "hypotheses" / f"{each['id'][0]}0{each['id'][1:]}-it.yaml").write_text(_text(each))
    return folder


def _text(document: dict[str, Any]) -> str:
    # JSON is YAML, and quotes what a plain word would be taken for
    return json.dumps(document, indent=1)


def workbench(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a campaign."""
    return subprocess.run(
        ["workbench", *words],
        cwd=folder,
        env={**ENVIRONMENT, **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def record(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Give the last record that a command printed."""
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_of(folder: Path) -> RunView:
    """Give the newest run of a campaign."""
    return RunView.read(max((folder / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns))
