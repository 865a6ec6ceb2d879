"""What stands on record of changes to code: secrets taken out, and no more of it than anybody reads."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from workbench.store.redact import REDACTED, redact_prose

CAP = 1 << 20  # bytes of a difference that are kept
_LONGEST = 4096  # bytes of a line; a longer one is no text that a person wrote
_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")


def redact_diff(data: bytes, secrets: Sequence[str] = ()) -> bytes:
    """Give a difference as it may stand on record.

    Known secrets, fixed forms, and what follows a secret-like name are taken out line by line; of a key
    block, all lines, whichever side of the difference they are on. What is too much to be kept is left
    out, and its digest stands in its place.
    """
    kept = data[:CAP]
    if len(data) > CAP:
        kept = kept[: kept.rfind(b"\n") + 1]
    text = "".join(_lines(kept.decode("utf-8", "replace"), secrets))
    if rest := data[len(kept) :]:
        text += f"# {len(rest)} more bytes, sha256 {hashlib.sha256(rest).hexdigest()}\n"
    return text.encode()


def _lines(text: str, secrets: Sequence[str]) -> Iterator[str]:
    within = False
    for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        body = line.rstrip("\r\n")
        end = line[len(body) :]
        begins = _BEGIN.search(body)
        if within or begins:
            over = _END.search(body)
            yield f"{body[: begins.start()] if begins else body[:1]}{REDACTED}{end}"
            within = not over and not body.startswith(("diff --git ", "@@ "))
        elif len(body) > _LONGEST:
            yield f"{body[:1]}# a line of {len(body)} characters, {_digest(body)}{end}"
        else:
            yield redact_prose(body, secrets) + end


def _digest(text: str) -> str:
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()}"
