"""Write down what a model replies to each prompt when it serves nobody else: `prompts.jsonl`.

    python record.py -- python serve.py --model models/tiny.gguf --port 0 --parallel 1 --no-cache-prompt
    python record.py --url http://127.0.0.1:8080          # a server that is up already, and idle

A line holds the body of a request and the reply that it had, as the workload `replay` reads them. All
prompts are asked one by one and twice over: the replies are a yardstick only if they stay the same.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

LETTERS = "abcdefghijkl "


def main() -> int:
    """Record the prompts that the command line asks for; exit code 1 when replies do not stay."""
    parser = argparse.ArgumentParser(description="Record what a model replies when it is alone.")
    parser.add_argument("--url", help="a server that is up; else the command after -- is started")
    parser.add_argument("--out", type=Path, default=Path("prompts.jsonl"))
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=192, help="tokens of a reply at most")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("command", nargs="*", help="a server that says on stdout where it is")
    options = parser.parse_args()
    if bool(options.url) == bool(options.command):
        parser.error("give --url, or a command after --")
    bodies = [body(random.Random(f"{options.seed} {n}"), options) for n in range(options.prompts)]
    if options.url:
        return record(options.url, bodies, options.out)
    with subprocess.Popen(options.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if url := json.loads(line).get("url"):
                    return record(url, bodies, options.out)
            print("record.py: the server ended before it was up", file=sys.stderr)
            return 1
        finally:
            server.terminate()


def body(rng: random.Random, options: argparse.Namespace) -> dict[str, Any]:
    """Draw a prompt and give the request that asks it, greedily."""
    prompt = "".join(rng.choices(LETTERS, k=rng.randint(20, 300)))
    return {
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 0,
        "max_tokens": options.tokens,
    }


def record(url: str, bodies: list[dict[str, Any]], out: Path) -> int:
    """Ask twice and write the replies down."""
    replies = [ask(url, each) for each in bodies]
    changed = sum(ask(url, each) != reply for each, reply in zip(bodies, replies, strict=True))
    if changed:
        print(f"record.py: {changed} of {len(bodies)} replies did not stay the same", file=sys.stderr)
        return 1
    lines = [
        json.dumps({"body": each, "expected": reply})
        for each, reply in zip(bodies, replies, strict=True)
    ]
    out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{out}: {len(lines)} prompts, each with its reply")
    return 0


def ask(url: str, body: dict[str, Any]) -> str:
    """Ask one prompt and give what is said."""
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


if __name__ == "__main__":
    raise SystemExit(main())
