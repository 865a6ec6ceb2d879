"""Ids to text in steps: the same text as all at once, whatever shares a step."""

from __future__ import annotations

import random

import pytest

from workbench.local_engine.chat_template import render_call
from workbench.local_engine.managers.detokenizer import Detokenizer
from workbench.local_engine.tokenizer import EOS, get_tokenizer

REPLIES = {
    "a": get_tokenizer().encode("amber kelp lake mint"),
    "b": [*get_tokenizer().encode(render_call("book", {"item": "amber kelp lake"})), EOS],
    "c": [EOS, *get_tokenizer().encode("fox rye"), EOS],
}
SKIP = {"a": True, "b": False, "c": True}


@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_steps_add_up_to_the_whole_text(batch: bool, seed: int) -> None:
    draw = random.Random(seed)
    detokenizer = Detokenizer(get_tokenizer(), batch=batch)
    for rid, skip in SKIP.items():
        detokenizer.open(rid, skip_special_tokens=skip)
    left = {rid: list(ids) for rid, ids in REPLIES.items()}
    texts = dict.fromkeys(REPLIES, "")
    while any(left.values()):
        step = [(rid, left[rid][: draw.randrange(3)]) for rid in draw.sample(sorted(left), 2)]
        for (rid, ids), text in zip(step, detokenizer.decode(step), strict=True):
            del left[rid][: len(ids)]
            texts[rid] += text
    assert texts == {
        rid: get_tokenizer().decode(ids, skip_special_tokens=SKIP[rid]) for rid, ids in REPLIES.items()
    }


class Counting:
    """A tokenizer that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def batch_decode(self, sequences: list[list[int]], *, skip_special_tokens: bool) -> list[str]:
        self.calls += 1
        return get_tokenizer().batch_decode(sequences, skip_special_tokens=skip_special_tokens)


@pytest.mark.parametrize(("batch", "calls"), [(True, 4), (False, 6)])
def test_a_batch_is_one_call_for_each_group(batch: bool, calls: int) -> None:
    tokenizer = Counting()
    detokenizer = Detokenizer(tokenizer, batch=batch)  # type: ignore[arg-type] # lists are sequences
    for rid, skip in SKIP.items():
        detokenizer.open(rid, skip_special_tokens=skip)
    detokenizer.decode(list(REPLIES.items()))
    assert tokenizer.calls == calls


def test_a_closed_reply_is_forgotten() -> None:
    detokenizer = Detokenizer(get_tokenizer(), batch=True)
    detokenizer.open("a", skip_special_tokens=True)
    detokenizer.close("a")
    detokenizer.close("a")
    with pytest.raises(KeyError):
        detokenizer.decode([("a", [7])])
