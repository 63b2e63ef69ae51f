"""How tensors are made of nothing: filled, uninitialised, the identity, ranges."""
