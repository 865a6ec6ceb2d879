"""Home: the falsification tree, and all about the suspect under the cursor."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from workbench.report.show import show
from workbench.report.status import status
from workbench.report.steps import campaign_step
from workbench.report.unverified import unverified
from workbench.tui.viewmodel import frame
from workbench.tui.viewmodel.page import page
from workbench.tui.viewmodel.tree import Node, label, matching, nodes
from workbench.tui.views.base import Keys, View
from workbench.tui.widgets.inert import pieces
from workbench.tui.widgets.pages import Page

_INDENT = 2


class SuspectTree(Tree[Node], inherit_bindings=False):
    """The tree; a label is drawn anew at the width that is left for it."""

    guide_depth = _INDENT
    show_root = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "read all about the suspect", show=False),
        Binding("j,down", "cursor_down", "down", show=False),
        Binding("k,up", "cursor_up", "up", show=False),
        Binding("g,home", "first", "to the top", show=False),
        Binding("G,end", "last", "to the end", show=False),
        Binding("J", "cursor_next_sibling", "to the next of the same parent", show=False),
        Binding("K", "cursor_previous_sibling", "to the one before of the same parent", show=False),
        Binding("l,right", "unfold", "unfold", show=False),
        Binding("h,left", "fold", "fold, or go to the parent", show=False),
        Binding("pagedown", "page_down", "a screen down", show=False),
        Binding("pageup", "page_up", "a screen up", show=False),
    ]

    def __init__(self) -> None:
        super().__init__("suspects", id="tree", classes="first")
        self._by_key: dict[str, TreeNode[Node]] = {}
        self._drawn_shape: list[tuple[str, str]] = []

    def show(self, found: tuple[Node, ...]) -> None:
        """Show nodes; where the cursor is and what is folded stays, as far as it is still there."""
        shape = [(node.key, node.parent) for node in found]
        if shape == self._drawn_shape:
            for node in found:
                self._by_key[node.key].data = node
            self._invalidate()
            self.refresh()
            return
        self._drawn_shape = shape
        folded = {key for key, node in self._by_key.items() if not node.is_expanded}
        key = self.key
        self.clear()
        self._by_key = {}
        above = {node.parent for node in found}
        for node in found:
            under = self._by_key.get(node.parent, self.root)
            self._by_key[node.key] = under.add(
                "", node, expand=node.key not in folded, allow_expand=node.key in above
            )
        self.go(key if key in self._by_key else _first(found))

    @property
    def key(self) -> str:
        """The key of the node under the cursor; empty without one."""
        node = self.cursor_node
        return node.data.key if node is not None and node.data is not None else ""

    def go(self, key: str) -> None:
        """Move to a node, and unfold what hides it."""
        node = self._by_key.get(key)
        if node is None:
            return
        above = node.parent
        while above is not None:
            above.expand()
            above = above.parent
        self.move_cursor(node)

    def render_label(self, node: TreeNode[Node], base_style: Style, style: Style) -> Text:
        """Draw a label to the width that is left."""
        if node.data is None:
            return Text()
        depth = 0
        above = node.parent
        while above is not None and above is not self.root:
            depth += 1
            above = above.parent
        mark = ("v " if node.is_expanded else "> ") if node.allow_expand else "  "
        left = max(self.size.width - depth * _INDENT - len(mark) - 1, 20)
        text = Text(mark, no_wrap=True, end="")
        text.append_text(pieces(label(node.data, left)))
        text.stylize_before(style)
        return text

    def action_first(self) -> None:
        """Move to the top."""
        self.cursor_line = 0

    def action_last(self) -> None:
        """Move to the end."""
        self.cursor_line = self.last_line

    def action_unfold(self) -> None:
        """Unfold what is under the cursor."""
        if self.cursor_node is not None:
            self.cursor_node.expand()

    def action_fold(self) -> None:
        """Fold what is under the cursor; where nothing is to be folded, go to the parent."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)


