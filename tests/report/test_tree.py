"""The tree holds every suspect once, whatever its links say."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.report.campaign import build
from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.hypothesis import Hypothesis
from workbench.model.registry import Registry
from workbench.model.standing import Standing, State
from workbench.report.tree import NODES_DRAWN, mermaid, tree, tree_records

SPEC = CampaignSpec(title="", symptoms={"garbled": SymptomSpec(name="garbled")})


def campaign(parents: dict[int, tuple[int, ...]], states: dict[int, State] | None = None) -> Registry:
    """A campaign of bare hypotheses with these parents."""
    hypotheses = []
    for number, above in parents.items():
        ids = [f"H{each}" for each in above]
        plain = Hypothesis(id=f"H{number}", title=f"title {number}", file="")
        hypotheses.append(replace(plain, parent=ids[0] if ids else "", also=tuple(ids[1:])))
    standings = {
        f"H{number}": Standing(hypothesis=f"H{number}", state=state)
        for number, state in (states or {}).items()
    }
    ordered = tuple(sorted(hypotheses, key=lambda each: int(each.id[1:])))
    return Registry(root="", spec=SPEC, hypotheses=ordered, standings=standings)


def nodes(registry: Registry) -> dict[str, tuple[str | None, int, list[str]]]:
    return {
        record["id"]: (record["parent"], record["depth"], record["remarks"])
        for record in tree_records(registry)
        if record["id"] is not None
    }


graphs = st.dictionaries(
    st.integers(1, 12), st.lists(st.integers(1, 14), max_size=3).map(tuple), min_size=1, max_size=12
)


@given(graphs)
def test_every_suspect_comes_once_and_under_a_parent_that_came_before(
    parents: dict[int, tuple[int, ...]],
) -> None:
    registry = campaign(parents)
    records = [record for record in tree_records(registry) if record["id"] is not None]
    assert sorted(record["id"] for record in records) == sorted(f"H{number}" for number in parents)
    depths: dict[str | None, int] = {None: 0}
    for record in records:
        assert record["depth"] == depths[record["parent"]] + 1
        depths[record["id"]] = record["depth"]
        stated = [f"H{each}" for each in parents[int(record["id"][1:])]]
        assert record["parent"] is None or record["parent"] in stated
        known = [each for each in stated if int(each[1:]) in parents]
        if record["parent"] is None and known:
            assert any("circle" in remark for remark in record["remarks"])
        unknown = [each for each in stated if int(each[1:]) not in parents]
        assert bool(unknown) == any("no hypothesis" in remark for remark in record["remarks"])


def test_a_circle_is_cut_at_its_lowest_number_and_named() -> None:
    found = nodes(campaign({1: (3,), 2: (4,), 3: (2,), 4: (3,), 5: (5,)}))
    assert found["H2"] == (None, 1, ["its parents go round in a circle: H2, H4, H3, H2"])
    assert found["H3"][0] == "H2"
    assert found["H4"][0] == "H3"
    assert found["H1"][0] == "H3"
    assert found["H5"] == (None, 1, ["its parents go round in a circle: H5, H5"])


def test_what_hangs_under_a_fallen_suspect_says_so() -> None:
    fallen = nodes(campaign({1: (), 2: (1,), 3: (2,)}, {1: State.FALSIFIED}))
    assert fallen["H2"] == ("H1", 2, ["its parent H1 is falsified: the link is void"])
    assert fallen["H3"][2] == []


def test_a_chain_of_thousands_stays_narrow() -> None:
    deep = campaign({number: (number - 1,) if number > 1 else () for number in range(1, 3001)})
    lines = list(tree(deep))
    assert len(lines) == 3002
    assert lines.pop().startswith("0 diagnostic A/Bs")
    assert max(map(len, lines)) <= 80
    assert "[depth 3000] H3000" in lines[-1]


def test_lines_say_state_grade_and_title_in_words() -> None:
    lines = list(tree(build()))
    assert "|- H2 + supported (compared)  bf16 index keys are needed for the fault" in lines
    assert any(line.endswith("(its parent H5 is overturned: the link is void)") for line in lines)


def drawn(registry: Registry) -> tuple[set[str], list[tuple[str, str]]]:
    names, edges = set(), []
    for line in mermaid(registry):
        if "[" in line:
            names.add(line.strip().partition("[")[0])
        elif ">" in line:
            above, _, below = line.split()
            edges.append((above, below))
    return names, edges


def test_a_small_tree_is_drawn_whole() -> None:
    names, edges = drawn(build())
    assert {f"h{number}" for number in range(1, 10)} <= names
    assert len(edges) == 9
    assert "folded" not in names


def test_beyond_sixty_nodes_what_fell_is_folded_first_and_counted() -> None:
    parents: dict[int, tuple[int, ...]] = {1: (), 200: (1,), 201: (200,)}
    parents |= dict.fromkeys(range(2, 100), (1,))
    states = dict.fromkeys(range(2, 100), State.FALSIFIED) | {200: State.OVERTURNED}
    large = campaign(parents, states)
    names, edges = drawn(large)
    assert len(names) == NODES_DRAWN
    assert {"h1", "h200", "h201", "folded"} <= names  # h201 is live, and h200 leads to it
    assert {name for edge in edges for name in edge} == names - {"folded"}
    (folded,) = (line for line in mermaid(large) if "folded" in line)
    left = len(parents) + 1 - (NODES_DRAWN - 1)
    assert f"{left} more not drawn" in folded
    assert f"{left} falsified" in folded


@given(graphs)
def test_no_edge_hangs_in_the_air(parents: dict[int, tuple[int, ...]]) -> None:
    names, edges = drawn(campaign(parents))
    assert {name for edge in edges for name in edge} <= names
    assert len(edges) == len(parents)
