"""Run folders: who may make, own, resume and read one, and what they find in it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.store.examples import AT_ONCE, OWNER, RUN, event, key, manifest, plan, sample
from tests.store.test_documents import sealed_again
from workbench.errors import LockHeld, StoreError, VersionTooNew
from workbench.model.commits import Code
from workbench.model.outcome import Ending, Exchange, Label, Status
from workbench.model.plan import Arm
from workbench.model.run import Fingerprint, RunState, Seen
from workbench.store import RunFolder, RunView, current_owner, is_alive, new_run_id
from workbench.store.documents import encode_manifest

ROOT = Path(__file__).parents[2]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_run_from_first_to_last(tmp_path: Path) -> None:
    fingerprint = Fingerprint(arm="control", config={"python": "3.11"}, files={"repro.sh": "0" * 64})
    with RunFolder.create(tmp_path / "runs", manifest(), AT_ONCE) as folder:
        assert folder.path == tmp_path / "runs" / RUN
        assert folder.manifest.owner == current_owner()
        assert folder.manifest.openings == 1
        folder.write_fingerprint(fingerprint, 1)
        folder.replace_manifest(state=RunState.RUNNING, fingerprints={"control": fingerprint})
        folder.append_event(event("arm_started", arm="control", block=1, rate=float("inf")))
        folder.append_sample(sample(1, status=Status.HIT))
        folder.append_sample(sample(0))
        folder.flush()
        folder.close(RunState.FINISHED, seconds=12.5)
    view = RunView.read(folder.path)
    assert view.manifest.state is RunState.FINISHED
    assert view.manifest.seconds == 12.5
    assert view.manifest.fingerprints == {"control": fingerprint}
    assert list(view.samples()) == [sample(1, status=Status.HIT), sample(0)]
    assert [found.facts["rate"] for found in view.events()] == [float("inf")]
    assert view.fingerprint("control", 1) == fingerprint
    assert (
        view.manifest.counts["control/1"].order == "ch"
    )  # in assignment order, not in that of arrival
    assert view.altered() == ()
    assert not view.damage()
    assert {path.name for path in folder.path.iterdir()} == {
        *(
            "manifest.json",
            "samples-w0.jsonl",
            "events.jsonl",
            "owner.lock",
            "fingerprint-control-1.json",
        )
    }


ODD = [
    Exchange(key=key(0), text="", seconds=float("nan"), start_seconds=float("inf")),
    Exchange(key=key(0), last=False),
    Exchange(key=key(1), text="\u2028\u2029\x85\v\f\r\n\0\x1b]52;c;x\x07", text_bytes=9),
    Exchange(key=key(2), text="half a pair \ud83d", signal="SIGSEGV"),
    Exchange(key=key(3), text="x" * 1_000_000, text_bytes=1_000_000, exit_code=-9),
    Exchange(key=key(4), text="\ud800" * 70_000, ending=Ending.TIMEOUT),
    Exchange(key=key(5), expected="the right half of a pair \udc00"),
    Exchange(key=key(5), text="[red]{'$text': 1}</script>`", ending=Ending.ENGINE_DIED),
    Exchange(
        key=key(6),
        ending=Ending.HTTP_ERROR,
        detail="half a pair \ud83d",
        earlier=("reset: \udc00", "http_error: 503"),
        finish="\ud800",
        first_seconds=0.25,
        http_status=503,
        prompt_tokens=1 << 53,
        completion_tokens=0,
        cached_tokens=7,
        request_sha256="0" * 64,
    ),
]


@pytest.mark.parametrize("word", ["failed", "\ud800"])
@pytest.mark.parametrize("exchange", ODD, ids=range(len(ODD)))
def test_whatever_a_system_replies_is_kept_as_it_was(
    tmp_path: Path, exchange: Exchange, word: str
) -> None:
    label = Label(word=word, rule="a\u2028b", signature="\0")
    others = {"wedged": Seen(label=label, status=Status.ERRORED)}
    odd = replace(sample(0), exchange=exchange, label=label, others=others)
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(9))
        folder.append_sample(odd)
        assert not folder.damage()
        back = list(folder.samples())
    assert repr(back) == repr([sample(9), odd])  # a nan equals nothing, itself included
    for line in (folder.path / "samples-w0.jsonl").read_bytes().split(b"\n")[:-1]:
        assert len(line) < 512 * 1024
        json.loads(line, parse_constant=pytest.fail)


def test_texts_up_to_the_limit_stay_in_their_line(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        for session, text in enumerate(
            ["x" * 65_536, "\u2028" * 21_845, "x" * 65_537, "\u2028" * 21_846]
        ):
            folder.append_sample(sample(session, text=text))
        folder.append_sample(sample(4, text="x" * 65_537))  # the same content is the same blob
        blobs = [path for path in (folder.path / "blobs").rglob("*") if path.is_file()]
        assert len(blobs) == 2
        assert all(path.parent.name == path.name[:2] for path in blobs)


def test_a_damaged_or_missing_blob_costs_the_text_and_not_the_sample(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0, text="a" * 70_000))
        folder.append_sample(sample(1, text="b" * 70_000))
        first, second = sorted(path for path in (folder.path / "blobs").rglob("*") if path.is_file())
        first.write_bytes(b"c" * 70_000)
        second.unlink()
        assert [found.exchange.text for found in folder.samples()] == ["", ""]
        assert len(folder.damage().files) == 2


def test_a_hostile_blob_name_reads_nothing_outside(tmp_path: Path) -> None:
    from workbench.store.lines import encode_sample

    (tmp_path / "secret").write_text("outside")
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        (folder.path / "samples-w0.jsonl").write_bytes(encode_sample(sample(0), blob="../../secret"))
        assert [found.exchange.text for found in folder.samples()] == [""]
        assert folder.damage().files


def test_the_first_line_of_a_key_counts(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0, status=Status.HIT))
        folder.append_sample(sample(0, attempt=2))
    with RunFolder.resume(folder.path, AT_ONCE) as folder:
        folder.append_sample(sample(0, attempt=3))
        assert list(folder.samples()) == [sample(0, status=Status.HIT)]
        assert folder.damage().duplicates == 2
        assert folder.counts()["control/1"].order == "h"


def test_a_session_has_the_gravest_status_of_its_turns(tmp_path: Path) -> None:
    turns = [Status.CLEAN, Status.INCOMPLETE, Status.ERRORED, Status.HIT]
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        for session in range(4):
            for turn, status in enumerate(turns[: session + 1]):
                folder.append_sample(sample(session, turn=turn, status=status, last=turn == session))
        folder.append_sample(sample(4, status=Status.HIT, last=False))  # it is not over
        folder.append_sample(sample(0, arm="treatment", block=0))
        folder.append_sample(sample(10))
        folder.append_sample(sample(9, status=Status.HIT))
        counts = folder.counts()
    assert {place: count.order for place, count in counts.items()} == {
        "control/1": "cieh" + "hc",
        "treatment/0": "c",
    }


def test_every_opening_has_a_shard_of_its_own(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0))
    for opening in range(1, 12):
        with RunFolder.resume(folder.path, AT_ONCE) as folder:
            folder.append_sample(sample(opening))
            assert folder.manifest.openings == opening + 1
    assert (folder.path / "samples-w11.jsonl").exists()
    order = [found.exchange.key.session.session for found in folder.samples()]
    assert order == list(range(12))  # w10 comes after w9


def test_a_torn_tail_is_moved_aside_and_never_parsed(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.replace_manifest(state=RunState.RUNNING)
        folder.append_sample(sample(0))
        folder.append_event(event("opened"))
    for name in ("samples-w0.jsonl", "events.jsonl"):
        with (folder.path / name).open("ab") as file:
            file.write(b'{"k":"control/1/7/0"')
    assert RunView.read(folder.path).damage().torn == {"samples-w0.jsonl": 20, "events.jsonl": 20}
    with RunFolder.resume(folder.path, AT_ONCE) as folder:
        assert folder.manifest.state is RunState.CRASHED
        folder.append_event(event("opened"))
        folder.append_sample(sample(1))
        assert not folder.damage()
        assert [found.kind for found in folder.events()] == ["opened", "opened"]
        assert list(folder.samples()) == [sample(0), sample(1)]
    assert (folder.path / "samples-w0.torn").read_bytes() == b'{"k":"control/1/7/0"\n'
    assert (folder.path / "events.torn").exists()


def test_a_good_run_cut_anywhere_in_its_last_two_kib(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        for session in range(20):
            folder.append_sample(sample(session, text="a\u2028b" * 20))
        folder.close(RunState.FINISHED)
    path = folder.path / "samples-w0.jsonl"
    data = path.read_bytes()
    view = RunView.read(folder.path)
    for cut in range(len(data) - 1, len(data) - 2048, -1):
        os.truncate(path, cut)
        whole = data[:cut].count(b"\n")
        assert view.counts()["control/1"].order == "c" * whole
        assert len(view.damage().torn) == (data[cut - 1 : cut] != b"\n")
        assert view.altered()


def test_what_the_manifest_vouches_for_is_checked(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0))
        folder.close(RunState.FINISHED)
    path = folder.path
    data = (path / "samples-w0.jsonl").read_bytes()
    (path / "samples-w0.jsonl").write_bytes(data.replace(b"exit 0", b"exit 1"))
    problems = RunView.read(path).altered()
    assert problems == (
        "samples-w0.jsonl: differs from its digest",
        "the counts in the manifest are not those of the samples",
    )
    (path / "samples-w0.jsonl").rename(path / "samples-w1.jsonl")
    assert "samples-w0.jsonl: is missing" in RunView.read(path).altered()
    assert "samples-w1.jsonl: is not in the manifest" in RunView.read(path).altered()


def test_reading_writes_nothing(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.replace_manifest(state=RunState.RUNNING)
        folder.append_sample(sample(0, text="t" * 70_000))
    (folder.path / ".manifest.json.0.tmp").write_bytes(b"left by a killed writer")
    before = contents(folder.path)
    view = RunView.read(folder.path)
    assert list(view.samples())
    assert not view.damage()
    assert view.counts()
    assert view.altered() == ()
    assert contents(folder.path) == before
    with RunFolder.resume(folder.path, AT_ONCE):
        assert not (folder.path / ".manifest.json.0.tmp").exists()


def test_two_openings_of_one_run_are_refused_also_within_a_process(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        with pytest.raises(LockHeld, match=f"process {os.getpid()}"):
            RunFolder.resume(folder.path)
        assert RunView.read(folder.path).manifest.owner.pid == os.getpid()
    with RunFolder.resume(folder.path):
        pass


def test_changes_to_code_are_kept_once_each(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        for patch in (b"one\n", b"one\n", b"two\n", b"one\n", b"two\n"):
            folder.write_patch(patch)
    found = {path.name: path.read_bytes() for path in folder.path.glob("*.patch")}
    name = f"dirty-{hashlib.sha256(b'two' + bytes([10])).hexdigest()[:12]}.patch"
    assert found == {"dirty.patch": b"one\n", name: b"two\n"}


def test_code_is_read_back_as_it_was_and_may_be_missing(tmp_path: Path) -> None:
    code = Code(
        commit="1" * 40,
        dirty=True,
        patch_sha256="2" * 64,
        untracked=("-a\nb", "ÿ"),
        patches={"b.patch": "3" * 64, "a.patch": "4" * 64},
    )
    found = Fingerprint(arm="control", config={}, code=code)
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.write_fingerprint(found, 1)
        folder.replace_manifest(fingerprints={"control": found})
        folder.write_fingerprint(Fingerprint(arm="treatment", config={}), 1)
    view = RunView.read(folder.path)
    for again in (view.fingerprint("control", 1), view.manifest.fingerprints["control"]):
        assert again == found
        assert again.code is not None
        assert list(again.code.patches) == ["b.patch", "a.patch"]  # they are laid over in this order
    path = folder.path / "fingerprint-treatment-1.json"
    document = json.loads(path.read_bytes())
    assert document.pop("code", "nothing") is None
    sealed_again(document, path)  # as one was written before there was any
    assert view.fingerprint("treatment", 1).code is None


def test_a_closed_folder_takes_nothing_more(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, manifest(), AT_ONCE)
    folder.append_sample(sample(0))
    folder.close(RunState.STOPPED)
    before = contents(folder.path)
    attempts: tuple[Callable[[], None], ...] = (
        lambda: folder.append_sample(sample(1)),
        lambda: folder.append_event(event()),
        lambda: folder.replace_manifest(why="x"),
        lambda: folder.write_fingerprint(Fingerprint(arm="control", config={}), 1),
        lambda: folder.write_patch(b"x"),
        lambda: folder.close(RunState.FINISHED),
    )
    for attempt in attempts:
        with pytest.raises(StoreError, match="closed"):
            attempt()
    assert contents(folder.path) == before


def test_a_running_run_of_another_host_is_taken_over_only_on_demand(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        path = folder.path
    elsewhere = replace(OWNER, who="bo", host="gpu-7", boot_id="another")
    (path / "manifest.json").write_bytes(
        encode_manifest(manifest(state=RunState.RUNNING, owner=elsewhere))
    )
    before = (path / "manifest.json").read_bytes()
    with pytest.raises(LockHeld, match="bo on gpu-7"):
        RunFolder.resume(path)
    assert (path / "manifest.json").read_bytes() == before
    with RunFolder.resume(path, take_over=True) as folder:
        assert folder.manifest.state is RunState.CRASHED
        assert folder.manifest.owner == current_owner()


@pytest.mark.parametrize(
    "change", [{"host": "a-container"}, {"boot_id": "the boot before"}, {"pid": 1, "started": 0.0}]
)
def test_an_owner_that_our_kernel_knows_to_be_gone_is_dead(
    tmp_path: Path, change: dict[str, str]
) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        path = folder.path
    gone = replace(current_owner(), **change)  # type: ignore[arg-type]
    (path / "manifest.json").write_bytes(encode_manifest(manifest(state=RunState.RUNNING, owner=gone)))
    with RunFolder.resume(path) as folder:
        assert folder.manifest.state is RunState.CRASHED


def test_a_pid_that_was_used_again_is_not_the_owner() -> None:
    here = current_owner()
    assert is_alive(here)
    assert not is_alive(replace(here, started=here.started - 60))
    assert not is_alive(replace(here, boot_id="another"))
    assert not is_alive(replace(here, pid=2**22 + 1))


def test_only_a_running_manifest_becomes_crashed(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        pass
    for state in RunState:
        if state is RunState.RUNNING:
            continue
        with RunFolder.resume(folder.path, AT_ONCE) as folder:
            folder.replace_manifest(state=state)
        with RunFolder.resume(folder.path, AT_ONCE) as folder:
            assert folder.manifest.state is state


def test_symbolic_links_are_refused_in_place_of_a_run(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        pass
    link = tmp_path / "link"
    link.symlink_to(folder.path)
    for attempt in (RunFolder.resume, RunView.read, lambda path: RunFolder.create_at(path, manifest())):
        with pytest.raises(StoreError, match="symbolic link"):
            attempt(link)


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new", "deep/er"):
        with RunFolder.create_at(tmp_path / name, manifest(), AT_ONCE) as folder:
            folder.append_sample(sample(0))
            assert folder.path == tmp_path / name
        with pytest.raises(StoreError, match="not empty"):
            RunFolder.create_at(tmp_path / name, manifest())
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is no folder"):
        RunFolder.create_at(tmp_path / "file", manifest())
    with pytest.raises(StoreError, match="a file stands where a folder is due"):
        RunFolder.create_at(tmp_path / "file" / "deeper", manifest())


def test_a_folder_with_content_gets_no_lock_file(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreError, match="not empty"):
        RunFolder.create_at(tmp_path, manifest())
    assert contents(tmp_path) == {"thesis.txt": b"mine"}
    with pytest.raises(StoreError):
        RunFolder.resume(tmp_path)
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


def test_a_folder_removed_while_running_is_a_store_error(tmp_path: Path) -> None:
    import shutil

    folder = RunFolder.create(tmp_path, manifest(), AT_ONCE)
    shutil.rmtree(folder.path)
    with pytest.raises(StoreError, match="No such file"):
        folder.append_sample(sample(0))
    with pytest.raises(StoreError, match="No such file"):
        folder.close(RunState.FINISHED)
    with pytest.raises(StoreError, match="no such run"):
        RunView.read(folder.path)


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where a folder is due")
    with pytest.raises(StoreError, match="a file stands where a folder is due"):
        RunFolder.create(tmp_path / "runs", manifest())


def test_a_newer_run_is_read_and_not_resumed(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0))
        path = folder.path
    (path / "manifest.json").write_bytes(encode_manifest(manifest(schema="workbench/run@2")))
    before = contents(path)
    with pytest.raises(VersionTooNew):
        RunFolder.resume(path)
    assert list(RunView.read(path).samples()) == [sample(0)]
    assert contents(path) == before


HOSTILE = [
    "../x",
    "a/b",
    ".",
    "..",
    "",
    "-rf",
    "x" * 65,
    "a\nb",
    "a\0b",
    "; rm -rf",
    "$(x)",
    "\u0430rm",
    "control\n",
    " a",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_would_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    hostile = manifest(plan=replace(plan(), arms=(Arm(name=name, settings={}),)))
    with pytest.raises(StoreError, match="cannot name an arm"):
        RunFolder.create(tmp_path / "runs", hostile)
    with pytest.raises(StoreError, match="not a run id"):
        RunFolder.create(tmp_path / "runs", manifest(id=name))
    with RunFolder.create(tmp_path / "runs", manifest(), AT_ONCE) as folder:
        with pytest.raises(StoreError):
            folder.write_fingerprint(Fingerprint(arm=name, config={}), 1)
        with pytest.raises(StoreError):
            folder.fingerprint(name, 1)
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {RUN}


def test_ids_are_unique_at_one_instant_and_when_the_clock_goes_back(tmp_path: Path) -> None:
    at = manifest().created
    assert len({new_run_id(at) for _ in range(1000)}) == 1000
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as first:
        pass
    earlier = manifest(created=at - timedelta(hours=1))  # and the same id
    with RunFolder.create(tmp_path, earlier, AT_ONCE) as second:
        assert second.path.name == second.manifest.id != first.manifest.id
    assert RunView.read(second.path).manifest.id == second.path.name


MAKER = """
import sys
from pathlib import Path
from tests.store.examples import manifest, AT_ONCE
from workbench.store import RunFolder
from workbench.store.faults import FaultyOs
from workbench.store.runs import Writing
class NoSync(FaultyOs):
    def fsync(self, fd, /): pass
