"""Small campaigns as people write them, on a real disk."""

from __future__ import annotations

from pathlib import Path

CAMPAIGN = """\
schema: workbench/campaign@1
title: Something fails
symptoms:
  garbled: {statuses: [timeout]}
engine: local
engines:
  local: {lifecycle: command, argv: [x]}
workloads:
  agents: {kind: command}
knobs:
  index_k: {kind: env, name: INDEX_K, levels: {bf16: "1", fp8: "0"}}
  hicache: {kind: flag, flag: --hicache, levels: {"on": true, "off": false}}
"""

TEST = """\
prediction: {control: 0.4, removes: true}
test:
  control: {index_k: bf16, hicache: "on"}
  treatment: {index_k: fp8, hicache: "on"}
"""


def hypothesis(id: str, rest: str = "") -> str:
    return f"schema: workbench/hypothesis@1\nid: {id}\ntitle: Suspect {id}\n{rest}"


def write(root: Path, files: dict[str, str], campaign: str | None = CAMPAIGN) -> Path:
    """Write hypothesis files by name, and `campaign.yaml` unless that is None."""
    (root / "hypotheses").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / "hypotheses" / name).write_text(text)
    if campaign is not None:
        (root / "campaign.yaml").write_text(campaign)
    return root
