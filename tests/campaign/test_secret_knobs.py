"""A secret that a knob sets is nowhere in a campaign's folder but where a person wrote it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.simulated_tests import begin, campaign, suspect
from workbench.model.campaign import Knob
from workbench.model.hypothesis import Test

SECRET = "correct horse battery"


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("file", {"path": "serve.yaml", "key": "server.api_key"}),
        ("file", {"path": "serve.sh", "line": "--api-key"}),
        ("request", {"field": "extra.api_key"}),
    ],
)
def test_it_reaches_no_record(
    tmp_path: Path, kind: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # leases of its own
    root = tmp_path / "campaign"
    root.mkdir()
    (root / "serve.yaml").write_text("server:\n  api_key: none\n")
    (root / "serve.sh").write_text("serve \\\n  --port 1\n")
    before = {path: path.read_bytes() for path in root.iterdir()}
    spec = campaign({"control": 0.6, "treatment": 0.0})
    knob = Knob(name="login", kind=kind, levels={"on": SECRET, "off": "none"}, options=options)
    spec = replace(spec, knobs={"login": knob})
    test = Test(control={"login": "on"}, treatment={"login": "off"})
    (given,) = begin(root, spec, replace(suspect(), test=test))
    assert given.verdict == "present"
    assert {path: path.read_bytes() for path in before} == before
    files = [path for path in root.rglob("*") if path.is_file()]
    assert any(path.name == "manifest.json" for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
