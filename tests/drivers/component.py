"""A little server for tests of engines: tells how it was started, and can be a nuisance.

    python component.py PORT [ignore-term] [fork FILE] [exit CODE TEXT] [later] [mute]

`fork` leaves a process in a session of its own, whose id it writes to FILE; `later` listens, and
answers nothing; `mute` tells nothing but that it is there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Tells(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/metrics":
            self.send_error(404)
            return
        stdin = str(Path("/proc/self/fd/0").readlink())
        told = {"argv": sys.argv, "env": dict(os.environ), "stdin": stdin, "sid": os.getsid(0)}
        body = json.dumps({**told, "cwd": str(Path.cwd())}).encode()
        if "mute" in sys.argv and self.path != "/":
            body = b"no comment"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def leave(file: Path) -> None:
    if (between := os.fork()) > 0:
        os.waitpid(between, 0)
        return
    os.setsid()
    if (pid := os.fork()) > 0:
        file.write_text(str(pid))
        os._exit(0)
    signal.pause()


def main(port: int, words: list[str]) -> None:
    say(f"listening, {' '.join(words)}")
    if "exit" in words:
        code, text = words[words.index("exit") + 1 :][:2]
        say(f"\x1b[31m{text}\x1b[0m")
        sys.exit(int(code))
    if "ignore-term" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "fork" in words:
        leave(Path(words[words.index("fork") + 1]))
    server = HTTPServer(("127.0.0.1", port), Tells)
    if "later" in words:
        signal.pause()
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
