"""Code in judgements: when it is the same, when it may differ, and what is said when it must not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.test_continuation import FOUND, PLAN, digest
from workbench.judge import guards, starts
from workbench.judge.continuation import digest_of_test
from workbench.judge.readback import Readback, same_commit
from workbench.model.commits import Code
from workbench.model.plan import Part
from workbench.model.run import Fingerprint

ONE, TWO = "1" * 40, "2" * 40
CLEAN = Code(commit=ONE)
DIRTY = replace(CLEAN, dirty=True, patch_sha256="a" * 64)
PATCHED = replace(CLEAN, patches={"wait.patch": "b" * 64})


def found(arm: str = "control", code: Code | None = CLEAN, **more: Any) -> Fingerprint:
    return Fingerprint(arm=arm, config={"argv": "serve"}, code=code, **more)


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (Code(commit=TWO), f"code changed from commit {ONE[:12]} to {TWO[:12]}"),
        (Code(commit=None), f"code changed from commit {ONE[:12]} to none"),
        (DIRTY, f"code changed: tracked files differ from commit {ONE[:12]} in another way"),
        (PATCHED, "code changed: patches none became wait.patch (bbbbbbbbbbbb)"),
    ],
)
def test_code_that_changes_is_a_change(now: Code, what: str) -> None:
    (guard,) = guards.changed(found(), found(code=now))
    assert what in guard.detail
    (back,) = guards.changed(found(code=now), found())
    assert "code changed" in back.detail


@pytest.mark.parametrize(
    "now",
    [CLEAN, replace(CLEAN, untracked=("notes.txt",)), None],
    ids=["same", "unknown-file", "untold"],
)
def test_what_comes_and_goes_is_none(now: Code | None) -> None:
    assert guards.changed(found(), found(code=now)) == ()


def test_a_patch_under_another_name_is_the_same() -> None:
    renamed = replace(PATCHED, patches={"again.patch": "b" * 64})
    assert guards.changed(found(code=PATCHED), found(code=renamed)) == ()


def test_two_commits_are_two_configurations() -> None:
    assert guards.same_config(found(), found("treatment", Code(commit=TWO))) == ()
    assert guards.same_config(found(), found("treatment"))
    assert not starts.same_effect(found(), found("treatment", Code(commit=TWO)))
    assert starts.same_effect(found(), found("treatment"))


def test_code_may_differ_only_where_it_is_what_is_varied() -> None:
    other = found("treatment", Code(commit=TWO), files={"{checkout}/serve.py": "2", "/bin/it": "1"})
    one = found(files={"{checkout}/serve.py": "1", "/bin/it": "1"})
    assert starts.elsewhere(one, other, (), code=True) == ()
    (guard,) = starts.elsewhere(one, other, ())
    assert "the code that they run" in guard.detail
    assert "{checkout}/serve.py" in guard.detail
    (guard,) = starts.elsewhere(one, replace(other, files={"/bin/it": "2"}), (), code=True)
    assert "/bin/it" in guard.detail  # a file beside the code still must not
    assert "serve.py" not in guard.detail


def test_stale_bytecode_is_named_with_what_is_wrong_with_it() -> None:
    assert starts.bytecode("control", []) == ()
    (guard,) = starts.bytecode("control", [(f"a{number}.pyc", "why") for number in range(9)])
    assert guard.name == "stale-bytecode"
    assert guard.detail.startswith("control: stale bytecode: a0.pyc: why; a1.pyc: why; ")
    assert "; and 4 more; remove it" in guard.detail


@given(st.integers(0, 16**40 - 1), st.integers(7, 40), st.booleans())
def test_the_beginning_of_an_id_is_that_commit(number: int, length: int, upper: bool) -> None:
    sha = f"{number:040x}"
    short = sha[:length].upper() if upper else sha[:length]
    assert same_commit(short, sha)
    assert not same_commit(short[:6], sha)
    other = f"{int(sha[0], 16) ^ 1:x}{short[1:]}"
    assert not same_commit(other, sha)


@pytest.mark.parametrize(("found_", "right"), [("1234567", "12345678"), ("", ONE), (ONE, "main")])
def test_what_is_no_id_is_compared_as_it_is(found_: str, right: str) -> None:
    assert not same_commit(found_, right)


def test_a_level_that_is_a_commit_is_met_by_its_beginning() -> None:
    readback = Readback.of({"server_info": "commit"})
    assert readback is not None
    assert readback.met("fixed", ONE, ONE[:9])
    assert not readback.met("fixed", ONE, TWO[:9])


def test_the_code_that_is_run_belongs_to_the_test() -> None:
    def of(**codes: Code | None) -> str:
        return digest(PLAN, {arm: replace(FOUND[arm], code=code) for arm, code in codes.items()})

    same = of(control=CLEAN, treatment=CLEAN)
    assert of(control=None, treatment=None) == digest()  # runs from before code was told
    for other in (Code(commit=TWO), DIRTY, PATCHED):
        assert of(control=other, treatment=CLEAN) != same != of(control=CLEAN, treatment=other)
    seen = replace(CLEAN, untracked=("notes.txt",))
    assert of(control=seen, treatment=seen) == same


def test_what_a_commit_is_called_does_not() -> None:
    knobs = {
        **PLAN.knobs,
        "mode": Part(
            kind="commit", options={"levels": {"was": ONE, "is": TWO}, "named": {"was": "main"}}
        ),
    }
    arms = tuple(replace(arm, settings={**arm.settings, "mode": "was"}) for arm in PLAN.arms)
    plan = replace(PLAN, arms=arms, knobs=knobs)
    part = replace(knobs["mode"], options={"levels": {"was": ONE}, "named": {"was": "v1"}})
    renamed = replace(plan, knobs={**knobs, "mode": part})
    pair = plan.comparisons[0]
    assert digest_of_test(plan, pair, FOUND) == digest_of_test(renamed, pair, FOUND)
