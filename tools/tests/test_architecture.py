"""docs/architecture.md names every module and package of the core, so that the page stays true."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_layers

PAGE = (check_layers.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WITHOUT_ROW = {"__init__.py", "__main__.py", "py.typed"}


def modules(folder: Path):
    return sorted(p.name for p in folder.iterdir() if (p.suffix == ".py" or (p / "__init__.py").is_file()))


def test_families_of_ops_are_on_the_page():
    tensor = check_layers.ROOT / "packages/tensor/src/theano/tensor"
    families = {p.parent.name for p in tensor.glob("*/lowering.py")} | {p.parent.name for p in tensor.glob("*/c")}
    sparse = check_layers.ROOT / "packages/sparse/src/theano/sparse"
    families |= {p.parent.name for p in sparse.glob("*/lowering.py")}
    assert [name for name in sorted(families) if f"`{name}/`" not in PAGE] == []


@pytest.mark.parametrize("module", modules(check_layers.ROOT / "packages/graph-core/src/theano"))
def test_modules_of_the_core_are_on_the_page(module):
    assert module in WITHOUT_ROW or f"`{module.removesuffix('/')}" in PAGE


def test_what_the_page_names_is_there():
    for line in PAGE.splitlines():
        if line.startswith("| `") and "/" in line.split("|")[1]:
            for name in line.split("|")[1].replace("`", "").split(","):
                place = name.strip().rstrip("/")
                sources = (
                    "packages/graph-core/src/theano", "packages/tensor/src/theano/tensor", "packages/sparse/src/theano/sparse"
                )  # fmt: skip
                homes = [check_layers.ROOT, *(check_layers.ROOT / source for source in sources)]
                assert any((home / place).exists() for home in homes), place
