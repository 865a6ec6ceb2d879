"""Code of arms: which is meant, where it lies, how a launch gets there, and whether it is what runs."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.simulated_tests import campaign, plan, suspect
from tests.vcs.trees import Tree, git
from workbench.campaign.running import build
from workbench.conduct import codeback
from workbench.conduct.codeback import Due, runs_from
from workbench.conduct.experiment import read_back
from workbench.conduct.feasible import check
from workbench.conduct.knobs import Knobs
from workbench.conduct.pinning import checks_out, moved, pinned
from workbench.conduct.sources import Sources
from workbench.errors import ArmCouldNotStart, UsageError
from workbench.model.campaign import EngineSpec, WorkloadSpec
from workbench.model.commits import Code
from workbench.model.plan import Arm, Part, Plan
from workbench.ports import Checkout, Component, Launch, Place, Sighting

ARM = Arm(name="control", settings={"build": "it"})
PLAIN = Arm(name="control", settings={})


def commit(revision: Any, **options: Any) -> Part:
    return Part(kind="commit", options={"levels": {"it": revision}, **options})


def patch(path: str | None, **options: Any) -> Part:
    return Part(kind="patch", options={"levels": {"it": path}, **options})


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "engine")
    tree.write("lib/serve.py", "one\n")
    tree.commit(serve__py="one\n")
    return tree


@pytest.fixture
def root(tree: Tree) -> Path:
    return tree.path.parent


def head(tree: Tree) -> str:
    return git(tree.path, "rev-parse", "HEAD")


# --- what knobs say of it -------------------------------------------------------------------------


def test_all_knobs_of_an_arm_make_one_checkout() -> None:
    parts = {
        "a": patch("one/../a.patch", build=["make"]),
        "b": commit("main", build=["make"], build_timeout=60.0),
        "c": patch("b.patch"),
        "d": patch(None),
        "e": Part(kind="env", options={"name": "E", "levels": {"it": "1"}}),
    }
    arm = Arm(name="control", settings=dict.fromkeys(parts, "it"))
    knobs = Knobs(parts)
    assert knobs.of_code(arm) == ["a", "b", "c", "d"]
    assert knobs.checkout(arm) == Checkout(
        commit="main", patches=("a.patch", "b.patch"), build=("make",), build_timeout=60.0
    )
    assert knobs.checkout(Arm(name="control", settings={"e": "it"})) is None


def checked(*parts: Part, **engine: Any) -> None:
    knobs = {f"knob{number}": part for number, part in enumerate(parts)}
    arm = Arm(name="control", settings=dict.fromkeys(knobs, "it"))
    spec = EngineSpec(name="prod", **{"lifecycle": "command", **engine})
    check(Knobs(knobs), arm, spec, WorkloadSpec(name="w", kind="command"))


def test_what_cannot_be_had_is_refused_when_it_is_planned() -> None:
    checked(commit("main"), patch("a.patch"))
    with pytest.raises(ValueError, match="knobs knob0 and knob1 both set the commit"):
        checked(commit("main"), commit("v1"))
    with pytest.raises(ValueError, match="another knob of the arm builds the code by another command"):
        checked(commit("main", build=["make"]), patch(None, build=["ninja"]))
    checked(commit("main", readback={"checkout": "code.commit"}))
    env = Part(
        kind="env",
        options={"name": "A", "levels": {"it": "1"}, "readback": {"checkout": "code.commit"}},
    )
    with pytest.raises(ValueError, match="knob knob0 would be read back by the code"):
        checked(env, commit("main"))
    with pytest.raises(ValueError, match="engine 'prod' starts nothing"):
        checked(commit("main"), lifecycle="attach")
    with pytest.raises(ValueError, match=r"engine 'prod' runs on ops@gpu-host"):
        checked(commit("main"), options={"ssh": "ops@gpu-host"})


# --- which is meant -------------------------------------------------------------------------------


def planned(repo: str, **parts: Part) -> Plan:
    """Give a plan whose arms are set to these knobs."""
    made = plan(campaign({"control": 0.3}), suspect())
    arms = tuple(
        replace(arm, settings=dict.fromkeys(parts, "it") if parts else {}) for arm in made.arms
    )
    return replace(made, arms=arms, knobs=parts, repo=repo)


def test_a_plan_has_whole_ids_and_what_they_are_called(tree: Tree, root: Path) -> None:
    sha = head(tree)
    for name in ("main", "HEAD", sha[:9]):
        knob = pinned(planned("engine", build=commit(name)), root).knobs["build"].options
        assert knob["levels"] == {"it": sha}
        assert knob["named"] == {"it": name}
    whole = planned("engine", build=commit(sha))
    assert pinned(whole, root) == whole
    assert checks_out(whole)
    assert pinned(pinned(planned("engine", build=commit("main")), root), root).knobs["build"].options[
        "named"
    ] == {"it": "main"}


def test_a_plan_without_such_knobs_needs_no_repository(tmp_path: Path) -> None:
    other = planned(
        "no such folder", mode=Part(kind="env", options={"name": "M", "levels": {"it": "1"}})
    )
    assert pinned(other, tmp_path) is other
    assert not checks_out(other)


def test_a_patch_is_laid_over_what_is_checked_out_now(tree: Tree, root: Path) -> None:
    (root / "a.patch").write_bytes(tree.patch("serve.py", "two\n"))
    onto = pinned(planned("engine", wait=patch("a.patch")), root).knobs["wait"].options["onto"]
    assert onto == head(tree)
    old = head(tree)
    tree.commit(serve__py="another\n")
    named = pinned(planned("engine", wait=patch("a.patch", onto="HEAD^")), root)
    assert named.knobs["wait"].options["onto"] == old
    both = pinned(planned("engine", build=commit("main"), wait=patch("a.patch")), root)
    assert both.knobs["build"].options["levels"] == {"it": head(tree)}
    assert "onto" not in both.knobs["wait"].options


def test_a_campaign_in_its_repository_may_write_its_own_files(tree: Tree) -> None:
    (tree.path / "a.patch").write_bytes(tree.patch("serve.py", "two\n"))
    tree.write("hypotheses/events.jsonl", "one\n")
    tree.commit(campaign__yaml="one\n")
    tree.write("hypotheses/events.jsonl", "one\ntwo\n")
    tree.write("campaign.yaml", "two\n")
    pinned(planned(".", wait=patch("a.patch")), tree.path)
    tree.write("serve.py", "three\n")
    with pytest.raises(UsageError, match=r"differs from it in serve\.py"):
        pinned(planned(".", wait=patch("a.patch")), tree.path)


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"build": commit("no-such")}, "knob build: no commit is named 'no-such'"),
        ({"build": commit("-\x1b[1m")}, r"knob build: no commit is named '-\?\[1m'"),
        ({"wait": patch("a.patch", onto="no-such")}, "the patch: no commit is named 'no-such'"),
        ({"wait": patch("gone.patch")}, "gone.patch: No such file"),
        ({"wait": patch("a.patch/b")}, "a.patch/b: Not a directory"),
        ({"wait": patch("engine")}, "engine: is no file"),
        ({"wait": patch("pipe")}, "pipe: is no file"),
    ],
)
def test_what_is_not_there_is_refused(
    parts: Mapping[str, Part], what: str, tree: Tree, root: Path
) -> None:
    (root / "a.patch").write_bytes(tree.patch("serve.py", "two\n"))
    os.mkfifo(root / "pipe")
    with pytest.raises(UsageError, match=what):
        pinned(planned("engine", **parts), root)


def test_a_name_that_means_another_commit_by_now_is_told(tree: Tree, root: Path) -> None:
    old = head(tree)
    recorded = pinned(planned("engine", build=commit("main")), root)
    assert list(moved(recorded, root)) == []
    new = tree.commit()
    (line,) = moved(recorded, root)
    assert f"knob build: main meant {old[:12]}" in line
    assert f"means {new[:12]} now" in line
    git(tree.path, "branch", "-m", "main", "trunk")
    (line,) = moved(recorded, root)
    assert "means nothing now" in line


# --- where it lies --------------------------------------------------------------------------------


def made(root: Path, *arms: Arm, repo: str = "engine", **parts: Part) -> Sources:
    sources = Sources(Knobs(parts), root, repo)
    asyncio.run(sources.ready(arms or (ARM,)))
    return sources


def test_a_launch_moves_into_the_worktree(tree: Tree, root: Path) -> None:
    sources = made(root, build=commit(head(tree)))
    place = sources.place(ARM)
    assert place is not None
    launch = Launch(checkout=Checkout(commit=head(tree)))
    for inner in ("", "/lib"):
        settled = sources.settle(ARM, replace(launch, cwd=f"{tree.path}{inner}"))
        assert settled.cwd == f"{place.folder}{inner}"
        assert settled.place == place
    for other in (str(root), "/tmp", f"{tree.path}-2"):
        assert sources.settle(ARM, replace(launch, cwd=other)).cwd == other
    (tree.path / "new").mkdir()
    for gone in ("gone", "new"):
        with pytest.raises(ValueError, match=rf"no folder \{{checkout\}}/{gone} in the code"):
            sources.settle(ARM, replace(launch, cwd=f"{tree.path}/{gone}"))


def test_a_folder_of_a_campaign_in_the_repository_stays_where_it_is(tree: Tree) -> None:
    (tree.path / "campaign" / "harness").mkdir(parents=True)
    sources = made(tree.path / "campaign", repo="..", build=commit(head(tree)))
    launch = Launch(checkout=Checkout(commit=head(tree)), cwd=str(tree.path / "campaign" / "harness"))
    assert sources.settle(ARM, launch).cwd == launch.cwd


def test_without_such_a_knob_it_stays_in_the_repository(tree: Tree, root: Path) -> None:
    sources = made(root, PLAIN)
    place = sources.place(PLAIN)
    assert place == Place(folder=str(tree.path), instead_of=str(tree.path))
    assert sources.settle(PLAIN, Launch(cwd=str(tree.path / "lib"))).cwd == str(tree.path / "lib")
    assert sources.named(PLAIN, tree.path / "serve.py") == "{checkout}/serve.py"
    assert sources.named(PLAIN, root / "serve.py") == ""
    assert not (root / ".workbench").exists()


def test_symbolic_links_on_the_way_do_not_matter(tree: Tree, root: Path) -> None:
    (root / "link").symlink_to(tree.path)
    sources = made(root, repo="link", build=commit(head(tree)))
    place = sources.place(ARM)
    assert place is not None
    for folder in (root / "link" / "lib", tree.path / "lib"):
        launch = Launch(checkout=Checkout(commit=head(tree)), cwd=str(folder))
        assert sources.settle(ARM, launch).cwd == f"{place.folder}/lib"


@pytest.mark.parametrize(
    "launch", [Launch(argv=("x", "{checkout}/y")), Launch(env={"A": "{checkout}"})]
)
def test_a_placeholder_for_nothing_is_refused(launch: Launch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the campaign names no `repo`"):
        Sources(None, tmp_path).settle(PLAIN, launch)
    with pytest.raises(ValueError, match="there is no folder"):
        Sources(None, tmp_path, "gone").settle(PLAIN, launch)
    assert Sources(None, tmp_path, "gone").settle(PLAIN, Launch(argv=("x",))) == Launch(argv=("x",))


def test_what_cannot_be_checked_out_is_an_arm_that_cannot_start(tree: Tree, root: Path) -> None:
    (root / "bad.patch").write_text("--- a/serve.py\n+++ b/serve.py\n@@ -1 +1 @@\n-two\n+three\n")
    for part in (commit("1" * 40), patch("bad.patch", onto=head(tree)), commit("no-such")):
        with pytest.raises(ArmCouldNotStart, match="control"):
            made(root, build=part)


def test_code_is_looked_at_where_it_is_run(tree: Tree, root: Path) -> None:
    sha = head(tree)
    (root / "a.patch").write_bytes(tree.patch("serve.py", "two\n"))
    tree.write("serve.py", "edited\n")
    patched = Arm(name="treatment", settings={"build": "it", "wait": "it"})
    sources = made(root, ARM, patched, PLAIN, build=commit(sha), wait=patch("a.patch"))
    assert sources.look(ARM) == Code(commit=sha)
    laid, own = sources.look(patched), sources.look(PLAIN)
    assert laid is not None
    assert own is not None
    assert laid.patches == {"a.patch": hashlib.sha256((root / "a.patch").read_bytes()).hexdigest()}
    assert (own.commit, own.dirty, own.patches) == (sha, True, {})
    assert b"+two" in sources.patch(laid)
    assert b"+edited" in sources.patch(own)
    assert Sources(None, root).look(PLAIN) is None
    assert Sources(None, root, "gone").look(PLAIN) is None


@pytest.mark.parametrize(
    ("engine", "ours"),
    [
        ({"cluster": "trial"}, True),  # a command for each trial
        ({"cluster": "start", "disturbs": True}, True),
        ({"cluster": "start"}, False),  # as one that is attached to
    ],
    ids=["command", "started", "attached"],
)
def test_what_others_have_started_has_the_commit_as_a_note(
    engine: dict[str, Any], ours: bool, tree: Tree, root: Path
) -> None:
    tree.write("serve.py", "edited\n")
    executed = replace(plan(campaign({"control": 0.3}, **engine), suspect()), repo="engine")
    parts, _ = build(executed, root)
    for found in asyncio.run(read_back(executed, parts)).values():
        assert (found.code is not None) is ours
        assert found.volatile.get("commit in the repository") == (None if ours else head(tree))


def test_submodules_are_noted(tree: Tree, root: Path) -> None:
    git(tree.path, "update-index", "--add", "--cacheinfo", f"160000,{head(tree)},third/party")
    git(tree.path, "commit", "-q", "-m", "a submodule")
    sources = made(root, build=commit(head(tree)))
    assert sources.notes(ARM) == {"submodules that are not populated": "third/party"}


def test_bytecode_is_looked_for_only_where_something_runs(tree: Tree, root: Path) -> None:
    (tree.path / "gone.pyc").write_bytes(b"")
    sources = made(root, PLAIN)

    def found(sighting: Sighting | None) -> list[str]:
        return [path for path, _ in asyncio.run(sources.stale(PLAIN, sighting))]

    assert found(None) == ["engine/gone.pyc"]  # commands come and go
    there = Component(cwd=str(tree.path), argv=("python", "serve.py"))
    assert found(Sighting(components={"it": there})) == ["engine/gone.pyc"]
    assert found(Sighting(components={"it": replace(there, cwd="/elsewhere")})) == []
    git(tree.path, "add", "-f", "gone.pyc")
    assert found(None) == []  # it is part of the code


# --- whether it is what runs ----------------------------------------------------------------------

SHA = "1" * 40
FOLDER = "/c/.workbench/worktrees/it"
PLACE = Place(folder=FOLDER, instead_of="/c/engine")


@pytest.mark.parametrize(
    ("component", "named"),
    [
        (Component(cwd=FOLDER), "{checkout}"),
        (Component(cwd=f"{FOLDER}/lib"), "{checkout}/lib"),
        (Component(cwd="/", argv=("python", f"{FOLDER}/serve.py")), "{checkout}/serve.py"),
        (
            Component(cwd="/", argv=("python",), env={"PYTHONPATH": f"/x:{FOLDER}/src"}),
            "{checkout}/src",
        ),
        (Component(cwd="/", argv=("docker", f"--volume={FOLDER}:/src")), f"--volume={FOLDER}:/src"),
        (Component(cwd=f"{FOLDER}-2"), ""),
        (Component(cwd="/c/engine", argv=("python", "serve.py")), ""),
        (Component(), ""),
    ],
)
def test_what_the_kernel_says_of_a_process_shows_where_it_runs(
    component: Component, named: str
) -> None:
    assert runs_from(PLACE, component) == named


def read(
    there: Mapping[str, Component], place: Place = PLACE, **due: Any
) -> list[tuple[str, str, bool]]:
    found = codeback.readings(Due(about="knob build", commit=SHA, place=place, **due), there)
    assert {each.about for each in found} == {"knob build"}
    return [(each.source, each.found, each.ok) for each in found]


def component(cwd: str = FOLDER, **info: str) -> Component:
    return Component(
        pid=7, cwd=cwd, argv=("python",), info={key.replace("__", "."): info[key] for key in info}
    )


def test_a_commit_that_is_told_is_compared() -> None:
    for key in codeback.KEYS:
        told = replace(component(), info={key: SHA[:9]})
        assert (f"server_info {key} of it", SHA[:9], True) in read({"it": told})
    wrong = component(code__commit="2" * 40)
    assert ("server_info code.commit of it", "2" * 40, False) in read({"it": wrong})
    assert ("server_info build of it", SHA, True) in read({"it": component(build=SHA)}, key="build")


def test_what_is_not_told_is_said_and_a_key_that_was_named_must_be() -> None:
    untold = ("server_info code.commit", "(the engine does not tell)", True)
    assert read({"it": component()}) == [("process of it", "{checkout}", True), untold]
    assert ("server_info build", "", False) in read({"it": component()}, key="build")


def test_one_component_that_runs_it_will_do_unless_they_are_named() -> None:
    both = {"it": component(), "other": component("/elsewhere")}
    assert [ok for _, _, ok in read(both)] == [True, True]
    lost = read(both, components=("it", "other"))
    assert ("process of other", "/elsewhere", False) in lost
    (first, *_) = read({"it": component("/elsewhere")})
    assert first == ("process of it", "/elsewhere", False)


def test_of_a_process_that_the_kernel_hides_nothing_is_claimed() -> None:
    hidden = Component(pid=None)
    assert read({"it": hidden}) == [("server_info code.commit", "(the engine does not tell)", True)]


def test_digests_that_are_told_are_compared_with_the_files(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    (tmp_path / "serve.py").write_text("one")
    right = hashlib.sha256(b"one").hexdigest()
    place = Place(folder=real)

    def files(root: str = real, **digests: str) -> tuple[str, bool]:
        info = {"code.commit": SHA, "code.root": root}
        info |= {f"code.files.{name}.py": sha for name, sha in digests.items()}
        told = read({"it": replace(component(real), info=info)}, place)
        ((found, ok),) = [each[1:] for each in told if each[0].startswith("server_info code.files")]
        return found, ok

    assert files(serve=right) == ("1 files, all the same", True)
    assert files(serve="2" * 64) == ("other: serve.py", False)
    assert files(serve=right, gone=right) == ("other: gone.py", False)
    assert files("/", serve=right)[1] is False
    assert files(**{f"n{number}": right for number in range(5)})[0].endswith(", ...")


def test_keys_of_the_code_may_differ_with_it() -> None:
    assert set(codeback.moves("")) >= {"code.commit", "code.*", "commit", "git_sha"}
    assert set(codeback.moves("build.sha")) == {"build.sha", "build.*"}
