"""Tensors put together and cut apart."""
