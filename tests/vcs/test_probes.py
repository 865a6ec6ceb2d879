"""Lines that were left in the code: tags anywhere, suspicious ones only among those added."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vcs.made import Made, lines
from workbench.model.commits import LeftOver, LeftOvers
from workbench.vcs import probes
from workbench.vcs.git import empty_tree
from workbench.vcs.probes import left_over
from workbench.vcs.suspicious import suspicious

OLD = lines("print('as ever')", "def f(x):", "    return x")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = Made(tmp_path / "code")
    made.commit("begin", {"a.py": OLD, "b.c": 'int main() { printf("hi"); }\n'})
    return made


def left(made: Made, at: str = "HEAD", **given: object) -> LeftOvers:
    repository = made.open()
    return left_over(repository, repository.resolve(at), **given)  # type: ignore[arg-type]


def places(found: LeftOvers) -> list[tuple[str, int]]:
    return [(line.path, line.line) for line in found.lines]


def only(found: LeftOvers) -> LeftOver:
    (line,) = found.lines
    return line


def test_code_that_has_always_printed_is_no_finding(made: Made) -> None:
    assert left(made) == LeftOvers(at=made.head, uncommitted=True)


def test_a_tag_is_found_wherever_it_is(made: Made) -> None:
    sha = made.commit("probe", {"deep/er/x.py": lines("import os", "count(x)  # WB-PROBE H5", "")})
    made.commit("on", {"a.py": OLD + "y = 1\n"})
    line = only(left(made, hypotheses=["H5"]))
    assert line == LeftOver(
        path="deep/er/x.py",
        line=2,
        text="count(x)  # WB-PROBE H5",
        why="a tag",
        hypothesis="H5",
        registered=True,
        commit=sha,
    )
    assert not only(left(made, hypotheses=["H50", "H6"])).registered
    assert only(left(made, f"{sha}", hypotheses=["H5"])) == line
    assert left(made, f"{sha}^").lines == ()


@pytest.mark.parametrize(
    ("text", "hypothesis"),
    [
        ("# WB-PROBE H5", "H5"),
        ("// WB-PROBE: H12 what for", "H12"),
        ("/* WB-PROBE=H3 */", "H3"),
        ("# WB-PROBE", ""),
        ("# WB-PROBE H0", ""),
        ("# WB-PROBE H5x", ""),
    ],
)
def test_a_tag_names_its_hypothesis(made: Made, text: str, hypothesis: str) -> None:
    made.commit("probe", {"x.py": f"{text}\n"})
    line = only(left(made))
    assert (line.hypothesis, line.registered) == (hypothesis, False)
    assert ("names no hypothesis" in line.why) == (not hypothesis)


@pytest.mark.parametrize("text", ["# WB-PROBER H5", "XWB-PROBE H5", "wb-probe H5", "WB PROBE H5"])
def test_what_only_looks_like_a_tag_is_none(made: Made, text: str) -> None:
    made.commit("none", {"x.py": f"{text}\n"})
    assert left(made).lines == ()


def test_documents_binary_files_and_named_folders_are_left_out(made: Made) -> None:
    tag = "WB-PROBE H5\n"
    made.commit(
        "probes",
        {"README.md": tag, "docs/x.py": tag, "x.bin": b"\0" + tag.encode(), "case/a.yaml": tag},
    )
    assert places(left(made)) == [("case/a.yaml", 1)]
    assert places(left(made, leave_out=["case"])) == []
    assert places(left(made, leave_out=["cas", "case/a"])) == [("case/a.yaml", 1)]


def test_added_lines_are_told_with_file_line_and_commit(made: Made) -> None:
    base = made.head
    first = made.commit("one", {"a.py": "print('new')\n" + OLD})
    second = made.commit("two", {"a.py": "print('new')\n" + OLD + "breakpoint()\n"})
    made.commit("gone", {"c.py": "print('gone')\n"})
    made.commit("again", {"c.py": None})
    found = left(made, since=base)
    assert [(line.path, line.line, line.why, line.commit) for line in found.lines] == [
        ("a.py", 1, "prints", first),
        ("a.py", 5, "stops in a debugger", second),
    ]
    assert found.since == base
    assert places(left(made, first, since=base)) == [("a.py", 1)]
    assert left(made, since=second).lines == ()


def test_what_is_not_committed_counts_where_it_is_checked_out(made: Made) -> None:
    made.write({"a.py": OLD + "print('staged')\n"})
    made.git("add", "a.py")
    made.write({"a.py": OLD + "print('staged')\nprint('not even')\n", "new.py": "x\nprint(1)\n"})
    made.write({"probe.py": "# WB-PROBE H5\n"})
    found = left(made)
    assert found.uncommitted
    assert places(found) == [("a.py", 4), ("a.py", 5), ("new.py", 2), ("probe.py", 1)]
    assert {line.commit for line in found.lines} == {""}
    made.commit("keep it")
    elsewhere = left(made, "HEAD^")
    assert (elsewhere.lines, elsewhere.uncommitted) == ((), False)


def test_ignored_files_are_nobodys_business(made: Made) -> None:
    made.commit("ignore", {".gitignore": "*.log\n"})
    made.write({"x.log": "WB-PROBE H5\n"})
    assert left(made).lines == ()


def test_lines_that_an_instrument_added_are_registered(made: Made) -> None:
    base = made.head
    sha = made.commit("watch", {"a.py": OLD + "print('watching')\n"})
    made.commit("other", {"b.c": 'int main() { printf("hi"); }\nputs("x");\n'})
    found = left(made, since=base, instruments={sha: "H7"})
    assert [(line.hypothesis, line.registered) for line in found.lines] == [("H7", True), ("", False)]


def test_nothing_of_a_line_poses_as_a_head_of_the_diff(made: Made) -> None:
    base = made.head
    evil = lines("++ b/evil.py", "@@ -1,9 +1,9 @@ print('x')", "-- a/evil.py", "print('real')")
    made.commit("evil", {"x.py": evil, "y.py": "print('also')\n"})
    found = left(made, since=base)
    assert places(found) == [("x.py", 2), ("x.py", 4), ("y.py", 1)]


def test_paths_and_lines_of_any_bytes(made: Made) -> None:
    base = made.head
    names = ["-x.py", "new\nline.py", 'quo"te.py', "tab\t.py", "--output=evil.py", "no-utf8-\udcff.py"]
    for name in names:
        (made.folder / name).write_bytes(b"ok\r\nprint(1) # \xff\x1b[31m WB-PROBE H5\r\nprint(2)\r\n")
    sha = made.commit("odd")
    for found in (left(made, since=base), left(made, since=base, at=sha)):
        assert {line.path for line in found.lines} == set(names)
        assert {line.line for line in found.lines} == {2, 3}
        assert {line.commit for line in found.lines} == {sha}
    made.write({"-y\n.py": "print(3)\n"})
    assert ("-y\n.py", 1) in places(left(made))


def test_a_bare_repository_has_no_work_tree_to_look_through(made: Made, tmp_path: Path) -> None:
    made.commit("probe", {"x.py": "# WB-PROBE H5\n"})
    made.git("clone", "-q", "--bare", str(made.folder), str(tmp_path / "bare.git"))
    bare = Made(made.folder)
    bare.folder = tmp_path / "bare.git"
    found = left(bare, since=empty_tree(bare.open().objects))
    assert (places(found)[-1], found.uncommitted) == (("x.py", 1), False)
    assert ("a.py", 1) in places(found)  # everything was added since there was nothing


def test_a_list_that_would_have_no_end_is_cut(made: Made) -> None:
    base = made.head
    made.commit("many", {"many.py": "".join(f"print({n})\n" for n in range(probes.MOST + 50))})
    found = left(made, since=base)
    assert (len(found.lines), found.cut) == (probes.MOST, True)
    assert found.lines[-1].commit == made.head


def test_a_long_line_is_cut(made: Made) -> None:
    made.write({"x.py": f"print({'x' * 10_000})\n", "y.py": "x" * 5000 + " # WB-PROBE H5\n"})
    found = left(made)
    assert places(found) == [("x.py", 1), ("y.py", 1)]
    assert all(len(line.text) <= 300 for line in found.lines)


def test_links_and_great_files_are_not_read(made: Made, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("print('of somebody else')\n")
    (made.folder / "link.py").symlink_to(outside)
    (made.folder / "great.py").write_text("print(1)\n" * 200_000)
    assert left(made).lines == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "    breakpoint()"),
        ("a.py", "import pdb; pdb.set_trace()"),
        ("a.py", "print(f'{x=}')"),
        ("a.py", "torch.cuda.synchronize()"),
        ("a.py", 'if os.environ.get("SGLANG_DEBUG_INDEX_K"):'),
        ("a.py", "x = 1  # TODO: remove this again"),
        ("a.py", "# DO NOT MERGE".lower()),
        ("a.cu", "cudaDeviceSynchronize();"),
        ("a.cpp", 'std::cerr << "x";'),
        ("a.c", 'fprintf(stderr, "x");'),
        ("a.ts", "console.log(x);"),
        ("a.js", "debugger;"),
        ("a.rs", "dbg!(x);"),
        ("a.rs", 'eprintln!("x");'),
        ("a.go", "fmt.Println(x)"),
        ("A.java", "System.out.println(x);"),
        ("a.rb", "binding.pry"),
        ("a.sh", "set -x"),
        ("a.sh", "set -eux"),
        ("Makefile", "export SGLANG_DEBUG_MODE=1"),
        ("tests/test_a.py", "breakpoint()"),
    ],
)
def test_what_is_suspicious(path: str, text: str) -> None:
    assert suspicious(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "blueprint(x)"),
        ("a.py", "self.print(x)"),
        ("a.py", "logger.debug('x')"),
        ("a.py", "fingerprint = 1"),
        ("a.py", "# remove the page from the list"),
        ("a.js", "print(x)"),
        ("a.rs", "println(x)"),
        ("a.c", "snprintf(buffer, n, format);"),
        ("a.sh", "set -e"),
        ("tests/test_a.py", "print('of a test')"),
        ("a_test.go", "fmt.Println(x)"),
        ("README.md", "print('of a document')"),
        ("docs/conf.py", "breakpoint()"),
    ],
)
def test_what_is_not(path: str, text: str) -> None:
    assert not suspicious(path, text)
