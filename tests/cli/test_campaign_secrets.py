"""Secrets planted all over a campaign are nowhere under `runs/`, in the log, or in the ledger."""

from __future__ import annotations

from pathlib import Path

from tests.cli.campaigns import begin, records, succeeded
from tests.conftest import Workbench

KEY = "sk-" + "Zq3xV9" * 6
PASSWORD = "hunter2-correct-horse"
TOKEN = "ghp_" + "a1B2" * 9
RANDOM = "q7Zk2mX9vB4tR8sLw3Yp"
BEARER = "abcdef0123456789abcdef"
PRIVATE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
ENVIRONMENT = {"DEPLOY_API_KEY": "env-9f8e7d6c5b4a", "WORKBENCH_ACTOR": "ana"}
PLANTED = (KEY, PASSWORD, TOKEN, RANDOM, BEARER, PRIVATE, ENVIRONMENT["DEPLOY_API_KEY"])

SCRIPT = f"""#!/bin/sh
echo "args $* key $API_KEY env $DEPLOY_API_KEY {TOKEN}"
echo "Authorization: Bearer {BEARER}"
printf -- '-----BEGIN PRIVATE KEY-----\\n{PRIVATE}\\n-----END PRIVATE KEY-----\\n'
[ $((WORKBENCH_SEED % 3)) -ne 0 ] || [ "$CACHE" = 0 ]
"""

CAMPAIGN = f"""schema: workbench/campaign@1
title: Secrets everywhere
symptoms: {{fails: {{classifier: exit_code, labels: [failed, crashed]}}}}
engine: script
engines:
  script:
    lifecycle: command
    argv: [./script.sh, --api-key, {PASSWORD}, "--url=https://ana:{PASSWORD}@host/x"]
workloads: {{trials: {{kind: command, sessions: 20, in_flight: 4, keep_texts: all}}}}
knobs:
  cache: {{kind: env, name: CACHE, levels: {{"on": "1", "off": "0"}}}}
  api_key: {{kind: env, name: API_KEY, levels: {{mine: {KEY}, other: {RANDOM}}}}}
"""

HYPOTHESIS = f"""schema: workbench/hypothesis@1
id: H1
title: The cache leaks
statement: It was seen with --token {TOKEN} and Bearer {BEARER}
prediction: {{control: 0.3, treatment: 0.0}}
test:
  control: {{cache: "on", api_key: mine}}
  treatment: {{cache: "off", api_key: mine}}
"""


def leaks(home: Path, *names: str) -> list[tuple[str, str]]:
    """Files at or below some paths of a campaign that hold a secret, each with the secret."""
    files = [path for name in names for path in (home / name, *(home / name).rglob("*"))]
    return [
        (str(path.relative_to(home)), secret)
        for path in files
        if path.is_file()
        for secret in PLANTED
        if secret.encode() in path.read_bytes()
    ]


def test_planted_secrets_reach_neither_runs_nor_log_nor_ledger(
    workbench: Workbench, tmp_path: Path
) -> None:
    home = begin(workbench, tmp_path / "c", script=SCRIPT)
    (home / "campaign.yaml").write_text(CAMPAIGN)
    for path in (home / "hypotheses").glob("*.yaml"):
        path.unlink()
    (home / "hypotheses" / "H01-the-cache-leaks.yaml").write_text(HYPOTHESIS)

    def run(*arguments: str) -> str:
        return succeeded(workbench(*arguments, cwd=home, env=ENVIRONMENT))

    run("check")
    run("test", "H1", "--seed", "1", "--display", "plain")
    run("note", f"with --password {PASSWORD} it works, env-9f8e7d6c5b4a too", "--about", "H1")
    run(
        "evidence",
        "H1",
        "--for",
        "-m",
        f"Authorization: Bearer {BEARER}",
        "--source",
        f"url https://a:{TOKEN}@x",
    )
    run("rule", "H1", "--role", "cause", "--because", f"api_key={KEY}")
    run("export", "-o", "LEDGER.md")
    run("export", "-o", "LEDGER.json", "--format", "json")
    # the cache of what people wrote holds what they wrote; all else is clean
    (home / ".workbench" / "files.cache").unlink()
    written = ("runs", "hypotheses/events.jsonl", ".workbench", "LEDGER.md", "LEDGER.json")
    assert leaks(home, *written) == []
    manifest = next(home.glob("runs/*/manifest.json")).read_text()
    assert "<redacted>" in manifest
    assert '"state": "finished"' in manifest
    assert len(records(workbench("runs", "--json", cwd=home))) == 1
