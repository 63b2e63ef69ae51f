"""Lengths of dimensions, and tensors seen under other shapes."""
