"""A new campaign from a template: files to start from, and never one that is there already overwritten.

Templates are folders of plain files beside this module, and `_shared` holds what all of them have.
Their `gitignore` and `gitattributes` get their dot here; lines of such a list add up, those of a
template to the shared ones and both to what a repository has already.
"""

from __future__ import annotations

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from workbench.errors import UsageError, nearest
from workbench.store.disk import CREATE, REAL_OS, refusal, sync_folder, write_all
from workbench.store.layout import CAMPAIGN_FILE, HYPOTHESES

_DOTTED = {"gitignore": ".gitignore", "gitattributes": ".gitattributes"}
_SHARED = "_shared"
_EXECUTABLE = ".sh"


def templates() -> list[str]:
    """List the names of the templates."""
    return sorted(each.name for each in _folder().iterdir() if each.is_dir() and each.name[0] != "_")


def scaffold(root: Path, template: str) -> list[str]:
    """Write the files of a new campaign, `campaign.yaml` last.

    Args:
        root: The campaign's folder; made if it is not there.
        template: Name of the template.

    Returns:
        Paths of the files that were written or added to, relative to `root`.

    Raises:
        UsageError: There is no such template, or there is a campaign already.
        StoreError: A folder cannot be made or a file not be written.
    """
    known = templates()
    if template not in known:
        raise UsageError(f"there is no template {template!r}", hint=nearest(template, known))
    if os.path.lexists(root / CAMPAIGN_FILE):
        raise UsageError(f"{root / CAMPAIGN_FILE}: there is a campaign already", hint="workbench check")
    return lay_out(root, _read(_folder() / template))


def lay_out(root: Path, own: dict[str, bytes]) -> list[str]:
    """Write the files of a new campaign, and with them those that all have; see `scaffold`.

    Args:
        root: The campaign's folder; made if it is not there.
        own: Its own files, by the path that they go to.
    """
    told = _together(_read(_folder() / _SHARED), own)
    if _has_hypotheses(root):  # an example among real suspects would be one of them
        told = {path: data for path, data in told.items() if not path.startswith(f"{HYPOTHESES}/")}
    told[CAMPAIGN_FILE] = told.pop(CAMPAIGN_FILE)  # last: a folder with it is a campaign, and whole
    return [path for path, data in told.items() if _write(root / path, data)]


def _folder() -> Traversable:
    return files("workbench.store") / "templates"


def _read(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    """Give the files of a template by the path that they go to."""
    found: dict[str, bytes] = {}
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            found |= _read(entry, f"{prefix}{entry.name}/")
        else:
            found[prefix + _DOTTED.get(entry.name, entry.name)] = entry.read_bytes()
    return found


def _together(shared: dict[str, bytes], own: dict[str, bytes]) -> dict[str, bytes]:
    """Lay a template's own files over the shared ones."""
    lists = {
        path: shared[path] + own[path] for path in _DOTTED.values() if path in shared and path in own
    }
    return {**shared, **own, **lists}


def _has_hypotheses(root: Path) -> bool:
    return any((root / HYPOTHESES).glob("*.yaml"))


def _write(path: Path, data: bytes) -> bool:
    """Write a file that is not there, or add lines that a list of git's lacks; False if all is well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(path):
            _put(path, data, CREATE)
            return True
        if path.name not in _DOTTED.values():
            return False
        there = path.read_bytes()
        lines = there.splitlines()
        missing = [line for line in data.splitlines() if line.strip() and line not in lines]
        if missing:
            start = b"" if not there or there.endswith(b"\n") else b"\n"
            _put(path, start + b"\n".join(missing) + b"\n", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        return bool(missing)
    except OSError as error:
        raise refusal(path, error) from error


def _put(path: Path, data: bytes, flags: int) -> None:
    mode = 0o755 if path.suffix == _EXECUTABLE else 0o644
    fd = REAL_OS.open(str(path), flags, mode)
    try:
        write_all(REAL_OS, fd, data)
        REAL_OS.fsync(fd)
    finally:
        REAL_OS.close(fd)
    sync_folder(REAL_OS, path.parent)
