"""Secrets are taken out before anything reaches the disk; every function here is pure.

What a run was given (settings, options, command lines, environment, configurations read back) is
*redacted*: a secret becomes `<redacted>`. It is known by its name (`API_KEY`, `--token X`), by its form
(a bearer header, a `ghp_...`, a key block), by its value (that of a secret-like variable of this
process), or because it looks random.

What a system replied is *masked*: only known values and fixed forms, with as many `*` as the secret had
characters, so that lengths and positions stay. Randomness is no ground there: garbled replies look
random, and they are what an investigation is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from workbench.model.ids import RUN_ID

REDACTED = "<redacted>"
ENVIRONMENT_PREFIXES = ("CUDA_", "NCCL_", "OMP_", "PYTHON", "SGLANG_", "TORCH_", "VLLM_", "WORKBENCH_")
ENVIRONMENT_NAMES = frozenset({"LANG", "LC_ALL", "PATH", "TZ"})

_SHORTEST_SECRET = 8  # a shorter value of a secret-like variable would mask ordinary text all over

# --- by name --------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALWAYS = frozenset(
    {
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWORDS",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "APIKEY",
    }
)
_AT_THE_END = _ALWAYS | {
    "KEY",
    "TOKEN",
    "PASS",
    "CRED",
    "CREDS",
    "AUTH",
    "AUTHORIZATION",
    "COOKIE",
    "BEARER",
}
_PAIRS = frozenset(
    {
        ("API", "KEY"),
        ("ACCESS", "KEY"),
        ("PRIVATE", "KEY"),
        ("AUTH", "TOKEN"),
        ("ACCESS", "TOKEN"),
        ("API", "TOKEN"),
    }
)
# A name that ends so tells where a secret is, or how long: that is worth knowing, and no secret.
_ABOUT = frozenset(
    {
        "FILE",
        "PATH",
        "DIR",
        "LENGTH",
        "LEN",
        "NAME",
        "TYPE",
        "DTYPE",
        "COUNT",
        "TIMEOUT",
        "ID",
        "URL",
        "ENV",
    }
)
# Tokens of a language model, and keys that are not for locks.
_HARMLESS_BEFORE = frozenset(
    {
        *("MAX", "MIN", "NUM", "N", "PER", "NEXT", "FIRST", "LAST", "NEW", "STOP", "START", "IMAGE"),
        *("EOS", "BOS", "PAD", "UNK", "MASK", "SEP", "CLS"),
        *("PUBLIC", "SORT", "INDEX"),
    }
)


def secret_name(name: str) -> bool:
    """Whether a variable, flag or knob of this name holds a secret: `API_KEY`, not `max_tokens`."""
    words = [word.upper() for word in _WORD.findall(name)]
    if not words or words[-1] in _ABOUT or "PER" in words:  # `bytes_per_token` is a measure
        return False
    if _plainly_secret(words):
        return True
    before = words[-2] if len(words) > 1 else ""
    if (
        words[-1] == "KEY" and not before
    ):  # a bare key is the key of a mapping or a sort more often than not
        return False
    return words[-1] in _AT_THE_END and before not in _HARMLESS_BEFORE


def _plainly_secret(words: Sequence[str]) -> bool:
    """Whether a name of these words has no other meaning, as `token` and `pass` have."""
    if any(word in _ALWAYS or word.endswith(("PASSWORD", "APIKEY")) for word in words):
        return True
    return any(pair in _PAIRS for pair in pairwise(words))


# --- by form --------------------------------------------------------------------------------------

_FORMS = (
    # A key block up to its end, or, when that was capped away, as far as it looks like one.
    re.compile(
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)"
    ),
    re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)(?<=authorization: basic )[A-Za-z0-9+/=]{6,}"),
    re.compile(
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"
    ),  # a JSON web token
    re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"),
    re.compile(r"github_pat_[A-Za-z0-9_]{20,}"),
    re.compile(r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}"),
    re.compile(r"(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}"),
    re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    re.compile(r"(?<=://)[^\s/@?#'\"<>]+(?=@)"),  # what stands before the host of a URL
)

# Every form needs one of these signs, and those that share a letter need that letter first. Looking for
# them keeps the usual reply, which holds no secret, cheap: it is on the path of every exchange.
_SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gh", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("_", ("github_pat_", "hf_")),
    ("-", ("sk-", "xox", "-----BEGIN ")),
    (":", ("://", "asic ", "ASIC ")),
    ("J", ("eyJ",)),
    ("I", ("AKIA", "ASIA")),
    (" ", ("earer ", "EARER ")),
)


def _may_hold_secret(text: str) -> bool:
    for letter, signs in _SIGNS:
        if letter in text:
            for sign in signs:
                if sign in text:
                    return True
    return False


def longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    """Order secrets so that none hides part of another; without repeats, the same every time."""
    return tuple(sorted(set(secrets), key=lambda secret: (-len(secret), secret)))


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Give the values of secret-like variables, longest first."""
    return longest_first(
        value for name, value in environ.items() if secret_name(name) and len(value) >= _SHORTEST_SECRET
    )


