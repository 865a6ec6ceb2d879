"""The ledger as a reader finds it: parsed as CommonMark with tables, not searched as a string."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.report.campaign import build, run_id, verdict
from workbench.model.event import Event, VerdictGiven
from workbench.model.outcome import Counts
from workbench.model.registry import Registry
from workbench.model.standing import Item, State
from workbench.model.verdict import Verdict
from workbench.report.ledger import ledger, ledger_record

HEAD = 10


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def shown(token: Token) -> str:
    """What a reader sees of an inline token."""
    kinds = {"text", "text_special", "code_inline"}
    return "".join(child.content for child in token.children or [] if child.type in kinds)


@dataclass
class Section:
    """What stands under one heading."""

    title: str
    anchors: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def rows(self, *, of: str) -> list[dict[str, str]]:
        """The rows of the table whose first column is `of`, by column."""
        table: list[list[str]] = next((each for each in self.tables if each[0][0] == of), [[]])
        return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


def sections(text: str) -> dict[str, Section]:
    found: list[Section] = []
    tokens = parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            inline = tokens[place + 1]
            html = [child.content for child in inline.children or [] if child.type == "html_inline"]
            anchors = [each.split('"')[1] for each in html if each.startswith("<a ")]
            found.append(Section(shown(inline), anchors))
        elif token.type == "table_open":
            found[-1].tables.append([])
        elif token.type == "tr_open":
            found[-1].tables[-1].append([])
        elif token.type == "inline" and tokens[place - 1].type in ("td_open", "th_open"):
            found[-1].tables[-1][-1].append(shown(token))
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            found[-1].lines.append(shown(token))
    return {section.anchors[0] if section.anchors else section.title: section for section in found}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return build()


@pytest.fixture(scope="module")
def page(registry: Registry) -> dict[str, Section]:
    return sections(ledger(registry))


def test_the_first_ten_lines_are_plain_words(registry: Registry) -> None:
    lines = ledger(registry).split("\n")
    assert lines[HEAD] == ""
    tokens = parse("\n".join(lines[:HEAD]))
    said = [shown(token) for token in tokens if token.type == "inline"]
    names = [line.split(":")[0].split(" (")[0] for line in said]
    assert names == [
        "Ledger",
        "Status",
        "Symptom",
        "Safe today",
        "Leading cause",
        "Refuted",
        "Not verified",
        "Reproduce",
        "Next",
        "Spent",
    ]
    assert "41/60 (46 % to 79 %)" in said[2]
    assert "0/60 (at most 8.3 %)" in said[3]
    assert said[4].startswith("Leading cause: H2 ")
    assert said[5] == "Refuted: 2: H3, H5"


def test_a_reader_finds_each_prediction_with_counts_verdict_and_grade(
    registry: Registry, page: dict[str, Section]
) -> None:
    verdicts = 0
    for hypothesis in registry.hypotheses:
        section = page[hypothesis.id.lower()]
        standing = registry.standings[hypothesis.id]
        stated = {row["what"]: row["as written"] for row in section.rows(of="what")}
        removes = "control 40 %, treatment removes the symptom"
        assert stated["prediction"] == (removes if hypothesis.prediction else "none written")
        assert section.lines[0].startswith(str(standing.state).capitalize())
        assert standing.grade is None or f"grade {standing.grade}" in section.lines[0]
        judged = [item.verdict for item in standing.items if item.verdict is not None]
        rows = section.rows(of="run")
        assert len(rows) == len(judged)
        for row, found in zip(rows, judged, strict=True):
            verdicts += 1
            assert row["run"].startswith(found.run)
            assert row["verdict"].startswith(found.verdict)
            assert row["prediction"] == found.prediction
            for arm in ("control", "treatment"):
                counts = found.arms[arm].counts
                assert row[arm].startswith(f"{counts.hit}/{counts.decided} (")
                assert " %)" in row[arm]
    assert verdicts == 6


def test_a_reader_finds_who_decided_what_and_why(page: dict[str, Section]) -> None:
    ruling = page["h2"].lines[page["h2"].lines.index("Decided:") + 1]
    for part in ("ana (self-ruled)", "2026-11-29", "strikes E-cccc", "that engine ran stale code"):
        assert part in ruling
    given = page["h1"].rows(of="evidence")
    assert [row["bears"] for row in given] == ["against", "for"]
    assert given[0]["who, when"] == "bot (agent), 2026-11-29 01:00Z"
    assert given[0]["source"] == f"{'ab' * 20}:mem_cache/host.py:920"
    assert page["h2"].rows(of="evidence")[0]["counts"].startswith("no: struck by ruling")


def test_a_reader_finds_what_was_ruled_out_and_on_which_base(page: dict[str, Section]) -> None:
    lines = page["Ruled out"].lines
    assert [line.split(" ")[0] for line in lines if line.startswith("H")] == ["H3", "H5", "H4"]
    assert "not needed on this base: index_k bf16, hicache on, build broken" in lines[1]
    refutes_nothing = lines.index("Replaced by another suspect, which refutes nothing:")
    assert "H7 replaces it" in lines[refutes_nothing + 1]


def test_a_reader_finds_what_is_not_verified_and_contested(page: dict[str, Section]) -> None:
    assert [line.split(":")[0] for line in page["Contested"].lines] == [
        "H1 The read path does not wait for the layer that is still being loaded"
    ]
    points = "\n".join(page["not-verified"].lines)
    for part in ("H2 assumes A1", "H7 assumes A1", "not put back", "changed after", "own author"):
        assert part in points
    assert "A2" not in points  # it was found to hold


def test_an_edit_after_a_run_is_told(page: dict[str, Section]) -> None:
    changed = f"Prediction or test changed after {run_id(2)}."
    assert any(line.startswith(changed) for line in page["h5"].lines)


def test_links_lead_somewhere(registry: Registry) -> None:
    tokens = parse(ledger(registry))
    children = [child for token in tokens for child in token.children or []]
    targets = {child.attrs["href"] for child in children if child.type == "link_open"}
    html = [child.content for child in children if child.type == "html_inline"]
    anchors = {"#" + each.split('"')[1] for each in html if each.startswith("<a ")}
    assert targets
    assert targets <= anchors


def test_the_same_campaign_gives_the_same_bytes(registry: Registry) -> None:
    moved = replace(registry, root="/another/place")
    assert ledger(moved) == ledger(registry)
    assert ledger_record(moved) == ledger_record(registry)
    assert ledger(registry).endswith("\n")
    assert all(head in ledger(registry) for head in registry.heads)


def test_no_rate_is_called_zero(registry: Registry) -> None:
    text = ledger(registry)
    assert " 0 %" not in text
    assert "(0 %" not in text
    assert "0.0 %" not in text


def with_verdict(registry: Registry, found: VerdictGiven, hypothesis: str) -> Registry:
    """The registry after one more verdict that counts."""
    last = registry.events[-1]
    event: Event = replace(last, id="another1", body=found, at=last.at.replace(day=30))
    standing = registry.standings[hypothesis]
    sample: Item = next(
        item for item in registry.standings["H2"].items if item.verdict is not None and item.counts
    )
    item = replace(sample, id=event.id, at=event.at, verdict=found)
    changed = {**registry.standings, hypothesis: replace(standing, items=(*standing.items, item))}
    return replace(registry, standings=changed, events=(*registry.events, event))


def test_safe_is_what_no_test_has_seen_failing(registry: Registry) -> None:
    clean = ledger_record(registry)["clean"]
    assert (clean["run"], clean["settings"]["index_k"]) == (run_id(0), "fp8")
    fp8 = {"index_k": "fp8"}
    again = verdict(9, "H6", Verdict.FALSIFIED, treatment=Counts(2, 58), changed=fp8)
    assert ledger_record(with_verdict(registry, again, "H6"))["clean"] is None


def test_few_sessions_without_a_hit_are_not_called_safe(registry: Registry) -> None:
    few = verdict(9, "H7", Verdict.INCONCLUSIVE, treatment=Counts(0, 12), changed={"topk": "v9"})
    assert ledger_record(with_verdict(registry, few, "H7"))["clean"]["run"] == run_id(0)
    enough = verdict(9, "H7", Verdict.PRESENT, changed={"topk": "v9"})
    assert ledger_record(with_verdict(registry, enough, "H7"))["clean"]["run"] == enough.run


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.CONFIRMED, "H2 is confirmed as a cause: removed and put back"),
        (State.SUPPORTED, "H2 is supported (compared); no cause is confirmed"),
        (State.CONTESTED, "H2 leads and is contested; no cause is confirmed"),
    ],
)
def test_the_status_says_no_more_than_is_shown(registry: Registry, state: State, words: str) -> None:
    standing = replace(registry.standings["H2"], state=state)
    page = ledger(replace(registry, standings={**registry.standings, "H2": standing}))
    assert f"): {words}; suspects: " in page.split("\n")[1]


def test_effects_that_many_tests_would_bring_by_chance_are_marked(registry: Registry) -> None:
    assert ledger_record(registry)["survives"] == ["H2"]
    weak = verdict(9, "H7", Verdict.PRESENT, changed={"topk": "v9"}, e_no_effect=24.0)
    proposed_only = replace(registry, events=registry.events[:9])
    alone = with_verdict(proposed_only, weak, "H7")
    assert ledger_record(alone)["survives"] == ["H7"]
    among_many = with_verdict(registry, weak, "H7")
    assert ledger_record(among_many)["survives"] == ["H2"]
    page = sections(ledger(among_many))
    said = "Among all tests of the campaign this effect {} (e-BH at 0.05)."
    assert said.format("survives") in page["h2"].lines
    assert said.format("does not survive") in page["h7"].lines


def test_two_suspects_of_one_test_share_its_fate(registry: Registry) -> None:
    shared = replace(verdict(0, "H7", Verdict.PRESENT), digest="digest-0")
    assert ledger_record(with_verdict(registry, shared, "H7"))["survives"] == ["H2", "H7"]
