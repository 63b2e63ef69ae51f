"""``python -m hostile``."""

import sys

from hostile.command import main

if __name__ == "__main__":
    sys.exit(main())
