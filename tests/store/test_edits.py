"""An edit makes other bytes of a file: only what was meant, the same the second time, or refused."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from workbench.ports import Edit
from workbench.store.edits import render, render_all

SCRIPT = b"""#!/bin/sh
# --enable-hicache is what we are after
export MODE=fast   # not --enable-hicache
exec python -m serve \\
  --model tiny \\
  --enable-hicache \\
  --mem 0.8 2>&1 | tee log
"""
CONFIG = b"""# kept as it is
cache:
  dtype: bf16   # and so is this
  path: '/tmp/x'
  on:
list: [1, {deep: "no"}]
long: |
  several
  lines
base: &base {a: 1}
alias: *base
"""


def line(text: bytes, flag: str, value: Any) -> bytes:
    return render(text, Edit(path="serve.sh", line=flag, value=value))


def key(text: bytes, name: str, value: Any, file: str = "config.yaml") -> bytes:
    return render(text, Edit(path=file, key=name, value=value))


# --- lines ----------------------------------------------------------------------------------------


def test_a_flag_goes_with_its_line() -> None:
    assert line(SCRIPT, "--enable-hicache", False) == SCRIPT.replace(b"  --enable-hicache \\\n", b"")
    assert line(SCRIPT, "--enable-hicache", True) == SCRIPT


def test_the_last_line_of_a_command_takes_the_backslash_before_it_along() -> None:
    text = b"serve \\\n  --a \\\n  --b\necho\n"
    assert line(text, "--b", False) == b"serve \\\n  --a\necho\n"
    assert line(b"serve \\\n  --b", "--b", False) == b"serve"
    assert line(b"serve \\\r\n  --b\r\n", "--b", False) == b"serve\r\n"


def test_a_flag_that_is_not_there_comes_before_the_last_flag_of_the_only_command() -> None:
    assert line(SCRIPT, "--new", 3) == SCRIPT.replace(b"  --mem", b"  --new 3 \\\n  --mem")
    windows = SCRIPT.replace(b"\n", b"\r\n")
    assert line(windows, "--new", True) == windows.replace(b"  --mem", b"  --new \\\r\n  --mem")


def test_a_value_takes_the_place_of_the_one_before() -> None:
    assert line(SCRIPT, "--mem", 0.9) == SCRIPT.replace(b"0.8", b"0.9")
    assert line(b"serve --mem=1 -v\n", "--mem", "a b") == b"serve --mem='a b' -v\n"
    assert line(b"serve --mem  1 -v\n", "--mem", 2) == b"serve --mem  2 -v\n"
    assert line(b"serve --mem -v\n", "--mem", 2) == b"serve --mem 2 -v\n"
    assert line(b"serve --mem -1\n", "--mem", -2) == b"serve --mem -2\n"
    assert line(b"serve --mem 1\n", "--mem", "-v") == b"serve --mem=-v\n"


def test_a_flag_within_a_line_leaves_the_rest_of_it() -> None:
    assert line(b"serve --a -v --b # --a\n", "--a", False) == b"serve -v --b # --a\n"
    assert line(b"serve --a=1; echo\n", "--a", False) == b"serve; echo\n"
    assert line(b"(serve --a)\n", "--a", False) == b"(serve)\n"


def test_a_line_is_there_or_not_or_has_a_value() -> None:
    text = b"x = 1\nMODE=fast\n  set -e\n"
    assert line(text, "set -e", False) == b"x = 1\nMODE=fast\n"
    assert line(text, "set -e", True) == text
    assert line(text, "MODE=", "slow") == b"x = 1\nMODE=slow\n  set -e\n"
    assert line(text, "NEW=", "a b") == text + b"NEW='a b'\n"
    assert line(text, "new", 1) == text + b"new 1\n"
    assert line(text, "MODE=", False) == b"x = 1\n  set -e\n"
    assert line(b"", "new", True) == b"new\n"


def test_a_file_without_a_last_newline_stays_one() -> None:
    assert line(b"a\nb", "b", False) == b"a"
    assert line(b"a", "b", True) == b"a\nb"
    assert line(b"a\r\nb", "c", True) == b"a\r\nb\r\nc"


@pytest.mark.parametrize(
    ("text", "flag", "value", "why"),
    [
        (b"serve --a\nserve --a\n", "--a", True, "lines 1, 2: --a stands there 2 times"),
        (b"serve '--a'\n", "--a", False, "line 1: --a stands there within quotes"),
        (b'x="--a\n', "--a", True, "line 1: --a stands there within quotes"),
        (b"serve x/--a\n", "--a", True, "within quotes or another word"),
        (b"serve --a model\n", "--a", False, "line 1: model may belong to --a or not"),
        (b"serve --a=1\n", "--a", True, "line 1: --a stands there with 1"),
        (b"serve\n", "--a", True, "no command could take it"),
        (b"s \\\n -x\nt \\\n -y\n", "--a", 1, "2 commands could take it"),
        (b"#!/bin/sh\nserve\n", "export A=1", True, "may never be reached"),
        (b"export A B\n", "export", False, "line 1: export stands there followed by more"),
        (b"mem 1\n", "mem", True, "line 1: mem stands there with 1"),
        (b"a\0", "a", True, "is no text"),
        (b"serve \\", "MODE=", 1, "ends with a backslash"),
    ],
)
def test_what_cannot_be_told_for_certain_is_refused(
    text: bytes, flag: str, value: Any, why: str
) -> None:
    with pytest.raises(ValueError, match=rf"^serve.sh: .*{why}"):
        line(text, flag, value)


SIGNS = st.sampled_from([*"ab-=#'\"\\;& |\t", "\\\n", "\n", "\r\n", "--a", "--b", "--a=1", "$(x)"])
TEXTS = st.lists(SIGNS, max_size=25).map("".join)
VALUES = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))


def sayable(value: Any) -> bool:
    return not isinstance(value, str) or all(ord(sign) >= 32 and sign != "\x7f" for sign in value)


@given(TEXTS, st.sampled_from(["--a", "--b", "-x", "MODE=", "set -e"]), VALUES)
@example("serve --a -- x\n", "--a", "-")
def test_an_edit_is_the_same_the_second_time(text: str, flag: str, value: Any) -> None:
    assume(sayable(value))
    try:
        once = line(text.encode(), flag, value)
    except ValueError:
        return
    assert line(once, flag, value) == once


@given(TEXTS, st.sampled_from(["--a", "MODE="]), VALUES)
def test_only_lines_of_the_edit_differ(text: str, flag: str, value: Any) -> None:
    """Lines that come before and after stay, byte for byte; a neighbour gets or loses a backslash."""
    assume(sayable(value))
    try:
        new = line(text.encode(), flag, value)
    except ValueError:
        return
    before, after = text.encode().split(b"\n"), new.split(b"\n")
    assert abs(len(before) - len(after)) <= 1
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    assert max(len(before), len(after)) <= 2


@given(st.binary(max_size=40).filter(lambda data: b"\0" not in data and b"--a" not in data))
def test_bytes_that_are_no_text_pass_through(data: bytes) -> None:
    head = b"serve \\\n  --z\n"
    try:
        new = line(head + data, "--a", True)
    except ValueError:
        return
    assert line(new, "--a", False) == head + data


@given(VALUES.filter(lambda value: not isinstance(value, bool)))
def test_a_value_is_one_word_of_a_shell_whatever_it_holds(value: Any) -> None:
    assume(sayable(value))
    new = line(b"serve \\\n  --z\n", "--a", value).decode()
    words = shlex.split(new.replace("\\\n", " ", 1).replace(" \\\n", " "))
    assert f"--a={value}" in words or words[words.index("--a") + 1] == str(value)


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "was", "now"),
    [
        ("cache.dtype", "fp8", b"bf16", b"fp8"),
        ("cache.dtype", "no", b"bf16", b'"no"'),
        ("cache.dtype", 1e-7, b"bf16", b"1.0e-07"),
        ("cache.path", "it's", b"'/tmp/x'", b"'it''s'"),
        ("cache.on", True, b"on:", b"on: true"),
        ("list.0", None, b"[1", b"[null"),
        ("list.1.deep", "\u2028", b'"no"', b'"\\u2028"'),
    ],
)
def test_a_value_of_yaml_changes_in_place(name: str, value: Any, was: bytes, now: bytes) -> None:
    assert key(CONFIG, name, value) == CONFIG.replace(was, now, 1)
    assert key(CONFIG.replace(b"\n", b"\r\n"), name, value) == CONFIG.replace(was, now, 1).replace(
        b"\n", b"\r\n"
    )


@pytest.mark.parametrize(
    ("text", "name", "value", "why"),
    [
        (CONFIG, "cache.dtyp", 1, "there is no cache.dtyp; did you mean 'cache.dtype'"),
        (CONFIG, "cache", 1, "is a list or a mapping"),
        (CONFIG, "long", "x", "line 7: long is a text of several lines"),
        (CONFIG, "base.a", 2, "line 10: base.a has an anchor"),
        (CONFIG, "alias", 2, "line 11: alias has an anchor"),
        (CONFIG, "cache.dtype", [1], "cannot become a list"),
        (b"a: 1\na: 2\n", "a", 3, "line 2: has the key 'a' twice"),
        (b"a: 1\n---\na: 2\n", "a", 3, "line 2: holds a second document"),
        (b"a: [1\n", "a", 3, "is no YAML"),
        (b"a: \xff\n", "a", 3, "line 1: is not UTF-8"),
        (b"\xef\xbb\xbfa: 1\n", "a", 3, "byte order mark"),
        (b"{a}", "a", 3, "has no place for a value"),
        (b"a: !!str 1\n", "a", 3, "a tag"),
        (b"", "a", 3, "there is no a"),
    ],
)
def test_yaml_that_cannot_be_changed_safely_is_refused(
    text: bytes, name: str, value: Any, why: str
) -> None:
    with pytest.raises(ValueError, match=rf"^config.yaml: .*{why}"):
        key(text, name, value)


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        (b'{"a": 1}', "b", "there is no b"),
        (b'{"a": 1, "a": 2}', "a", "has the key 'a' twice"),
        (b'{"a": {"b": 1}, "a.b": 2}', "a.b", "has a.b 2 times"),
        (b'{"a": 1,\n}', "a", "line [12]: is no JSON"),
        (b"[" * 100_000, "a", "nested too deep|is no JSON"),
        (b"", "a", "line 1: is no JSON"),
    ],
)
def test_json_that_cannot_be_changed_safely_is_refused(text: bytes, name: str, why: str) -> None:
    with pytest.raises(ValueError, match=rf"^a.json: .*({why})"):
        key(text, name, 1, "a.json")


def test_a_file_of_another_kind_has_no_keys() -> None:
    with pytest.raises(ValueError, match="no keys that are known"):
        key(b"a = 1", "a", 1, "a.toml")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=10),
)
TREES = st.dictionaries(
    st.text("abc", min_size=1, max_size=2),
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text("xyz", min_size=1), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)


def leaves(tree: Any, path: tuple[str, ...] = ()) -> list[str]:
    if isinstance(tree, dict | list) and tree:
        inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return [leaf for name, value in inner for leaf in leaves(value, (*path, str(name)))]
    return [] if isinstance(tree, dict | list) else [".".join(path)]


def with_leaf(tree: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    head, *rest = path
    if isinstance(tree, list):
        return [
            with_leaf(each, rest, value) if str(at) == head else each for at, each in enumerate(tree)
        ]
    return {name: with_leaf(each, rest, value) if name == head else each for name, each in tree.items()}


@given(TREES, SCALARS, st.data(), st.sampled_from([None, 1, "\t"]))
def test_any_value_of_json_becomes_another_and_no_other(
    tree: Any, value: Any, data: st.DataObject, indent: Any
) -> None:
    there = leaves(tree)
    assume(there)
    name = data.draw(st.sampled_from(there))
    text = json.dumps(tree, indent=indent, ensure_ascii=bool(indent)).encode()
    new = key(text, name, value, "a.json")
    assert repr(json.loads(new)) == repr(with_leaf(tree, name.split("."), value))
    assert key(new, name, value, "a.json") == new


@given(TREES, SCALARS, st.data(), st.booleans())
def test_any_value_of_yaml_becomes_another_and_no_other(
    tree: Any, value: Any, data: st.DataObject, flow: bool
) -> None:
    there = leaves(tree)
    assume(there)
    name = data.draw(st.sampled_from(there))
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True).encode()
    try:
        new = key(text, name, value)
    except ValueError as error:
        refused = str(error)
        new = None
    if new is None:
        assert "is a text of several lines" in refused
        return
    assert repr(yaml.safe_load(new)) == repr(with_leaf(yaml.safe_load(text), name.split("."), value))
    assert key(new, name, value) == new


def test_edits_of_one_file_follow_one_another() -> None:
    edits = [Edit(path="s.sh", line="--a", value=1), Edit(path="s.sh", line="--b", value=True)]
    assert render_all(b"s \\\n --z\n", edits) == b"s \\\n --a 1 \\\n --b \\\n --z\n"
