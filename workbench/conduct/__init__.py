"""Conduct."""
