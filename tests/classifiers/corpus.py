"""A labelled corpus for `salad`: texts that are language, and texts that no sane model would write.

Plain texts are the project's own documents, cut into pieces of the length of a reply, sentences in many
languages, and right answers in the local engine's words. Garbled ones are drawn by seed, by kind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from tests.conftest import ROOT
from workbench.local_engine.chat_template import render_call
from workbench.local_engine.tokenizer import read_vocabulary

DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs/method.md",
    "docs/formats.md",
)
_LANGUAGES = (ROOT / "tests" / "classifiers" / "languages.txt").read_text(encoding="utf-8")
LANGUAGES = dict(line.split(": ", 1) for line in _LANGUAGES.splitlines())
FOREIGN = (
    *("мир", "код", "чтобы", "уже", "которые", "第三", "公司", "的是", "处理", "する", "された"),
    *("الله", "من", "على", "και", "μας", "हैं", "และ", "ການ", "עם", "return", "Integer", "lesbische"),
    *("zwar", "width", "getString", "ungen", "erman", "isko"),
)


@cache
def english() -> tuple[str, ...]:
    """Give pieces of the project's documents, tables and code included, of 300 to 1,500 characters."""
    draw = random.Random("english")
    pieces = []
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        at = 0
        while at < len(text):
            size = draw.randrange(300, 1500)
            pieces.append(text[at : at + size])
            at += size
    return tuple(pieces)


@cache
def code() -> tuple[str, ...]:
    """Give pieces of the project's code."""
    draw = random.Random("code")
    files = sorted((ROOT / "workbench" / "stats").glob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    return tuple(
        text[at : at + 900] for text in texts for at in range(0, len(text), draw.randrange(600, 1200))
    )


def calls(number: int) -> Iterator[str]:
    """Give right answers, as the local engine writes them."""
    draw = random.Random("calls")
    vocabulary = read_vocabulary()
    for _ in range(number):
        names = draw.sample(vocabulary["parameter"], 2)
        values = {name: " ".join(draw.choices(vocabulary["word"], k=3)) for name in names}
        yield render_call(draw.choice(vocabulary["function"]), values)


def values(text: str) -> str:
    """Give what a call says in words."""
    return "\n".join(re.findall(r">([^<>]+)<", text))


def garbled(kind: str, number: int) -> Iterator[str]:
    """Give texts of one kind of garbage."""
    draw = random.Random(kind)
    vocabulary = read_vocabulary()["word"]
    plain = [word for piece in english()[:20] for word in re.findall(r"[a-z]+", piece)]
    for _ in range(number):
        size = draw.randrange(40, 120)
        match kind:
            case "scripts":  # what a sampler makes of logits that went wrong
                yield " ".join(
                    draw.choice((draw.choice(FOREIGN), draw.choice(plain))) for _ in range(size)
                )
            case "glued":
                yield "".join(draw.choice(FOREIGN) + draw.choice(("", " ")) for _ in range(size))
            case "bytes":
                yield bytes(draw.randrange(256) for _ in range(size * 4)).decode("utf-8", "replace")
            case "characters":
                yield "".join(chr(draw.randrange(0x21, 0x500)) for _ in range(size * 6))
            case "words":
                yield " ".join(draw.choices(vocabulary, k=size))
            case "few words":  # too short for anything but the right answer to tell
                yield " ".join(draw.choices(vocabulary, k=draw.randrange(3, 16)))
            case "loop":
                piece = " ".join(draw.choices(vocabulary, k=draw.randrange(1, 12)))
                begun = draw.choice(english())[:200]
                yield f"{begun} {f'{piece} ' * (120 // len(piece) + 4)}{piece[:2]}"
            case "marks":
                yield "The answer is " + draw.choice("!?.0") * 400
            case "stuck":
                groups = [" ".join(draw.choices(plain, k=6)) for _ in range(3)]
                yield ", ".join(draw.choice(groups) for _ in range(size))
