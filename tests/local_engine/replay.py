"""Runs sessions through the engine of a commit, in one process: a script for a fresh interpreter.

    PYTHONPATH=WORKTREE python -P replay.py < JOB > RESULT

The job is JSON: `argv` (flags), `env` (variables), `prompts` (by session and turn: messages) and
`in_flight`. The result holds the text of each reply, errors and counters. Time is virtual and this
loop the only clock, so a commit always gives the same result.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from typing import Any

MAX_NEW_TOKENS = 48


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Drive all sessions to their ends, so many at a time."""
    from minisgl import environ, server_args
    from minisgl.chat_template import apply_chat_template
    from minisgl.managers.interface import GenerateRequest, TokenOutput
    from minisgl.managers.unified import UnifiedScheduler
    from minisgl.tokenizer import get_tokenizer

    args = server_args.parse(job["argv"], prog="replay", description="")
    scheduler = UnifiedScheduler(args, environ.read(job["env"]))
    prompts = job["prompts"]
    waiting = deque((session, 0) for session in range(len(prompts)))
    said: dict[str, list[int]] = {}
    flying: set[str] = set()
    errors: dict[str, str] = {}

    def emit(output: TokenOutput) -> None:
        said[output.rid].extend(output.token_ids)
        if output.finished:
            flying.discard(output.rid)
            if output.finish_reason in ("error", "abort"):
                errors[output.rid] = output.error
            session, turn = map(int, output.rid.split("/"))
            if turn + 1 < len(prompts[session]):
                waiting.append((session, turn + 1))

    while waiting or flying:
        while waiting and len(flying) < job["in_flight"]:
            session, turn = waiting.popleft()
            rid = f"{session}/{turn}"
            said[rid] = []
            flying.add(rid)
            ids = tuple(apply_chat_template(prompts[session][turn]))
            request = GenerateRequest(rid=rid, input_ids=ids, max_new_tokens=MAX_NEW_TOKENS)
            scheduler.submit(request, emit)
        if not scheduler.step():
            raise SystemExit(f"stuck with {sorted(flying)}")
    decode = get_tokenizer().decode
    replies = [
        [decode(said[f"{session}/{turn}"]) for turn in range(len(turns))]
        for session, turns in enumerate(prompts)
    ]
    return {
        "replies": replies,
        "errors": errors,
        "counters": scheduler.counters(),
        "describe": scheduler.describe(),
        "file": sys.modules["minisgl"].__file__,
    }


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
