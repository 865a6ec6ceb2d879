"""What lies where in a campaign's folder."""

from __future__ import annotations

from pathlib import Path

from workbench.store.atomic import own_folder
from workbench.store.disk import REAL_OS, Os

CAMPAIGN_FILE = "campaign.yaml"
HYPOTHESES = "hypotheses"
LOG_FILE = f"{HYPOTHESES}/events.jsonl"
RUNS = "runs"
WORK = ".workbench"  # locks, caches, output of runs in the background; git does not see it

# what a campaign has in its folder, which may lie in the repository that it is about
OWN_FILES = (CAMPAIGN_FILE, HYPOTHESES, RUNS, WORK, "remedies", "notebooks", "AGENTS.md")


def own_files(root: Path, top: Path) -> tuple[str, ...]:
    """Name what is a campaign's own in a work tree, and none of its code; from the tree's top.

    Args:
        root: The campaign's folder, with no symbolic link on the way.
        top: That of the work tree, likewise; nothing is named if the campaign does not lie in it.
    """
    if not root.is_relative_to(top):
        return ()
    return tuple((root / name).relative_to(top).as_posix() for name in OWN_FILES)


def work_folder(root: Path, *, disk: Os = REAL_OS) -> Path:
    """Give the folder of locks and caches of a campaign, made when it is not there.

    Raises:
        StoreError: It is a symbolic link, or cannot be made.
    """
    return own_folder(root / WORK, "locks and caches stay in the campaign", disk=disk)


def log_folder(root: Path, *, disk: Os = REAL_OS) -> Path:
    """Give the folder of hypotheses and of their log, made when it is not there.

    Raises:
        StoreError: It is a symbolic link, or cannot be made.
    """
    return own_folder(root / HYPOTHESES, "hypotheses stay in the campaign", disk=disk, lasting=True)
