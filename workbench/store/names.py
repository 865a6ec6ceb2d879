"""Names that become part of a path: checked where they enter, so that none leads out of its folder."""

from __future__ import annotations

import re

from workbench.errors import StoreError

_ARM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_arm_name(name: str) -> str:
    """Give the name back. Raises StoreError when it could not be part of a file name everywhere."""
    if not _ARM_NAME.fullmatch(name):
        raise StoreError(
            f"{name!r} cannot name an arm", hint="use letters, digits and . _ -, 64 at most"
        )
    return name
