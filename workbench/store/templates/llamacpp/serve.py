"""Serve a model with llama.cpp's own server, as the wheel `xllamacpp` brings it; loopback only.

    python serve.py --model models/tiny.gguf --port 8080 --parallel 16 --ctx-size 32768

Flags have the names that they have in `llama-server`, so that one stands in for the other. The server
logs to stderr. On stdout one line says what it was set to, since not all of that can be asked for over
HTTP, and a second one where it is, once it is up. SIGTERM ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import xllamacpp

TOLD = ("n_parallel", "n_ctx", "n_batch", "n_ubatch", "cache_prompt", "cont_batching", "kv_unified")
CACHE_TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0")


def main() -> int:
    """Serve until SIGTERM or Ctrl-C; exit code 2 for no such model, 1 for one that it cannot serve."""
    flags = parse()
    if not flags.model.is_file():
        print(f"serve.py: no such model: {flags.model}; see make_tiny_gguf.py", file=sys.stderr)
        return 2
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    given = parameters(flags)
    settings = {name: getattr(given, name) for name in TOLD}
    print(json.dumps({"wheel": xllamacpp.__version__, **settings}), flush=True)
    try:
        server = xllamacpp.Server(given)
    except RuntimeError:  # it has said why
        return 1
    print(json.dumps({"url": server.listening_address}), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)  # its threads hold the interpreter up, and have nothing to save


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Serve a model with llama.cpp's own server.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    parser.add_argument("--alias", default="tiny", help="name of the model in the API")
    parser.add_argument("--parallel", type=int, default=4, help="slots: requests served at once")
    parser.add_argument("--ctx-size", type=int, default=8192, help="tokens, shared by all slots")
    parser.add_argument("--batch-size", type=int, default=2048)
    parser.add_argument("--ubatch-size", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1, help="more are no help to a tiny model")
    parser.add_argument("--cache-type-k", choices=CACHE_TYPES, default="f16")
    parser.add_argument("--cache-type-v", choices=CACHE_TYPES, default="f16")
    on = argparse.BooleanOptionalAction
    parser.add_argument("--cache-prompt", action=on, default=True)
    parser.add_argument("--cont-batching", action=on, default=True)
    parser.add_argument("--kv-unified", action=on, default=False)
    return parser.parse_args()


def parameters(flags: argparse.Namespace) -> Any:
    """Give the flags as the server takes them."""
    found = xllamacpp.CommonParams()
    found.model.path = str(flags.model)
    found.model_alias = {flags.alias}
    found.hostnames = ["127.0.0.1"]
    found.port = flags.port
    found.n_parallel = flags.parallel
    found.n_ctx = flags.ctx_size
    found.n_batch = flags.batch_size
    found.n_ubatch = flags.ubatch_size
    found.cpuparams.n_threads = found.cpuparams_batch.n_threads = flags.threads
    found.cache_type_k = cache_type(flags.cache_type_k)
    found.cache_type_v = cache_type(flags.cache_type_v)
    found.cache_prompt = flags.cache_prompt
    found.cont_batching = flags.cont_batching
    found.kv_unified = flags.kv_unified
    found.endpoint_metrics = found.endpoint_slots = found.endpoint_props = True
    found.use_jinja = True
    found.n_threads_http = max(64, 2 * flags.parallel)  # those that wait for a slot hold one, too
    return found


def cache_type(name: str) -> Any:
    """Give a type of numbers by the name that it has on the command line."""
    return getattr(xllamacpp.ggml_type, f"GGML_TYPE_{name.upper()}")


if __name__ == "__main__":
    raise SystemExit(main())
