"""Markup of tool calls: what a family of models writes, and what of it stands in a text.

A family is data and one small function; `dsml.py` and `families.py` hold those that there are. Markup
that a text merely quotes is no markup (`quoting.py`), and quotes inside the arguments of a call are
arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.classifiers.quoting import Quotes, unquoted
from workbench.classifiers.reply import Call

Inside = tuple[tuple[Call, ...], str]
"""Calls of a block, and what is wrong with the first that cannot be read, or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """How a family of models calls tools.

    Attributes:
        name: Its name in options.
        opener: Opens a block of calls, written as it should be.
        closer: Closes it.
        inside: Reads what stands between; pure, and never raises.
        trace: Any fragment of the family's markup, mutations met in the wild included.
        control: Control tokens, which no client should ever see.
    """

    name: str
    opener: re.Pattern[str]
    closer: re.Pattern[str]
    inside: Callable[[str], Inside]
    trace: re.Pattern[str]
    control: re.Pattern[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What of a family's markup stands in a text.

    Attributes:
        calls: Calls of all blocks, in their order.
        outside: The text without whole blocks.
        bare: What of it is neither quoted nor in a block that is open; quotes are blank.
        blocks: How many blocks were opened as they should be.
        fault: What is wrong with the first block that cannot be read as a whole, or nothing.
        open: The last block was never closed.
    """

    calls: tuple[Call, ...]
    outside: str
    bare: str
    blocks: int
    fault: str
    open: bool


def find(text: str, family: Family, *, cut: bool = False) -> Found:
    """Read the blocks of a text as a parser of that family should.

    Args:
        text: The text, joined from all its chunks.
        family: Whose markup to look for.
        cut: The text was cut off.
    """
    quotes = Quotes(text, cut=cut)
    quote = quotes.after(0)
    calls: list[Call] = []
    outside: list[str] = []
    bare: list[str] = []
    at = blocks = 0
    fault, is_open = "", False
    opener = family.opener.search(text)
    while opener and not is_open:
        if quote and quote.start < opener.start():
            outside.append(text[at : quote.end])
            bare += [text[at : quote.start], " " * (quote.end - quote.start)]
            at = quote.end
        else:
            blocks += 1
            space = len(opener[0]) - len(opener[0].lstrip())  # what an opener allows before it is text
            outside.append(text[at : opener.start() + space])
            bare.append(text[at : opener.start() + space])
            closer = family.closer.search(text, opener.end())
            if closer:
                read, wrong = family.inside(text[opener.end() : closer.start()])
                calls += read
                fault = fault or wrong
                at = max(closer.end(), opener.start() + 1)
            else:
                fault, is_open = fault or "a block is not closed", True
                at = opener.start()
        if quote and quote.start < at:
            quote = quotes.after(at)
        if opener.start() < at:
            opener = family.opener.search(text, at)
    outside.append(text[at:])
    if not is_open:
        bare.append(unquoted(text[at:], cut=cut))
    return Found(
        calls=tuple(calls),
        outside="".join(outside),
        bare="".join(bare),
        blocks=blocks,
        fault=fault,
        open=is_open,
    )
