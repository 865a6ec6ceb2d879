"""The shapes of what people write; the only package that imports pydantic, and only when it is asked.

    fields       what a single field may hold; our own findings
    campaign     `campaign.yaml`
    hypothesis   a hypothesis file

What is wrong comes out as pydantic's findings and ours; `store.validation` makes problems of them, each
with its place and a hint. `json_schema` gives the same shapes to editors and to other programs.
"""

from __future__ import annotations

import difflib
from typing import Any

import msgspec

from workbench.errors import UsageError
from workbench.model.event import EVENT_SCHEMA, KINDS
from workbench.model.run import Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"
THINGS = ("campaign", "event", "hypothesis", "run")
_RENAMED = {"verdict": {"harmful": "reversed"}, "renumbered": {"was": "from"}}  # as the log spells them


def json_schema(thing: str) -> dict[str, Any]:
    """Give the JSON Schema of `campaign`, `hypothesis`, `event` or `run`.

    Raises:
        UsageError: There is no such thing.
    """
    if thing not in THINGS:
        near = difflib.get_close_matches(thing, THINGS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(THINGS)}"
        raise UsageError(f"there is no schema {thing!r}", hint=hint)
    schema = {"campaign": _campaign, "hypothesis": _hypothesis, "event": _event, "run": _run}[thing]()
    # Plain JSON: msgspec's schemas hold tuples.
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(schema))
    return {"$schema": DIALECT} | plain


def _campaign() -> dict[str, Any]:
    from workbench.store.schema.campaign import CampaignShape

    return _versioned(CampaignShape.model_json_schema())


def _hypothesis() -> dict[str, Any]:
    from workbench.store.schema.hypothesis import HypothesisShape

    return _versioned(HypothesisShape.model_json_schema())


def _versioned(schema: dict[str, Any]) -> dict[str, Any]:
    return schema | {"required": ["schema", *schema["required"]]}


def _run() -> dict[str, Any]:
    return msgspec.json.schema(Manifest)


def _event() -> dict[str, Any]:
    """Give the schema of a line of the event log: a head, the same for all, and a body by its kind."""
    bodies, components = msgspec.json.schema_components(KINDS.values(), ref_template="#/$defs/{name}")
    head = {
        "schema": {"const": EVENT_SCHEMA},
        "id": {"type": "string"},
        "prev": {"type": "array", "items": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
        "seq": {"type": "integer"},
        "at": {"type": "string", "format": "date-time"},
        "who": {"type": "string"},
        "agent": {"type": "boolean"},
    }
    kinds = []
    for kind, body in zip(KINDS, bodies, strict=True):
        name = body["$ref"].rpartition("/")[2]
        renamed = _RENAMED.get(kind, {})
        found = components.pop(name)
        properties = {renamed.get(each, each): what for each, what in found["properties"].items()}
        kinds.append(
            {
                "title": name,
                "description": found.get("description", "").partition("\n\n")[0],
                "properties": head | {"kind": {"const": kind}} | properties,
                "required": [
                    *head,
                    "kind",
                    *(renamed.get(each, each) for each in found.get("required", ())),
                ],
            }
        )
    return {
        "title": "Event",
        "type": "object",
        "properties": {"crc": {"type": "string", "pattern": "^[0-9a-f]{8}$"}},
        "oneOf": kinds,
        "$defs": components,
    }
