"""The numbers that ``abi.h`` gives names to, read from it: it is the one place that has them."""

from __future__ import annotations

import os
import re
from functools import cache


@cache
def abi_text() -> str:
    """Return the text of the header that kernels are written against; it is part of each key."""
    with open(os.path.join(os.path.dirname(__file__), "abi.h"), encoding="utf-8") as file:
        return file.read()


@cache
def abi_constants() -> dict[str, int]:
    """Return the constants of all enumerations, in their order.

    Examples
    --------
    >>> abi_constants()["TH_INT8"], abi_constants()["TH_ERR_VALUE"]
    (1, 1)
    """
    enums = re.findall(r"^enum \{(.*?)^\};", abi_text(), flags=re.MULTILINE | re.DOTALL)
    return {name: int(number) for text in enums for name, number in re.findall(r"(TH_\w+) = (\d+)", text)}


def dtype_names() -> tuple[str, ...]:
    """Return the element types in the order of their numbers, which count from 0.

    Examples
    --------
    >>> dtype_names()[:3]
    ('bool', 'int8', 'uint8')
    """
    constants = abi_constants()
    return tuple(name.removeprefix("TH_").lower() for name in list(constants)[: constants["TH_NDTYPES"]])
