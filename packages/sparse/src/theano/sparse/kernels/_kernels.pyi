"""The C library of the layer, of which Python asks one thing."""

from typing import Any

def examine(indices: Any, indptr: Any, stored: int, m: int, n: int) -> int: ...
