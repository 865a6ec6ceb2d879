"""One step of a bisection: start the engine that is checked out here, ask, and say good, bad or skip.

    git bisect run python bisect_step.py VOCABULARY [--sessions 60] [--turns 4] [--seed 1]

Exit codes are those of `git bisect run`: 0 good, 1 bad (an answer was wrong), 125 this commit cannot be
tested (the engine did not start, or did not answer). The right answers come from the prompts, so no
second engine is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workbench.workloads import records
from workbench.workloads.records import Reply, Session, Shape, Vocabulary, Word

GOOD, BAD, SKIP = 0, 1, 125
ENGINE = ("-P", "-m", "minisgl.launch", "--port", "0", "--enable-hierarchical-cache")


def main() -> int:
    """Test the commit in the current folder."""
    parser = argparse.ArgumentParser(description="One step of a bisection.")
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    vocabulary = Vocabulary.parse(options.vocabulary.read_text(encoding="utf-8"))
    shape = Shape(turns=options.turns)
    sessions = [
        records.draw(shape, vocabulary, seed=options.seed, session=number)
        for number in range(options.sessions)
    ]
    with start_engine() as engine:
        assert engine.stdout is not None
        url = engine.stdout.readline().strip()  # printed when all three servers are healthy
        try:
            if not url:
                return say(SKIP, "the engine does not start")
            with urllib.request.urlopen(f"{url}/server_info", timeout=60) as answer:
                commit = json.load(answer)["code"]["commit"]
            if commit != head():
                return say(SKIP, f"{commit} is running, and not what is checked out")
            with ThreadPoolExecutor(len(sessions)) as pool:  # all sessions in flight
                replies = pool.map(lambda session: ask(url, session), sessions)
                words = Counter(word for said in replies for word in said)
        except OSError as error:
            return say(SKIP, f"the engine does not answer: {error}")
        finally:
            engine.terminate()
    wrong = words.total() - words[Word.OK]
    return say(BAD if wrong else GOOD, f"{wrong} of {words.total()} answers are wrong")


def start_engine() -> subprocess.Popen[str]:
    """Start the engine of the current folder, and no other."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path.cwd()),
        "PYTHONDONTWRITEBYTECODE": "1",  # two commits of one second and size would share bytecode
    }
    command = [sys.executable, *ENGINE]
    log = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)


def head() -> str:
    """Give the commit that is checked out."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def ask(url: str, session: Session) -> list[Word]:
    """Send the turns of a session, one after the other, and judge the replies."""
    words = []
    for turn in range(len(session.turns)):
        body = {
            "model": "default",
            "messages": records.messages(session, turn),
            "tools": records.tools(session.vocabulary),
            "max_tokens": 64,
        }
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{url}/v1/chat/completions", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            message = json.load(answer)["choices"][0]["message"]
        words.append(records.judge(session, turn, Reply.of_message(message)).word)
    return words


def say(code: int, what: str) -> int:
    """Tell what was seen, and give the exit code."""
    sys.stderr.write(f"{head()[:12]}: {what}\n")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
