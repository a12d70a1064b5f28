"""Networks that write texts from vectors, and their training."""
