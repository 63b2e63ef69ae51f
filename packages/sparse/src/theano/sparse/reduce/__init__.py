"""Sums of sparse matrices, and scales of their rows and columns."""
