"""A process that appends to a campaign's log for tests to kill, and says what is acknowledged.

Usage: python -m tests.store.appender ROOT NAME COUNT BYTES
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from workbench.errors import StorageFull
from workbench.model.event import Actor, Note
from workbench.store import Writing
from workbench.store.eventlog import EventLog


def main() -> None:
    root, name, count, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    log = EventLog(root, Writing(secrets=()), wait=300)
    os.write(1, b"ready\n")
    try:
        for place in range(count):
            # Sizes differ, so that lines end at changing places in a page.
            log.append(Note(text=f"{name} {place} " + "x" * (place * 37 % size)), Actor(name=name))
            os.write(1, b"%d\n" % place)  # a pipe keeps what was written, whatever happens to us
    except StorageFull as error:
        os.write(1, b"full: %b\n" % str(error).encode())
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
