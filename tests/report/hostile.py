"""Hostile text, and a way to put it into every field of a registry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from workbench.model.hypothesis import HYPOTHESIS_ID
from workbench.model.outcome import Counts

TERMINAL = (
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil\x07click\x1b]8;;\x07",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]0;title\x07",
    "\x9b31m eight bit",
    "abc\u202edcba\u2066x\u2069",
    "zero\u200bwidth\u200djoin\ufeff",
    "bell\x07 back\x08\x08 tab\t nul\x00 del\x7f",
    "line\u2028and\u2029paragraph\x85next\x0bvt\x0cff",
    "return\rover",
    "new\nline",
    "[red] [@click=app.quit]x[/] [type=x, v={'a[0]'}]",
    "lone \ud800 surrogate",
)
MARKDOWN = (
    "a | b || c \\| d",
    "`tick` ``two`` ```three``` ` odd",
    "<script>alert(1)</script><img src=x onerror=y>",
    "![x](http://evil/x.png)",
    "[a](javascript:alert(1)) [b]: http://evil",
    "<http://evil> https://evil www.evil.org WWW.EVIL.ORG a@evil.org",
    "# heading #",
    "---",
    "===",
    "- item",
    "+ item",
    "1. item",
    "1) item",
    "> quote",
    "    indented code",
    "~~~",
    "```mermaid",
    "*emphasis* **strong** _under_ __two__ ~~struck~~ a_b_c _x",
    "trailing backslash \\",
    "&lt;b&gt; &amp; &#60; &nbsp;",
    "$x^2$ $$y$$ @ana #12 GH-12",
    "-->\n<!-- comment -->",
    "| - | - |",
    ":-:",
    "<details><summary>x</summary>",
    '"] --> evil["x"] ; end %%{init: {"securityLevel": "loose"}}%% click h1 "http://evil"',
    "style h1 fill:#f00;",
    "\u05e9\u05dc\u05d5\u05dd \u4e2d\u6587 \U0001f600",
)
HOSTILE = (*TERMINAL, *MARKDOWN)
SYMPTOMS = ("garbled", "wedged")


def poisoned(value: Any, text: str, *, links: bool = False) -> Any:
    """The same value with `text` in place of every string.

    Hypothesis ids, names of arms and of the campaign's symptoms stay, since they tie things together;
    with `links` they go as well.
    """
    match value:
        case Enum() | Counts() | datetime() | None | bool() | int() | float():
            return value
        case str():
            kept = HYPOTHESIS_ID.match(value) or value in (*SYMPTOMS, "control", "treatment", "")
            return value if kept and not links else text
        case Mapping():
            return {
                poisoned(k, text, links=links): poisoned(v, text, links=links) for k, v in value.items()
            }
        case tuple() | list():
            return tuple(poisoned(each, text, links=links) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        given = {
            each.name: poisoned(getattr(value, each.name), text, links=links) for each in fields(value)
        }
        return type(value)(**given)
    return value


def squeezed(text: str) -> str:
    """A text without blanks, to find it again after wrapping."""
    return re.sub(r"\s+", "", text)
