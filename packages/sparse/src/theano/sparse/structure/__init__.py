"""The same numbers in another form, or at other places: conversions, transposes, stacks, diagonals."""
