"""The servers: what arrives over HTTP, and what goes back.

router            draws a room for each request and joins the two halves; the address for clients
prefill_server    computes prompts, sends their pages on
decode_server     takes pages in, generates
unified_server    both halves in one process

common            routes and start of the three that hold a scheduler
serving           /generate and /v1/chat/completions: replies and streams
bodies, errors    what clients send, and what they hear when it is wrong
client            HTTP between the processes
"""

import os

# before numpy is loaded: on few cores its threads only get in the way of the other processes
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
