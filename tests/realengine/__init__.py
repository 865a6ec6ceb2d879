"""The workbench against a server that nobody here wrote: llama.cpp's own, from a wheel."""
