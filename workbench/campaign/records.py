"""The exchanges of all runs of a campaign as columns, of which frames are made."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from workbench.campaign.registry import Campaign
from workbench.errors import StoreError
from workbench.model.columns import Columns


def exchanges(campaign: Campaign, runs: Collection[str] = ()) -> Iterator[tuple[str, Columns]]:
    """Yield runs, oldest first, each with the columns of its exchanges (see `store.columns`).

    A run that cannot be read is left out; lists of runs say why.

    Args:
        campaign: Whose.
        runs: Ids of runs; all, if there are none.
    """
    from workbench.store.columncache import columns  # loads numpy, and pyarrow where there is one

    for line in campaign.run_lines:
        if line.problem or (runs and line.id not in runs):
            continue
        try:
            found = columns(campaign.root, campaign.root / line.path)
        except StoreError:
            continue
        yield line.id, found
