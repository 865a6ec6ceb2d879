"""Widgets: text that cannot act, lists that page, one line for what happened."""
