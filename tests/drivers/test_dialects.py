"""What each dialect makes of what servers say."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drivers.pages import LLAMACPP, pages
from workbench import plugins
from workbench.dialects import counting, flat
from workbench.errors import EngineError
from workbench.model.plan import Part
from workbench.ports import Dialect, Traffic

_Told = TypeVar("_Told")

PD = """\
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="prefill",model_name="m"} 3.0
sglang:num_running_reqs{engine_type="decode",model_name="m"} 20.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{engine_type="prefill"} 4.0
sglang:num_queue_reqs{engine_type="decode"} 1.0
sglang:num_decode_transfer_queue_reqs{engine_type="decode"} 7.0
# TYPE sglang:num_requests counter
sglang:num_requests_total{engine_type="prefill"} 118.0
sglang:num_requests_total{engine_type="decode"} 120.0
# TYPE peak_in_flight gauge
peak_in_flight{engine_type="prefill"} 31.0
peak_in_flight{engine_type="decode"} 58.0
"""
ROUTER = 'peak_in_flight{engine_type="router"} 57.0\n'


def ask(
    name: str,
    texts: Mapping[str, str],
    what: Callable[[Dialect, str], Awaitable[_Told]],
    asked: list[str] | None = None,
) -> _Told:
    """Ask a server of these pages in a dialect."""

    async def one() -> _Told:
        async with pages(texts, asked=asked) as url:
            return await what(plugins.build(plugins.Group.DIALECT, Part(kind=name)), url)

    return asyncio.run(one())


def info(name: str, texts: Mapping[str, str]) -> Mapping[str, str]:
    return ask(name, texts, lambda dialect, url: dialect.info(url))


def traffic(name: str, metrics: str) -> Traffic:
    return ask(name, {"/metrics": metrics}, lambda dialect, url: dialect.traffic(url))


def ready(name: str, texts: Mapping[str, str]) -> bool:
    return ask(name, texts, lambda dialect, url: dialect.ready(url))


def test_a_server_without_a_health_page_is_ready_when_it_names_its_models() -> None:
    models = {"/v1/models": '{"data": []}'}
    assert [ready(name, models) for name in ("openai", "sglang")] == [True, False]
    assert not ready("openai", {"/": "hello"})


def test_models_are_told_by_dotted_key() -> None:
    told = info("openai", {"/v1/models": '{"data": [{"id": "m", "max_model_len": 8, "x": null}]}'})
    assert told == {"models.0.id": "m", "models.0.max_model_len": "8", "models.0.x": "null"}


def test_sglang_is_asked_by_both_of_its_names() -> None:
    for path in ("/get_server_info", "/server_info"):
        assert info("sglang", {path: '{"decode": {"index_k_dtype": "bf16"}}'}) == {
            "decode.index_k_dtype": "bf16"
        }
    assert info("sglang", {}) == {}


def test_the_halves_of_an_engine_are_not_added_up() -> None:
    told = traffic("sglang", PD)
    assert (told.in_flight, told.served) == (28.0, 120.0)
    assert told.metrics["sglang:num_queue_reqs"] == 5.0


def test_a_peak_is_that_of_the_outermost_server_or_the_largest() -> None:
    assert traffic("sglang", PD).peak == 58.0
    told = traffic("sglang", PD + ROUTER)
    assert (told.peak, told.metrics["peak_in_flight"]) == (57.0, 57.0)


def test_what_is_not_counted_is_not_made_up() -> None:
    for name in plugins.names(plugins.Group.DIALECT):
        assert ask(name, {}, lambda dialect, url: dialect.traffic(url)) == Traffic()
        told = traffic(name, "process_cpu_seconds_total 3.5\n")
        assert told == Traffic(metrics={"process_cpu_seconds_total": 3.5})


def test_llamacpp_tells_its_properties_and_its_slots() -> None:
    told = info("llamacpp", LLAMACPP)
    assert told["default_generation_settings.params.ignore_eos"] == "false"
    assert told["default_generation_settings.params.temperature"] == "0.800000011920929"
    assert (told["slots.count"], told["slots.n_ctx"]) == ("4", "2048")
    without = {path: text for path, text in LLAMACPP.items() if path != "/slots"}
    assert "slots.count" not in info("llamacpp", without)


def test_llamacpp_counts_requests_that_wait() -> None:
    text = "llamacpp:requests_processing 3\nllamacpp:requests_deferred 2\n"
    assert traffic("llamacpp", text).in_flight == 5.0


def test_caches_are_flushed_by_a_post_and_only_where_that_can_be_done() -> None:
    asked: list[str] = []
    texts = {"/flush_cache": "Cache flushed.\n"}
    assert ask("sglang", texts, lambda dialect, url: dialect.flush(url), asked)
    assert asked == ["POST /flush_cache HTTP/1.1"]
    assert not ask("sglang", {}, lambda dialect, url: dialect.flush(url))
    for name in ("openai", "llamacpp"):
        assert not ask(name, texts, lambda dialect, url: dialect.flush(url))


def test_a_page_that_is_none_is_an_error_with_its_cause() -> None:
    with pytest.raises(EngineError, match=r"/server_info: what it answers is not JSON"):
        info("sglang", {"/server_info": "<html>"})
    with pytest.raises(EngineError, match=r"/metrics: what it answers are no metrics"):
        traffic("sglang", "<html>")


def test_a_long_text_is_told_by_its_length_and_digest() -> None:
    one, other = ({"chat_template": letter * 5000} for letter in "ab")
    assert flat.flat(one)["chat_template"].startswith("5000 characters, sha256 ")
    assert flat.flat(one) != flat.flat(other)


def test_too_many_values_are_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        flat.flat({"a": list(range(flat.MOST + 2))})


plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
names = st.text("abc", min_size=1, max_size=3)
trees = st.recursive(
    plain | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(names, below, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(names, trees, max_size=4))
def test_nothing_is_lost_by_flattening(tree: dict[str, Any]) -> None:
    """Each leaf is found at its way, in the form in which JSON has it."""
    told = flat.flat(tree)
    ways = dict(_leaves("", tree)) if tree else {}
    assert told.keys() == ways.keys()
    for way, leaf in ways.items():
        assert told[way] == leaf if isinstance(leaf, str) else json.loads(told[way]) == leaf


def _leaves(way: str, tree: Any) -> list[tuple[str, Any]]:
    if not tree or not isinstance(tree, dict | list):
        return [(way, tree)]
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [
        leaf for name, each in pairs for leaf in _leaves(f"{way}.{name}" if way else str(name), each)
    ]


pieces = st.sampled_from(
    ["a", "{", "}", '"', "=", ",", "\\", " ", "1", "# TYPE ", "# HELP ", "le", "\n", "NaN", "\x00", "_"]
)


@given(st.lists(pieces | st.text(max_size=3), max_size=20).map("".join))
def test_any_text_is_metrics_or_refused(text: str) -> None:
    with suppress(ValueError):
        metrics = counting.by_name(counting.read(text.encode("utf-8", "surrogatepass")))
        assert all(math.isfinite(value) for value in metrics.values())


values = st.dictionaries(st.sampled_from(["p", "d", "r"]), st.integers(0, 1000), min_size=1)


@given(values)
def test_samples_of_one_name_are_added_up(samples: dict[str, int]) -> None:
    text = "".join(f'reqs{{engine_type="{kind}"}} {count}\n' for kind, count in samples.items())
    buckets = 'reqs_bucket{le="1"} 5\nreqs_bucket{le="2"} 9\nlag{quantile="0.5"} 7\n'
    metrics = counting.by_name(counting.read((buckets + text).encode()))
    assert metrics == {"reqs": float(sum(samples.values()))}
