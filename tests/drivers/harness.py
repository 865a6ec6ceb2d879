"""A team's own harness, in the standard library alone: two requests, and what came of them.

Usage: harness.py URL OUT EXIT
"""

import json
import sys
import time
import urllib.request
from pathlib import Path

url, out, code = sys.argv[1:]
with Path(out).open("w") as file:
    for number in range(2):
        body = json.dumps({"messages": [{"role": "user", "content": f"number {number}"}]}).encode()
        began = time.monotonic()
        with urllib.request.urlopen(
            urllib.request.Request(f"{url}/v1/chat/completions", body)
        ) as reply:
            told = json.load(reply)
        line = {"text": told, "seconds": time.monotonic() - began, "expected": "hello"}
        file.write(json.dumps(line) + "\n")
sys.exit(int(code))
