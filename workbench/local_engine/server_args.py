"""Flags of a server, by SGLang's names: one frozen dataclass, and the argparse parser derived from it.

A field is a flag: its name gives `--the-name`, its type and metadata the rest. A mistake on the command
line ends the program with one line and exit code 2, because a flag that was not what it seemed makes an
experiment lie.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

_GROUPS = (
    "server",
    "memory and scheduling",
    "hierarchical cache",
    "device",
    "disaggregation",
    "replies",
)


class _Field(Protocol):
    def __call__(self, default: Any, what: str, **argparse_options: Any) -> Any: ...


def _group(name: str) -> _Field:
    """Give a maker of fields whose flags stand under one heading of `--help`."""

    def flag(default: Any, what: str, **options: Any) -> Any:
        if isinstance(default, bool) and "action" not in options:
            options["action"] = "store_true"
        elif default is not None and "action" not in options:
            options.setdefault("type", type(default))
        metadata = {"group": name, "options": {"help": what, **options}}
        return dataclasses.field(default=default, metadata=metadata)

    return flag


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        return value

    read.__name__ = "int"  # argparse names it when the text is no number
    return read


def _between(low: float, high: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not low < value <= high:  # also false for nan
            raise argparse.ArgumentTypeError(f"{text} is not in ({low:g}, {high:g}]")
        return value

    read.__name__ = "float"
    return read


_server, _memory, _hicache, _device, _pd, _reply = (_group(name) for name in _GROUPS)
_POSITIVE = _at_least(1)

HICACHE_WITHOUT_EFFECT = ("--hicache-mem-layout", "--hicache-io-backend")
"""Accepted, so that command lines carry over, and told by `--help` and `/server_info`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerArgs:
    """What a server was told, every default resolved. `--help` says what each field means."""

    host: str = _server("127.0.0.1", "Address to listen on.")
    port: int = _server(30000, "Port to listen on; 0 picks a free one.", type=_at_least(0))
    served_model_name: str = _server("mini-deepseek-v4", "Name of the model in the API.")
    model_path: str = _server("", "Model config file (JSON); empty for the one that is shipped.")
    log_level: str = _server(
        "info", "Least level to log.", choices=("debug", "info", "warning", "error")
    )
    enable_metrics: bool = _server(True, "Serve /metrics.", action=argparse.BooleanOptionalAction)

    context_length: int = _memory(16384, "Most tokens of prompt and reply together.", type=_POSITIVE)
    page_size: int = _memory(256, "Tokens in a page; a multiple of 128.", type=_POSITIVE)
    mem_fraction_static: float = _memory(
        0.88, "Share of the device's memory for the pools.", type=_between(0, 1)
    )
    max_total_tokens: int | None = _memory(
        None, "Tokens in the pools, whatever the memory would hold.", type=_POSITIVE
    )
    max_running_requests: int = _memory(64, "Most requests in a decode batch.", type=_POSITIVE)
    max_prefill_tokens: int = _memory(8192, "Most new tokens in a prefill batch.", type=_POSITIVE)
    disable_radix_cache: bool = _memory(False, "Share no prefixes between requests.")
    disable_overlap_schedule: bool = _memory(False, "Handle a result before launching the next batch.")
    cuda_graph_max_bs_decode: int = _memory(
        64, "Largest decode batch that is captured; larger ones run eagerly.", type=_POSITIVE
    )
    disable_cuda_graph: bool = _memory(False, "Capture no decode batch: all run eagerly.")
    record_schedule: str | None = _memory(None, "File to write each batch's requests to.")
    replay: str | None = _memory(None, "Such a file; batches are formed as it says, not by arrival.")

    enable_hierarchical_cache: bool = _hicache(False, "Mirror the pools in host memory.")
    hicache_ratio: float = _hicache(
        30.0, "Size of the host pools over the device's.", type=_between(0, 1024)
    )
    hicache_write_policy: str = _hicache(
        "write_through",
        "When pages are backed up: at once, on eviction, or with the second prompt that has them.",
        choices=("write_through", "write_back", "write_through_selective"),
    )
    hicache_mem_layout: str = _hicache(
        "page_first",
        "Layout of the host pools. NO EFFECT: each is copied by whole pages.",
        choices=("page_first", "page_first_direct", "layer_first"),
    )
    hicache_io_backend: str = _hicache(
        "kernel", "Who copies. NO EFFECT: both are equally fast.", choices=("kernel", "direct")
    )

    device_clock: str = _device(
        "virtual",
        "Clock of the device's streams; a wall clock would let a busy host into the results.",
        choices=("virtual",),
    )
    h2d_gbps: float | None = _device(
        None,
        "GB/s from host to device, in place of the device's own.",
        type=_between(0, 1e6),
    )

    disaggregation_mode: str = _pd(
        "null",
        "This server's part: prefill, decode, or both in one process.",
        choices=("null", "prefill", "decode"),
    )
    disaggregation_decode_url: str = _pd("", "Where a prefill server sends its rooms.")
    disaggregation_enable_kv_checksum: bool = _pd(False, "Compare a digest of each room's pages.")

    tool_call_parser: str = _reply(
        "deepseekv4",
        "Parser of the calls in a reply; none leaves its text alone.",
        choices=("deepseekv4", "none"),
    )
    tool_call_parser_fail_open: bool = _reply(
        False, "Show markup that does not parse as content, in place of dropping it."
    )
    disable_tokenizer_batch_decode: bool = _reply(False, "Detokenize replies one by one.")

    def validate(self) -> None:
        """Refuse flags that contradict each other.

        Raises:
            ValueError: Says which ones and why, in one line.
        """
        if self.enable_hierarchical_cache and self.disable_radix_cache:
            raise ValueError(
                "--enable-hierarchical-cache and --disable-radix-cache exclude each other:"
                " the host pools mirror the radix cache"
            )
        if self.hicache_mem_layout == "page_first_direct" and self.hicache_io_backend != "direct":
            raise ValueError("--hicache-mem-layout page_first_direct needs --hicache-io-backend direct")
        if self.hicache_mem_layout == "page_first" and self.hicache_io_backend == "direct":
            raise ValueError("--hicache-io-backend direct cannot copy --hicache-mem-layout page_first")
        if self.tool_call_parser_fail_open and self.tool_call_parser == "none":
            raise ValueError("--tool-call-parser-fail-open needs a --tool-call-parser")
        if self.replay and self.record_schedule:
            raise ValueError("--replay and --record-schedule exclude each other")
        if self.page_size % 128:
            raise ValueError(f"--page-size {self.page_size} is no multiple of 128")
        if self.max_total_tokens is not None and self.max_total_tokens < self.page_size:
            raise ValueError("--max-total-tokens is less than a page")
        if self.port > 65535:
            raise ValueError(f"--port {self.port} is more than 65535")


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with exit code 2."""
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            flag = unknown.split()[0].partition("=")[0]
            near = difflib.get_close_matches(flag, self._option_string_actions, n=1)
            message = f"unknown flag {flag}" + (f"; did you mean {near[0]}?" if near else "")
        print(f"{self.prog}: error: {message}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every field of `ServerArgs`."""
    groups = {name: parser.add_argument_group(name) for name in _GROUPS}
    for field in dataclasses.fields(ServerArgs):
        name = "--" + field.name.replace("_", "-")
        groups[field.metadata["group"]].add_argument(
            name, default=field.default, **field.metadata["options"]
        )


def new_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Give an empty parser with the manners described above."""
    return _Parser(
        prog=prog,
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )


def resolve(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> ServerArgs:
    """Make the dataclass of what was parsed; contradictions end the program like any other mistake."""
    names = [field.name for field in dataclasses.fields(ServerArgs)]
    args = ServerArgs(**{name: getattr(parsed, name) for name in names})
    try:
        args.validate()
    except ValueError as error:
        parser.error(str(error))
    return args


def to_argv(args: ServerArgs) -> list[str]:
    """Give the command line that resolves to these args; defaults are left out."""
    argv: list[str] = []
    for field in dataclasses.fields(args):
        value = getattr(args, field.name)
        if value == field.default:
            continue
        flag = field.name.replace("_", "-")
        if isinstance(value, bool):
            argv.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            argv += [f"--{flag}", str(value)]
    return argv


def parse(argv: Sequence[str], *, prog: str, description: str) -> ServerArgs:
    """Read a server's command line; a mistake ends the program with exit code 2."""
    parser = new_parser(prog, description)
    add_flags(parser)
    return resolve(parser, parser.parse_args(argv))
