"""Parts of sparse matrices."""
