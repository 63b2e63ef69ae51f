"""Ops that are expressions of others."""
