"""Sparse matrices of random numbers."""
