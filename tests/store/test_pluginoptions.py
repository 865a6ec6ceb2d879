"""Options of plug-ins are checked against their dataclass, a stranger's like ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.store.people import CAMPAIGN, write
from workbench.errors import PluginError
from workbench.store.campaignfiles import read_files


@dataclass(frozen=True, kw_only=True)
class CommandEngine:
    argv: tuple[str, ...]
    cwd: str | None = None


@dataclass(frozen=True, kw_only=True)
class CommandWorkload:
    timeout: float = 600.0
    pairs: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.timeout > 3600:
            raise ValueError("timeout must be an hour at most")


@dataclass(frozen=True, kw_only=True)
class Env:
    name: str


@dataclass(frozen=True, kw_only=True)
class Sglang:
    deadline: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Flag:
    flag: str


@dataclass(frozen=True, kw_only=True)
class Regex:
    pattern: str


KINDS: dict[tuple[str, str], type] = {
    ("engines", "command"): CommandEngine,
    ("dialects", "sglang"): Sglang,
    ("workloads", "command"): CommandWorkload,
    ("knobs", "env"): Env,
    ("knobs", "flag"): Flag,
    ("classifiers", "regex"): Regex,
}


def options_of(group: str, kind: str) -> type | None:
    if kind == "broken":
        raise PluginError(
            "knob 'broken' cannot be imported: no such module", hint="it is registered as x:Y"
        )
    return KINDS.get((group, kind))


def kinds_of(group: str) -> Sequence[str]:
    return [kind for each, kind in KINDS if each == group]


def told(root: Path) -> list[str]:
    return [str(each) for each in read_files(root, options_of, kinds_of).problems]


def test_options_that_fit_have_no_problems(tmp_path: Path) -> None:
    assert told(write(tmp_path, {})) == []


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (
            "lifecycle: command",
            "lifecycle: comand",
            "campaign.yaml:7:22: there is no engine 'comand'; did you mean 'command'?",
        ),
        (
            "argv: [x]",
            "argv: [x], cwdd: y",
            "7:42: engine 'command' has no option 'cwdd'; did you mean 'cwd'?",
        ),
        ("argv: [x]", "argv: [x, 5]", '7:41: argv[1]: expected `str`, got `int`; quote it: "5"'),
        ("argv: [x]", "argv: x", "7:37: argv: expected `array`, got `str`"),
        (
            "argv: [x]",
            "argvv: [x]",
            "7:31: engine 'command' has no option 'argvv'; did you mean 'argv'?",
        ),
        (
            "argv: [x]",
            "argv: [x], dialect: sglagn",
            "campaign.yaml:7:51: there is no dialect 'sglagn'; did you mean 'sglang'?",
        ),
        (", argv: [x]", "", "7:3: engine 'command': Object missing required field `argv`"),
        ("kind: command", "kind: command, in_fligt: 4", "did you mean 'in_flight'?"),
        (
            "kind: command",
            "kind: command, pairs: {a: [1, x]}",
            "9:34: pairs[...][1]: expected `int`, got `str`",
        ),
        (
            "kind: command",
            "kind: command, timeout: 2h",
            "9:3: workload 'command': timeout must be an hour at most",
        ),
        (
            "kind: flag",
            "kind: broken",
            "12:19: knob 'broken' cannot be imported: no such module; it is registered as x:Y",
        ),
        (
            "flag: --hicache",
            "flga: --hicache",
            "12:25: knob 'flag' has no option 'flga'; did you mean 'flag'?",
        ),
        (
            "flag: --hicache",
            "flag: --hicache, on: {local: {kind: env, nam: X}}",
            "12:66: knob 'env' has no option 'nam'; did you mean 'name'?",
        ),
        (
            "flag: --hicache",
            "flag: --hicache, on: {local: {kind: en, name: X}}",
            "there is no knob 'en'; did you mean 'env'?",
        ),
        (
            "[timeout]",
            "[timeout], labels: [a], classifier: rgex",
            "4:59: there is no classifier 'rgex'; did you mean 'regex'?",
        ),
        (
            "[timeout]",
            "[timeout], labels: [a], classifier: {kind: regex, patern: x}",
            "4:73: classifier 'regex' has no option 'patern'; did you mean 'pattern'?",
        ),
    ],
)
def test_options_that_do_not_fit_are_told_where_they_stand(
    tmp_path: Path, before: str, after: str, problem: str
) -> None:
    problems = told(write(tmp_path, {}, CAMPAIGN.replace(before, after)))
    assert len(problems) == 1
    assert problem in problems[0]


def test_all_of_them_at_once_and_beside_other_mistakes(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("argv: [x]", "argvv: [x], cwd: 5").replace("kind: flag", "kind: flga")
    text = text.replace("kind: command}", "kind: command, sessions: 0}")
    assert [each.split(": ")[0] for each in told(write(tmp_path, {}, text))] == [
        f"campaign.yaml:{place}" for place in ("7:31", "7:48", "9:37", "12:19")
    ]


def test_plug_ins_are_asked_every_time(tmp_path: Path) -> None:
    root = write(tmp_path, {}, CAMPAIGN.replace("kind: flag", "kind: other"))
    assert read_files(root).problems == ()  # without plug-ins, and remembered so
    assert len(told(root)) == 1
    assert read_files(root).problems == ()
    assert (
        read_files(root, lambda group, kind: Flag if kind == "other" else KINDS[group, kind]).problems
        == ()
    )
