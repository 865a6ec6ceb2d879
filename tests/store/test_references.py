"""Do the files of a campaign fit together? Whatever does not is told where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.people import CAMPAIGN, TEST, hypothesis, write
from workbench.store.campaignfiles import read_files
from workbench.store.references import Facts, check_tree

MORE = CAMPAIGN + "constraints: [{id: C1, text: stays, check: {knob: index_k, level: bf16}}]\n"


def told(root: Path) -> list[str]:
    return [str(each) for each in read_files(root).problems]


def arms(control: str, treatment: str, rest: str = "") -> str:
    return f"test:\n  control: {{{control}}}\n  treatment: {{{treatment}}}\n{rest}"


def test_files_that_fit_have_no_problems(tmp_path: Path) -> None:
    rest = TEST + 'parent: H1\nsymptom: garbled\nfails_when: {index_k: bf16|fp8, in_flight: ">=30"}\n'
    put_back = "  put_back:\n    control: {index_k: fp8}\n    treatment: {index_k: bf16}\n"
    test, _, _ = TEST.rpartition("\n")
    more = test + "\n  workload: agents\n  engine: local\n" + put_back
    files = {
        "H01-a.yaml": hypothesis("H1"),
        "H02-b.yaml": hypothesis("H2", rest),
        "H3.yaml": hypothesis("H3", more + "also: [H1, H2]\n"),
    }
    assert told(write(tmp_path, files, MORE)) == []


@pytest.mark.parametrize(
    ("rest", "place", "what"),
    [
        ("symptom: garbeld\n", "4:10", "there is no symptom 'garbeld'; did you mean 'garbled'?"),
        ("parent: H12\n", "4:9", "there is no hypothesis H12; did you mean 'H1'?"),
        ("parent: H2\n", "4:9", "H2 cannot be its own parent"),
        ("also: [H1, H99]\n", "4:12", "there is no hypothesis H99"),
        ("fails_when: {indexk: bf16}\n", "4:14", "there is no knob 'indexk'; did you mean 'index_k'?"),
        (
            "fails_when: {index_k: fp8|bf61}\n",
            "4:23",
            "knob index_k has no level 'bf61'; did you mean 'bf16'?",
        ),
        (
            "fails_when: {index_k: bf61}\n",
            "4:23",
            "knob index_k has no level 'bf61'; did you mean 'bf16'?",
        ),
        (
            "interventions: [{setting: {index_k: bf61}, kind: mitigation}]\n",
            "4:37",
            "knob index_k has no level 'bf61'; did you mean 'bf16'?",
        ),
        (
            "interventions: [{setting: {index_k: fp8}, commit: main, kind: fix}]\n",
            "4:17",
            "names no one change; give `commit`, or the `setting` that was changed",
        ),
        ("fails_when: {in_flght: '>=3'}\n", "4:14", "did you mean 'in_flight'?"),
        ("fails_when: {in_flight: many}\n", "4:25", "'many' is no condition on in_flight"),
        (arms("indexk: bf16", "index_k: fp8"), "5:13", "there is no knob 'indexk'"),
        (arms("index_k: bf61", "index_k: fp8"), "5:22", "has no level 'bf61'; did you mean 'bf16'?"),
        (arms("index_k: fp8", "index_k: fp8"), "6:3", "control and treatment are equal"),
        (
            arms('index_k: fp8, hicache: "on"', 'index_k: bf16, hicache: "off"'),
            "6:3",
            "differ in 2 knobs: index_k, hicache; change one, or say `why_many:`",
        ),
        (arms("index_k: bf16", 'hicache: "off"'), "6:3", "differ in 2 knobs"),
        (
            arms("index_k: bf16", "index_k: fp8", "  workload: agent\n"),
            "7:13",
            "did you mean 'agents'?",
        ),
        (arms("index_k: bf16", "index_k: fp8", "  engine: prod\n"), "7:11", "known: local"),
        (
            arms(
                "index_k: bf16",
                "index_k: fp8",
                "  put_back: {control: {index_k: x}, treatment: {a: b}}\n",
            ),
            "7:33",
            "knob index_k has no level 'x'",
        ),
        (
            arms(
                "index_k: bf16",
                "index_k: fp8",
                "  put_back:\n    control: {index_k: fp8}\n    treatment: {index_k: fp8}\n",
            ),
            "9:5",
            "control and treatment are equal",
        ),
        (
            "assumptions: [{id: A1, text: x}, {id: A1, text: y}]\n",
            "4:39",
            "there are two assumptions A1",
        ),
    ],
)
def test_what_leads_nowhere_is_told_where_it_stands(
    tmp_path: Path, rest: str, place: str, what: str
) -> None:
    files = {"H01-a.yaml": hypothesis("H1"), "H02-b.yaml": hypothesis("H2", rest)}
    problems = told(write(tmp_path, files))
    assert any(
        each.startswith(f"hypotheses/H02-b.yaml:{place}: ") and what in each for each in problems
    ), problems


def test_a_file_of_mistakes_is_told_up_to_a_limit(tmp_path: Path) -> None:
    unknown = "".join(f"x{n}: 1\n" for n in range(3000))
    knobs = "".join(f"  knob{n}: x\n" for n in range(3000))
    files = {"H1.yaml": hypothesis("H1", unknown), "H2.yaml": hypothesis("H2", f"fails_when:\n{knobs}")}
    assert len(told(write(tmp_path, files))) == 101 + 100


def test_many_knobs_may_differ_with_a_reason(tmp_path: Path) -> None:
    both = arms(
        'index_k: fp8, hicache: "on"', 'index_k: bf16, hicache: "off"', "  why_many: bound together\n"
    )
    assert told(write(tmp_path, {"H1.yaml": hypothesis("H1", both)})) == []


def test_a_file_with_mistakes_in_its_form_has_its_references_checked_too(tmp_path: Path) -> None:
    rest = "titel: x\nsymptom: garbeld\nparent: H7\n" + arms("indexk: a", "index_k: fp8")
    assert [
        each.split(": ")[0] for each in told(write(tmp_path, {"H1.yaml": hypothesis("H1", rest)}))
    ] == [f"hypotheses/H1.yaml:{place}" for place in ("4:1", "5:10", "6:9", "8:13", "9:3")]


def test_a_parent_whose_file_has_mistakes_is_a_parent(tmp_path: Path) -> None:
    files = {
        "H01-a.yaml": "id: H1\n",
        "H02-b.yaml": "[",
        "H03-c.yaml": hypothesis("H3", "parent: H1\nalso: [H2]\n"),
    }
    found = read_files(write(tmp_path, files))
    assert [len(each.problems) for each in found.files] == [2, 1, 0]


SEVERAL = {
    "symptom": CAMPAIGN.replace("  garbled", "  wedged: {statuses: [timeout]}\n  garbled"),
    "workload": CAMPAIGN.replace("  agents", "  others: {kind: command}\n  agents"),
    "engine": CAMPAIGN.replace("  local", "  prod: {lifecycle: command}\n  local").replace(
        "engine: local\n", ""
    ),
}
NONE = {
    "symptom": CAMPAIGN.replace("symptoms:\n  garbled: {statuses: [timeout]}\n", ""),
    "workload": CAMPAIGN.replace("workloads:\n  agents: {kind: command}\n", ""),
    "engine": CAMPAIGN.replace(
        "engine: local\nengines:\n  local: {lifecycle: command, argv: [x]}\n", ""
    ),
}


@pytest.mark.parametrize(
    ("campaign", "what"),
    [
        *(
            (text, f"does not say which {noun} its test is about; add `{noun}:`, one of ")
            for noun, text in SEVERAL.items()
        ),
        *(
            (text, f"has a test, and the campaign has no {noun}; add one to")
            for noun, text in NONE.items()
        ),
    ],
)
def test_what_a_test_leaves_out_must_be_the_only_one(tmp_path: Path, campaign: str, what: str) -> None:
    files = {"H01-a.yaml": hypothesis("H1", TEST), "H02-b.yaml": hypothesis("H2")}
    problems = told(write(tmp_path, files, campaign))
    assert len(problems) == 1
    assert problems[0].startswith("hypotheses/H01-a.yaml:5:1: ")
    assert what in problems[0]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (
            "engine: local",
            "engine: lcal",
            "campaign.yaml:5:9: there is no engine 'lcal'; did you mean 'local'?",
        ),
        ("--hicache", "--hicache, on: {prod: {kind: file}}", "there is no engine 'prod'; known: local"),
        ("knob: index_k", "knob: index", "there is no knob 'index'; did you mean 'index_k'?"),
        ("level: bf16", "level: bf17", "knob index_k has no level 'bf17'; did you mean 'bf16'?"),
        ("[{id: C1", "[{id: C1, text: x}, {id: C1", "there are 2 constraints C1"),
        ("argv: [x]}", "components: {a: {}, b: {}}}", ""),
        (
            "--hicache",
            '--hicache, on: {local: {kind: file, levels: {"on": a, of: b}}}',
            "campaign.yaml:12:85: knob hicache has no level 'of'; did you mean 'off'?",
        ),
        (
            "argv: [x]}",
            "components: {prefill: {}}}\n  other: {lifecycle: x, components: {decode: {}}}",
            "",
        ),
    ],
)
def test_a_campaign_is_checked_against_itself(
    tmp_path: Path, before: str, after: str, what: str
) -> None:
    problems = told(write(tmp_path, {}, MORE.replace(before, after)))
    assert len(problems) == (1 if what else 0)
    assert not what or what in problems[0]


@pytest.mark.parametrize(
    ("knob", "repo", "what"),
    [
        ("{kind: commit, levels: {a: v1, b: '1234567'}}", "..", ""),
        ("{kind: patch, levels: {a: null, b: p.patch}}", "..", ""),
        (
            "{kind: commit, levels: {a: v1, b: 1234567}}",
            "..",
            "1234567 names no commit; write it in quotes",
        ),
        ("{kind: commit, levels: {a: v1, b: null}}", "..", "None names no commit"),
        ("{kind: patch, levels: {a: null, b: true}}", "..", "True names no patch"),
        ("{kind: commit, levels: {a: v1, b: v2}}", "", "names no repository; add `repo: FOLDER`"),
    ],
)
def test_knobs_that_check_code_out_name_something_of_a_repository(
    tmp_path: Path, knob: str, repo: str, what: str
) -> None:
    text = MORE.replace("knobs:\n", f"knobs:\n  build: {knob}\n", 1)
    assert text != MORE
    problems = told(write(tmp_path, {}, f"{text}repo: {repo}\n" if repo else text))
    assert len(problems) == (1 if what else 0)
    assert not what or what in problems[0]


def test_components_of_a_knob_are_those_of_an_engine(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("argv: [x]}", "components: {prefill: {}, decode: {}}}")
    text = text.replace("flag: --hicache", "flag: --hicache, components: [prefil]")
    assert told(write(tmp_path, {}, text))[0].endswith("no component 'prefil'; did you mean 'prefill'?")


def test_a_broken_campaign_is_said_once_and_blames_no_hypothesis(tmp_path: Path) -> None:
    files = {f"H{n}.yaml": hypothesis(f"H{n}", TEST + "symptom: any\n") for n in range(1, 9)}
    problems = told(write(tmp_path, files, "title: [\n"))
    assert len(problems) == 2
    assert problems[0] == (
        "campaign.yaml:1:1: cannot tell of 8 hypotheses whether all that they name is there; "
        "mend this file first"
    )
    assert problems[1].startswith("campaign.yaml:2:1: is no YAML")


def test_an_entry_with_a_mistake_still_has_its_name(tmp_path: Path) -> None:
    files = {"H1.yaml": hypothesis("H1", TEST + "symptom: garbled\n")}
    broken = CAMPAIGN.replace("[timeout]", "[timout]").replace("name: INDEX_K", "moves: 5")
    assert [each.partition(": ")[0] for each in told(write(tmp_path, files, broken))] == [
        "campaign.yaml:4:24",
        "campaign.yaml:11:31",
    ]


# --- circles --------------------------------------------------------------------------------------


def test_parents_that_lead_back_are_told_in_every_file_of_the_circle(tmp_path: Path) -> None:
    files = {
        "H1.yaml": hypothesis("H1", "parent: H3\n"),
        "H2.yaml": hypothesis("H2", "parent: H1\n"),
        "H3.yaml": hypothesis("H3", "parent: H9\nalso: [H2]\n"),
        "H4.yaml": hypothesis("H4", "parent: H3\n"),
        "H9.yaml": hypothesis("H9"),
    }
    assert told(write(tmp_path, files)) == [
        "hypotheses/H1.yaml:4:9: its parents lead back to it: H1 -> H3 -> H2 -> H1; cut one",
        "hypotheses/H2.yaml:4:9: its parents lead back to it: H2 -> H1 -> H3 -> H2; cut one",
        "hypotheses/H3.yaml:5:8: its parents lead back to it: H3 -> H2 -> H1 -> H3; cut one",
    ]


@given(st.dictionaries(st.integers(1, 8), st.lists(st.integers(1, 8), max_size=3), max_size=8))
def test_a_circle_is_found_exactly_where_there_is_one(graph: dict[int, list[int]]) -> None:
    facts = {
        f"H{id}": Facts(
            parent=f"H{parents[0]}" if parents else "", also=tuple(f"H{each}" for each in parents[1:])
        )
        for id, parents in graph.items()
    }

    def above(id: int) -> set[int]:
        """All that the parents of a hypothesis lead to, by the plainest means."""
        found: set[int] = set()
        todo = [each for each in graph[id] if each != id]
        while todo:
            here = todo.pop()
            if here not in found and here in graph:
                found.add(here)
                todo += [each for each in graph[here] if each != here]
        return found

    blamed = {id for id, _ in check_tree(facts)}
    assert blamed == {f"H{id}" for id in graph if id in above(id)}


def test_a_long_line_of_parents_is_no_circle_and_costs_no_depth() -> None:
    facts = {f"H{n}": Facts(parent=f"H{n - 1}") for n in range(2, 5000)}
    assert list(check_tree(facts)) == []
    assert len(list(check_tree(facts | {"H1": Facts(parent="H4999"), "H2": Facts(parent="H1")}))) == 100
