"""Between HTTP and the device: tokens in, batches, tokens out."""
