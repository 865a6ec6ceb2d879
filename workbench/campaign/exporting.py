"""The ledger as bytes: made, saved in one step, and held against a copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.campaign.registry import Campaign
from workbench.report.ledger import ledger, ledger_record
from workbench.store.atomic import replace_file
from workbench.store.private import Gate


def ledger_text(campaign: Campaign, form: str) -> str:
    """Give the ledger; the same campaign always gives the same text.

    Args:
        campaign: Whose.
        form: `md` or `json`.
    """
    gate = Gate.of_process()  # people write secrets into statements, and ledgers are sent around
    if form == "json":
        return json.dumps(_clean(ledger_record(campaign.registry), gate), indent=2) + "\n"
    return gate.prose(ledger(campaign.registry))


def save(path: Path, text: str) -> None:
    """Put a ledger in a file, whole or not at all; raises StoreError."""
    replace_file(path, text.encode())


def same(path: Path, text: str) -> bool:
    """Say whether a file holds this very ledger; one that is missing does not."""
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _clean(value: Any, gate: Gate) -> Any:
    if isinstance(value, str):
        return gate.prose(value)
    if isinstance(value, dict):
        return {name: _clean(item, gate) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, gate) for item in value]
    return value
