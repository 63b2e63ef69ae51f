"""The pages that are written by a program are those that it writes."""

from __future__ import annotations

from pathlib import Path

import gallery
import generate
import pytest

#: The others are written when the documentation is built, and are not kept.
PAGES = {
    place: text for place, text in generate.pages().items()
    if place != "errors.md" and not place.startswith(("library/tensor/", "gallery/"))
}  # fmt: skip


@pytest.mark.parametrize("place", sorted(PAGES))
def test_page_is_up_to_date(place):
    written = (Path(__file__).parent / place).read_text(encoding="utf-8")
    assert written == PAGES[place], "run `python docs/generate.py`"


@pytest.mark.parametrize("name", gallery.PROGRAMS)
def test_notebook_has_the_whole_program(name):
    p = gallery.program(name)
    code = [text for kind, text in gallery.cells(name, p.source) if kind == "code"][:-2]
    docstring, rest = p.source.split('"""\n', 1)
    assert docstring.startswith('"""')
    body = rest.split('\nif __name__ == "__main__":')[0]
    assert "\n".join(code).split() == body.split()
    assert (Path(__file__).parent / gallery.PICTURES / f"{name}.png").is_file()
