"""Stale bytecode: what Python would really run, and that it is named; and that nothing else is."""

from __future__ import annotations

import importlib.util
import json
import marshal
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.vcs.bytecode import Bytecode, Stale, cache_of

TIMESTAMP, CHECKED, UNCHECKED = py_compile.PycInvalidationMode
MODES = [TIMESTAMP, CHECKED, UNCHECKED]
SECOND = 1_000_000_000
THEN = 1_700_000_000 * SECOND + 500_000_000  # half past a second


def unknown(_: str) -> bool:
    return False


def stale(folder: Path, cache: str = "", known: Callable[[str], bool] = unknown) -> list[Stale]:
    return Bytecode(folder, known).stale(cache)


def run(folder: Path, *options: str, module: str = "m") -> str:
    """Let Python say what it makes of a module."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module}; print({module}.SAYS)"
    words = [sys.executable, "-S", "-B", *options, "-c", code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.strip()


def write(folder: Path, text: str, at: int = THEN, name: str = "m.py") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, ns=(at, at))
    return file


def compiled(
    source: Path,
    mode: py_compile.PycInvalidationMode,
    at: int = THEN,
    cached: Path | None = None,
    level: int = 0,
) -> Path:
    there = cached or Path(
        importlib.util.cache_from_source(str(source), optimization=str(level) if level else "")
    )
    py_compile.compile(
        str(source), cfile=str(there), invalidation_mode=mode, doraise=True, optimize=level
    )
    os.utime(there, ns=(at, at))
    return there


# --- what is fine ---------------------------------------------------------------------------------

TRICKY = '''"""A docstring: "公" and \\N{BULLET}."""
from __future__ import annotations
import sys
A = (float("nan"), 1e400 - 1e400, -0.0, 0.0, 1j, 10**40, b"\\xff", ..., None, True, 1, 1.0)
B = {1, "a", b"b", (1, 2)} | frozenset({2, "b"})
def outer(x, /, y=1, *rest, z: int = 2, **more):
    total = 0
    def inner():
        nonlocal total
        total += 1
        return [i for i in rest if i in {"a", "b", "c", 1, 2.5}]
    try:
        return inner(), (yield f"{x!r:>{y}} {total}"), lambda: (n := 1)
    except (ValueError, TypeError) as error:
        raise RuntimeError from error
    finally:
        total = 0
async def more():
    async with outer as it:
        async for _ in it: await it
class C:
    __slots__ = ("a",)
    assert A
    def m(self): return super().m, __class__, __debug__
SAYS = 1
'''


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("level", [0, 1, 2])
def test_what_python_has_made_of_a_source_is_not_stale(
    mode: py_compile.PycInvalidationMode, level: int, tmp_path: Path
) -> None:
    compiled(write(tmp_path, TRICKY), mode, level=level)
    assert stale(tmp_path) == []


@pytest.mark.parametrize("mode", [TIMESTAMP, CHECKED], ids=["time", "hash"])
def test_what_python_makes_anew_is_not_stale(
    mode: py_compile.PycInvalidationMode, tmp_path: Path
) -> None:
    compiled(write(tmp_path, "SAYS = 1\n"), mode)
    write(tmp_path, "SAYS = 2\n", at=THEN + SECOND)
    assert run(tmp_path) == "2"
    assert stale(tmp_path) == []


def test_our_own_sources_are_not_stale(tmp_path: Path) -> None:
    """A large tree that Python has compiled itself, with all that it had to say."""
    import email
    import json as decoder

    for package in (email, decoder):
        source = Path(str(package.__file__)).parent
        for file in source.rglob("*.py"):
            copy = write(tmp_path / package.__name__, file.read_text("utf-8"), name=file.name)
            compiled(copy, TIMESTAMP)
    assert stale(tmp_path) == []


def test_bytecode_of_another_python_is_passed_over(tmp_path: Path) -> None:
    source = write(tmp_path, "SAYS = 1\n")
    cached = compiled(source, TIMESTAMP)
    other = b"\x01\x02\r\n" + cached.read_bytes()[4:16] + b"what that one makes of it"
    cached.with_name("m.cpython-399.pyc").write_bytes(other)
    cached.with_name("m.cpython-311-pytest-8.3.pyc").write_bytes(other)  # of a tool, never imported
    cached.with_name("m.cpython-36.pyc").write_bytes(other)
    assert stale(tmp_path) == []


@pytest.mark.parametrize("where", [".git/x", ".venv/lib", "env", "other", "node_modules/x"])
def test_environments_and_other_repositories_are_not_searched(where: str, tmp_path: Path) -> None:
    folder = tmp_path / where
    write(folder, "SAYS = 1\n")
    (tmp_path / "env").mkdir(exist_ok=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "other" / ".git").mkdir(parents=True)
    (folder / "gone.pyc").write_bytes(b"")
    assert stale(tmp_path) == []
    assert [each.path for each in stale(folder)] == ["gone.pyc"]


# --- what is not ----------------------------------------------------------------------------------


def test_bytecode_that_is_never_checked_and_of_another_source_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, "SAYS = 'old'\n", name="a/b/m.py")
    planted = compiled(source, UNCHECKED)
    write(tmp_path, "SAYS = 'new'\n", at=THEN + 60 * SECOND, name="a/b/m.py")
    assert run(tmp_path / "a" / "b") == "old"  # what the guard is for
    (found,) = stale(tmp_path)
    assert found.path == str(planted.relative_to(tmp_path))
    assert "never checked (PEP 552)" in found.why
    planted.unlink()
    assert stale(tmp_path) == []
    assert run(tmp_path / "a" / "b") == "new"


def test_bytecode_that_names_time_and_size_of_another_source_is_named(tmp_path: Path) -> None:
    compiled(write(tmp_path, "SAYS = 1\n"), TIMESTAMP, at=THEN + 60 * SECOND)
    finder = Bytecode(tmp_path, unknown)
    assert finder.stale() == []
    write(tmp_path, "SAYS = 2\n")  # as `touch -r` or an archive would have it
    assert run(tmp_path) == "1"
    (found,) = finder.stale()  # it had been compared, and is again
    assert found.path == "__pycache__/" + Path(importlib.util.cache_from_source("m.py")).name
    assert "same size and time" in found.why


def test_a_source_that_was_written_again_within_the_second_is_named(tmp_path: Path) -> None:
    compiled(write(tmp_path, "SAYS = 1\n"), TIMESTAMP, at=THEN + 1000)
    write(tmp_path, "SAYS = 2\n", at=THEN + 2000)
    assert run(tmp_path) == "1"
    (found,) = stale(tmp_path)
    assert "in the same second" in found.why


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SAYS = 1.0", "SAYS = 1  "),
        ("SAYS = 0.0", "SAYS = -0."),
        ("SAYS = 'a'", "SAYS =b'a'"),
        ("SAYS = (1,)", "SAYS = [1]"),
        ("def f(a): SAYS\nSAYS = 1", "def f(b): SAYS\nSAYS = 1"),
        ("def f(a=1): 0\nSAYS = 1", "def f(a=2): 0\nSAYS = 1"),
        ("SAYS = lambda: 1 if 1 in {1, 2} else 3", "SAYS = lambda: 1 if 1 in {1, 4} else 3"),
        ("SAYS = 1", "SAYS = )"),
    ],
)
def test_any_change_to_what_is_run_is_found(old: str, new: str, tmp_path: Path) -> None:
    size = max(len(old), len(new))
    compiled(write(tmp_path, old.ljust(size)), TIMESTAMP, at=THEN + 60 * SECOND)
    write(tmp_path, new.ljust(size))
    assert len(stale(tmp_path)) == 1


def test_a_change_that_changes_nothing_is_not(tmp_path: Path) -> None:
    compiled(write(tmp_path, "SAYS = 1 # a\n"), TIMESTAMP, at=THEN + 60 * SECOND)
    write(tmp_path, "SAYS = 1 # b\n")
    assert stale(tmp_path) == []


def test_bytecode_in_place_of_a_source_is_named_unless_git_knows_it(tmp_path: Path) -> None:
    source = write(tmp_path, "SAYS = 'left over'\n", name="lib/m.py")
    compiled(source, TIMESTAMP, cached=source.with_suffix(".pyc"))
    assert stale(tmp_path) == []  # the source is there, and Python takes that
    source.unlink()
    assert run(tmp_path / "lib") == "left over"
    (found,) = stale(tmp_path)
    assert (found.path, "no source beside it" in found.why) == ("lib/m.pyc", True)
    assert stale(tmp_path, known=lambda path: path == "lib/m.pyc") == []


def test_a_source_that_is_gone_takes_its_cache_with_it(tmp_path: Path) -> None:
    source = write(tmp_path, "SAYS = 1\n")
    compiled(source, UNCHECKED)
    source.unlink()
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path)
    assert stale(tmp_path) == []


def test_a_cache_elsewhere_is_looked_at_in_place_of_the_usual_one(tmp_path: Path) -> None:
    folder, cache = tmp_path / "code", tmp_path / "cache"
    source = write(folder, "SAYS = 'old'\n")
    planted = Path(f"{cache}{source}").with_name(Path(importlib.util.cache_from_source("m.py")).name)
    planted.parent.mkdir(parents=True)
    compiled(source, UNCHECKED, cached=planted)
    compiled(source, UNCHECKED)
    write(folder, "SAYS = 'new'\n")
    assert run(folder, "-X", f"pycache_prefix={cache}") == "old"
    assert [each.path for each in stale(folder, str(cache))] == [str(planted)]
    planted.unlink()
    assert stale(folder, str(cache)) == []
    assert len(stale(folder)) == 1


@pytest.mark.parametrize(
    ("argv", "environment", "cache"),
    [
        (["python", "m.py"], {}, ""),
        (["python", "m.py"], {"PYTHONPYCACHEPREFIX": "/c"}, "/c"),
        (["python", "-X", "pycache_prefix=/x", "m.py"], {"PYTHONPYCACHEPREFIX": "/c"}, "/x"),
        (["python", "-Xpycache_prefix=/x", "m.py"], {}, "/x"),
        (["python", "-X", "dev", "-X", "pycache_prefix=/x"], {}, "/x"),
        (["python", "-X"], {}, ""),
        ([], {}, ""),
    ],
)
def test_a_process_says_where_its_cache_is(
    argv: list[str], environment: dict[str, str], cache: str
) -> None:
    assert cache_of(argv, environment) == cache


# --- what is hostile ------------------------------------------------------------------------------


def _nested(depth: int) -> bytes:
    """Bytes that unmarshal to tuples within tuples, deeper than any stack."""
    return b")\x01" * depth + b"N"


@pytest.mark.parametrize(
    "body",
    [b"", b"\x00", b"garbage" * 99, _nested(10**6), marshal.dumps({"a": [1, 2]}), b"c" + b"\xff" * 400],
    ids=["empty", "nul", "garbage", "deep", "no-code", "torn"],
)
def test_damaged_bytecode_is_named_and_does_no_harm(body: bytes, tmp_path: Path) -> None:
    for name in ("a.py", "m.py", "z.py"):
        cached = compiled(write(tmp_path, "SAYS = 1\n", name=name), TIMESTAMP, at=THEN + 60 * SECOND)
        if name == "m.py":
            cached.write_bytes(cached.read_bytes()[:16] + body)
            os.utime(cached, ns=(THEN + 60 * SECOND,) * 2)
    write(tmp_path, "SAYS = 2\n", name="z.py")  # what comes after it is found all the same
    assert [Path(each.path).name.partition(".")[0] for each in stale(tmp_path)] == ["m", "z"]


def test_bytecode_that_crashes_who_loads_it_hides_no_other(tmp_path: Path) -> None:
    """Some instructions at the end of a function crash an interpreter that looks at them."""
    text = "def f():\n  try: pass\n  except E: pass\nSAYS = 1\n"
    names = [f"a{number}.py" for number in (3, 56, 59, 62, 63, 160)]
    for name in (*names, "m.py", "z.py"):
        cached = compiled(write(tmp_path, text, name=name), TIMESTAMP, at=THEN + 60 * SECOND)
        if name in names:
            code = compile(text, name, "exec")
            words = bytes([*code.co_code[:-2], int(name[1:-3]), 0])
            body = marshal.dumps(code).replace(code.co_code, words)  # never an object of this process
            cached.write_bytes(cached.read_bytes()[:16] + body)
            os.utime(cached, ns=(THEN + 60 * SECOND,) * 2)
    write(tmp_path, text.replace("1", "2"), name="z.py")
    found = [f"{Path(each.path).name.partition('.')[0]}.py" for each in stale(tmp_path)]
    assert found == sorted([*names, "z.py"])


@pytest.mark.parametrize("what", ["source", "cached"])
def test_what_is_no_file_is_not_waited_for(what: str, tmp_path: Path) -> None:
    source = write(tmp_path, "SAYS = 1\n")
    cached = compiled(source, UNCHECKED)
    path = source if what == "source" else cached
    path.unlink()
    os.mkfifo(path)
    assert stale(tmp_path) == []


def test_a_header_alone_or_less_is_passed_over(tmp_path: Path) -> None:
    cached = compiled(write(tmp_path, "SAYS = 1\n"), TIMESTAMP)
    for size in range(16):
        cached.write_bytes(cached.read_bytes()[:size])
        assert stale(tmp_path) == []
    cached.unlink()
    cached.mkdir()
    assert stale(tmp_path) == []


def test_names_may_hold_anything(tmp_path: Path) -> None:
    name = "-rf\n\x1b[31m $(touch pwned)"
    compiled(write(tmp_path, "SAYS = 1\n", name=f"{name}/m.py"), UNCHECKED)
    write(tmp_path, "SAYS = 2\n", name=f"{name}/m.py")
    (found,) = stale(tmp_path)
    assert found.path.startswith(name)
    assert json.loads(json.dumps(found.path)) == found.path
    assert not list(tmp_path.rglob("pwned"))
