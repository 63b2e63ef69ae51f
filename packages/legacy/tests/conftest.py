"""The helpers that tests share are those of the layer of arrays."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parents[2] / "tensor" / "tests"
sys.path += [str(HERE), str(HERE / "checking"), str(HERE / "seeds")]
