"""Generation: the networks that write texts from vectors, and what they are made of."""
