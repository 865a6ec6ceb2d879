"""Columns of a run, remembered as one Parquet file a run under `.workbench/exchanges/`.

The journals are the truth. A file is used only if it was made by this version of the workbench from
samples files of just these names, times, sizes and inodes; anything else, and a file that is damaged,
counts as none. All of it may be deleted at any time. Without pyarrow nothing is remembered, and a
journal is read each time.
"""

from __future__ import annotations

import io
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench._version import __version__
from workbench.errors import StoreError
from workbench.model.columns import Columns, Words
from workbench.store.atomic import own_folder, replace_file
from workbench.store.columns import NAMES, WORDS, read_columns
from workbench.store.journal import shard_paths
from workbench.store.layout import work_folder

FOLDER = "exchanges"
_KEY = b"workbench"
_SETTLED = 2 * 10**9  # ns; a younger file may be written again within one tick of the clock


def columns(root: Path, folder: Path) -> Columns:
    """Give the exchanges of a run as columns, from what is remembered if that is still true.

    Args:
        root: The campaign's folder.
        folder: The run's folder.

    Raises:
        StoreError: The run's folder cannot be listed.
    """
    arrow = _arrow()
    if arrow is None:
        return read_columns(folder)
    key, youngest = _key(folder)
    path = work_folder(root) / FOLDER / f"{folder.name}.parquet"
    known = _recall(arrow, path, key)
    if known is not None:
        return known
    found = read_columns(folder)
    if time.time_ns() - youngest > _SETTLED and _key(folder)[0] == key:
        _remember(arrow, path, key, found)
    return found


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:  # it comes with the extra `notebook`
        return None
    return pyarrow


def _key(folder: Path) -> tuple[bytes, int]:
    """Give what a remembered file must have been made from, and the time of the youngest of it."""
    stamps = []
    youngest = 0
    for path in shard_paths(folder):
        found = path.stat(follow_symlinks=False)
        youngest = max(youngest, found.st_mtime_ns)
        stamps.append([path.name, found.st_mtime_ns, found.st_size, found.st_ino])
    return json.dumps([__version__, list(NAMES), stamps]).encode(), youngest


def _recall(arrow: Any, path: Path, key: bytes) -> Columns | None:
    try:
        source = arrow.BufferReader(path.read_bytes())
        file = arrow.parquet.ParquetFile(source, read_dictionary=list(WORDS))
        if (file.schema_arrow.metadata or {}).get(_KEY) != key:
            return None
        table = file.read(use_threads=True)
        return {name: _column(table.column(name), name) for name in NAMES}
    except (OSError, KeyError, arrow.ArrowException):
        return None


def _column(chunked: Any, name: str) -> NDArray[Any] | Words:
    array = chunked.combine_chunks()
    if name not in WORDS:
        return np.asarray(array.to_numpy(zero_copy_only=False))
    codes = np.asarray(array.indices.to_numpy(zero_copy_only=False), dtype=np.int32)
    return Words(codes=codes, words=tuple(array.dictionary.to_pylist()))


def _remember(arrow: Any, path: Path, key: bytes, found: Columns) -> None:
    arrays = [_array(arrow, found[name]) for name in NAMES]
    table = arrow.table(arrays, names=list(NAMES)).replace_schema_metadata({_KEY: key})
    written = io.BytesIO()
    with suppress(OSError, StoreError, ValueError, arrow.ArrowException):
        arrow.parquet.write_table(table, written, compression="zstd", use_dictionary=list(WORDS))
        own_folder(path.parent, "what is remembered stays in the campaign")
        replace_file(path, written.getvalue())


def _array(arrow: Any, column: NDArray[Any] | Words) -> object:
    if isinstance(column, Words):
        words = arrow.array(column.words, type=arrow.string())
        return arrow.DictionaryArray.from_arrays(arrow.array(column.codes), words)
    return arrow.array(column)
