"""Schedulers and what they drive; `interface` is all that the servers see of it."""
