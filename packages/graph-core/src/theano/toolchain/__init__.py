"""The C compiler: found by probing, described exactly, run in a clean environment."""
