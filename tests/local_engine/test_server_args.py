"""Flags and environment: what is accepted, what is refused and how it says so."""

from __future__ import annotations

import dataclasses
import re

import pytest

from workbench.local_engine import environ, logs
from workbench.local_engine.server_args import HICACHE_WITHOUT_EFFECT, ServerArgs, parse, to_argv


def args(*argv: str) -> ServerArgs:
    return parse(argv, prog="launch", description="")


def test_every_field_is_a_flag() -> None:
    resolved = args("--enable-hierarchical-cache", "--hicache-ratio", "2.5", "--no-enable-metrics")
    assert resolved == ServerArgs(
        enable_hierarchical_cache=True, hicache_ratio=2.5, enable_metrics=False
    )


def test_help_names_the_flags_without_effect(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        args("--help")
    options = re.split(r"\n  (?=--)", capsys.readouterr().out)
    silent = [option.split()[0] for option in options if "NO EFFECT" in " ".join(option.split())]
    assert tuple(silent) == HICACHE_WITHOUT_EFFECT


def test_a_command_line_survives_the_way_to_a_child() -> None:
    changed = ServerArgs(
        port=0,
        enable_metrics=False,
        max_total_tokens=4096,
        mem_fraction_static=0.123456789,
        disable_overlap_schedule=True,
        served_model_name="a b",
    )
    assert args(*to_argv(changed)) == changed
    assert to_argv(ServerArgs()) == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--enable-hicache"], ["unknown flag --enable-hicache"]),
        (["--page-sise", "256"], ["unknown flag --page-sise", "did you mean --page-size?"]),
        (["--disable-cuda"], ["unknown flag --disable-cuda"]),
        (["--page-size", "many"], ["--page-size", "invalid int value: 'many'"]),
        (["--page-size", "100"], ["--page-size 100 is no multiple of 128"]),
        (["--page-size"], ["--page-size", "expected one argument"]),
        (["--max-running-requests", "0"], ["--max-running-requests", "0 is less than 1"]),
        (["--mem-fraction-static", "nan"], ["--mem-fraction-static", "nan is not in (0, 1]"]),
        (["--port", "70000"], ["--port 70000"]),
        (["--hicache-io-backend", "gpu"], ["--hicache-io-backend", "'gpu'", "kernel"]),
        (
            ["--enable-hierarchical-cache", "--disable-radix-cache"],
            ["--enable-hierarchical-cache and --disable-radix-cache exclude each other"],
        ),
        (
            ["--hicache-mem-layout", "page_first_direct"],
            ["page_first_direct needs --hicache-io-backend direct"],
        ),
        (["--hicache-io-backend", "direct"], ["cannot copy --hicache-mem-layout page_first"]),
        (
            ["--tool-call-parser", "none", "--tool-call-parser-fail-open"],
            ["--tool-call-parser-fail-open needs"],
        ),
        (["--max-total-tokens", "10"], ["--max-total-tokens is less than a page"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        args(*argv)
    assert raised.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("launch: error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_the_environment_resolves_its_defaults() -> None:
    assert environ.read({}) == environ.Environment()
    given = {"SGLANG_DSV4_BF16_INDEX_K": "1", "SGLANG_OPT_USE_TOPK_V2": "False"}
    assert environ.read(given) == environ.Environment(dsv4_bf16_index_k=True, opt_use_topk_v2=False)
    assert environ.read({"SGLANG_OPT_USE_TOPK_V2": ""}).opt_use_topk_v2
    assert environ.read({"SGLANG_DISAGGREGATION_WAITING_TIMEOUT": "2.5"}).values() == {
        **environ.Environment().values(),
        "SGLANG_DISAGGREGATION_WAITING_TIMEOUT": 2.5,
    }


def test_every_field_of_the_environment_is_reported() -> None:
    assert len(environ.KNOWN) == len(dataclasses.fields(environ.Environment))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SGLANG_DSV4_BF16_INDEX_K", "yes"),
        ("SGLANG_DSV4_BF16_INDEX_K", "2"),
        ("SGLANG_TEST_HICACHE_H2D_DELAY_CYCLES", "1.5"),
        ("SGLANG_TEST_HICACHE_H2D_DELAY_CYCLES", "-1"),
        ("SGLANG_DISAGGREGATION_WAITING_TIMEOUT", "inf"),
    ],
)
def test_a_value_that_does_not_parse_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}='{text}' is n"):
        environ.read({name: text})


def test_an_unknown_name_is_warned_about_with_the_nearest_known() -> None:
    warnings = environ.unknown(
        {
            "SGLANG_DSV4_BF16_INDEXK": "1",
            "SGLANG_NO_SUCH_THING_AT_ALL": "1",
            "SGLANG_OPT_USE_TOPK_V2": "1",
            "HOME": "/",
        }
    )
    assert warnings == [
        "Unknown environment variable SGLANG_DSV4_BF16_INDEXK: it has no effect;"
        " did you mean SGLANG_DSV4_BF16_INDEX_K?",
        "Unknown environment variable SGLANG_NO_SUCH_THING_AT_ALL: it has no effect",
    ]


def test_log_lines_have_the_shape_that_is_grepped_for() -> None:
    golden = logs.memory_calculation(
        bytes_per_full_token=16548.4525, available_bytes=2**30, full_token=3
    )
    assert golden == (
        "DSV4 memory calculation: bytes_per_full_token=16548.45, available_bytes=1.00 GB, full_token=3"
    )
    decode = logs.decode_batch(
        running_req=2,
        token=10,
        token_usage=0.5,
        cuda_graph=True,
        throughput=1,
        queue_req=0,
        transfer_req=3,
    )
    assert decode.startswith("Decode batch, #running-req: 2, ")
    assert "cuda graph: True" in decode
