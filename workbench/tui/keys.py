"""The keys of a screen, from its bindings alone: the help and the palette cannot say what is not so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import App, SystemCommand
from textual.binding import ActiveBinding
from textual.screen import Screen


def here(app: App[Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys that mean something on the screen that is seen, with what each does.

    Those of the screen come first, then those of what has the focus, then those that work everywhere.
    """
    for active in _by_action(app.screen, app):
        shown = dict.fromkeys(app.get_key_display(each.binding) for each in active)
        yield ", ".join(shown), _said(active)


def commands(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """Yield the same for the palette."""
    for active in _by_action(screen, app):
        action, node = active[0].binding.action, active[0].node

        async def act(action: str = action, node: Any = node) -> None:
            await app.run_action(action, node)

        shown = app.get_key_display(active[0].binding)
        yield SystemCommand(_said(active), f"key {shown}", act)


def _by_action(screen: Screen[Any], app: App[Any]) -> list[list[ActiveBinding]]:
    """Gather the bindings by what they do; several keys may do the same."""
    found: dict[tuple[int, str], list[ActiveBinding]] = {}
    for active in screen.active_bindings.values():
        if active.enabled and active.binding.description:
            found.setdefault((id(active.node), active.binding.action), []).append(active)

    def place(bindings: list[ActiveBinding]) -> int:
        node = bindings[0].node
        return 0 if node is screen else 2 if node is app else 1

    return sorted(found.values(), key=place)


def _said(active: list[ActiveBinding]) -> str:
    """Give the description: ours, which begin in lower case, before that of Textual."""
    descriptions = [each.binding.description for each in active]
    return next((text for text in descriptions if text[:1].islower()), descriptions[0]).lower()
