"""Files of tests can be collected together: two of one name would be one module to pytest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def as_modules(folder: Path) -> list[str]:
    """Return the names under which pytest imports the test files of a folder: those of packages have a prefix."""
    names = []
    for path in folder.rglob("test_*.py"):
        package = path.parent
        parts = [path.stem]
        while (package / "__init__.py").is_file():
            parts.append(package.name)
            package = package.parent
        names.append(".".join(reversed(parts)))
    return names


@pytest.mark.parametrize("layer", sorted(p.parent.name for p in (ROOT / "packages").glob("*/tests")))
def test_each_test_file_is_a_module_of_its_own(layer):
    names = as_modules(ROOT / "packages" / layer / "tests")
    assert names
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_two_files_of_one_name_are_found(tmp_path):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_one.py").write_text("")
    (tmp_path / "c" / "__init__.py").write_text("")
    assert sorted(as_modules(tmp_path)) == ["c.test_one", "test_one", "test_one"]
