"""HTML of cards and trees: whatever people and files say, it is text in a fixed structure."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.report.campaign import build
from tests.report.hostile import HOSTILE, poisoned
from workbench.model.registry import Registry
from workbench.report import html
from workbench.report.text import inert

BENIGN = build()
TAGS = {
    *("div", "strong", "table", "tbody", "tr", "th", "td", "code", "ul", "li", "em", "s", "br", "pre"),
    "thead",
}
ATTRIBUTES = {"class", "style", "scope"}
PAGES = {"card": html.card, "tree": html.tree}


class Reader(HTMLParser):
    """Reads HTML as a browser would: tags in their order, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def read(page: str) -> Reader:
    found = Reader(page)
    assert found.open == []
    return found


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(page: object, text: str) -> None:
    assert callable(page)
    found = read(page(poisoned(BENIGN, text)))
    assert all(part.isprintable() for part in found.text)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(min_size=1, max_size=40))
def test_any_text_gives_the_same_structure(page: object, text: str) -> None:
    assert callable(page)
    tags = [tag for tag in read(page(poisoned(BENIGN, text))).tags if tag not in ("br", "code")]
    plain = [tag for tag in read(page(poisoned(BENIGN, "x"))).tags if tag not in ("br", "code")]
    assert tags == plain


def test_no_page_around_takes_it_for_mathematics_or_runs_it() -> None:
    for page in (html.card(BENIGN), html.tree(BENIGN), html.preformatted(["$x$"])):
        assert page.startswith('<div class="tex2jax_ignore mathjax_ignore"')
        assert "script" not in page
        assert "http" not in page


def test_colours_are_those_of_the_page_around() -> None:
    for page in (html.card(BENIGN), html.tree(BENIGN), html.preformatted(["x"])):
        assert "background" not in page
        assert "color:" not in page.replace("border-color:", "")


def test_every_suspect_is_in_the_tree_once_with_its_state_in_words() -> None:
    text = " ".join(read(html.tree(BENIGN)).text)
    for id, standing in BENIGN.standings.items():
        assert text.count(f" {inert(id)} ") >= 1, id
        assert str(standing.state) in text


def test_a_tree_of_nothing_says_so() -> None:
    empty = Registry(root="/", spec=type(BENIGN.spec)(title=""))
    assert read(html.tree(empty)).text == ["no symptoms and no hypotheses yet"]
