"""Lines that a campaign has left in the code: the report of `commits --check`.

A record of a line: path, line, text, why, hypothesis, registered (the campaign knows of it), commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from workbench.model.commits import LeftOver, LeftOvers
from workbench.report import values
from workbench.report.changes import SHORT
from workbench.report.text import WIDTH, count, cut, inert, printed, wrapped


def left_over(found: LeftOvers) -> Iterator[str]:
    """Yield the lines by file, each with what it is and who added it."""
    return printed(_left_over(found))


def left_over_records(found: LeftOvers) -> Iterator[dict[str, Any]]:
    """Yield a record for each line."""
    for line in found.lines:
        yield {**values.plain(line), "commit": line.commit or None}


def _left_over(found: LeftOvers) -> Iterator[str]:
    where = "the work tree" if found.uncommitted else "the tree"
    since = f" since {found.since[:SHORT]}" if found.since else ""
    looked = f"tags in {where}, and what was added{since}"
    if not found.since:
        looked = f"tags in {where}" + (", and what is not committed" if found.uncommitted else "")
    if not found.lines:
        yield from wrapped(f"nothing is left over ({looked})", 0, 2)
        return
    more = "at least " if found.cut else ""
    yield from wrapped(f"left over: {more}{count(len(found.lines), 'line')} ({looked})", 0, 2)
    for path, lines in groupby(found.lines, lambda line: line.path):
        yield ""
        yield inert(path)
        for line in lines:
            text = inert(line.text.strip())
            yield cut(f"{line.line:>6}  {text}", WIDTH)
            yield f"        {_why(line)}"


def _why(line: LeftOver) -> str:
    parts = [inert(line.why)]
    if line.hypothesis:
        known = "" if line.registered else ", which is no hypothesis here"
        parts.append(f"of {inert(line.hypothesis)}{known}")
    added = f"added by {inert(line.commit)[:SHORT]}" if line.commit else "not committed"
    return f"{' '.join(parts)}; {added}"
