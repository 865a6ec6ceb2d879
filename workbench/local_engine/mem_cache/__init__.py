"""Device pools, the mirror of them in host memory, the prefix tree over both, and their sizes."""
