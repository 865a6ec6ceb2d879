"""The shapes of what people write: every mistake where it stands, and nothing lost that is right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.campaign import CAMPAIGN_SCHEMA
from workbench.model.hypothesis import HYPOTHESIS_SCHEMA
from workbench.model.outcome import Ending
from workbench.model.plan import Part
from workbench.model.prediction import Prediction
from workbench.store.schema.campaign import CampaignShape
from workbench.store.schema.hypothesis import HypothesisShape
from workbench.store.validation import CampaignRead, HypothesisRead, read_campaign, read_hypothesis

HEAD = "schema: workbench/hypothesis@1\nid: H5\ntitle: A suspect\n"
CAMPAIGN = "schema: workbench/campaign@1\ntitle: Something fails\n"


def hypothesis(text: str) -> HypothesisRead:
    return read_hypothesis(text.encode(), "f")


def campaign(text: str) -> CampaignRead:
    return read_campaign(text.encode(), "f")


def told(read: HypothesisRead | CampaignRead) -> list[str]:
    return [str(each).removeprefix("f:") for each in read.document.problems]


def test_the_shapes_are_those_of_the_model() -> None:
    assert CampaignShape.model_fields["version"].default == CAMPAIGN_SCHEMA
    assert HypothesisShape.model_fields["version"].default == HYPOTHESIS_SCHEMA


def test_a_title_alone_is_a_hypothesis() -> None:
    read = hypothesis(HEAD)
    assert told(read) == []
    assert read.hypothesis is not None
    assert read.hypothesis.title == "A suspect"
    assert read.hypothesis.file == "f"
    assert read.hypothesis.missing == ("prediction", "test")


@pytest.mark.parametrize(
    ("line", "place", "what"),
    [
        ("titel: x", "4:1", "unknown field 'titel'; did you mean 'title'?"),
        ("parent: H05", "4:9", "parent 'H05' is no hypothesis id; ids are H1, H2, H3, ..."),
        ("also: H2", "4:7", "also must be a list, as in [a, b], not text H2"),
        ("also: [H2, 3]", "4:12", 'item 2 of also must be text, not a number 3; quote it: "3"'),
        ("symptom:", "4:9", "symptom is empty; give it a value, or take the line out"),
        ("statement: 12", "4:12", 'statement must be text, not a number 12; quote it: "12"'),
        ("statement: {a: b}", "4:12", "statement must be text, not fields"),
        ("component: true", "4:12", 'component must be text, not a truth value true; quote it: "true"'),
        ("fails_when: {build: 54658187}", "4:21", 'quote it: "54658187"'),
        ("fails_when: {build: 1e10}", "4:21", 'quote it: "1e10"'),
        ("fails_when: {build: 0123456}", "4:21", 'quote it: "0123456"'),
        ("fails_when: {hicache: on}", "4:23", 'quote it: "on"'),
        ("fails_when: {'a b': x}", "4:14", "'a b' is no name"),
        ("fails_when: {a: two words}", "4:17", "'two words' is no level"),
        ("prediction: {}", "4:1", "says nothing of the treatment"),
        ("prediction: {control: 0.4}", "4:1", "says nothing of the treatment"),
        ("prediction: {control: 1.4, removes: true}", "4:23", "must lie between 0 and 1, not 1.4"),
        (
            "prediction: {control: .1, treatment: .4}",
            "4:38",
            "control must be the arm predicted to fail",
        ),
        (
            "prediction: {control: .1, treatment: .1}",
            "4:38",
            "control must be the arm predicted to fail",
        ),
        ("prediction: {treatment: .1, removes: true}", "4:25", "removes the symptom has rate 0"),
        ("prediction: {removes: yes}", "4:23", "yes is a truth value to some readers of YAML"),
        ("prediction: {removes: 1}", "4:23", "removes must be true or false, not a number 1"),
        ("prediction: 0.4", "4:13", "prediction must be fields, as in {name: value}, not a number 0.4"),
        ("test: {control: {a: x}}", "4:1", "test has no treatment; add `treatment: ...`"),
        ("test: {control: {a: x}, treatment: {}}", "4:36", "treatment holds nothing"),
        (
            "test: {control: {a: x}, treatmnt: {a: y}}",
            "4:1",
            "test has no treatment; is 'treatmnt' meant",
        ),
        ("test: {control: {a: x}, treatment: {a: y}, margin: 2}", "4:52", "must be less than 1"),
        ("interventions: [{commit: 0123456, kind: fix}]", "4:26", 'quote it: "0123456"'),
        ("interventions: [{commit: 54658187, kind: fix}]", "4:26", 'quote it: "54658187"'),
        ("interventions: [{commit: -x, kind: fix}]", "4:26", "names no commit"),
        (
            "interventions: [{commit: a, kind: fixx}]",
            "4:35",
            "kind cannot be 'fixx'; did you mean 'fix'?",
        ),
        ("assumptions: [{id: A1}]", "4:15", "item 1 of assumptions has no text"),
    ],
)
def test_mistakes_of_a_hypothesis_are_told_where_they_stand(line: str, place: str, what: str) -> None:
    read = hypothesis(f"{HEAD}{line}\n")
    assert read.hypothesis is None
    assert read.id == "H5"
    assert any(each.startswith(f"{place}: ") and what in each for each in told(read)), told(read)


@pytest.mark.parametrize(
    ("item", "place", "what"),
    [
        ("{metric: x}", "7:14", "is met by anything; add at_least or at_most"),
        ("{at_least: 1}", "7:14", "name one of metric and log"),
        ("{metric: x, log: y, at_least: 1}", "7:14", "name one of metric and log"),
        ("{metric: x, at_least: one}", "7:36", "at_least must be a number, not text one"),
        ("{metric: x, at_least: 1, in: bth}", "7:43", "did you mean 'both'?"),
        ("{metrik: x, at_least: 1}", "7:15", "unknown field 'metrik'; did you mean 'metric'?"),
    ],
)
def test_mistakes_of_an_exposure_are_told_where_they_stand(item: str, place: str, what: str) -> None:
    arms = "  control: {a: x}\n  treatment: {a: y}\n"
    read = hypothesis(f"{HEAD}test:\n{arms}  exposure: [{item}]\n")
    assert any(each.startswith(f"{place}: ") and what in each for each in told(read)), told(read)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "id: H5\ntitle: x\n",
            "1:1: has no schema; its first line is `schema: workbench/hypothesis@1`",
        ),
        (
            "schema: workbench/campaign@1\nid: H5\ntitle: x\n",
            "1:9: has the schema 'workbench/campaign@1'",
        ),
        ("schema: 1\nid: H5\ntitle: x\n", "1:9: has the schema 1, not workbench/hypothesis@1"),
        ("schema: workbench/hypothesis@0\nid: H5\ntitle: x\n", "1:9: has format 0, which is unknown"),
        ("schema: workbench/hypothesis@1\ntitle: x\n", "1:1: has no id"),
        ("schema: workbench/hypothesis@1\nid: H5\n", "1:1: has no title"),
        ("schema: workbench/hypothesis@1\nid: H5\ntitle: ' '\n", "3:8: title is empty"),
        ('schema: workbench/hypothesis@1\nid: H5\ntitle: "a\\nb"\n', "3:8: title holds a line break"),
        (
            'schema: workbench/hypothesis@1\nid: H5\ntitle: "\\e[31m"\n',
            "3:8: title holds a line break or a control",
        ),
    ],
)
def test_mistakes_of_the_head_are_told_where_they_stand(text: str, what: str) -> None:
    read = hypothesis(text)
    assert read.hypothesis is None
    assert any(each.startswith(what) for each in told(read)), told(read)


@pytest.mark.parametrize(
    ("text", "prediction"),
    [
        ("{control: 0.4, treatment: 0.0}", Prediction(control=0.4, treatment=0.0, removes=True)),
        ("{removes: true}", Prediction(treatment=0.0, removes=True)),
        ("{control: .17, removes: true}", Prediction(control=0.17, treatment=0.0, removes=True)),
        ("{control: 0.17, treatment: 0.05}", Prediction(control=0.17, treatment=0.05)),
        ("{control: 0.17, treatment: 0, removes: false}", Prediction(control=0.17, treatment=0.0)),
    ],
)
def test_predictions(text: str, prediction: Prediction) -> None:
    read = hypothesis(f"{HEAD}prediction: {text}\n")
    assert told(read) == []
    assert read.hypothesis is not None
    assert read.hypothesis.prediction == prediction


@pytest.mark.parametrize(
    ("line", "place", "what"),
    [
        ("symptoms: {a: {title: x}}", "3:12", "can never be hit"),
        ("symptoms: {a: {labels: [x]}}", "3:24", "has labels and nothing that gives them"),
        ("symptoms: {a: {statuses: [timout]}}", "3:27", "did you mean 'timeout'?"),
        ("symptoms: {a: {statuses: [completed]}}", "3:27", "known: timeout, engine_died"),
        ("symptoms: {a: {statuses: [timeout], after: 2x}}", "3:44", "write 90s, 1.5m or 2h"),
        ("symptoms: {a: {statuses: [timeout], after: 0}}", "3:44", "write 90s, 1.5m or 2h"),
        ("symptoms: {a: {statuses: [timeout], reference_rate: 17}}", "3:53", "must be less than 1"),
        ("symptoms: [a]", "3:11", "symptoms must be fields"),
        ("symptoms: {a/b: {statuses: [timeout]}}", "3:12", "'a/b' is no name"),
        (
            "engines: {a: {lifecycel: command}}",
            "3:11",
            "a has no lifecycle; is 'lifecycel' meant to be it?",
        ),
        ("engines: {a: {lifecycle: command, protected: 1}}", "3:46", "protected must be true or false"),
        ("workloads: {a: {kind: command, sessions: 2.5}}", "3:42", "sessions must be a whole number"),
        (
            "workloads: {a: {kind: command, in_flight: 0}}",
            "3:43",
            "in_flight must be at least 1, not 0",
        ),
        ("workloads: {a: {kind: command, keep_texts: fail}}", "3:44", "did you mean 'failing'?"),
        ("workloads: {a: {kind: command, timeout: 60y}}", "3:41", "timeout is no duration"),
        ("knobs: {a: {kind: env}}", "3:9", "a has no levels; add `levels: ...`"),
        ("knobs: {a: {kind: env, levels: {}}}", "3:32", "levels holds nothing"),
        ("knobs: {a: {kind: env, levels: {on: 1}}}", "3:33", 'quote it: "on"'),
        (
            "knobs: {a: {kind: env, levels: {x: 1.10}}}",
            "3:36",
            '1.10 would be set as 1.1; quote it: "1.10"',
        ),
        ("knobs: {a: {kind: env, levels: {x: 1e10}}}", "3:36", 'quote it: "1e10"'),
        ("knobs: {a: {kind: env, levels: {x: 0123}}}", "3:36", 'quote it: "0123"'),
        ("knobs: {a: {kind: env, levels: {x: '1'}, on: {p: {path: x}}}}", "3:47", "p has no kind"),
        ("constraints: [{id: C1}]", "3:15", "item 1 of constraints has no text"),
        ("defaults: {margin: half}", "3:20", "margin is no margin; write half-control"),
        ("defaults: {min_blocks: 4, max_blocks: 2}", "3:39", "max_blocks is less than min_blocks"),
        ("default: {alpha: 0.01}", "3:1", "unknown field 'default'; did you mean 'defaults'?"),
    ],
)
def test_mistakes_of_a_campaign_are_told_where_they_stand(line: str, place: str, what: str) -> None:
    read = campaign(f"{CAMPAIGN}{line}\n")
    assert read.spec.title == "Something fails"
    assert any(each.startswith(f"{place}: ") and what in each for each in told(read)), told(read)


def test_five_mistakes_in_one_file_are_five_problems_in_one_pass() -> None:
    read = hypothesis(
        "schema: workbench/hypothesis@1\n"
        "id: H5\n"
        "title: x\n"
        "titel: y\n"
        "fails_when: {hicache: on}\n"
        "prediction: {control: 0.1, treatment: 0.4}\n"
        "interventions: [{commit: 54658187, kind: fixx}]\n"
    )
    assert [each.partition(": ")[0] for each in told(read)] == ["4:1", "5:23", "6:39", "7:26", "7:42"]


def test_what_is_right_in_a_campaign_stays_and_names_of_the_rest_are_known() -> None:
    read = campaign(
        f"{CAMPAIGN}"
        "symptoms: {good: {statuses: [timeout, engine_died], after: 2m}, bad: {statuses: [x]}}\n"
        "engines: {bad: {lifecycle: 1}, good: {lifecycle: command, argv: [x]}}\n"
        "knobs: {bad: {kind: env, levels: {a: '1'}, moves: 3}, worse: 5,\n"
        "        good: {kind: env, levels: {a: '1'}}}\n"
        "defaults: {alpha: 7}\n"
        "constraints: [{id: C1}]\n"
        "nonsense: 1\n"
    )
    assert len(told(read)) == 7
    assert list(read.spec.symptoms) == list(read.spec.engines) == list(read.spec.knobs) == ["good"]
    assert read.spec.symptoms["good"].endings == (Ending.TIMEOUT, Ending.ENGINE_DIED)
    assert read.spec.symptoms["good"].after == 120
    assert read.spec.engines["good"].options == {"argv": ["x"]}
    assert read.known.symptoms == ("good", "bad")
    assert read.known.knobs == {"bad": ("a",), "worse": None, "good": ("a",)}
    assert not read.known.whole


def test_a_campaign_without_a_title_keeps_the_rest() -> None:
    read = campaign("schema: workbench/campaign@1\nrepo: ../engine\n")
    assert told(read) == ["1:1: has no title; add `title: ...`"]
    assert read.spec.title == ""
    assert read.spec.repo == "../engine"


def test_fields_become_nouns() -> None:
    read = campaign(
        f"{CAMPAIGN}"
        "symptoms:\n"
        "  a: {classifier: exit_code, labels: [failed]}\n"
        "  b: {classifier: {kind: regex, pattern: x}, labels: [y]}\n"
        "workloads: {w: {kind: command, timeout: 1.5m, start_timeout: 500ms, cwd: x}}\n"
        "knobs:\n"
        '  k: {kind: flag, flag: --x, levels: {"on": true},\n'
        '      on: {e: {kind: file, path: p, levels: {"on": y}}}}\n'
        "defaults: {margin: 0.05}\n"
    )
    assert told(read) == []
    assert read.spec.symptoms["a"].classifier == Part(kind="exit_code")
    assert read.spec.symptoms["b"].classifier == Part(kind="regex", options={"pattern": "x"})
    workload = read.spec.workloads["w"]
    assert workload.options == {"timeout": 90.0, "start_timeout": 0.5, "cwd": "x"}
    assert (workload.sessions, workload.in_flight, workload.seed) == (20, 1, None)
    knob = read.spec.knobs["k"]
    assert knob.levels == {"on": True}
    assert knob.options == {"flag": "--x"}
    assert knob.on == {"e": {"kind": "file", "levels": {"on": "y"}, "path": "p"}}
    assert read.spec.defaults.margin == 0.05


def test_a_file_of_a_newer_workbench_is_read_as_far_as_it_is_understood() -> None:
    text = "schema: workbench/hypothesis@2\nid: H5\ntitle: x\nmood: good\n"
    text += "prediction: {removes: true, by: 3}\n"
    read = hypothesis(text)
    assert told(read) == [
        "1:9: was written by a newer workbench; read as far as understood; upgrade the workbench"
    ]
    assert read.hypothesis is not None
    assert read.hypothesis.prediction == Prediction(treatment=0.0, removes=True)
    assert hypothesis(text.replace("title: x", "title: 5")).hypothesis is None
    newer = campaign("schema: workbench/campaign@7\ntitle: x\nmood: 1\n")
    assert newer.spec.title == "x"
    assert len(told(newer)) == 1


def test_older_files_are_upgraded_step_by_step_in_memory() -> None:
    steps: dict[int, Any] = {
        0: lambda fields: {"title" if name == "name" else name: each for name, each in fields.items()},
        1: lambda fields: fields | {"statement": "from 1"},
    }
    old = b"schema: workbench/hypothesis@0\nid: H5\nname: x\n"
    read = read_hypothesis(old, "f", upgrades={0: steps[0]})
    assert told(read) == []
    assert read.hypothesis is not None
    assert read.hypothesis.title == "x"
    both = read_hypothesis(old, "f", upgrades=steps, ours="workbench/hypothesis@2")
    assert both.hypothesis is not None
    assert (both.hypothesis.title, both.hypothesis.statement) == ("x", "from 1")
    lame = read_hypothesis(old, "f", upgrades={1: steps[1]}, ours="workbench/hypothesis@2")
    assert "has format 0, which is unknown" in told(lame)[0]
    assert len(told(lame)) == 1
    told_where = read_hypothesis(old.replace(b"x", b"[x]"), "f", upgrades={0: steps[0]})
    assert told(told_where) == ["1:1: title must be text, not a list"]


WORDS = st.sampled_from(
    """H5 on x 1 0.4 -1 null {} [] true title id schema prediction control treatment removes test
    fails_when assumptions interventions symptoms knobs kind levels engines lifecycle statuses timeout
    margin exposure workbench/hypothesis@1 workbench/campaign@1""".split()  # noqa: SIM905 - a list of words
)
TREES = st.recursive(
    WORDS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda each: f"[{', '.join(each)}]")
        | st.dictionaries(WORDS, inner, max_size=4).map(
            lambda each: "{" + ", ".join(f"{key}: {value}" for key, value in each.items()) + "}"
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(WORDS, TREES, max_size=8))
def test_whatever_the_fields_are_reading_never_raises(fields: dict[str, str]) -> None:
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    one = hypothesis(text)
    assert one.hypothesis is not None or one.document.problems
    other = campaign(text)
    assert other.spec.title or other.document.problems
