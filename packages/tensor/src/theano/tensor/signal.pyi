"""Old spelling; what ``theano.tensor.signal`` shows is in the modules below it."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor import pool as pool


