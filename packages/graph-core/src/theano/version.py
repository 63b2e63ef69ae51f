"""``theano.version``: which version this is, in the spellings that programs ask for."""

from __future__ import annotations

import theano

version = short_version = full_version = theano.__version__
release = "a" not in version and "b" not in version and "rc" not in version
git_revision = "Unknown"  # distributions are built from source archives

__all__ = ["full_version", "git_revision", "release", "short_version", "version"]
