"""Manifests and fingerprints as JSON documents: versions, checksums, and errors that name the place.

A document is indented JSON for people, and its last member is `crc`, the crc32 of the file without that
line: a document is machine-written as a whole, so a changed byte is damage and not an edit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import msgspec

from workbench.errors import StoreError, VersionTooNew
from workbench.model.run import RUN_SCHEMA, Fingerprint, Manifest
from workbench.store.disk import refusal
from workbench.store.tags import tag, untag

FINGERPRINT_SCHEMA = "workbench/fingerprint@1"
T = TypeVar("T")
Document = dict[str, Any]
Upgrades = Mapping[int, Callable[[Document], Document]]

# From version N to N + 1, in memory and pure; the file keeps its version until its owner replaces it.
UPGRADES: Upgrades = {}

_SCHEMA = re.compile(r"^workbench/([a-z]+)@(0|[1-9][0-9]{0,8})$")
_SEAL = re.compile(rb',\n  "crc": "([0-9a-f]{8})"\n\}\n\Z')
_BYTE = re.compile(r"\(byte (\d+)\)")


def encode_manifest(manifest: Manifest) -> bytes:
    """Give the bytes of `manifest.json`."""
    return _encode(manifest.schema, msgspec.to_builtins(manifest))


def encode_fingerprint(fingerprint: Fingerprint) -> bytes:
    """Give the bytes of `fingerprint-<arm>-<block>.json`."""
    return _encode(FINGERPRINT_SCHEMA, msgspec.to_builtins(fingerprint))


def read_manifest(path: Path, *, newer: bool = False, upgrades: Upgrades = UPGRADES) -> Manifest:
    """Read a manifest.

    Args:
        path: The file.
        newer: Accept one of a newer workbench, as far as it is understood; for reading only.
        upgrades: Steps from older versions.

    Raises:
        VersionTooNew: It was written by a newer workbench.
        StoreError: It is missing or damaged; the message names file and position.
    """
    return _read(path, Manifest, RUN_SCHEMA, newer, upgrades)


def read_fingerprint(path: Path, *, newer: bool = False) -> Fingerprint:
    """Read a fingerprint; raises as `read_manifest` does."""
    return _read(path, Fingerprint, FINGERPRINT_SCHEMA, newer, {})


def _encode(schema: str, fields: Document) -> bytes:
    document = {"schema": schema} | {key: value for key, value in fields.items() if key != "schema"}
    body = msgspec.json.format(msgspec.json.encode(tag(document)), indent=2)[: -len(b"\n}")]
    return b'%b,\n  "crc": "%08x"\n}\n' % (body, crc32(body))


def _read(path: Path, kind: type[T], schema: str, newer: bool, upgrades: Upgrades) -> T:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise refusal(path, error) from error
    document = _parse(path, data)
    name, _, _ = schema.partition("@")
    version, ours = _version(path, document, name), _version(path, {"schema": schema}, name)
    if version > ours and not newer:
        raise VersionTooNew(
            f"{path}: has format {version}, this workbench writes {ours}",
            hint="upgrade the workbench to go on",
        )
    if version <= ours:
        _check_seal(path, data)
    document = _upgrade(path, document, version, ours, upgrades)
    try:
        # Walking the document costs as much as the rest, and lists read thousands that hold no tag.
        return msgspec.convert(untag(document) if b'"$' in data else document, kind)
    except (ValueError, TypeError) as error:
        problem = VersionTooNew if version > ours else StoreError
        raise problem(f"{path}: {error}", hint=_restore_hint(path)) from error


def _parse(path: Path, data: bytes) -> Document:
    try:
        document = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path}:{_position(data, str(error))}: {error}", hint=_restore_hint(path)
        ) from error
    if not isinstance(document, dict):
        raise StoreError(f"{path}:1:1: is not a JSON object", hint=_restore_hint(path))
    return document


def _position(data: bytes, message: str) -> str:
    """Line and column of the byte that the parser names, else of the end, where it gave up."""
    found = _BYTE.search(message)
    before = data[: int(found[1])] if found else data
    return f"{before.count(10) + 1}:{len(before) - before.rfind(10)}"


def _version(path: Path, document: Document, name: str) -> int:
    schema = document.get("schema")
    found = _SCHEMA.match(schema) if isinstance(schema, str) else None
    if found is None or f"workbench/{found[1]}" != name:
        raise StoreError(f"{path}: schema is {schema!r}, not {name}@N", hint=_restore_hint(path))
    return int(found[2])


def _check_seal(path: Path, data: bytes) -> None:
    found = _SEAL.search(data)
    if found is None or int(found[1], 16) != crc32(data[: found.start()]):
        raise StoreError(
            f"{path}: the checksum differs: not what was written", hint=_restore_hint(path)
        )


def _upgrade(path: Path, document: Document, version: int, ours: int, upgrades: Upgrades) -> Document:
    for step in range(version, ours):
        if step not in upgrades:
            raise StoreError(f"{path}: format {step} cannot be upgraded")
        document = upgrades[step](document)
    return document


def _restore_hint(path: Path) -> str:
    return f"restore {path.name} from a copy; the samples beside it are untouched"
