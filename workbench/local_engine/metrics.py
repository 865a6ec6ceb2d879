"""Metrics in Prometheus' text format.

Names are SGLang's, with its prefix `sglang:`. A few are this engine's own and go without: they prove
that a suspect's path was exercised.
"""

from __future__ import annotations

from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OWN = frozenset({"hicache_loaded_pages_total", "index_k_bf16_reads_total", "peak_in_flight"})


def render(values: Mapping[str, float], labels: Mapping[str, str]) -> str:
    """Write metrics, counters and gauges told apart by the ending `_total`.

    Args:
        values: By name, the prefix `sglang:` left out.
        labels: Put on each.
    """
    text = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    lines = []
    for name in sorted(values):
        full = name if name in OWN else f"sglang:{name}"
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# TYPE {full} {kind}", f"{full}{{{text}}} {float(values[name])!r}"]
    return "".join(f"{line}\n" for line in lines)


def merge(texts: list[str]) -> str:
    """Put the metrics of several servers in one text; a name's samples must stand together."""
    families: dict[str, list[str]] = {}
    for text in texts:
        head = ""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                head = line
                families.setdefault(head, [])
            elif line:
                families[head].append(line)
    return "".join(f"{line}\n" for head, samples in families.items() for line in (head, *samples))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
