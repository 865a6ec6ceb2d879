"""Parsers of the calls in a reply."""
