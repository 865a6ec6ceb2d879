"""Names that become part of a path: checked where they enter, so that none leads out of its folder."""

from __future__ import annotations

import re

from workbench.errors import StoreError, UsageError

_ARM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")


def check_arm_name(name: str) -> str:
    """Give the name back. Raises StoreError when it could not be part of a file name everywhere."""
    if not _ARM_NAME.fullmatch(name):
        raise StoreError(
            f"{name!r} cannot name an arm", hint="use letters, digits and . _ -, 64 at most"
        )
    return name


def check_slug(slug: str) -> str:
    """Give the slug of a hypothesis file back. Raises UsageError when it could lead anywhere else."""
    if slug and not _SLUG.fullmatch(slug):
        raise UsageError(
            f"{slug[:80]!r} cannot be part of a file name", hint="use small letters, digits and -"
        )
    return slug
