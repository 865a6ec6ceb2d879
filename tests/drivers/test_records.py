"""Sessions with known answers: drawn alike everywhere, and judged for what they are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.workloads import records
from workbench.workloads.records import Call, Reply, Session, Shape, Style, Vocabulary, Word

WORDS = [first + second for first in "bdfk" for second in "aeiu"]
TOOLS = ["# function", "book", "ship", "# parameter", "item", "owner", "day"]
TEXT = "\n".join(["# word", *WORDS, *TOOLS])
VOCABULARY = Vocabulary.parse(TEXT)
SHAPE = Shape(turns=3, start=240, grow=96)
SESSION = records.draw(SHAPE, VOCABULARY, seed=1, session=0)

seeds = st.integers(0, 10**9)
shapes = st.builds(
    Shape, turns=st.integers(1, 5), start=st.integers(24, 500), grow=st.integers(24, 240)
)
styles = st.sampled_from(Style)


def sent(session: Session, style: Style = Style.DSML) -> bytes:
    turns = [records.messages(session, turn, style) for turn in range(len(session.turns))]
    return json.dumps(turns, ensure_ascii=False).encode()


def reply(call: Call, content: str = "") -> Reply:
    return Reply(content=content, calls=((call.name, json.dumps(dict(call.arguments))),))


def word(answer: Reply, turn: int = 2) -> Word:
    return records.judge(SESSION, turn, answer).word


@given(seed=seeds, shape=shapes, style=styles)
def test_the_same_seed_gives_the_same_bytes(seed: int, shape: Shape, style: Style) -> None:
    first, second = (records.draw(shape, VOCABULARY, seed=seed, session=3) for _ in range(2))
    assert sent(first, style) == sent(second, style)
    assert sent(records.draw(shape, VOCABULARY, seed=seed, session=4), style) != sent(first, style)


def test_bytes_are_the_same_on_every_machine_and_python() -> None:
    digest = hashlib.sha256(sent(SESSION) + sent(SESSION, Style.ENGLISH)).hexdigest()
    assert digest[:16] == "eaead02aa246e06a"


@given(seed=seeds, shape=shapes)
def test_no_key_comes_twice_and_no_question(seed: int, shape: Shape) -> None:
    session = records.draw(shape, VOCABULARY, seed=seed, session=0)
    keys = [record.key for record in session.records(shape.turns - 1)]
    assert len(set(keys)) == len(keys) == sum(map(shape.records, range(shape.turns)))
    asked = [turn.asked for turn in session.turns]
    assert len(set(asked)) == len(asked)
    assert all(len({name for name, _ in record.call.arguments}) == 2 for record in session.records(99))


@given(seed=seeds, shape=shapes, style=styles)
def test_the_answer_stands_in_the_context_under_the_key_that_is_asked(
    seed: int, shape: Shape, style: Style
) -> None:
    session = records.draw(shape, VOCABULARY, seed=seed, session=0)
    for turn in range(shape.turns):
        call, asked = records.right_answer(session, turn), session.turns[turn].asked
        text = "\n".join(str(message["content"]) for message in records.messages(session, turn, style))
        written = {
            Style.DSML: f"record {asked} {records.render_dsml(call)} end\n",
            Style.ENGLISH: f'"{asked}": call {call.name} with {json.dumps(dict(call.arguments))}\n',
        }
        assert text.count(written[style]) == 1
        assert records.judge(session, turn, reply(call)).word is Word.OK


@given(seed=seeds, shape=shapes, style=styles)
def test_a_turn_begins_with_all_that_the_one_before_it_sent(
    seed: int, shape: Shape, style: Style
) -> None:
    """Or there would be no prefix to cache."""
    session = records.draw(shape, VOCABULARY, seed=seed, session=0)
    for turn in range(1, shape.turns):
        before = records.messages(session, turn - 1, style)
        assert records.messages(session, turn, style)[: len(before)] == before


def test_any_turn_may_be_asked_about() -> None:
    drawn = [records.draw(SHAPE, VOCABULARY, seed=2, session=number) for number in range(60)]
    born = [
        next(
            place
            for place, turn in enumerate(s.turns)
            if s.turns[2].asked in [r.key for r in turn.records]
        )
        for s in drawn
    ]
    assert set(born) == {0, 1, 2}


def test_a_right_call_may_have_its_arguments_in_any_order() -> None:
    right = records.right_answer(SESSION, 2)
    assert word(reply(replace(right, arguments=right.arguments[::-1]))) is Word.OK


def test_the_call_of_another_record_is_wrong_but_well_formed() -> None:
    others = [record for record in SESSION.records(2) if record.key != SESSION.turns[2].asked]
    judged = records.judge(SESSION, 2, reply(others[0].call))
    assert (judged.word, judged.why) == (Word.WRONG, f"the call of {others[0].key!r}")


def test_a_call_of_no_record_is_told_from_that() -> None:
    right = records.right_answer(SESSION, 2)
    (first, value), second = right.arguments
    swapped = replace(right, arguments=((first, second[1]), (second[0], value)))
    judged = records.judge(SESSION, 2, reply(swapped))
    assert (judged.word, judged.why) == (Word.WRONG, "the call of no record")


RIGHT = records.right_answer(SESSION, 2)
PARAMETERS = [name for name, _ in RIGHT.arguments]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Reply(content="amber kelp <｜DSML｜invoke"), "0 calls"),
        (Reply(calls=reply(RIGHT).calls * 2), "2 calls"),
        (Reply(calls=(("book", "{"),)), "not JSON"),
        (Reply(calls=(("book", "[" * 100_000),)), "not JSON"),
        (Reply(calls=(("book", '["a"]'),)), "not an object"),
        (Reply(calls=(("book", '{"item": 3}'),)), "not an object"),
        (Reply(calls=(("eat", "{}"),)), "unknown tool"),
        (Reply(calls=(("book", '{"colour": "ba be bi", "item": "ba be bi"}'),)), "unknown, missing"),
        (Reply(calls=(("book", "{}"),)), "unknown, missing"),
        (
            reply(replace(RIGHT, arguments=tuple((name, "ba book") for name in PARAMETERS))),
            "three words",
        ),
        (reply(RIGHT, content="</｜DSML｜invoke>"), "markup"),
        (Reply.of_message({"content": None, "tool_calls": [{"function": "book"}]}), "not JSON"),
        (Reply.of_message({}), "0 calls"),
    ],
)
def test_anything_else_is_garbled(answer: Reply, why: str) -> None:
    judged = records.judge(SESSION, 2, answer)
    assert judged.word is Word.GARBLED
    assert why in judged.why


@given(content=st.text(), calls=st.lists(st.tuples(st.text(), st.text()), max_size=2))
def test_the_judge_never_raises(content: str, calls: list[tuple[str, str]]) -> None:
    assert word(Reply(content=content, calls=tuple(calls))) is Word.GARBLED


def test_a_message_of_the_api_is_read() -> None:
    _, answered, _ = records.messages(SESSION, 1)
    assert records.judge(SESSION, 0, Reply.of_message(answered)).word is Word.OK


def test_tools_allow_what_is_asked_for() -> None:
    described = {
        tool["function"]["name"]: tool["function"]["parameters"] for tool in records.tools(VOCABULARY)
    }
    assert described.keys() == set(VOCABULARY.functions)
    assert set(PARAMETERS) <= described[RIGHT.name]["properties"].keys()


@pytest.mark.parametrize("section", ["word", "function", "parameter"])
def test_a_vocabulary_without_a_section_is_refused(section: str) -> None:
    with pytest.raises(ValueError, match=f"needs a section '{section}'"):
        Vocabulary.parse(TEXT.replace(f"# {section}", "# other"))


def test_too_few_words_or_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="words are too few"):
        records.draw(Shape(start=24_000), VOCABULARY, seed=1, session=0)
    with pytest.raises(ValueError, match="24 tokens at least"):
        Shape(grow=23)
