r"""A line of a script, or a flag of a command within it, is there or not, or is followed by a value.

A script is not parsed, and so is touched only where its meaning is plain. A flag is a word of its own
outside of quotes and comments. One that is not there yet goes into the only command of the file that
goes on over several lines by backslashes, before the last of them that begins with a dash:

    exec python -m serve \
      --model tiny \
      --port 30000 2>&1 | tee log
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

_FLAG = re.compile(r"--?[A-Za-z0-9][^\s'\"=\\#;&|<>()`$]*")
_NUMBER = re.compile(r"-\.?[0-9][0-9.eE+-]*")
_CONTINUES = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_OPERATORS = ";&|<>()`"
_TOKEN = re.compile(
    r"""(?P<comment>\#.*) | (?P<operator>[;&|<>()`]+)
    | (?P<word>(?: [^\s'"\\;&|<>()`] | \\. | '[^']*' | "(?:[^"\\]|\\.)*" )+)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: what it says, and how it ends (empty at the end of a file without a last newline)."""

    body: str
    end: str

    @property
    def goes_on(self) -> bool:
        """Whether the next line belongs to the same command."""
        return bool(_CONTINUES.search(self.body)) and not self.body.lstrip().startswith("#")

    @property
    def core(self) -> str:
        """What it says, without indentation and without the backslash at its end."""
        return (self.body[:-1] if self.goes_on else self.body).strip(" \t")


class _Token(NamedTuple):
    """A word of a line, or an operator between words."""

    text: str
    start: int
    end: int
    is_word: bool

    @property
    def can_be_value(self) -> bool:
        """Whether it may be what a flag before it is set to."""
        return self.is_word and (not self.text.startswith("-") or bool(_NUMBER.fullmatch(self.text)))


class _Found(NamedTuple):
    """Where a line or flag stands, and what follows it."""

    at: int  # which line
    start: int
    end: int
    alone: bool  # nothing else stands in the line
    value: _Token | None  # what follows it and may belong to it
    attached: bool  # the value is part of its own word


def set_line(text: str, line: str, value: Any) -> str:
    """Give a text in which a line, or flag, is there (true), is not (false), or has a value.

    Raises:
        ValueError: It stands there twice, or in a way or place that cannot be told; gives the line.
    """
    lines = _split(text)
    places = list(_flags(lines, line) if _FLAG.fullmatch(line) else _whole(lines, line))
    if len(places) > 1:
        where = ", ".join(str(each.at + 1) for each in places)
        raise ValueError(f"lines {where}: {line} stands there {len(places)} times")
    if not places:
        return text if value is False else _join(_with(lines, line, value))
    (found,) = places
    if value is True:
        if found.value and (found.attached or not _FLAG.fullmatch(line)):
            raise ValueError(f"line {found.at + 1}: {line} stands there with {found.value.text}")
        return text
    if value is False:
        return _join(_without(lines, found, line))
    return _join(_followed(lines, found, line, value))


def _split(text: str) -> list[_Line]:
    lines = []
    for piece in re.findall(r"[^\n]*\n|[^\n]+", text):
        end = "\r\n" if piece.endswith("\r\n") else "\n" if piece.endswith("\n") else ""
        lines.append(_Line(piece.removesuffix(end), end))
    return lines


def _join(lines: Sequence[_Line]) -> str:
    return "".join(each.body + each.end for each in lines)


def _tokens(line: _Line) -> Iterator[_Token]:
    """Yield words and operators, up to a comment or to a quote that does not end in this line."""
    body = line.body[:-1] if line.goes_on else line.body
    at = 0
    while at < len(body):
        found = _TOKEN.match(body, at)
        if found is None:
            if not body[at].isspace():
                return
            at += 1
            continue
        if found["comment"] is not None:
            return
        yield _Token(found[0], at, found.end(), found["word"] is not None)
        at = found.end()


def _flags(lines: Sequence[_Line], flag: str) -> Iterator[_Found]:
    """Yield where a flag stands; refuses a flag that stands where no word can be told."""
    raw = re.compile(rf"(?<![\w-]){re.escape(flag)}(?![\w-])")
    for at, line in enumerate(lines):
        if not raw.search(line.body):
            continue
        tokens = list(_tokens(line))
        seen = 0
        for place, token in enumerate(tokens):
            attached = token.text.startswith(f"{flag}=")
            if not attached and token.text != flag:
                continue
            seen += len(raw.findall(token.text))
            value = tokens[place + 1] if place + 1 < len(tokens) else None
            if attached:
                value = _Token(
                    token.text[len(flag) + 1 :], token.start + len(flag) + 1, token.end, True
                )
            elif value and not value.can_be_value:
                value = None
            others = len(tokens) - (2 if value and not attached else 1)
            yield _Found(at, token.start, token.end, others == 0, value, attached)
        if seen < len(raw.findall(_before_comment(line))):
            raise ValueError(f"line {at + 1}: {flag} stands there within quotes or another word")


def _before_comment(line: _Line) -> str:
    """Give a line without its comment, which begins behind the last of its tokens or not at all."""
    behind = max((each.end for each in _tokens(line)), default=0)
    rest = line.body[behind:]
    return line.body[:behind] if rest.lstrip().startswith("#") else line.body


def _whole(lines: Sequence[_Line], wanted: str) -> Iterator[_Found]:
    """Yield where a line stands, alone or followed by one word."""
    for at, line in enumerate(lines):
        core = line.core
        start = len(line.body) - len(line.body.lstrip(" \t"))
        joined = wanted.endswith("=")
        if core == wanted:
            yield _Found(at, start, start + len(wanted), True, None, joined)
        elif core.startswith(wanted) and (joined or core[len(wanted)] in " \t"):
            rest = core[len(wanted) :].lstrip(" \t")
            words = list(_tokens(_Line(rest, "")))
            if len(words) != 1 or not words[0].is_word or words[0].text != rest:
                raise ValueError(f"line {at + 1}: {wanted} stands there followed by more than a word")
            begin = start + len(core) - len(rest)
            value = _Token(rest, begin, begin + len(rest), True)
            yield _Found(at, start, start + len(wanted), True, value, joined)


def _without(lines: list[_Line], found: _Found, line: str) -> list[_Line]:
    """Take it out: the whole line where it stands alone, else the word."""
    this, before = lines[found.at], lines[found.at - 1] if found.at else None
    if not found.alone:
        if found.value and not found.attached:
            raise ValueError(
                f"line {found.at + 1}: {found.value.text} may belong to {line} or not; give {line} a"
                " line of its own"
            )
        kept = this.body[: found.start].rstrip(" \t") or this.body[: found.start]
        return _replaced(lines, found.at, kept + this.body[found.end :])
    left = lines[: found.at] + lines[found.at + 1 :]
    if before is not None and before.goes_on and not this.goes_on:  # it was the end of its command
        left[found.at - 1] = _Line(before.body[:-1].rstrip(" \t"), this.end)
    elif not this.end and left:  # it was the end of a file without a last newline
        left[-1] = replace(left[-1], end="")
    return left


def _followed(lines: list[_Line], found: _Found, line: str, value: Any) -> list[_Line]:
    """Let it be followed by a value, in place of the one that it has."""
    body = lines[found.at].body
    end = found.value.end if found.value else found.end
    if found.attached:
        new = body[: found.start] + line.removesuffix("=") + "=" + _value(value) + body[end:]
    elif found.value and not _must_be_attached(line, value):  # blanks between the two stay
        new = body[: found.value.start] + _value(value) + body[end:]
    else:
        new = body[: found.start] + _said(line, value) + body[end:]
    return _replaced(lines, found.at, new)


def _replaced(lines: list[_Line], at: int, body: str) -> list[_Line]:
    return [*lines[:at], replace(lines[at], body=body), *lines[at + 1 :]]


def _with(lines: list[_Line], line: str, value: Any) -> list[_Line]:
    """Put it in where it is not."""
    said = _said(line, value)
    if _FLAG.fullmatch(line):
        at = _place_of_flag(lines, line)
        indent = lines[at].body[: len(lines[at].body) - len(lines[at].body.lstrip(" \t"))]
        return [*lines[:at], _Line(f"{indent}{said} \\", lines[at - 1].end), *lines[at:]]
    if not lines:
        return [_Line(said, "\n")]
    if lines[0].body.startswith("#!"):
        raise ValueError(
            f"{line} does not stand there, and the end of a script may never be reached; write it where"
            " it belongs, and let a level take it out"
        )
    if lines[-1].goes_on:
        raise ValueError(f"line {len(lines)}: the file ends with a backslash, and nothing follows it")
    *others, last = lines
    return [*others, replace(last, end=last.end or lines[0].end or "\n"), _Line(said, last.end)]


def _place_of_flag(lines: Sequence[_Line], flag: str) -> int:
    """Give the line before which a flag is put; refuses where there is more than one command."""
    commands: list[list[int]] = []
    for at in range(1, len(lines)):
        if not lines[at - 1].goes_on:
            continue
        if at == 1 or not lines[at - 2].goes_on:
            commands.append([])
        if lines[at].core.startswith("-"):
            commands[-1].append(at)
    with_flags = [each for each in commands if each]
    if len(with_flags) == 1:
        return with_flags[0][-1]
    many = f"{len(with_flags)} commands" if with_flags else "no command"
    raise ValueError(
        f"{flag} does not stand there, and {many} could take it (flags on lines of their own, joined by"
        " backslashes); write it where it belongs, and let a level take it out"
    )


def _said(line: str, value: Any) -> str:
    if value is True:
        return line
    if line.endswith("="):
        return line + _value(value)
    return f"{line}{'=' if _must_be_attached(line, value) else ' '}{_value(value)}"


def _value(value: Any) -> str:
    """Write a value as one word of a shell, whatever it holds."""
    return shlex.quote(str(value))


def _must_be_attached(flag: str, value: Any) -> bool:
    """Whether a value would be taken for a flag of its own if it stood by itself."""
    text = str(value)
    return bool(_FLAG.fullmatch(flag)) and text.startswith("-") and not _NUMBER.fullmatch(text)
