"""Text from outside as Markdown and Mermaid that mean nothing but themselves.

Whatever stands in a title is shown as it is: it ends no table cell, starts no list, and becomes no
heading, emphasis, link, image, formula or HTML. What Markdown would act upon is escaped by a backslash
or written as an entity; entities where parsers differ in when they look at a character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.model.hypothesis import HYPOTHESIS_ID
from workbench.report.text import inert, paragraphs

# an underscore within a word is none of Markdown's, and names are full of them
_ACTIVE = re.compile(r"[\\`*\[\]<>#!~&$|@]|(?<![^\W_])_|_(?![^\W_])")
_LEADING = re.compile(r"^(?:[-+=:]|[0-9]+(?=[.)]))")  # what would begin a list, a rule, an underline
_LINKED = (  # what GitHub makes a link of without being asked
    (re.compile("://"), "&#58;//"),
    (re.compile(r"(www)\.", re.IGNORECASE), r"\1&#46;"),
)
_IN_LABEL = frozenset(" .,-/+=?()'_")


def plain(text: str) -> str:
    """Escape a text for a heading, a table cell or the middle of a sentence; it stays one line."""
    escaped = _ACTIVE.sub(_escaped, inert(text).strip())
    for pattern, replacement in _LINKED:
        escaped = pattern.sub(replacement, escaped)
    return escaped


def opening(text: str) -> str:
    """Escape a text that opens a line, an item or a quotation, and must begin nothing else there."""
    return _LEADING.sub(_entity, plain(text))


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    return _entity(match) if found in "|@" else "\\" + found


def _entity(match: re.Match[str]) -> str:
    found = match.group()
    return f"&#{ord(found[0])};{found[1:]}"


def prose(text: str) -> list[str]:
    """Escape a text of several paragraphs, one line each."""
    return [opening(paragraph) for paragraph in paragraphs(text)]


def code(text: str) -> str:
    """Write a code span, with more backticks around than any run inside; not for table cells."""
    shown = inert(text) or " "
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in " `" or shown[-1] in " `" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fence(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Yield lines as a code block, its fence longer than any run of backticks inside."""
    shown = [inert(line) for line in lines]
    marks = "`" * max(3, 1 + max(map(_longest_run, shown), default=0))
    yield marks + language
    yield from shown
    yield marks


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of cells that are Markdown already."""
    yield _row(head)
    yield _row(["---"] * len(head))
    for row in rows:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def label(text: str) -> str:
    """Write a Mermaid label in quotes; all but letters, digits and plain marks as character codes."""
    kept = (char if char.isalnum() or char in _IN_LABEL else f"#{ord(char)};" for char in inert(text))
    return f'"{"".join(kept)}"'


def anchor(name: str) -> str:
    """Give an anchor; the one that a heading gets by itself does not outlast a change of its words."""
    return f'<a id="{name.lower()}"></a>'


def link(hypothesis: str) -> str:
    """Link to the section of a hypothesis; what is no id of one is text."""
    if HYPOTHESIS_ID.match(hypothesis) is None:
        return plain(hypothesis)
    return f"[{hypothesis}](#{hypothesis.lower()})"


def heading(hypothesis: str, title: str) -> str:
    """Give the words of a hypothesis's heading, with the anchor that `link` leads to."""
    name = anchor(hypothesis) if HYPOTHESIS_ID.match(hypothesis) else ""
    return f"{name}{plain(hypothesis)} {plain(title)}"
