"""The pages that are written by a program are those that it writes."""

from __future__ import annotations

from pathlib import Path

import generate
import pytest

#: The others are written when the documentation is built, and are not kept.
PAGES = {place: text for place, text in generate.pages().items() if place != "errors.md" and "/tensor/" not in place}


@pytest.mark.parametrize("place", sorted(PAGES))
def test_page_is_up_to_date(place):
    written = (Path(__file__).parent / place).read_text(encoding="utf-8")
    assert written == PAGES[place], "run `python docs/generate.py`"
