"""How objects of a notebook show themselves: as plain text anywhere, as HTML where that is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.report import html


class Shown:
    """Something that shows itself."""

    def lines(self) -> Iterable[str]:
        """Give it as lines of plain text, safe to print."""
        raise NotImplementedError

    def html(self) -> str:
        """Give it as HTML that stands alone."""
        return html.preformatted(self.lines())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html()


class Report(Shown):
    """A report that is made once and shown as often as one likes.

    Args:
        lines: Its lines, safe to print.
        as_html: Gives it as HTML, None for its lines as they are.
        records: The same as JSON values.

    Attributes:
        records: The same as JSON values, as `--json` on the command line gives them.
    """

    def __init__(
        self,
        lines: Iterable[str],
        as_html: Callable[[], str] | None = None,
        records: Iterable[dict[str, object]] = (),
    ) -> None:
        self._lines = tuple(lines)
        self._as_html = as_html
        self.records = list(records)

    def lines(self) -> Iterable[str]:
        """Give its lines."""
        return self._lines

    def html(self) -> str:
        """Give it as HTML."""
        return self._as_html() if self._as_html else super().html()


class Mermaid(str):
    """Text of a Mermaid diagram; JupyterLab draws it, everything else shows the text."""

    __slots__ = ()

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": str(self), "text/vnd.mermaid": str(self)}
