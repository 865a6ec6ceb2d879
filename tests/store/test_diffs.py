"""Changes to code on their way to the disk: lines stay lines, and no secret gets there."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.store.diffs import CAP, redact_diff
from workbench.store.redact import REDACTED

SECRET = "correct-horse-battery-staple"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"
END = "-----END OPENSSH PRIVATE KEY-----"
SPECIAL = ["diff --git a/x b/x", "@@ -1 +1 @@", f"+{KEY}", f"-{END}", f"+{SECRET}", " API_KEY=abc"]
lines = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40),
    st.sampled_from(SPECIAL),
)


def redacted(text: str, *secrets: str) -> str:
    return redact_diff(text.encode(), secrets).decode()


@given(st.lists(lines, max_size=20))
def test_lines_stay_lines_and_known_secrets_go(each: list[str]) -> None:
    text = "".join(f"{line}\n" for line in each)
    found = redacted(text, SECRET)
    assert found.count("\n") == len(each)
    assert SECRET not in found
    assert redacted(found, SECRET) == found


@pytest.mark.parametrize(
    "line",
    [
        f"+token = '{SECRET}'",
        "+password: hunter2hunter2XYZ9",
        "+    api_key='sk-0123456789abcdefABCDEF0123456789'",
        "-Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345",
        "+https://ana:hunter2hunter2@example.org/x",
        "+AKIAIOSFODNN7EXAMPLE",
    ],
)
def test_what_looks_like_a_secret_is_taken_out(line: str) -> None:
    found = redacted(f"{line}\n", SECRET)
    assert REDACTED in found
    assert found[0] == line[0]
    for secret in (SECRET, "hunter2", "0123456789", "OSFODNN7", "klmnopq"):
        assert secret not in found


@pytest.mark.parametrize("sign", ["+", "-", " "])
def test_of_a_key_no_line_stays_whichever_side_it_is_on(sign: str) -> None:
    inner = [f"{sign}{each}" for each in (KEY, "MIIEow", "AAAA", END)]
    found = redacted("".join(f"{line}\n" for line in (" before", *inner, "+after")))
    assert found.splitlines() == [" before", *[f"{sign}{REDACTED}"] * 4, "+after"]


def test_a_key_that_is_cut_off_ends_with_its_piece() -> None:
    text = f"+{KEY}\n+MIIEow\n@@ -9 +9 @@\n+plain\n"
    assert redacted(text).endswith("+plain\n")
    assert "MIIEow" not in redacted(text)


def test_ordinary_changes_stay_as_they_are() -> None:
    text = """diff --git a/serve.py b/serve.py
index 5626abf0f72e58d7a153368ba57db4c673c0e171..814f4a422927b82f5f8a43f8fec6d3839e3983f2 100644
--- a/serve.py
+++ b/serve.py
@@ -1,3 +1,3 @@
 token = tokens[-1]
-if token == "<|im_end|>":
+if token != "<|im_end|>":
\\ No newline at end of file
"""
    assert redacted(text) == text


def test_too_much_is_left_out_with_its_digest() -> None:
    text = "+of many\n" * (CAP // 9 + 2)
    found = redacted(text)
    kept, _, last = found.rstrip("\n").rpartition("\n")
    assert text.startswith(kept)
    left_out = text[len(kept) + 1 :].encode()
    assert last == f"# {len(left_out)} more bytes, sha256 {hashlib.sha256(left_out).hexdigest()}"
    assert redacted(f"{text}+x\n") != found
    long = redacted(f"+{'x' * 5000}\n+y\n")
    assert long.splitlines()[0].startswith("+# a line of 5001 characters, sha256 ")
    assert long.endswith("\n+y\n")
