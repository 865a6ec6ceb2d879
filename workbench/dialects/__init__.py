"""How servers are spoken to: what says that one is ready, how it is set, what it counts.

openai      what any server of that API has: its models, maybe metrics
sglang      settings, metrics and caches of SGLang, of its router, and of the local engine
llamacpp    properties, slots and metrics of llama.cpp's server

flat        nested settings as dotted keys, values as text
counting    metrics of Prometheus as numbers by name
served      what the dialects have in common
"""
