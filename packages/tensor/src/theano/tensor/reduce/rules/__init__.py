"""Rules of reductions."""
