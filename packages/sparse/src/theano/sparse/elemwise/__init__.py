"""Functions of elements: sums, products and comparisons of matrices, and maps of stored numbers."""
