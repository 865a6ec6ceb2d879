"""A writer process for tests to kill: appends samples and says on stdout what is acknowledged.

Usage: python -m tests.store.writer FOLDER FIRST COUNT BYTES
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.store.examples import event, sample
from workbench.errors import StorageFull
from workbench.model.run import RunState
from workbench.store import RunFolder, Writing


def main() -> None:
    path, first, count, size = Path(sys.argv[1]), *map(int, sys.argv[2:])
    with RunFolder.resume(path, Writing(secrets=())) as folder:
        folder.replace_manifest(state=RunState.RUNNING)
        os.write(1, b"ready\n")
        try:
            for session in range(first, first + count):
                # Sizes differ, so that lines end at changing places in a page; some texts go to blobs.
                folder.append_sample(sample(session, text="x" * (session * 37 % size)))
                os.write(1, b"%d\n" % session)  # a pipe keeps what was written, whatever happens to us
                if session % 16 == 0:
                    folder.append_event(event("block_done", block=session))
        except StorageFull as error:
            os.write(1, b"full: %b\n" % str(error).encode())
            folder.close(RunState.STORAGE_ERROR, why=str(error))
            sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
