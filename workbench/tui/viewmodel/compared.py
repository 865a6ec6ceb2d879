"""Two runs side by side, with what sets them apart before what they counted."""

from __future__ import annotations

from workbench.model.compared import Compared
from workbench.report.compare import compare
from workbench.report.text import count, sentence_of
from workbench.tui.viewmodel.page import Line, page


def compared(found: Compared) -> tuple[Line, ...]:
    """Give the page: what differs comes first, since counts of unlike runs mislead."""
    apart = list(dict.fromkeys(each.what for each in (*found.differs, *found.found)))
    if not apart:
        return page(compare(found))
    head = f"WARNING: the runs differ in {count(len(apart), 'thing')}: {sentence_of(apart)}"
    return page([head, "", *compare(found)])
