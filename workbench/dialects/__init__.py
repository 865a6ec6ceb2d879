"""How servers are spoken to: what says that one is ready, how it is set, what it counts."""
