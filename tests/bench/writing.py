"""Tables as Markdown files that name the command they came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

TABLES = Path(__file__).parent / "tables"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def write(name: str, command: str, *parts: str) -> None:
    """Write `tables/NAME.md` and show it."""
    text = "\n\n".join([f"Made by `{command}`.", *parts]) + "\n"
    (TABLES / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
