"""What older programs find beside the random variables."""

from __future__ import annotations

import importlib
from typing import Any


def PyPolyaGamma(*args: Any, **kwargs: Any) -> Any:
    """Return a sampler of the package pypolyagamma; `theano.tensor.random.basic.polyagamma` draws without it.

    Raises
    ------
    RuntimeError
        The package is not installed.
    """
    try:
        package: Any = importlib.import_module("pypolyagamma")
    except ImportError:
        raise RuntimeError(
            "the package pypolyagamma is not installed. theano.tensor.random.basic.polyagamma does without; "
            "for a sampler of the package itself, install it with pip."
        ) from None
    return package.PyPolyaGamma(*args, **kwargs)
