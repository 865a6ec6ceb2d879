"""Manifests: whole or refused with file and position; old ones upgraded, newer ones only read."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.store.examples import manifest
from workbench.errors import StoreError, VersionTooNew
from workbench.model.outcome import Counts
from workbench.model.run import Fingerprint, RunState, Shard
from workbench.model.verdict import Guard
from workbench.store.documents import (
    encode_fingerprint,
    encode_manifest,
    read_fingerprint,
    read_manifest,
)

FULL = manifest(
    state=RunState.FINISHED,
    seconds=12.5,
    openings=2,
    why="",
    guards=(Guard(name="changed-while-running", detail="repro.sh"),),
    fingerprints={
        "control": Fingerprint(arm="control", config={"python": "3.11"}, files={"repro.sh": "0" * 64})
    },
    counts={"control/1": Counts(1, 1, 0, 1, "hci")},
    shards=(Shard(file="samples-w0.jsonl", lines=3, sha256="0" * 64),),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "manifest.json"


def sealed_again(document: dict[str, Any], path: Path) -> None:
    """Write a document as another version of the workbench would have."""
    from zlib import crc32

    document.pop("crc", None)
    body = json.dumps(document, indent=2).removesuffix("\n}").encode()
    path.write_bytes(b'%b,\n  "crc": "%08x"\n}\n' % (body, crc32(body)))


def test_a_manifest_comes_back_with_every_field(path: Path) -> None:
    path.write_bytes(encode_manifest(FULL))
    back = read_manifest(path)
    assert back == FULL
    assert back.counts["control/1"].order == "hci"
    assert next(iter(json.loads(path.read_text()))) == "schema"


def test_odd_values_come_back(path: Path) -> None:
    odd = manifest(why="a\ud800\u2028\0\x1b[31m")
    odd = replace(
        odd, plan=replace(odd.plan, engine=replace(odd.plan.engine, options={"limit": math.inf}))
    )
    path.write_bytes(encode_manifest(odd))
    assert read_manifest(path) == odd


def test_a_manifest_cut_at_any_byte_is_refused_with_its_position(path: Path) -> None:
    data = encode_manifest(FULL)
    path.write_bytes(data)
    for cut in range(len(data) - 1, -1, -1):
        os.truncate(path, cut)
        with pytest.raises(StoreError, match=r"manifest\.json:?") as caught:
            read_manifest(path)
        assert caught.value.hint


def test_every_flipped_byte_of_a_manifest_is_found(path: Path) -> None:
    data = encode_manifest(manifest())
    path.write_bytes(data)
    with path.open("r+b", buffering=0) as file:
        for at in range(len(data)):
            os.pwrite(file.fileno(), bytes([data[at] ^ 4]), at)
            with pytest.raises(StoreError):
                read_manifest(path)
            os.pwrite(file.fileno(), data[at : at + 1], at)
    assert read_manifest(path) == manifest()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "1:1"),
        (b'{\n  "schema": x}', "2:13"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"\xff\xfe", "1:1"),
        (b"[" * 100_000, "manifest.json"),
        (b'{"schema": "workbench/campaign@1"}', "schema is 'workbench/campaign@1'"),
        (b'{"schema": "workbench/run@1"}', "checksum"),
        (b'{"schema": 1}', "schema is 1"),
    ],
)
def test_what_is_no_manifest_is_refused_by_name(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        read_manifest(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_manifest_is_a_store_error(path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        read_manifest(path)


def test_a_newer_manifest_is_read_and_not_owned(path: Path) -> None:
    document = json.loads(encode_manifest(FULL)) | {"schema": "workbench/run@2", "mood": "new"}
    sealed_again(document, path)
    with pytest.raises(VersionTooNew, match="format 2"):
        read_manifest(path)
    back = read_manifest(path, newer=True)
    assert back == replace(FULL, schema="workbench/run@2")
    del document["plan"]
    sealed_again(document, path)
    with pytest.raises(VersionTooNew):  # too little is understood
        read_manifest(path, newer=True)


def test_an_older_manifest_goes_through_each_step(path: Path) -> None:
    def rename_state(document: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in document.items() if key != "status"} | {
            "state": document["status"]
        }

    document = json.loads(encode_manifest(FULL)) | {"schema": "workbench/run@0"}
    document["status"] = document.pop("state")
    sealed_again(document, path)
    before = path.read_bytes()
    assert read_manifest(path, upgrades={0: rename_state}).state is RunState.FINISHED
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="format 0 cannot be upgraded"):
        read_manifest(path, upgrades={})


def test_counts_that_do_not_add_up_are_damage(path: Path) -> None:
    document = json.loads(encode_manifest(FULL))
    document["counts"]["control/1"]["hit"] = 7
    sealed_again(document, path)
    with pytest.raises(StoreError, match="add up"):
        read_manifest(path)


def test_a_fingerprint_comes_back(path: Path) -> None:
    fingerprint = Fingerprint(
        arm="control", config={"a": "\ud800"}, files={"/x": "0" * 64}, volatile={"pid": "1"}
    )
    path.write_bytes(encode_fingerprint(fingerprint))
    assert read_fingerprint(path) == fingerprint
