"""The model: sliding-window layers, and compressed layers behind a top-k indexer."""
