"""The helpers that tests of this layer share lie beside them: oracle, arrays, cases."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
