"""Sessions with known answers: drawn by seed and number, sent turn by turn, told right from wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.drivers.serving import HELLO, build, drive, request
from tests.http.doubles import DONE, Answer, head, says
from workbench.classifiers.tool_call import ToolCall, ToolCallOptions
from workbench.errors import ArmCouldNotStart, PluginError, UsageError
from workbench.model.outcome import Ending
from workbench.workloads import records
from workbench.workloads.sessions import SHIPPED, SessionsOptions, SessionsWorkload

SMALL = {"turns": 3, "context": {"start": 240, "grow": 96}}
VOCABULARY = records.Vocabulary.parse(SHIPPED.read_text(encoding="utf-8"))
SHAPE = records.Shape(turns=3, start=240, grow=96)
CLASSIFIER = ToolCall(
    ToolCallOptions(
        family="deepseek_v4",
        tools={
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in records.tools(VOCABULARY)
        },
    )
)


def making(name: str, arguments: dict[str, str]) -> Answer:
    """Answer with a call, streamed."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    choice = {"delta": {"tool_calls": [{"index": 0, "id": "c", "function": function}]}}
    event = json.dumps({"choices": [{**choice, "index": 0, "finish_reason": "tool_calls"}]})
    return says(head(), f"data: {event}\n\n".encode(), DONE)


def test_the_vocabulary_that_is_shipped_is_the_local_engines() -> None:
    engines = ROOT / "workbench" / "local_engine" / "vocabulary.txt"
    assert SHIPPED.read_bytes() == engines.read_bytes()


def test_turns_grow_and_carry_the_right_calls_of_earlier_ones() -> None:
    driven = drive(build("sessions", **SMALL))
    assert [exchange.key.turn for exchange in driven.exchanges] == [0, 1, 2]
    assert [exchange.last for exchange in driven.exchanges] == [False, False, True]
    session = records.draw(SHAPE, VOCABULARY, seed=7, session=0)
    for turn, body in enumerate(driven.bodies):
        assert body["messages"] == records.messages(session, turn)
        assert body["tools"] == records.tools(VOCABULARY)
        right = records.right_answer(session, turn)
        due = {"name": right.name, "arguments": dict(right.arguments)}
        assert json.loads(driven.exchanges[turn].expected) == due


def test_the_right_call_is_told_from_another_and_from_none() -> None:
    session = records.draw(SHAPE, VOCABULARY, seed=7, session=0)
    right, other = (records.right_answer(session, turn) for turn in (0, 1))
    answers = [
        making(right.name, dict(right.arguments)),
        making(right.name, dict(right.arguments)),  # the call of the turn before
        HELLO,
    ]
    driven = drive(build("sessions", **SMALL), *answers)
    assert right != other
    words = [CLASSIFIER.label(exchange).word for exchange in driven.exchanges]
    assert words == ["ok", "wrong_but_well_formed", "call_lost"]


def sent(workload: SessionsWorkload, **of: Any) -> bytes:
    return b"\n".join(body for _, body in drive(workload, sessions=[request(**of)]).requests)


def test_what_is_said_depends_on_seed_and_number_alone() -> None:
    workload = SessionsWorkload(SessionsOptions(turns=2))
    first = sent(workload, session=3)
    assert sent(SessionsWorkload(SessionsOptions(turns=2)), session=3, arm="other", block=9) == first
    assert sent(workload, session=4) != first
    assert sent(workload, session=3, seed=8) != first


def test_an_arm_may_have_fewer_turns_and_other_contexts() -> None:
    load = {"turns": 1, "context.start": 48}
    driven = drive(build("sessions", **SMALL), load=load)
    assert len(driven.exchanges) == 1
    assert driven.bodies[0]["messages"][0]["content"].count("record ") == 2


def test_a_load_that_the_words_do_not_reach_for_is_an_arm_that_could_not_start() -> None:
    for load, what in (({"context.start": 10**7}, "too few"), ({"turns": 0}, "one turn")):
        with pytest.raises(ArmCouldNotStart, match=f"its load cannot be: .*{what}"):
            drive(build("sessions", **SMALL), load=load)


def test_english_without_tools() -> None:
    driven = drive(build("sessions", **SMALL, style="english", tools=False))
    assert driven.bodies[0]["messages"][0]["role"] == "system"
    assert "tools" not in driven.bodies[0]


def test_a_session_ends_where_it_is_cut() -> None:
    driven = drive(build("sessions", **SMALL), HELLO, says(head(status="500 No", length=0)))
    assert [each.ending for each in driven.exchanges] == [Ending.COMPLETED, Ending.HTTP_ERROR]
    assert [each.last for each in driven.exchanges] == [False, True]


def test_a_vocabulary_of_ones_own(tmp_path: Path) -> None:
    words = [first + second for first in "bdfk" for second in "aeiu"]
    tokens = ["# word", *words, "# function", "book", "# parameter", "item", "owner"]
    (tmp_path / "words.txt").write_text("\n".join(tokens))
    (body, *_) = drive(build("sessions", **SMALL, vocabulary="words.txt", cwd=str(tmp_path))).bodies
    assert [tool["function"]["name"] for tool in body["tools"]] == ["book"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "cannot be read: No such file"),
        ("# word\na\n", "needs a section 'word' of 2"),
        ("# word\na\nb\n# function\nf\n# parameter\np\nq\n", "too few for the keys"),
        (b"\xff", "can't decode"),
    ],
)
def test_a_vocabulary_that_will_not_do_is_named(
    tmp_path: Path, text: str | bytes | None, what: str
) -> None:
    if text is not None:
        (tmp_path / "words.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(UsageError, match=rf"words.txt: .*{what}"):
        build("sessions", vocabulary="words.txt", cwd=str(tmp_path))


@pytest.mark.parametrize(
    "options", [{"turns": 0}, {"context": {"start": 3}}, {"context": {"stat": 3}}, {"style": "latin"}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PluginError):
        build("sessions", **options)
