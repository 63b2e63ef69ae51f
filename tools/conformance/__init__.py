"""Calls of the public interface, what Theano 1.0.5 answers, and what differs from it."""
