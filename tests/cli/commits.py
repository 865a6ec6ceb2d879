"""Campaigns about commits, for tests of the command line: of two commits, one fails sometimes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.vcs.trees import Tree

SCRIPT = "#!/bin/sh\n. ./says.sh\n"
DICE = "$(printf %s \"$WORKBENCH_SEED\" | cksum | cut -d ' ' -f 1)"
FAILS = f"[ $(({DICE} % 3)) -eq 0 ]\n"  # two trials of three, by their seeds alone
WORKS = f"[ $(({DICE} % 3)) -lt 3 ]\n"
COMMAND: dict[str, Any] = {"lifecycle": "command", "argv": ["./run.sh"], "cwd": "engine"}


class Home:
    """A campaign with a repository beside its files.

    Args:
        path: Its folder, which is made.

    Attributes:
        tree: The repository; `before` and `after` are tags in it, and `main` is at `after`.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self.path = path
        self.tree = Tree(path / "engine")
        self.tree.write("run.sh", SCRIPT).chmod(0o755)
        self.shas = {"before": self.tree.commit(says__sh=FAILS, lib__py="VALUE = 1\n")}
        self.tree.tag("before")
        self.shas["after"] = self.tree.commit(says__sh=WORKS, lib__py="VALUE = 2\n")
        self.tree.tag("after")
        self.write()

    def write(self, **changes: Any) -> None:
        """Write its file; a change names its place, such as `knobs__build`."""
        spec: dict[str, Any] = {
            "schema": "workbench/campaign@1",
            "title": "One of two commits fails",
            "symptoms": {"fails": {"classifier": "exit_code", "labels": ["failed", "crashed"]}},
            "repo": "engine",
            "engine": "it",
            "engines": {"it": COMMAND},
            "workloads": {"trials": {"kind": "command", "sessions": 10, "in_flight": 4}},
            "knobs": {"build": {"kind": "commit", "levels": {"before": "before", "after": "after"}}},
        }
        for place, value in changes.items():
            *way, last = place.split("__")
            at: Any = spec
            for key in way:
                at = at[key]
            at[last] = value
        spec = {name: value for name, value in spec.items() if value is not None}
        (self.path / "campaign.yaml").write_text(json.dumps(spec, indent=1))

    def suspect(
        self, id: str = "H1", prediction: str = "0.67:removes", knob: str = "build", **arms: str
    ) -> None:
        """Write a suspect whose arms are levels of a knob."""
        control, treatment = arms.get("control", "before"), arms.get("treatment", "after")
        rate, _, removes = prediction.partition(":")
        claim: dict[str, Any] = {"control": float(rate)}
        claim |= {"removes": True} if removes == "removes" else {"treatment": float(removes)}
        spec = {
            "schema": "workbench/hypothesis@1",
            "id": id,
            "title": "It came with that commit",
            "prediction": claim,
            "test": {"control": {knob: control}, "treatment": {knob: treatment}},
        }
        folder = self.path / "hypotheses"
        folder.mkdir(exist_ok=True)
        (folder / f"H0{id[1:]}-it.yaml").write_text(json.dumps(spec, indent=1))

    def worktree(self, name: str) -> Path:
        """Give the worktree of a tag."""
        return self.path / ".workbench" / "worktrees" / self.shas[name][:12]