for n in range(100):
    with RunFolder.create(Path(sys.argv[1]), manifest(), Writing(secrets=(), disk=NoSync())) as folder:
        print(folder.manifest.id)
"""


def test_eight_processes_make_a_hundred_runs_each_of_one_id(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", MAKER, str(tmp_path / "runs")]
    makers = [subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    ids = [run for maker in makers for run in maker.communicate()[0].split()]
    assert [maker.returncode for maker in makers] == [0] * 8
    assert len(ids) == len(set(ids)) == 800
    assert {path.name for path in (tmp_path / "runs").iterdir()} == set(ids)
    assert all(RunView.read(tmp_path / "runs" / run).manifest.id == run for run in ids[::40])


def test_a_secret_is_masked_in_the_right_answer_too(tmp_path: Path) -> None:
    told = replace(sample(0).exchange, text="it is correct-horse", expected="say correct-horse")
    writing = replace(AT_ONCE, secrets=("correct-horse",))
    with RunFolder.create(tmp_path, manifest(), writing) as folder:
        folder.append_sample(replace(sample(0), exchange=told))
        (back,) = folder.samples()
    assert (back.exchange.text, back.exchange.expected) == (f"it is {'*' * 13}", f"say {'*' * 13}")
    assert b"correct-horse" not in (folder.path / "samples-w0.jsonl").read_bytes()
