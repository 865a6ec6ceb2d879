"""A form on top of a view: lines to fill in, saved by ctrl+s; no error loses what was typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widgets import Input

from workbench.errors import WorkbenchError
from workbench.report.text import inert
from workbench.tui.views.sheets import Sheet
from workbench.tui.widgets.inert import Plain

Values = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A line of a form.

    Attributes:
        name: What the value is called.
        label: What stands before it; its name if that is empty.
        hint: What is wanted, shown as long as nothing is written.
        value: What it begins with.
        words: What may be written, if that is a choice; the rest of one is offered as one types.
    """

    name: str
    label: str = ""
    hint: str = ""
    value: str = ""
    words: tuple[str, ...] = ()


def _input(field: Field) -> Input:
    suggester = SuggestFromList(field.words, case_sensitive=False) if field.words else None
    return Input(
        field.value,
        id=f"field-{field.name}",
        placeholder=field.hint,
        suggester=suggester,
        compact=True,
    )


class Form(Sheet):
    """Fields, and what is said of them.

    Args:
        title: What it is about.
        fields: Its lines.
        save: Writes it, in a thread, and gives what to say of that; a WorkbenchError stays in the form.
        saved: Told what `save` gave, once the form is gone.
        remark: Says something of what is typed so far, such as what is nearly the same.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", priority=True),
        Binding("down", "app.focus_next", "to the next line", show=False),
        Binding("up", "app.focus_previous", "to the line before", show=False),
    ]

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        save: Callable[[Values], str],
        saved: Callable[[str], None],
        remark: Callable[[Values], Sequence[str]] | None = None,
    ) -> None:
        super().__init__()
        self._headline = title
        self._fields = tuple(fields)
        self._save = save
        self._saved = saved
        self._remark = remark
        self._asked = False

    def compose(self) -> ComposeResult:
        """Hold the lines, and below them what is wrong, what is similar, and the keys."""
        with Vertical():
            yield Plain(self._headline, classes="title")
            with VerticalScroll(classes="fields", can_focus=False):
                for field in self._fields:
                    with Horizontal(classes="line"):
                        yield Plain(field.label or field.name, classes="name")
                        yield _input(field)
            yield Plain(classes="said")
            yield Plain(classes="wrong")
            yield Plain("tab next  right takes what is offered  ctrl+s save  esc leave", classes="keys")

    def on_mount(self) -> None:
        """Begin with the first line that is empty."""
        empty = [field for field in self._fields if not field.value]
        self.set_focus(self.query_one(f"#field-{(empty or self._fields)[0].name}", Input))

    @property
    def values(self) -> dict[str, str]:
        """What is typed, by name."""
        return {
            field.name: self.query_one(f"#field-{field.name}", Input).value.strip()
            for field in self._fields
        }

    @property
    def dirty(self) -> bool:
        """Something was typed."""
        return any(self.values[field.name] != field.value.strip() for field in self._fields)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._asked = False
        if self._remark is not None:
            self.query_one(".said", Plain).say("\n".join(self._remark(self.values)))

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    def action_close(self) -> None:
        """Leave; what was typed is thrown away only when that is said twice."""
        if self.dirty and not self._asked:
            self._asked = True
            self._wrong("not saved: esc again throws it away, ctrl+s saves it")
            return
        self.dismiss()

    def action_save(self) -> None:
        """Write it."""
        self._write(self.values)

    @work(thread=True, exclusive=True, exit_on_error=False, group="save")
    def _write(self, values: Values) -> None:
        try:
            said = self._save(values)
        except WorkbenchError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self.app.call_from_thread(self._wrong, f"{inert(error.what)}{inert(hint)}")
            return
        self.app.call_from_thread(self._leave, said)

    def _wrong(self, what: str) -> None:
        self.query_one(".wrong", Plain).say(what)

    def _leave(self, said: str) -> None:
        self.dismiss()
        self._saved(said)
