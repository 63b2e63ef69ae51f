"""What older modules held beside functions and classes: a mark, and a group of types."""

from __future__ import annotations

from typing import Any

#: Stands for a value that was not given.
undef: Any = object()

#: Types whose values may be stretched: a program puts its own here.
expandable_types: tuple[type, ...] = ()
