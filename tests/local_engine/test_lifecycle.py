"""How a server process ends: with its launcher, and with its scheduler's thread."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT
from tests.local_engine.processes import PATIENCE

PIPE_ALONE = """
import sys, threading
from workbench.local_engine import lifecycle
sys.platform = "a system without parent-death signals"
lifecycle.die_with_parent(int(sys.argv[1]))
print("ready", flush=True)
threading.Event().wait()
"""

DYING_THREAD = """
import threading
from workbench.local_engine import lifecycle, logs
logs.configure_logging("decode")
lifecycle.end_when_a_thread_fails()
threading.Thread(target=lambda: 1 / 0, name="DecodeScheduler").start()
threading.Event().wait()
"""


def test_the_end_of_the_pipe_is_the_end_of_the_child() -> None:
    life, hand = os.pipe()
    command = [sys.executable, "-c", PIPE_ALONE, str(life)]
    with subprocess.Popen(
        command, cwd=ROOT, pass_fds=(life,), stdout=subprocess.PIPE, text=True
    ) as child:
        os.close(life)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        assert child.poll() is None
        os.close(hand)
        assert child.wait(PATIENCE) == 1


def test_a_scheduler_whose_thread_dies_takes_its_server_with_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING_THREAD],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert "DECODE] Thread DecodeScheduler hit an exception:" in done.stderr
    assert "ZeroDivisionError" in done.stderr