def _first(found: tuple[Node, ...]) -> str:
    """Give where to begin: at the top, or at the first match if something is sought."""
    if all(node.matches for node in found):
        return found[0].key if found else ""
    return next((node.key for node in found if node.suspect and node.matches), "")


class TreeView(View):
    """The tree with its detail beside it, or below it where there is no room."""

    VIEW = "tree"
    KEYS: ClassVar[Keys] = [
        ("j/k", "move"),
        ("enter", "read"),
        ("r", "test"),
        ("a", "add"),
        ("v", "rule"),
        ("/", "filter"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "between tree and detail", priority=True),
        Binding("r", "app.test", "plan and run the test of the suspect"),
        Binding("a", "app.add", "add a suspect"),
        Binding("v", "app.rule", "rule on the suspect"),
        Binding("i", "app.evidence", "put evidence on record"),
        Binding("c", "app.link", "link a commit"),
        Binding("t", "app.note", "note something"),
        Binding("w", "app.claim", "say that you work on it"),
        Binding("u", "unverified", "what nobody has verified"),
        Binding("x", "app.next", "which test would tell most"),
        Binding("s", "status", "the campaign on one screen"),
        Binding("p", "problems", "what is wrong in files"),
    ]

    def body(self) -> ComposeResult:
        """Hold tree and detail."""
        with Container(id="home"):
            yield SuspectTree()
            yield Page(id="detail")

    def draw(self) -> None:
        """Draw the tree anew, and the detail of what is under the cursor."""
        self._nodes_found = nodes(self.held.suspects, self.words)
        self.branches.show(self._nodes_found)
        self._draw_detail(keep=True)

    @property
    def branches(self) -> SuspectTree:
        """The tree."""
        return self.query_one(SuspectTree)

    @property
    def suspect(self) -> str:
        """Id of the suspect under the cursor; empty on a symptom."""
        found = self.held.suspects.by_id.get(self.branches.key)
        return found.id if found else ""

    def said_below(self) -> str:
        """Say what the filter has left, else where suspects stand."""
        many = len(self.held.suspects.suspects)
        return frame.below(self.held.suspects, self.words, matching(self._nodes_found), many)

    def copied(self) -> str:
        """Give the file of the suspect."""
        found = self.held.registry.hypothesis(self.suspect)
        return str(self.held.root / found.file) if found else ""

    def on_resize(self) -> None:
        """Draw labels to the new width."""
        super().on_resize()
        self.branches.refresh()

    @on(Tree.NodeHighlighted)
    def _moved(self) -> None:
        self._draw_detail()

    @on(Tree.NodeSelected)
    def _entered(self) -> None:
        self.action_read()

    def action_read(self) -> None:
        """Open the detail on a page of its own."""
        if self.suspect:
            self.bench.show_text(self.suspect, list(self._detail()))

    def action_other(self) -> None:
        """Move between tree and detail."""
        detail = self.query_one("#detail", Page)
        self.set_focus(self.branches if detail.has_focus else detail)

    def action_unverified(self) -> None:
        """List what nobody has verified."""
        self.bench.show_text("not verified", list(unverified(self.held.suspects)))

    def action_problems(self) -> None:
        """List what is wrong in files, which hides nothing of what is right."""
        self.bench.show_text("wrong in files", frame.wrong(self.held.suspects))

    def action_status(self) -> None:
        """Show the campaign on one screen."""
        self.bench.show_text("status", list(status(self.held.registry)))

    def _draw_detail(self, *, keep: bool = False) -> None:
        self.query_one("#detail", Page).show(page(self._detail()), keep=keep)

    def _detail(self) -> list[str]:
        if self.suspect:
            return list(show(self.held.registry, self.suspect, self.held.history))
        if not self.held.suspects.suspects:
            step = campaign_step(self.held.suspects)
            return [
                "no suspects yet",
                "",
                f"next: {step.what}",
                f"  {step.command}",
                "",
                "a adds one here",
            ]
        return list(status(self.held.registry))
