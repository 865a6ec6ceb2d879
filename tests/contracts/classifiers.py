"""The contract of a classifier: hold yours against it in a test of your own.

    def test_mine() -> None:
        hold_to_contract(Mine(Mine.Options()))

It fails with what was broken and the exchange that showed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange, Label
from workbench.ports import Classifier

LONGEST = 400  # characters of a rule or a signature: both stand in every line of a journal
KEY = ExchangeKey(SessionKey("control", 1, 0), 0)
ELSEWHERE = ExchangeKey(SessionKey("treatment-H7", 12, 345), 6)
MARKUP = (
    *(
        "<｜DSML｜tool_calls>",
        "</｜DSML｜tool_calls>",
        '<｜DSML｜invoke name="x">',
        "</｜DSML｜invoke>",
    ),
    *('{"choices":[{"message":', '{"error":', '{"text":"', '"meta_info":{}}', "<think>", "</think>"),
    *(
        "<tool_call>",
        "</tool_call>",
        "<|tool_calls_section_begin|>",
        "```\n",
        "`",
        "\x1b[31m",
        "\u202e",
    ),
)
HOSTILE = (
    "",
    " \n\t",
    "\0\x1b]52;c;aGk=\x07\x9b31m",
    "\ud800 half a pair \udfff",
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"choices": 1}',
    '{"choices": [{"message": {"content": 3, "tool_calls": {"a": 1}}}]}',
    '{"choices": [{"message": {"tool_calls": [null, 3, {"function": {"name": null}}]}}]}',
    '{"choices": [{"message": {"tool_calls": [{"function": {"name": "x", "arguments": [1]}}]}}]}',
    '{"error": {"message": null}}',
    f'{{"choices": [{{"message": {{"content": {"9" * 5000}}}}}]}}',
    "x" * 1_000_000,
    "`" * 1_000_000,
    " " * 1_000_000,
    "<｜DSML｜tool_calls>" * 50_000,
    "\ud800" * 1_000_000,
    "公" * 1_000_000,
    "word " * 200_000,
)

texts = st.one_of(
    st.text(st.characters(codec=None), max_size=200),
    st.lists(st.one_of(st.sampled_from(MARKUP), st.text(max_size=8)), max_size=20).map("".join),
)
exchanges = st.builds(
    Exchange,
    key=st.just(KEY),
    ending=st.sampled_from([Ending.COMPLETED, *Ending]),
    text=texts,
    exit_code=st.one_of(st.none(), st.integers(-9, 255)),
    signal=st.sampled_from(["", "", "SIGSEGV", "SIGTERM", "SIGRTMIN", "no signal"]),
    expected=st.one_of(st.just(""), texts),
)


def hold_to_contract(classifier: Classifier, *, texts: Iterable[str] = ()) -> None:
    """Hold a classifier to its contract.

    Args:
        classifier: The classifier, built.
        texts: Further replies, such as it is made for.

    Raises:
        AssertionError: It does not keep to it.
    """
    _words(classifier)
    for text in (*HOSTILE, *texts):
        for ending in Ending:
            _label(classifier, Exchange(key=KEY, text=text, text_bytes=len(text), ending=ending))

    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(exchanges)
    def any_exchange(exchange: Exchange) -> None:
        _label(classifier, exchange)

    any_exchange()


def _words(classifier: Classifier) -> None:
    words = classifier.words
    assert isinstance(classifier, Classifier), "words, clean, void and label are needed"
    assert words, "it has no words"
    assert all(word and meaning for word, meaning in words.items()), "a word, or its meaning, is empty"
    assert classifier.clean, "nothing is ever clean"
    assert set(classifier.clean) <= set(words), "a clean label is none of its words"
    assert set(classifier.void) <= set(words), "a void label is none of its words"
    assert not set(classifier.clean) & set(classifier.void), "a label is clean and void"


def _label(classifier: Classifier, exchange: Exchange) -> None:
    shown = f"text {exchange.text[:200]!r} of {len(exchange.text)}, {exchange.ending}"
    try:
        label = classifier.label(exchange)
    except Exception as error:
        raise AssertionError(f"it raises {error!r} on {shown}") from error
    assert isinstance(label, Label), f"it gives {label!r} for {shown}"
    assert label.word in classifier.words, f"{label.word!r} is none of its words; {shown}"
    assert max(len(label.rule), len(label.signature)) <= LONGEST, f"its rule is too long for {shown}"
    moved = replace(exchange, key=ELSEWHERE, seconds=1e9, start_seconds=7.0)
    assert classifier.label(moved) == label, f"key or timings change the label of {shown}"
    assert classifier.label(exchange) == label, f"it says something else the next time, of {shown}"
