"""Leases: one holder at a time on a host, freed by the kernel, in a folder that is one's own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import ROOT
from workbench.errors import EngineBusy, StoreError
from workbench.store.lease import Lease, holder, leases_folder

URL = "http://127.0.0.1:30000"
HOLDS = """
import sys
from pathlib import Path
from workbench.store.lease import Lease, holder
lease = Lease.take(holder(sys.argv[1], "ana", Path("/c")))
lease.say("20261129T151200Z-k3m7q2xa")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temp folder of the test's own, as the system has one."""
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # where Python remembers it
    return tmp_path


def other_process() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, URL],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def mine() -> Lease:
    return Lease.take(holder(URL, "bob", Path("/d")))


def test_another_process_has_it_until_it_dies() -> None:
    with other_process() as process:
        with pytest.raises(EngineBusy) as raised:
            mine()
        assert raised.value.exit_code == 3
        assert raised.value.what.startswith(
            f"{URL} is held by run 20261129T151200Z-k3m7q2xa of ana since "
        )
        assert raised.value.what.endswith(f"(pid {process.pid}, /c)")
        assert "--wait" in raised.value.hint
        process.kill()
        process.wait()
        mine().release()


def test_who_waits_is_told_for_whom_and_has_it_afterwards() -> None:
    told: list[str] = []
    waiting = threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        waiting.set()

    with other_process() as process:
        taken: list[Lease] = []

        def wait() -> None:
            taken.append(Lease.take(holder(URL, "bob", Path("/d")), wait=True, tell=tell))

        thread = threading.Thread(target=wait)
        thread.start()
        assert waiting.wait(60)
        assert not taken
        process.communicate("")
        thread.join(60)
    assert len(told) == 1
    assert told[0].startswith(
        f"waiting for {URL}, which is held by run 20261129T151200Z-k3m7q2xa of ana"
    )
    with pytest.raises(EngineBusy, match="held by a run of bob"):
        mine()
    taken[0].release()


def test_what_is_released_is_free_and_leaves_no_name_behind(own_temp: Path) -> None:
    lease = mine()
    lease.release()
    lease.release()
    assert [path.suffix for path in leases_folder().iterdir()] == [".lock"]
    mine().release()


def test_a_secret_in_what_is_held_reaches_no_disk_and_no_message() -> None:
    secret = "http://me:hunter2-hunter2@127.0.0.1:30000"
    lease = Lease.take(holder(secret, "bob", Path("/d")))
    with pytest.raises(EngineBusy) as raised:
        Lease.take(holder(secret, "bob", Path("/d")))
    files = [path for path in leases_folder().iterdir() if path.suffix == ".json"]
    assert len(files) == 1
    for text in (raised.value.what, files[0].read_text()):
        assert "hunter2" not in text
        assert "127.0.0.1:30000" in text
    lease.release()


def test_another_engine_is_another_lease() -> None:
    lease = mine()
    Lease.take(holder("http://127.0.0.1:30001", "bob", Path("/d"))).release()
    lease.release()


def test_a_folder_that_is_open_or_no_folder_is_refused(own_temp: Path) -> None:
    folder = leases_folder()
    assert [each.stat().st_mode & 0o777 for each in (folder, folder.parent)] == [0o700, 0o700]
    folder.chmod(0o777)
    with pytest.raises(StoreError, match="is open to others"):
        mine()
    folder.rmdir()
    folder.symlink_to(own_temp)
    with pytest.raises(StoreError, match="is no folder"):
        mine()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused() -> None:
    os.chown(leases_folder().parent, 12345, 12345)
    with pytest.raises(StoreError, match="belongs to user 12345"):
        mine()
