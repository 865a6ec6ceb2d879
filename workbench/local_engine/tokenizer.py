"""Text to token ids and back, over the fixed vocabulary of `vocabulary.txt`.

A token is a word or a piece of markup. Whitespace separates words and means nothing else; markup needs
none around it. A word that is not in the vocabulary becomes `<unk>`, so any input can be served. The
control tokens of the chat format cannot be written in text: only `chat_template` puts them in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

VOCABULARY = Path(__file__).with_name("vocabulary.txt")

UNK = 0
BOS = 1
EOS = 2
USER = 3
ASSISTANT = 4
TOOL_BEGIN = 5
TOOL_END = 6
_LONG = 8
"""Characters a token from which on a text may have far more tokens than are wanted."""

CONTROL = frozenset({BOS, EOS, USER, ASSISTANT, TOOL_BEGIN, TOOL_END})


def read_vocabulary() -> dict[str, tuple[str, ...]]:
    """Give the tokens of each section, in the order of their ids."""
    sections: dict[str, tuple[str, ...]] = {}
    for block in VOCABULARY.read_text(encoding="utf-8").split("# ")[1:]:
        name, *tokens = block.splitlines()
        sections[name] = tuple(tokens)
    return sections


class Tokenizer:
    """The tokenizer; build it with `get_tokenizer`, which reads the vocabulary once."""

    def __init__(self) -> None:
        sections = read_vocabulary()
        self._tokens = [token for section in sections.values() for token in section]
        glued = set(sections["markup"]) | set(sections["dsml"])
        self._is_word = [token not in glued for token in self._tokens]
        self._ids = {
            token: number for number, token in enumerate(self._tokens) if number not in CONTROL
        }
        markup = sorted(sections["dsml"], key=len, reverse=True)
        self._pieces = re.compile(
            "|".join([*map(re.escape, markup), r'(?:[^\s"><]+|<+(?!/?｜DSML｜))+|\S'])
        )

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return len(self._tokens)

    def id_of(self, token: str) -> int:
        """Give the id of one token's text.

        Raises:
            KeyError: It is not in the vocabulary, or a control token.
        """
        return self._ids[token]

    def encode(self, text: str, limit: int | None = None) -> list[int]:
        """Tokenize text, without adding anything.

        Args:
            text: The text.
            limit: Tokens that the caller can use. Of a long text at most one more is given, so that one
                which is far too long costs no more than the longest that fits.
        """
        if limit is None or len(text) <= _LONG * limit:
            pieces = self._pieces.findall(text)
        else:
            matches = islice(self._pieces.finditer(text), max(0, limit) + 1)
            pieces = [match.group() for match in matches]
        return [self._ids.get(piece, UNK) for piece in pieces]

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Give the text of tokens; words are set apart by one space."""
        pieces: list[str] = []
        after_word = False
        for token in token_ids:
            if skip_special_tokens and token in CONTROL:
                continue
            is_word = self._is_word[token]
            pieces.append(f" {self._tokens[token]}" if is_word and after_word else self._tokens[token])
            after_word = is_word
        return "".join(pieces)

    def batch_decode(
        self, sequences: Sequence[Sequence[int]], *, skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode many sequences under the same flags."""
        return [self.decode(ids, skip_special_tokens=skip_special_tokens) for ids in sequences]


@cache
def get_tokenizer() -> Tokenizer:
    """The one tokenizer of this process."""
    return Tokenizer()
