"""The servers: what arrives over HTTP, and what goes back."""
