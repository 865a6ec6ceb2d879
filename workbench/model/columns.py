"""Exchanges of runs as columns: what tidy frames are made of, however many rows there are.

Columns of one table are equally long. A number that is not there is NaN, so that a count which may be
missing is a float until a frame makes whole numbers of it; a text is a word of a short list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """A column of texts of which few differ.

    Attributes:
        codes: For each row, the place of its text in `words`.
        words: The texts, each once; untrusted.
    """

    codes: NDArray[Any]
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


Column = "NDArray[Any] | Words"
Columns = Mapping[str, "NDArray[Any] | Words"]
"""Columns by name; those of exchanges are listed in `store.columns`."""
