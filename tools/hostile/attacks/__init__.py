"""The kinds of attacks, a module each with ``attack(rng)``."""