def mask(text: str, secrets: Sequence[str] = ()) -> str:
    """Star out known secrets and fixed forms in a reply; its length stays."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, "*" * len(secret))
    if not _may_hold_secret(text):
        return text
    for form in _FORMS:
        text = form.sub(lambda found: "*" * len(found[0]), text)
    return text


def _redact_forms(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    for form in _FORMS:
        text = form.sub(REDACTED, text)
    return text


# --- by looks -------------------------------------------------------------------------------------

_RUN_OF_TEXT = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_PIECE = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_BORDER = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")


def looks_random(piece: str) -> bool:
    """Whether letters and digits are mixed as only a generator mixes them.

    Digests and commits are not meant: they are hexadecimal, and they are what a run must record.
    """
    if len(piece) < 20 or _HEX.match(piece):
        return False
    borders = len(_BORDER.findall(piece))
    mixed = piece.lower() != piece and piece.upper() != piece
    return borders >= 3 if mixed else len(piece) >= 24 and borders >= 6


def _redact_random(text: str) -> str:
    def judge(found: re.Match[str]) -> str:
        run = found[0]
        if RUN_ID.match(run) or not any(looks_random(piece) for piece in _PIECE.findall(run)):
            return run
        if text.endswith((".", "~"), 0, found.start()) or run.startswith(
            "/"
        ):  # a path keeps its other parts
            return "/".join(REDACTED if looks_random(part) else part for part in run.split("/"))
        return REDACTED

    return _RUN_OF_TEXT.sub(judge, text)


# --- what a run was given -------------------------------------------------------------------------

# `--api-key X`, `--api-key=X`, `API_KEY=X`, `"api_key": "X"`, quoted or not, within one text. The value
# is looked at only after a secret-like name: it may run to the end of the text.
_NAME = re.compile(r"""(?<![\w.-])(?P<name>-{0,2}[A-Za-z_][\w.-]*)(?P<gap>["']?\s*[=:]\s*|\s+)""")
_VALUE = re.compile(r""""[^"]*"?|'[^']*'?|[^\s"',;&|]+""")
_COUNTED = re.compile(r"#cached-token: [0-9]+(?![\w.-])")  # as SGLang logs a count of tokens


_CREDENTIAL = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_.~+/=-]{8,}")


def redact_text(text: str, secrets: Sequence[str] = ()) -> str:
    """Redact a setting, an option or a whole command line given as one text."""
    return _redact_random(_redact_named(_redact_forms(text, secrets)))


def redact_prose(text: str, secrets: Sequence[str] = ()) -> str:
    """Redact what a person wrote.

    Randomness alone is no ground, for people quote replies; and `token: <|im_end|>` speaks of a
    language model more often than not, so what follows such a name must also look like a credential.
    """
    return _redact_named(_redact_forms(text, secrets), prose=True)


