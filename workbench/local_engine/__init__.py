"""A miniature prefill/decode-disaggregated LLM server: no GPU, no network, real mechanisms.

A program of its own. It imports nothing of the workbench, and nothing of the workbench imports it; the
two meet over HTTP, argv, environment, log lines and subprocesses. Imports inside are relative, because
in the generated history the same files form a top-level package.

    server_args, environ, logs     flags, SGLANG_* variables, log lines
    vocabulary.txt, tokenizer      words and markup, one token each
    chat_template                  messages to tokens; the format of records and questions
    device                         two streams on a virtual clock, and the arena of device memory
    mem_cache/                     paged pools, index keys, host mirror, radix tree, pool sizing
    layers/                        indexer, attention, the copy-head model
    managers/                      interface to the servers; schedulers, cache controller, detokenizer
    disaggregation/                a room's pages from prefill to decode, checksums
    entrypoints/, function_call/   HTTP servers, router, DSML parser
    launch                         all three processes
    lifecycle, sockets             how a server process begins and ends
    provenance, metrics            which code runs; what it has counted
    history/                       the engine's past, as a git repository

Ten minutes: `managers/interface.py`, `mem_cache/pools.py`, `managers/cache_controller.py`,
`layers/model.py`.
"""
