"""``python -m theano.tests``: see `theano.tests.main`."""

from __future__ import annotations

import sys

from theano.tests.main import main

if __name__ == "__main__":
    sys.exit(main())
