"""Functions that reduce tensors along axes."""
