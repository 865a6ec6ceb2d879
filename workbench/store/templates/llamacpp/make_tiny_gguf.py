"""Write a tiny model of random weights as GGUF: under 1 MB, the same bytes for a seed.

    python make_tiny_gguf.py models/tiny.gguf

It is a llama of four layers over an alphabet of printable characters. What it says is noise, but it is
a real model to the server, quick enough for thousands of requests on two cores. Its layers add much to
what passes through them, so that a rounding error becomes another letter before long.
"""

from __future__ import annotations

import argparse
import math
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Fact = bool | int | float | str | list[str] | npt.NDArray[np.int32] | npt.NDArray[np.float32]

WIDTH, LAYERS, HEADS, KV_HEADS = 64, 4, 4, 2
HIDDEN = 3 * WIDTH
CONTEXT = 8192
GAIN = 2.0  # how much a layer adds to what passes through it, over the usual amount

# What a token is to llama.cpp's tokenizer.
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def main() -> None:
    """Write the model that the command line asks for."""
    parser = argparse.ArgumentParser(description="Write a tiny model of random weights.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    tokens = vocabulary()
    tensors = weights(np.random.default_rng(options.seed), tokens)
    options.path.parent.mkdir(parents=True, exist_ok=True)
    options.path.write_bytes(gguf(facts(tokens), tensors))
    print(f"{options.path}: {options.path.stat().st_size / 1e6:.2f} MB, {len(tokens)} tokens")


def vocabulary() -> list[tuple[str, int]]:
    """Give all tokens with what they are: three of control, each byte, each printable character."""
    control = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    some_bytes = [(f"<0x{value:02X}>", BYTE) for value in range(256)]
    space = "\u2581"
    printable = [(space if code == 32 else chr(code), NORMAL) for code in range(32, 127)]
    return control + some_bytes + printable


def facts(tokens: list[tuple[str, int]]) -> dict[str, Fact]:
    """Give what the file says of the model and of its tokenizer."""
    scores = {NORMAL: -10.0, BYTE: -1000.0}
    return {
        "general.architecture": "llama",
        "general.name": "tiny-random",
        "general.file_type": 0,  # 32-bit floats
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [text for text, _ in tokens],
        "tokenizer.ggml.scores": np.array([scores.get(kind, 0.0) for _, kind in tokens], np.float32),
        "tokenizer.ggml.token_type": np.array([kind for _, kind in tokens], np.int32),
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def weights(rng: np.random.Generator, tokens: list[tuple[str, int]]) -> dict[str, Matrix]:
    """Draw the weights; each matrix has a row for each number that it gives."""

    def draw(rows: int, columns: int, gain: float) -> Matrix:
        return (rng.standard_normal((rows, columns)) * gain / math.sqrt(columns)).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    heads = draw(len(tokens), WIDTH, 5.0)
    heads[[kind != NORMAL for _, kind in tokens]] *= 0.02  # nearly all that it says can be read
    tensors = {
        "token_embd.weight": draw(len(tokens), WIDTH, math.sqrt(WIDTH)),
        "output_norm.weight": ones,
        "output.weight": heads,
    }
    for layer in range(LAYERS):
        name = f"blk.{layer}."
        tensors |= {
            f"{name}attn_norm.weight": ones,
            f"{name}attn_q.weight": draw(WIDTH, WIDTH, 2.0),
            f"{name}attn_k.weight": draw(WIDTH // HEADS * KV_HEADS, WIDTH, 2.0),
            f"{name}attn_v.weight": draw(WIDTH // HEADS * KV_HEADS, WIDTH, GAIN),
            f"{name}attn_output.weight": draw(WIDTH, WIDTH, GAIN),
            f"{name}ffn_norm.weight": ones,
            f"{name}ffn_gate.weight": draw(HIDDEN, WIDTH, GAIN),
            f"{name}ffn_up.weight": draw(HIDDEN, WIDTH, GAIN),
            f"{name}ffn_down.weight": draw(WIDTH, HIDDEN, GAIN),
        }
    return tensors


def gguf(facts: Mapping[str, Fact], tensors: Mapping[str, Matrix]) -> bytes:
    """Give the file: a header, the facts, what tensors there are and where, and the tensors."""
    file = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts)))
    for name, fact in facts.items():
        file += _text(name) + _typed(fact)
    offset = 0
    for name, tensor in tensors.items():
        sizes = tensor.shape[::-1]  # the one that varies fastest comes first
        file += _text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
        file += struct.pack("<IQ", 0, offset)
        offset += tensor.nbytes + _gap(tensor.nbytes)
    for tensor in tensors.values():
        file += bytes(_gap(len(file))) + tensor.tobytes()
    return bytes(file)


def _gap(size: int) -> int:
    return -size % 32


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _typed(fact: Fact) -> bytes:
    match fact:
        case bool():
            return struct.pack("<I?", 7, fact)
        case int():
            return struct.pack("<II", 4, fact)
        case float():
            return struct.pack("<If", 6, fact)
        case str():
            return struct.pack("<I", 8) + _text(fact)
        case list():
            return struct.pack("<IIQ", 9, 8, len(fact)) + b"".join(map(_text, fact))
        case _:
            kind = 5 if fact.dtype == np.int32 else 6
            return struct.pack("<IIQ", 9, kind, len(fact)) + fact.tobytes()


if __name__ == "__main__":
    main()
