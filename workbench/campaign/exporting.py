"""What leaves a campaign: cleared of secrets, saved in one step, held against a copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.store.atomic import replace_file
from workbench.store.private import Gate


def cleared(value: Any) -> Any:
    """Take secrets out of a ledger, text or record: people write them into statements, too."""
    return _cleared(value, Gate.of_process())


def save(path: Path, text: str) -> None:
    """Put a ledger in a file, whole or not at all; raises StoreError."""
    replace_file(path, text.encode())


def same(path: Path, text: str) -> bool:
    """Say whether a file holds this very ledger; one that is missing does not."""
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _cleared(value: Any, gate: Gate) -> Any:
    if isinstance(value, str):
        return gate.prose(value)
    if isinstance(value, dict):
        return {name: _cleared(item, gate) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleared(item, gate) for item in value]
    return value
