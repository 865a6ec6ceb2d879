"""Token ids to text, as they come: many replies at once, each from where it stood.

One step of the decode loop brings a few ids for every running reply. They are decoded together, grouped
by the options that change what text an id gives (`_grouped_batch_decode`); a group is one call of the
tokenizer. `--disable-tokenizer-batch-decode` decodes one by one, which must give the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Decoder(Protocol):
    """The part of a tokenizer that is needed here."""

    def batch_decode(
        self, id_lists: Sequence[Sequence[int]], *, skip_special_tokens: bool
    ) -> list[str]:
        """Give the text of each list of ids."""
        ...


@dataclass(slots=True)
class _Reply:
    """A reply so far. Ids from `surrogate` to `read` are context: decoded again, not given again."""

    skip_special_tokens: bool
    ids: list[int] = field(default_factory=list)
    surrogate: int = 0
    read: int = 0


class Detokenizer:
    """Keeps the state of every open reply.

    Args:
        tokenizer: Gives text for ids.
        batch: Whether to decode a step's replies together.
    """

    def __init__(self, tokenizer: Decoder, *, batch: bool) -> None:
        self._tokenizer = tokenizer
        self._batch = batch
        self._replies: dict[str, _Reply] = {}

    def open(self, rid: str, *, skip_special_tokens: bool) -> None:
        """Begin a reply."""
        self._replies[rid] = _Reply(skip_special_tokens)

    def close(self, rid: str) -> None:
        """Forget a reply."""
        self._replies.pop(rid, None)

    def decode(self, step: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
        """Take new ids of open replies, each reply once, and give the text that they add to it.

        A token's text may depend on the one before it, so the new ids are decoded behind those of
        the step before, and the text of the latter is cut off.
        """
        replies = []
        for rid, ids in step:
            reply = self._replies[rid]
            reply.ids.extend(ids)
            replies.append(reply)
        flags = [reply.skip_special_tokens for reply in replies]
        old = self._decode([reply.ids[reply.surrogate : reply.read] for reply in replies], flags)
        new = self._decode([reply.ids[reply.surrogate :] for reply in replies], flags)
        added = [text[len(known) :] for known, text in zip(old, new, strict=True)]
        for reply, text in zip(replies, added, strict=True):
            if text:  # else its ids stay ahead: what a word looks like depends on the last one shown
                reply.surrogate, reply.read = reply.read, len(reply.ids)
        return added

    def _decode(self, id_lists: list[list[int]], flags: list[bool]) -> list[str]:
        if self._batch:
            return self._grouped_batch_decode(id_lists, flags)
        return [
            self._tokenizer.batch_decode([ids], skip_special_tokens=skip)[0]
            for ids, skip in zip(id_lists, flags, strict=True)
        ]

    def _grouped_batch_decode(self, id_lists: list[list[int]], flags: list[bool]) -> list[str]:
        texts = [""] * len(id_lists)
        for flag in set(flags):
            members = [place for place, each in enumerate(flags) if each is flag]
            decoded = self._tokenizer.batch_decode(
                [id_lists[place] for place in members], skip_special_tokens=flag
            )
            for place, text in zip(members, decoded, strict=True):
                texts[place] = text
        return texts
