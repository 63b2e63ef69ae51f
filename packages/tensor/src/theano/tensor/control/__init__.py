"""Ops that decide: lazy choice, and checks."""
