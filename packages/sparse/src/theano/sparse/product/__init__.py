"""Products of matrices of which one at least is sparse."""