def redact_argv(argv: Iterable[str], secrets: Sequence[str] = ()) -> list[str]:
    """Redact a command line given word by word; the word after a secret-like flag is its value."""
    clean: list[str] = []
    value_is_next = False
    for word in argv:
        if value_is_next and not word.startswith("--"):
            clean.append(REDACTED)
            value_is_next = False
            continue
        clean.append(redact_text(word, secrets))
        value_is_next = word.startswith("-") and "=" not in word and secret_name(word)
    return clean


def redact_mapping(values: Mapping[str, Any], secrets: Sequence[str] = ()) -> dict[str, Any]:
    """Redact settings, options or facts, at any depth: by name first, then by what the values hold."""
    return {
        redact_text(name, secrets): REDACTED
        if secret_name(name) and isinstance(value, str) and value
        else _redact_value(value, secrets)
        for name, value in values.items()
    }


def allowed_environment(
    environ: Mapping[str, str], names: Iterable[str] = (), secrets: Sequence[str] = ()
) -> dict[str, str]:
    """Give the variables that may be recorded: those named or on the list, never a secret-like one.

    Args:
        environ: The environment of a process.
        names: Variables that a plan sets.
        secrets: Values known to be secret.
    """
    wanted = ENVIRONMENT_NAMES.union(names)
    return {
        name: redact_text(value, secrets)
        for name, value in sorted(environ.items())
        if (name in wanted or name.startswith(ENVIRONMENT_PREFIXES)) and not secret_name(name)
    }


def _redact_value(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, Mapping):
        return redact_mapping(value, secrets)
    if isinstance(value, list | tuple):
        if all(isinstance(item, str) for item in value):
            return redact_argv(value, secrets)
        return [_redact_value(item, secrets) for item in value]
    return value


def secrets_given(value: Any) -> set[str]:
    """Find the values in settings, options or a command line that are secret by their name.

    A command may repeat in its output what it was given, so these are worth masking there. Values that
    are too short to be told from ordinary text are left out.
    """
    found: set[str] = set()
    if isinstance(value, str):
        found = {value[start:end] for start, end in _named_values(value)}
    elif isinstance(value, Mapping):
        for name, item in value.items():
            found |= {item} if secret_name(name) and isinstance(item, str) else secrets_given(item)
    elif isinstance(value, list | tuple):
        found = set().union(*map(secrets_given, value), _values_of_flags(value))
    return {secret for secret in found if len(secret) >= _SHORTEST_SECRET and secret != REDACTED}


def _values_of_flags(words: Sequence[Any]) -> set[str]:
    """Find the words of a command line that follow a secret-like flag, as `redact_argv` does."""
    return {
        value
        for flag, value in pairwise(words)
        if isinstance(flag, str) and isinstance(value, str)
        if flag.startswith("-") and "=" not in flag and secret_name(flag)
        if not value.startswith("--")
    }


def _redact_named(text: str, *, prose: bool = False) -> str:
    """Redact values that follow a secret-like name."""
    clean, at = [], 0
    for start, end in _named_values(text, prose=prose):
        clean += [text[at:start], REDACTED]
        at = end
    return "".join([*clean, text[at:]])


def _named_values(text: str, *, prose: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each value that follows a secret-like name, its quotes left out."""
    at = 0
    while found := _NAME.search(text, at):
        at = found.end("name")  # what looks like a value may be the next name
        if _COUNTED.match(text, max(0, found.start() - 1)):
            continue
        if (found["name"].startswith("-") or found["gap"].strip()) and secret_name(found["name"]):
            value = _VALUE.match(text, found.end())
            if value and not value[0].startswith("--"):
                at = value.end()
                quote = value[0][0] if value[0][0] in "\"'" else ""
                closed = bool(quote) and len(value[0]) > 1 and value[0].endswith(quote)
                start, end = value.start() + len(quote), at - closed
                if (
                    not prose
                    or _plainly_secret(found["name"])
                    or _CREDENTIAL.fullmatch(text, start, end)
                ):
                    yield start, end
