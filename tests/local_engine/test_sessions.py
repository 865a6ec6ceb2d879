"""What the workbench writes is what the engine reads: they share a format and no code."""

from __future__ import annotations

import json
from itertools import pairwise

from tests.local_engine import sessions
from workbench.local_engine.chat_template import apply_chat_template, render_call
from workbench.local_engine.tokenizer import UNK, get_tokenizer
from workbench.workloads import records
from workbench.workloads.records import TOKENS_PER_RECORD


def test_calls_are_written_alike() -> None:
    for session in sessions.draw(3):
        call = records.right_answer(session, 1)
        assert records.render_dsml(call) == render_call(call.name, dict(call.arguments))


def test_every_token_is_known_and_contexts_grow_as_told() -> None:
    (session,) = sessions.draw(1, start=2000, grow=1000)
    sizes = []
    for turn in range(4):
        ids = apply_chat_template(records.messages(session, turn))
        assert UNK not in ids
        sizes.append(len(ids))
    assert 2000 - TOKENS_PER_RECORD < sizes[0] < 2000 + TOKENS_PER_RECORD
    growth = [late - early for early, late in pairwise(sizes)]
    assert all(1000 - TOKENS_PER_RECORD < more < 1000 + 2 * TOKENS_PER_RECORD for more in growth)


def test_the_answer_stands_in_the_prompt_token_by_token() -> None:
    encode = get_tokenizer().encode
    for session in sessions.draw(3):
        call = records.right_answer(session, 3)
        body = json.loads(json.dumps(records.messages(session, 3)))
        prompt = apply_chat_template(body)
        wanted = encode(f"record {session.turns[3].asked} {records.render_dsml(call)} end")
        assert len(wanted) == TOKENS_PER_RECORD
        found = [at for at in range(len(prompt)) if prompt[at : at + len(wanted)] == wanted]
        assert len(found) == 1
