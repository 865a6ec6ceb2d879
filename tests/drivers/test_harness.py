"""A team's own harness as the workload: what it is told, and what is made of what it wrote."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.drivers.serving import PATH, all_of, request
from tests.http.doubles import PATIENCE, head, says, serving
from workbench.classifiers.expected import Expected, ExpectedOptions
from workbench.errors import ArmCouldNotStart
from workbench.model.outcome import Ending, Exchange
from workbench.ports import Endpoint
from workbench.workloads import harness
from workbench.workloads.command import CommandWorkload, CommandWorkloadOptions

HARNESS = (sys.executable, str(ROOT / "tests" / "drivers" / "harness.py"), "{url}", "{out}")
URL = "http://engine:1"


def run(*argv: str, url: str = URL, arm_argv: tuple[str, ...] = (), **options: Any) -> list[Exchange]:
    """Execute a harness as one session."""
    endpoint = Endpoint(arm="control", url=url, argv=arm_argv)
    workload = CommandWorkload(CommandWorkloadOptions(argv=argv, **options))
    return asyncio.run(all_of(workload, endpoint, request(5)))


def writing(text: str, then: str = "") -> tuple[str, ...]:
    """Give a harness that writes this, and what it does then."""
    return ("sh", "-c", f'printf %s "$1" > "$2"; {then}', "-", text, "{out}")


def shape(exchanges: list[Exchange]) -> list[tuple[str, Ending, bool]]:
    assert [exchange.key.turn for exchange in exchanges] == list(range(len(exchanges)))
    return [(exchange.text, exchange.ending, exchange.last) for exchange in exchanges]


@pytest.mark.parametrize(("code", "ends"), [("0", []), ("3", [3])])
def test_a_harness_drives_the_engine_itself(code: str, ends: list[int]) -> None:
    body = json.dumps(
        {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}
    ).encode()

    async def go() -> tuple[list[Exchange], int]:
        answer = says(head(kind="application/json", length=len(body)), body)
        async with asyncio.timeout(PATIENCE), serving(answer) as server:
            endpoint = Endpoint(arm="control", url=server.url.removesuffix(PATH))
            workload = CommandWorkload(CommandWorkloadOptions(argv=(*HARNESS, code)))
            return await all_of(workload, endpoint, request()), len(server.requests)

    exchanges, requests = asyncio.run(go())
    assert requests == 2, exchanges
    written, own = exchanges[:2], exchanges[2:]
    classifier = Expected(ExpectedOptions())
    assert [classifier.label(exchange).word for exchange in written] == ["ok", "ok"]
    assert all(exchange.seconds > 0 and exchange.exit_code is None for exchange in written)
    assert [exchange.exit_code for exchange in own] == ends
    assert [exchange.last for exchange in exchanges] == [False] * (len(exchanges) - 1) + [True]


def test_a_harness_is_told_its_place_and_what_to_write_to() -> None:
    told = "$WORKBENCH_URL $WORKBENCH_SESSION $WORKBENCH_SEED $1 $2/$3"
    echo = f'echo "{told}"; test "$4" = "$WORKBENCH_OUT"'
    (seen,) = run("sh", "-c", echo, "-", "{url}", "{session}", "{seed}", "{out}")
    assert (seen.text, seen.exit_code, seen.last) == (f"{URL} 5 7 {URL} 5/7\n", 0, True)


def test_a_harness_of_a_test_command_comes_before_it() -> None:
    (seen,) = run("echo", "mine", url="", arm_argv=("echo", "the arm's"))
    assert seen.text == "mine\n"


def test_a_command_that_is_no_harness_has_no_file_to_write_to() -> None:
    (seen,) = run(url="", arm_argv=("sh", "-c", 'echo "$1 ${WORKBENCH_OUT-unset}"', "-", "{out}"))
    assert seen.text == "{out} unset\n"


def test_the_file_is_private_and_gone_afterwards() -> None:
    look = 'ls -ld "$(dirname "$1")" | cut -c1-10; dirname "$1"'
    (seen,) = run("sh", "-c", look, "-", "{out}")
    mode, folder = seen.text.split()
    assert mode == "drwx------"
    assert not Path(folder).exists()


def test_a_file_left_empty_leaves_it_to_the_exit_code() -> None:
    assert [each.exit_code for each in run(*writing("", "exit 1"))] == [1]
    assert [each.exit_code for each in run(*writing("\n\n", "exit 125"))] == [125]


def test_every_field_of_a_line_counts() -> None:
    told = {
        "text": "cut",
        "ending": "truncated",
        "seconds": 1.5,
        "expected": {"name": "book", "arguments": {}},
        "first_seconds": 0.5,
        "http_status": 200,
        "finish": "length",
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "cached_tokens": 0,
        "detail": "why",
    }
    (seen,) = run(*writing(json.dumps(told)))
    assert seen == Exchange(
        key=seen.key,
        **{
            **told,
            "ending": Ending.TRUNCATED,
            "expected": '{"name": "book", "arguments": {}}',
        },  # type: ignore[arg-type]
        text_bytes=3,
    )


BAD = [
    ("oops", "not JSON|malformed"),
    ('{"text": ', "truncated"),
    ('{"endng": "timeout"}', "unknown field `endng`"),
    ('{"ending": "lost"}', "Invalid enum value"),
    ('{"seconds": -1}', ">= 0"),
    ('{"seconds": 1e999}', "out of range"),
    ('{"prompt_tokens": 1.5}', "Expected `int"),
    ("[" * 100_000, ""),
    ("[]", "Expected `object`"),
]


@pytest.mark.parametrize(("line", "why"), BAD)
def test_a_bad_line_is_an_exchange_of_its_own(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "lines").write_text(f'{{"text": "a"}}\n\n{line}\n{{"text": "b"}}\n')
    seen = run("cp", str(tmp_path / "lines"), "{out}")
    assert [each.ending for each in seen] == [Ending.COMPLETED, Ending.MALFORMED, Ending.COMPLETED]
    assert [each.text for each in seen] == ["a", line[:4096], "b"]
    assert seen[1].detail.startswith("line 3: ")
    assert any(each in seen[1].detail for each in why.split("|"))
    assert len(seen[1].detail) <= 200


def test_a_torn_last_line_of_a_harness_that_was_killed() -> None:
    seen = run(*writing('{"text": "a"}\n{"te', "kill -KILL $$"))
    assert shape(seen) == [
        ("a", Ending.COMPLETED, False),
        ('{"te', Ending.MALFORMED, False),
        ("", Ending.COMPLETED, True),
    ]
    assert seen[-1].signal == "SIGKILL"


def test_a_timeout_is_an_exchange_after_those_that_were_written() -> None:
    seen = run(*writing('{"text": "a"}\n', "sleep 60"), timeout=0.5)
    assert shape(seen) == [("a", Ending.COMPLETED, False), ("", Ending.TIMEOUT, True)]


def test_too_much_ends_the_session(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b'{"text": "a"}\n' * (harness.MOST_LINES + 5))
    *seen, over = run("cp", str(tmp_path / "lines"), "{out}")
    assert len(seen) == harness.MOST_LINES
    assert (over.ending, over.detail) == (Ending.TOO_LARGE, "more than 10000 exchanges")
    (over,) = run("truncate", "-s", str(harness.LARGEST + 1), "{out}")
    assert over.ending is Ending.TOO_LARGE
    assert over.detail == "the file of exchanges is larger than 16 MiB"


def test_what_is_no_file_is_not_waited_for() -> None:
    (seen,) = run("mkfifo", "{out}")
    assert (seen.ending, seen.detail) == (Ending.MALFORMED, "the file of exchanges is no plain file")


@pytest.mark.parametrize(
    ("endpoint", "argv", "what", "hint"),
    [
        (Endpoint(arm="a", url=URL), (), "no command to execute", "argv"),
        (Endpoint(arm="a", url=URL, request={"top_k": 1}), ("true",), "'top_k' cannot be set", "env"),
        (Endpoint(arm="a", url=URL, load={"turns": 1}), ("true",), "'turns' cannot be set", "flag"),
        (Endpoint(arm="a", url=URL), ("./not-there",), "./not-there: No such file", "not there"),
        (Endpoint(arm="a", url=URL), ("sh", "-c", "no-such-command"), "exited with 127", ""),
    ],
)
def test_an_arm_that_it_cannot_drive_could_not_start(
    endpoint: Endpoint, argv: tuple[str, ...], what: str, hint: str
) -> None:
    workload = CommandWorkload(CommandWorkloadOptions(argv=argv))
    with pytest.raises(ArmCouldNotStart) as raised:
        asyncio.run(all_of(workload, endpoint, request()))
    assert what in raised.value.what
    assert hint in raised.value.hint


@pytest.mark.parametrize("argv", [("",), ("a", "b\0")])
def test_an_argv_that_is_none_is_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="argv"):
        CommandWorkloadOptions(argv=argv)


def test_folders_that_a_killed_opening_left_are_cleared_and_no_others() -> None:
    left, other = (Path(tempfile.mkdtemp(prefix=f"workbench-{run}-")) for run in ("r1", "r2"))
    (left / "exchanges.jsonl").touch()
    try:
        assert CommandWorkload(CommandWorkloadOptions()).leftovers("r1") == 0
        assert (left.exists(), other.exists()) == (False, True)
    finally:
        other.rmdir()
