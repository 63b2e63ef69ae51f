"""A sparse matrix and its parts: the arrays that it is made of."""
