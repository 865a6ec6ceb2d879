"""The terminal interface: view models without a terminal, views through Textual's pilot."""
