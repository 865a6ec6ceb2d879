"""HTML of reports: stands alone, needs no script, and takes its colours from the page around it.

A notebook shows it as it is, an export keeps it, and a viewer that trusts nobody and takes styles
away leaves lists and tables that can be read. Texts from outside are text: neither markup nor, where a
page typesets mathematics, a formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from workbench.model.registry import Registry
from workbench.report.registry import notes, state_words
from workbench.report.status import Row, status_card
from workbench.report.suspects import roster
from workbench.report.text import inert
from workbench.report.tree import Branch, branches

_LINE = "1px solid rgba(128, 128, 128, 0.5)"  # seen on white and on black
_CELL = "text-align: left; vertical-align: top; padding: 0.1em 0.8em 0.1em 0"
_BOX = f"border: {_LINE}; border-radius: 4px; padding: 0.6em 1em; max-width: 60em"


def text(words: object) -> str:
    """Give text from outside as HTML that shows exactly that."""
    return escape(inert(str(words)), quote=True)


def framed(inner: str, style: str = "") -> str:
    """Wrap HTML so that nothing in it is taken for mathematics."""
    styled = f' style="{style}"' if style else ""
    return f'<div class="tex2jax_ignore mathjax_ignore"{styled}>{inner}</div>'


def preformatted(lines: Iterable[str]) -> str:
    """Give lines of a report as they stand on a terminal."""
    body = "\n".join(map(text, lines))
    return framed(f'<pre style="line-height: 1.3">{body}</pre>')


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a table of text."""
    titles = "".join(f'<th style="{_CELL}; border-bottom: {_LINE}">{text(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return framed(f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>")


def _cell(cell: object) -> str:
    return f'<td style="{_CELL}">{text(cell)}</td>'


def card(registry: Registry) -> str:
    """Give the campaign on one screen, as `status` does."""
    title, rows = status_card(registry)
    body = "".join(_card_row(label, lines) for label, lines in _grouped(rows))
    return framed(f"<strong>{text(title)}</strong><table><tbody>{body}</tbody></table>", _BOX)


def _grouped(rows: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    """Yield each label with all of its lines."""
    at = 0
    numbers = []
    for label, _ in rows:
        at += bool(label)
        numbers.append(at)
    for _, group in groupby(zip(numbers, rows, strict=True), key=lambda pair: pair[0]):
        found = [row for _, row in group]
        yield found[0][0], [line for _, line in found]


def _card_row(label: str, lines: Sequence[str]) -> str:
    shown = "<br>".join(map(_card_line, lines))
    name = f'<th scope="row" style="{_CELL}">{text(label)}</th>'
    return f'<tr>{name}<td style="{_CELL}">{shown}</td></tr>'


def _card_line(line: str) -> str:
    return f"<code>{text(line)}</code>" if line.startswith("workbench ") else text(line)


def tree(registry: Registry) -> str:
    """Give the falsification tree as nested lists."""
    parts: list[str] = []
    depth = -1
    for branch in branches(roster(registry)):
        if branch.depth > depth:
            parts += ['<ul style="margin: 0.1em 0">'] * (branch.depth - depth)
        else:
            parts += ["</li>", *["</ul></li>"] * (depth - branch.depth)]
        parts.append(f"<li>{_node(branch)}")
        depth = branch.depth
    if not parts:
        return framed("no symptoms and no hypotheses yet")
    return framed("".join([*parts, "</li></ul>" * (depth + 1)]))


def _node(branch: Branch) -> str:
    suspect = branch.suspect
    if suspect is None:
        name = text(branch.symptom or "no symptom named")
        return f"<strong>{name}</strong> {text(branch.text)}"
    grade = f" ({text(suspect.standing.grade)})" if suspect.standing.grade else ""
    state = f"{text(state_words(suspect))}{grade}"
    title = text(notes(suspect) + suspect.title)
    title = f"<s>{title}</s>" if suspect.fallen else title
    remarks = "".join(f"<br><em>{text(remark)}</em>" for remark in branch.remarks)
    return f"<strong>{text(suspect.id)}</strong> {state}: {title}{remarks}"
