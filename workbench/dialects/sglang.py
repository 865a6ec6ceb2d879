"""Dialect `sglang`: SGLang's servers, its router, and the local engine.

A disaggregated engine shows through its router the settings of both halves (`prefill.*`, `decode.*`)
and their metrics, told apart by the label `engine_type`. A request is in both halves at once, so their
counts of requests are not added: the half that has more says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.dialects import counting
from workbench.dialects.counting import ENGINE_TYPE, Metric
from workbench.dialects.served import ServedDialect
from workbench.ports import Traffic

_UNDER_WAY = frozenset(
    f"sglang:num_{where}_reqs"
    for where in (
        *("running", "queue", "prefill_prealloc_queue", "prefill_inflight_queue"),
        *("decode_prealloc_queue", "decode_transfer_queue"),
    )
)
_SERVED = frozenset({"sglang:num_requests_total"})
_PEAK = "peak_in_flight"  # the local engine's own; SGLang has none


class SglangDialect(ServedDialect):
    """SGLang's control surface."""

    volatile = (
        *("port", "*.port", "*_port", "*_url", "*dist_init_addr", "servers.*"),
        *("pid", "*.pid", "*process.started", "*process.argv.*", "*uptime*", "*created"),
        *("*internal_states.*", "*random_seed", "*record_schedule", "*log_dir", "*launch_time*"),
    )

    async def info(self, url: str) -> Mapping[str, str]:
        """Give every setting as resolved."""
        return await self._flat(url, "/get_server_info", "/server_info")

    async def traffic(self, url: str) -> Traffic:
        """Give what it counts; without `--enable-metrics` that is nothing."""
        metrics = await self._metrics(url)
        peaks = [metric for metric in metrics if metric.name == _PEAK]
        return Traffic(
            metrics=counting.by_name(metrics),
            in_flight=_largest_half(metrics, _UNDER_WAY),
            peak=counting.peak(peaks) if peaks else None,
            served=_largest_half(metrics, _SERVED),
        )

    async def flush(self, url: str) -> bool:
        """Empty its prefix caches; it refuses while a request is under way."""
        return await self._posted(url, "/flush_cache")


def _largest_half(metrics: Iterable[Metric], names: frozenset[str]) -> float | None:
    """Add up what these names say, for each half by itself; give the largest, None of nothing."""
    halves: dict[str, float] = {}
    for metric in metrics:
        if metric.name in names:
            half = metric.labels.get(ENGINE_TYPE, "")
            halves[half] = halves.get(half, 0.0) + metric.value
    return max(halves.values(), default=None)
