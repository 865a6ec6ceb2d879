"""How the pages of a request get from the prefill to the decode process."""
