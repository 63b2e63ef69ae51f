"""Arrays in memory of other processors: types, transfers, placement."""
