"""Strict YAML: what is refused, what is kept, where it stands; and nothing that raises."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.hypothesis import Problem
from workbench.store.plainfile import LARGEST, read_file
from workbench.store.yamltext import DEEPEST, MOST, read_yaml


def told(text: str | bytes) -> list[str]:
    """What is wrong, as `line:column: what; hint`."""
    data = text if isinstance(text, bytes) else text.encode()
    return [str(each).removeprefix("f:") for each in read_yaml(data, "f").problems]


LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"

# Every row of the table of hostile YAML: the input, where the first problem is, and what it says.
HOSTILE: dict[str, tuple[str | bytes, str, str]] = {
    "billion laughs": (LAUGHS, "1:4", "has an anchor, &a"),
    "alias": ("a: 1\nb: [*a]\n", "2:5", "uses an alias, *a"),
    "a list that holds itself": ("a: &a [*a]\n", "1:4", "has an anchor, &a"),
    "5,000 nested lists": ("a: " + "[" * 5000, "1:1003", "nesting depth"),
    "nested lists that fit the parser": ("a: " + "[" * 33 + "]" * 33, "1:35", "more than 32 deep"),
    "1,000 nested blocks": (
        "\n".join(" " * i + "a:" for i in range(1000)),
        "33:33",
        "more than 32 deep",
    ),
    "100 nested lists of blocks": ("a:\n" + "- " * 100 + "x", "2:63", "more than 32 deep"),
    "equal keys": ("a: 1\nverdict: x\nb: 2\nverdict: y\n", "4:1", "'verdict' twice, first in line 2"),
    "equal keys in one line": ("a: {b: 1, c: 2, 'b': 3}\n", "1:17", "'b' twice"),
    "tab indent": ("a:\n\tb: 1\n", "2:1", "indent with spaces, not tabs"),
    "tab before a block's text": ("a: |\n  x\n \tb\n", "3:2", "indent with spaces, not tabs"),
    "NUL": (b"a: x\nb: y\x00z\n", "2:5", "control character U+0000"),
    "escape character": (b"a: \x1b[31m", "1:4", "control character U+001B"),
    "NUL by escape": ('a: "\\0"', "1:4", "NUL"),
    "half a character by escape": ('a: "\\ud800"', "1:7", "invalid Unicode character"),
    "not UTF-8": (b"a: x\nb: \xe4\n", "2:4", "not UTF-8"),
    "UTF-16 with mark": ("a: 1".encode("utf-16"), "1:1", "UTF-16"),
    "UTF-16 without mark": ("a: 1".encode("utf-16-le"), "1:2", "U+0000"),
    "UTF-8 with mark": (b"\xef\xbb\xbfa: 1", "1:1", "byte order mark"),
    "2 documents": ("a: 1\n---\nb: 2\n", "2:1", "second document"),
    "python tag": ("a: !!python/object/apply:os.system [x]\n", "1:4", "has a tag"),
    "own tag": ("a: !secret x\n", "1:4", "has a tag, !secret"),
    "empty tag": ("a: ! 12\n", "1:4", "has a tag, !"),
    "merge key": ("a: {<<: {b: 1}}\n", "1:5", "merge key"),
    ".nan": ("a: .nan\n", "1:4", "not a finite number"),
    ".inf": ("a: -.INF\n", "1:4", "not a finite number"),
    "too large a float": ("a: 1e999\n", "1:4", "not a finite number"),
    "5,000 digits": ("a: " + "9" * 5000, "1:4", "more than 18 digits"),
    "200,000 hexadecimal digits": ("a: 0x" + "f" * 200_000, "1:4", "another base than ten"),
    "off": ("a: off\n", "1:4", 'write false, or quote it: "off"'),
    "NO": ("a: [NO]\n", "1:5", 'quote it: "NO"'),
    "on as a key": (
        "levels: {on: 1}\n",
        "1:10",
        "has the key on, which is a truth value to some readers",
    ),
    "True": ("a: True\n", "1:4", 'write true, or quote it: "True"'),
    "Null": ("a: NULL\n", "1:4", 'write null, or quote it: "NULL"'),
    "a commit in octal digits": (
        "a: 0123456\n",
        "1:4",
        'octal number to some readers of YAML; quote it: "0123456"',
    ),
    "a mode": ("a: 0755\n", "1:4", "octal number"),
    "hexadecimal": ("a: 0x1F\n", "1:4", "another base than ten"),
    "digits in groups": ("a: 1_000\n", "1:4", 'quote it: "1_000"'),
    "a time": ("a: 22:30:00\n", "1:4", 'base 60 to YAML; quote it: "22:30:00"'),
    "a ratio": ("a: 1:30\n", "1:4", "base 60"),
    "a date": ("a: 2026-11-29\n", "1:4", "a date"),
    "a date and time": ("a: 2026-11-29T15:12:00Z\n", "1:4", "a date"),
    "a lone equal sign": ("a: =\n", "1:4", "a special value"),
    "a number as key": ("a: 1\n1: b\n", "2:1", 'quote it: "1"'),
    "nothing as key": ("a: 1\n~: b\n", "2:1", 'quote it: "~"'),
    "a list as key": ("? [a]\n: b\nc: 1\n", "1:3", "a key that is no text"),
    "a mapping as key": ("{{a: 1}: 2, c: 3}\n", "1:2", "a key that is no text"),
    "a colon in a text": ("title: a: b\n", "1:9", "quote a text that holds `: `"),
    "a text that begins with @": ("title: @x\n", "1:8", "quote a text that begins with"),
    "an open list": ("a: [1, 2", "1:9", "is no YAML"),
    "empty file": ("", "1:1", "is empty"),
    "comments alone": ("# nothing\n", "1:1", "is empty"),
    "null": ("~\n", "1:1", "is empty"),
    "a mark and nothing": (b"\xef\xbb\xbf", "1:1", "byte order mark"),
    "a list": ("- a\n", "1:1", "does not hold fields"),
    "a text": ("just words\n", "1:1", "does not hold fields"),
    "more than 1 MiB": (b"a: " + b"x" * LARGEST, "1:1", "larger than 1 MiB"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_where_it_stands(name: str) -> None:
    text, place, what = HOSTILE[name]
    problems = told(text)
    assert problems
    assert problems[0].startswith(f"{place}: ")
    assert what in problems[0]


@pytest.mark.parametrize("name", HOSTILE)
def test_the_parser_without_c_refuses_the_same(name: str) -> None:
    text, _, _ = HOSTILE[name]
    data = text if isinstance(text, bytes) else text.encode()
    assert read_yaml(data, "f", loader=yaml.SafeLoader).problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("0.40", 0.4),
        (".17", 0.17),
        ("1e-3", 0.001),
        ("2.5e3", 2500.0),
        ("0c16cace8", "0c16cace8"),
        ("9f0e1d2aa", "9f0e1d2aa"),
        ("120s", "120s"),
        ("1.2.3", "1.2.3"),
        ("127.0.0.1:30000", "127.0.0.1:30000"),
        ("host:80", "host:80"),
        ("--enable-x", "--enable-x"),
        ("yesterday", "yesterday"),
        ("'on'", "on"),
        ('"0123456"', "0123456"),
        ("'22:30:00'", "22:30:00"),
        ("'~'", "~"),
        ("ops@host", "ops@host"),
        ("größer", "größer"),
        ("2026-11-29x", "2026-11-29x"),
    ],
)
def test_plain_words_are_text_unless_plainly_something_else(text: str, value: object) -> None:
    document = read_yaml(f"a: {text}\n".encode(), "f")
    assert document.problems == []
    assert document.value == {"a": value}
    assert type(document.value["a"]) is type(value)


def test_all_problems_of_a_file_come_at_once_and_in_order() -> None:
    text = "on: 1\na: off\na: !x 1\nb: &c 0755\nd: [*c, 2026-11-29]\ne: .nan\n"
    assert [each.partition(": ")[0] for each in told(text)] == [
        "1:1",
        "2:4",
        "3:1",
        "3:4",
        "4:4",
        "4:4",
        "5:5",
        "5:9",
        "6:4",
    ]


def test_problems_before_the_text_breaks_off_are_kept() -> None:
    assert [each[:3] for each in told("a: off\nb: [1\nc: 2\n")] == ["1:4", "3:2"]


def test_a_field_may_be_called_on() -> None:
    text = b"knobs: {a: {on: {prod: 1}, levels: {on: 1}}}\n"
    document = read_yaml(text, "f", is_field=lambda keys: keys == ("knobs", "a", "on"))
    assert [str(each)[:6] for each in document.problems] == ["f:1:37"]
    assert document.value["knobs"]["a"]["on"] == {"prod": 1}


def test_places_are_those_that_an_editor_shows() -> None:
    text = "a: 1\r\n'ä': {b: [x, \"y\"],\r\n     c: z}\r\nt: \u2028 \nu: 5\n"
    document = read_yaml(text.encode(), "f")
    assert document.key_at(("ä",)) == (2, 1)
    assert document.value_at(("ä",)) == (2, 6)
    assert document.value_at(("ä", "b", 1)) == (2, 14)
    assert document.key_at(("ä", "c")) == (3, 6)
    assert document.value_at(("ä", "c")) == (3, 9)
    assert document.key_at(("ä", "c", "not there")) == (3, 6)
    assert document.plain(("ä", "b", 0)) == "x"
    assert document.plain(("ä", "b", 1)) == ""
    assert told("a: x\u2028b: off\n")[0][:4] == "1:9:"  # it ends a line for YAML and for no editor


def test_a_file_of_problems_is_told_up_to_a_limit() -> None:
    problems = told("a:\n" + "- on\n" * 500)
    assert len(problems) == MOST + 1
    assert problems[-1].endswith(f"and {500 - MOST} more problems after this one")


def test_depth_up_to_the_limit_is_read() -> None:
    lists = DEEPEST - 1  # the fields themselves are the first level
    document = read_yaml(f"a: {'[' * lists}{']' * lists}".encode(), "f")
    assert document.problems == []


@given(st.binary(max_size=200))
def test_bytes_never_raise(data: bytes) -> None:
    document = read_yaml(data, "f")
    assert document.problems or isinstance(document.value, dict)


ALPHABET = st.sampled_from(
    [*"abz019-+.:,[]{}#&*!|>'\"%@`?=~<\n\n  \t\r\\", "on", "\n- ", ": ", "\u2028", "ä", "---\n"]
)


@given(st.lists(ALPHABET, max_size=60).map("".join))
def test_shreds_of_yaml_never_raise_and_every_problem_has_a_place(text: str) -> None:
    document = read_yaml(text.encode(), "f")
    assert document.problems or isinstance(document.value, dict)
    lines = text.split("\n")
    for each in document.problems:
        assert 1 <= each.line <= len(lines) + text.count("\r")
        assert 1 <= each.column <= len(text) + 1
        assert "\n" not in each.what + each.hint


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS
    | st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co", "Zl", "Zp")), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcxyz", min_size=1), inner, max_size=3)
    ),
    max_leaves=12,
)


def same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=1e-12)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


@given(st.dictionaries(st.text("abcxyz", min_size=1), VALUES, max_size=4))
def test_what_is_beyond_doubt_is_read_as_it_is(value: dict[str, object]) -> None:
    document = read_yaml(json.dumps(value, ensure_ascii=False).encode(), "f")
    assert document.problems == []
    assert same(value, document.value)


def problem(path: Path) -> str:
    found = read_file(path, "f")
    assert isinstance(found, Problem)
    return found.what


def test_a_plain_file_is_due(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"a: 1")
    assert read_file(plain, "f") == b"a: 1"
    (tmp_path / "link").symlink_to(plain)
    assert problem(tmp_path / "link") == "is a symbolic link"
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert problem(tmp_path / "dangling") == "is a symbolic link"
    assert problem(tmp_path) == "is a folder"
    assert problem(tmp_path / "nothing") == "cannot be read: No such file or directory"
    os.mkfifo(tmp_path / "pipe")
    assert problem(tmp_path / "pipe") == "is no plain file"


def test_no_more_of_a_file_is_read_than_may_be_in_it(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    data = read_file(path, "f")
    assert isinstance(data, bytes)
    assert len(data) == LARGEST + 1


def test_what_is_told_of_a_text_is_one_short_line_without_control_characters() -> None:
    keys = ['"\\e[31m"', '"\\u202e"', "x" * 900, '"a\\nb"']
    for key in keys:
        problems = told(f"{key}: 1\n{key}: 2\n")
        assert problems
        for each in problems:
            assert each.isprintable()
            assert len(each) < 1000


@pytest.mark.parametrize(
    "word", ["1" + "_" * 900_000 + "x", "0" * 900_000 + "x", "1:" * 400_000 + "x", "1" * 900_000 + "e"]
)
def test_a_word_is_looked_at_once_however_long_it_is(word: str) -> None:
    assert read_yaml(f"a: {word}\n".encode(), "f").value == {"a": word}
    assert read_yaml(f"? {word}\n: 1\n".encode(), "f").value == {word: 1}
