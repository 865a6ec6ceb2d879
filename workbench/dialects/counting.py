"""Metrics in Prometheus' text, as numbers by name.

Samples that differ in their labels alone are added up, but for peaks: two servers that never had more
than 30 requests at once did not have 60. Of a peak the one counts that the outermost server gives, the
router's; where nothing says which that is, the largest. Buckets and quantiles are left out: a sum over
them means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

ENGINE_TYPE = "engine_type"  # label that tells the servers of one engine apart
ROUTER = "router"
_PEAK = "peak"
_LEFT_OUT = ("_bucket", "_created")


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One sample: a name, labels and a number."""

    name: str
    labels: Mapping[str, str]
    value: float


def read(body: bytes) -> tuple[Metric, ...]:
    """Read a page of metrics; what is no number is left out.

    Raises:
        ValueError: It is not Prometheus' text.
    """
    lines = (line for line in body.decode("utf-8", "replace").split("\n") if _counts(line))
    try:
        return tuple(
            Metric(name=sample.name, labels=sample.labels, value=float(sample.value))
            for family in text_string_to_metric_families("\n".join(lines))
            for sample in family.samples
            if math.isfinite(sample.value) and "quantile" not in sample.labels
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no metrics: {type(error).__name__}") from error


def by_name(metrics: Iterable[Metric]) -> dict[str, float]:
    """Give one number a name."""
    found: dict[str, list[Metric]] = {}
    for metric in metrics:
        found.setdefault(metric.name, []).append(metric)
    return {
        name: peak(same) if _PEAK in name else math.fsum(each.value for each in same)
        for name, same in found.items()
    }


def peak(same: Iterable[Metric]) -> float:
    """Give the peak that counts of samples of one name, of which there is at least one."""
    there = list(same)
    outermost = [each for each in there if each.labels.get(ENGINE_TYPE) == ROUTER]
    return max(each.value for each in outermost or there)


def _counts(line: str) -> bool:
    """Whether to read a line at all: most lines of a large server are buckets, and reading is slow."""
    name = line.partition("{")[0]
    return not name.endswith(_LEFT_OUT)
