"""Mutation testing: what is mutated, which tests see it, and what they say. ``tools/mutants.py`` is the command."""
