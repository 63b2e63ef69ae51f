"""Products of vectors and matrices: Dot, and the forms of BLAS that rewriting turns it into."""

from __future__ import annotations
