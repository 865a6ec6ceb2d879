"""The worked example that comes with the workbench: where it lies, and what a copy begins with.

It is a campaign like any other, and the workbench's own: `campaign.yaml` and `hypotheses/` at the top
of the repository, and in a wheel beside the package's modules. Its log tells first what is on record of
the story, and then what runs found. A copy begins with the record: its runs are still to be made.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.errors import StoreError
from workbench.store.layout import CAMPAIGN_FILE, HYPOTHESES, LOG_FILE

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "example", _PACKAGE.parent)  # of a wheel, of a clone
_OF_RUNS = ("run", "verdict")


class _Kind(msgspec.Struct):
    kind: str


def source() -> Path:
    """Give the folder of the example.

    Raises:
        StoreError: It did not come with this installation.
    """
    for place in _PLACES:
        if (place / CAMPAIGN_FILE).is_file() and (place / LOG_FILE).is_file():
            return place
    raise StoreError(
        "the worked example is not part of this installation",
        hint="install the workbench from its wheel, or from a clone",
    )


def contents() -> dict[str, bytes]:
    """Give what a copy begins with, by the path that it goes to; raises StoreError as `source`."""
    folder = source()
    suspects = sorted((folder / HYPOTHESES).glob("*.yaml"))
    found = {f"{HYPOTHESES}/{each.name}": each.read_bytes() for each in suspects}
    found[LOG_FILE] = record((folder / LOG_FILE).read_bytes())
    found[CAMPAIGN_FILE] = (folder / CAMPAIGN_FILE).read_bytes()
    return found


def record(log: bytes) -> bytes:
    """Give the lines of a log before the first that a run made; they are whole by themselves."""
    kept = []
    for line in log.splitlines(keepends=True):
        if msgspec.json.decode(line, type=_Kind).kind in _OF_RUNS:
            break
        kept.append(line)
    return b"".join(kept)
