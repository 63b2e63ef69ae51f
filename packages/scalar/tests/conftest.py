"""What the tests of this layer share: running the C form of operations in small loops."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loops import FLAGS, Case, Loops


@pytest.fixture(scope="session")
def folder_of_loops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of this run of pytest-xdist share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "loops"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def compile_loops(folder_of_loops: Path) -> Any:
    """Return a function from cases to compiled loops."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is needed to compare C with NumPy")
    return lambda cases, flags=FLAGS: Loops(folder_of_loops, cases, flags)


@pytest.fixture(scope="session")
def Case_() -> type[Case]:
    """Return the class of cases."""
    return Case


def ulps(found: np.ndarray, wanted: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Return the distance of two float arrays in units of the last place of ``wanted``; nan is near nan."""
    parts = [(found.real, wanted.real), (found.imag, wanted.imag)] if found.dtype.kind == "c" else [(found, wanted)]
    far = np.zeros(found.shape)
    with np.errstate(all="ignore"):
        size = np.abs(wanted) if found.dtype.kind == "c" else None
        for a, b in parts:
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            # A part of a complex number is as exact as the whole number is large.
            unit = np.spacing(np.maximum(np.abs(b) if size is None else size, floor).astype(b.dtype))
            distance = np.abs(a.astype(np.longdouble) - b.astype(np.longdouble)) / unit
            far = np.maximum(far, np.where(same, 0, np.where(np.isnan(distance), np.inf, distance)).astype(float))
    return far


@pytest.fixture(scope="session")
def ulps_between() -> Any:
    """Return the function that measures distances in units of the last place."""
    return ulps
