"""JSON Schema of our files: a schema, and one that says what the readers say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from tests.store.examples import AT_ONCE, manifest
from workbench.errors import UsageError
from workbench.model.event import KINDS
from workbench.store import RunFolder
from workbench.store.schema import THINGS, json_schema
from workbench.store.yamltext import read_yaml

FORMATS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def example(heading: str) -> Any:
    text = FORMATS.partition(heading)[2].partition("```yaml\n")[2].partition("```")[0]
    return read_yaml(text.encode(), "f", is_field=lambda keys: keys[-1] == "on").value


def errors(thing: str, value: Any) -> list[str]:
    checker = jsonschema.Draft202012Validator(json_schema(thing))
    return [each.message for each in checker.iter_errors(value)]


@pytest.mark.parametrize("thing", THINGS)
def test_it_is_a_schema_and_plain_json(thing: str) -> None:
    schema = json_schema(thing)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_the_documented_files_meet_it_and_others_do_not() -> None:
    campaign, hypothesis = example("## campaign.yaml"), example("## hypotheses/H05-")
    assert errors("campaign", campaign) == []
    assert errors("hypothesis", hypothesis) == []
    assert errors("campaign", hypothesis)
    changes: list[dict[str, Any]] = [
        {"titel": "x"},
        {"id": "H05"},
        {"prediction": 4},
        {"also": "H2"},
        {"title": 5},
    ]
    for change in changes:
        assert errors("hypothesis", hypothesis | change), change
    for missing in ("schema", "id", "title"):
        assert errors(
            "hypothesis", {name: each for name, each in hypothesis.items() if name != missing}
        )
    changes = [
        {"knobs": {"a": {}}},
        {"defaults": {"alpha": 2}},
        {"workloads": {"a": {"kind": "x", "sessions": 0}}},
    ]
    for change in changes:
        assert errors("campaign", campaign | change), change


def test_a_manifest_meets_it(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        written = msgspec.json.decode((folder.path / "manifest.json").read_bytes())
    assert errors("run", written) == []
    assert errors("run", written | {"state": "gone"})


def test_events_are_checked_by_their_kind() -> None:
    line = {
        "schema": "workbench/event@1",
        "id": "abcdefgh",
        "prev": ["0" * 64],
        "seq": 2,
        "at": "2026-11-29T15:12:00Z",
        "who": "ana",
        "agent": False,
        "kind": "ruling",
        "hypothesis": "H1",
        "because": "seen",
        "role": "exposer",
        "crc": "00000000",
    }
    assert errors("event", line) == []
    assert errors("event", line | {"kind": "verdict"})
    assert errors("event", line | {"role": "villain"})
    assert errors("event", line | {"prev": ["x"]})
    renumbered = line | {
        "kind": "renumbered",
        "file": "hypotheses/H09-x.yaml",
        "from": "H7",
        "to": "H9",
    }
    assert errors("event", renumbered) == []
    assert errors("event", {name: each for name, each in renumbered.items() if name != "from"})
    kinds = [each["properties"]["kind"]["const"] for each in json_schema("event")["oneOf"]]
    assert kinds == list(KINDS)
    verdict = next(each for each in json_schema("event")["oneOf"] if each["title"] == "VerdictGiven")
    assert "reversed" in verdict["properties"]
    assert "harmful" not in verdict["properties"]


def test_an_unknown_thing_has_none() -> None:
    with pytest.raises(
        UsageError, match=re.escape("there is no schema 'hypotesis'; did you mean hypothesis?")
    ):
        json_schema("hypotesis")
