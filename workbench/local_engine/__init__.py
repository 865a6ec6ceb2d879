"""A miniature prefill/decode-disaggregated engine: no GPU, no network, real mechanisms."""
