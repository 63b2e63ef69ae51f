"""``python -m theano.cache``."""

from __future__ import annotations

import sys

from theano.cache.command import main

if __name__ == "__main__":
    sys.exit(main())
