"""The rules of a test command, one by one."""

from __future__ import annotations

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.classifiers.exit_code import ExitCode, ExitCodeOptions
from workbench.model.ids import ExchangeKey, SessionKey
from workbench.model.outcome import Ending, Exchange

KEY = ExchangeKey(SessionKey("control", 1, 0), 0)


def ended(code: int | None = None, by: str = "", text: str = "") -> Exchange:
    return Exchange(key=KEY, exit_code=code, signal=by, text=text)


def word(exchange: Exchange, **options: object) -> str:
    return ExitCode(ExitCodeOptions(**options)).label(exchange).word  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (ended(0), "clean"),
        (ended(1), "failed"),
        (ended(124), "failed"),
        (ended(125), "skipped"),
        (ended(by="SIGSEGV"), "crashed"),
        (ended(by="SIGABRT"), "crashed"),
        (ended(139), "crashed"),
        (ended(128 + signal.SIGFPE), "crashed"),
        (ended(by="SIGTERM"), "killed"),
        (ended(137), "killed"),
        (ended(128), "other"),
        (ended(255), "other"),
        (ended(by="SIG40"), "killed"),
    ],
)
def test_without_narrowing(exchange: Exchange, expected: str) -> None:
    assert word(exchange) == expected


@pytest.mark.parametrize(
    ("exchange", "options", "expected"),
    [
        (ended(3), {"hit_exit": (3,)}, "failed"),
        (ended(4), {"hit_exit": (3,)}, "other"),
        (ended(by="SIGSEGV"), {"hit_exit": (3,)}, "other"),
        (ended(by="SIGSEGV"), {"hit_exit": (139,)}, "crashed"),
        (ended(137), {"hit_exit": (137,)}, "failed"),
        (ended(255), {"hit_exit": (255,)}, "failed"),
        (ended(1, text="x garbled y"), {"hit_regex": "garb.ed"}, "failed"),
        (ended(1, text="out of disk"), {"hit_regex": "garb.ed"}, "other"),
        (ended(0, text="garbled"), {"hit_regex": "garb.ed"}, "clean"),
        (ended(1, text="garbled"), {"hit_regex": "garbled", "hit_exit": (2,)}, "other"),
        (ended(125), {"hit_exit": (3,)}, "skipped"),
        (ended(by="SIGKILL"), {"hit_regex": "garbled"}, "killed"),
    ],
)
def test_narrowed(exchange: Exchange, options: dict[str, object], expected: str) -> None:
    assert word(exchange, **options) == expected


def test_a_timeout_is_a_timeout_whatever_it_printed() -> None:
    late = Exchange(key=KEY, ending=Ending.TIMEOUT, text="garbled")
    assert word(late, hit_regex="garbled") == "timeout"


def test_a_signature_leaves_out_what_varies() -> None:
    classifier = ExitCode(ExitCodeOptions())
    texts = ["step 1\ntoken 17 at 0xfe12 is wrong\n", "token 4 at 0x0 is wrong\n\n"]
    signatures = {classifier.label(ended(1, text=text)).signature for text in texts}
    assert signatures == {"exit 1: token N at N is wrong"}


def test_a_bad_regex_is_refused_when_the_options_are_made() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        ExitCodeOptions(hit_regex="(")


@given(st.text(), st.integers(0, 255), st.sampled_from(["", "SIGSEGV", "SIGRTMIN", "nonsense"]))
def test_it_never_raises_and_always_says_a_published_word(text: str, code: int, by: str) -> None:
    label = ExitCode(ExitCodeOptions()).label(ended(code, by, text))
    assert label.word in ExitCode.words


def test_an_exit_of_0_whose_output_matches_is_clean_and_is_pointed_out() -> None:
    label = ExitCode(ExitCodeOptions(hit_regex="garbled")).label(ended(0, text="garbled"))
    assert label.word == "clean"
    assert "exit code decides" in label.signature
