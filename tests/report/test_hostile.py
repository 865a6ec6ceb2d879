"""Nothing from a file, a person or an engine is more than text, wherever it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.report.campaign import build
from tests.report.hostile import HOSTILE, poisoned, squeezed
from tests.report.test_golden import REPORTS
from tests.report.test_ledger import parse, sections, shown
from workbench.model.hypothesis import HYPOTHESIS_ID
from workbench.model.registry import Registry
from workbench.report import ledger, registry, show, tree
from workbench.report.text import inert

BENIGN = build()
TEXTS: dict[str, Callable[[Registry], Iterable[str]]] = {
    name: report for name, report in REPORTS.items() if name.endswith(".txt") and "show" not in name
}
OURS = re.compile(r'<a id="(h[1-9][0-9]*|not-verified)">|</a>')
LABEL = r'\["(?:[^"\\\[\]{}|<>`%@:&$*~!^;#]|#[0-9]+;)*"\]'
DRAWN = re.compile(
    rf"flowchart TD|  (?:s[0-9]+|h[0-9]+|x[0-9]+|folded){LABEL}|  [shx][0-9]+ (?:-->|-\.->) [hx][0-9]+"
)


def blocks(text: str) -> list[str]:
    return [f"{token.type} {token.tag}" for token in parse(text)]


@lru_cache
def built_with(text: str) -> list[str]:
    return blocks(ledger.ledger(poisoned(BENIGN, text)))


def assert_inert(page: str) -> None:
    for line in page.split("\n"):
        assert line.isprintable()
    for token in parse(page):
        assert token.type not in ("html_block", "image", "code_block")
        for child in token.children or []:
            assert child.type in ("text", "code_inline", "link_open", "link_close", "html_inline") or (
                child.type in ("strong_open", "strong_close", "em_open", "em_close")
            )
            if child.type == "html_inline":
                assert OURS.fullmatch(child.content)
            if child.type == "link_open":
                assert re.fullmatch(r"#(h[1-9][0-9]*|not-verified)", str(child.attrs["href"]))
        if token.type == "inline":
            source = re.sub(r"(`+)[^`](.*?[^`])?\1(?!`)", "", token.content)
            assert "://" not in source
            assert not re.search(r"www\.", source, re.IGNORECASE)


def drawn(page: str) -> list[str]:
    fences = [token for token in parse(page) if token.type == "fence"]
    assert [token.info for token in fences] == ["mermaid"]
    return fences[0].content.splitlines()


@pytest.mark.parametrize("links", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_text_goes_to_a_terminal_as_text(text: str, links: bool) -> None:
    hostile: Registry = poisoned(BENIGN, text, links=links)
    for report in TEXTS.values():
        for line in report(hostile):
            assert line.isprintable()
    for id in hostile.standings:
        for line in show.show(hostile, id):
            assert line.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_show_loses_nothing_of_a_text(text: str) -> None:
    hostile: Registry = poisoned(BENIGN, text)
    wanted = squeezed("".join(map(inert, text.split("\n"))))
    assert wanted in squeezed("".join(show.show(hostile, "H1")))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_ledger_is_built_the_same_whatever_stands_in_its_fields(text: str) -> None:
    page = ledger.ledger(poisoned(BENIGN, text))
    assert_inert(page)
    assert blocks(page) == built_with("x")


@pytest.mark.parametrize("text", HOSTILE)
def test_cells_headings_and_items_say_what_was_written(text: str) -> None:
    page = sections(ledger.ledger(poisoned(BENIGN, text)))
    said = inert(text).strip()
    assert [row["claim"] for row in page["Tree"].rows(of="suspect")] == [said] * len(BENIGN.standings)
    for number in range(1, 10):
        assert page[f"h{number}"].title == f"H{number} {said}".rstrip()
    assert {
        row["as written"] for row in page["h1"].rows(of="what") if row["what"] == "falsified by"
    } == {said}
    (ruling,) = (row for row in page["h2"].rows(of="evidence"))
    assert ruling["says"] == said
    assert ruling["counts"] == f"no: {said}"
    decided = page["h2"].lines[page["h2"].lines.index("Decided:") + 1]
    assert decided == inert(f"{text} (self-ruled), 2026-11-29 04:00Z").strip() + (
        inert(f": strikes {text}, role contributing, because {text} ({text})")
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_escapes_from_a_label_of_the_tree(text: str) -> None:
    for line in drawn(ledger.ledger(poisoned(BENIGN, text))):
        assert DRAWN.fullmatch(line), line


@pytest.mark.parametrize("text", HOSTILE)
def test_even_ids_and_names_of_arms_are_only_text(text: str) -> None:
    page = ledger.ledger(poisoned(BENIGN, text, links=True))
    assert_inert(page)
    for line in drawn(page):
        assert DRAWN.fullmatch(line), line


@pytest.mark.parametrize("text", HOSTILE)
def test_records_are_json_whatever_stands_in_them(text: str) -> None:
    record = ledger.ledger_record(poisoned(BENIGN, text))
    assert record["title"] == text
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def telling(text: str) -> bool:
    """It is no blank text, one paragraph, and no word that means something to a report."""
    if text in ("planned", "reverted", "dead", "cause", "revert") or HYPOTHESIS_ID.match(text):
        return False
    return bool(text.strip(" \t\r\n")) and not re.search(r"\n[ \t\r]*\n", text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(min_size=1).filter(telling))
def test_any_text_is_inert_everywhere(text: str) -> None:
    hostile: Registry = poisoned(BENIGN, text)
    page = ledger.ledger(hostile)
    assert_inert(page)
    assert blocks(page) == built_with("x")
    said = inert(text).strip()
    assert {row["claim"] for row in sections(page)["Tree"].rows(of="suspect")} == {said}
    for line in (*registry.hypotheses(hostile), *tree.tree(hostile), *show.show(hostile, "H5")):
        assert line.isprintable()


def test_a_statement_keeps_its_paragraphs() -> None:
    files = tuple(replace(each, statement="# one\ntwo\n\n\n- three\n") for each in BENIGN.hypotheses)
    tokens = parse(ledger.ledger(replace(BENIGN, hypotheses=files)))
    quoted: list[str] = []
    depth = 0
    for token in tokens:
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if depth and token.type == "inline":
            quoted.append(shown(token))
    assert quoted == ["# one two", "- three"] * len(files)


def test_a_megabyte_of_title_is_cut_in_lists_and_kept_in_show() -> None:
    long = "long " * 200_000
    files = tuple(replace(each, title=long) for each in BENIGN.hypotheses)
    hostile = replace(BENIGN, hypotheses=files)
    titled = [line for line in registry.hypotheses(hostile) if "long" in line]
    assert max(map(len, titled)) <= 80
    assert sum(line.count("long") for line in show.show(hostile, "H1")) >= 200_000
    assert max(map(len, tree.mermaid(hostile))) < 200


def values_of(record: Any) -> Iterable[Any]:
    if isinstance(record, dict):
        for value in record.values():
            yield from values_of(value)
    elif isinstance(record, list):
        for value in record:
            yield from values_of(value)
    else:
        yield record


def test_records_hold_plain_values_alone() -> None:
    kinds = {type(value) for value in values_of(ledger.ledger_record(BENIGN))}
    assert kinds <= {str, int, float, bool, type(None)}
