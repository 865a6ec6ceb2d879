"""A server with a gate that may be left open, for tests of whole campaigns: python gated.py PORT

$BUILD says which: `fixed` waits at the gate, any other does not, and every second reply is garbled.
It says in its log, and counts in its metrics, whenever a reply goes through the gate's path, unless
$GATE=off takes that path away.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIXED = os.environ.get("BUILD") == "fixed"
PATH_RUNS = os.environ.get("GATE") != "off"
_SERVED = iter(range(10**9))
_LOCK = threading.Lock()
passed = 0


class Gated(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        pages = {
            "/health": "",
            "/v1/models": json.dumps(
                {"data": [{"id": os.environ.get("BUILD", ""), "gate": PATH_RUNS}]}
            ),
            "/metrics": f"# TYPE gate_passed counter\ngate_passed_total {passed}\n",
        }
        page = pages.get(self.path)
        self.answer(404 if page is None else 200, page or "")

    def do_POST(self) -> None:
        global passed
        self.rfile.read(int(self.headers["Content-Length"]))
        with _LOCK:
            number = next(_SERVED)
            passed += PATH_RUNS
        if PATH_RUNS:
            sys.stderr.write("through the gate\n")
        garbled = PATH_RUNS and not FIXED and number % 2
        message = {"role": "assistant", "content": "salad" if garbled else "well"}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        self.answer(200, json.dumps(body))

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: object) -> None:
        """Leave the log to what the gate says."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Gated).serve_forever()
