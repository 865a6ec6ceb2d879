"""The engine's log: one logger, lines of SGLang's shape on stderr."""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("local_engine")


def configure_logging(prefix: str = "", level: str = "info") -> None:
    """Send log lines to stderr as `[time prefix] text`."""
    handler = logging.StreamHandler(sys.stderr)
    label = f" {prefix}" if prefix else ""
    handler.setFormatter(logging.Formatter(f"[%(asctime)s{label}] %(message)s", "%Y-%m-%d %H:%M:%S"))
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
