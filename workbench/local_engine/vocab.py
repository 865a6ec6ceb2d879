"""Print the vocabulary: a token a line, with a line `# section` before each section."""

from __future__ import annotations

import sys

from .tokenizer import VOCABULARY


def main() -> None:
    """Print the file as it is."""
    sys.stdout.write(VOCABULARY.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
