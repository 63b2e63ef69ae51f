"""Which ops there are, for tests of all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from theano.graph import Op


def op_classes(package: str) -> list[type[Op]]:
    """Return the classes of ops that a package defines, all its modules loaded; without those that begin with ``_``.

    Parameters
    ----------
    package : str
        Its name, such as ``"theano.tensor"``.

    Examples
    --------
    >>> [c.__name__ for c in op_classes("theano.tensor.fft")]
    ['RFFTOp', 'IRFFTOp']
    """
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not module.name.rpartition(".")[2].startswith("_kernels"):  # a library, and no module that Python loads
            importlib.import_module(module.name)
    found = dict.fromkeys(_below(Op))
    return [c for c in found if f"{c.__module__}.".startswith(f"{package}.") and not c.__name__.startswith("_")]


def _below(cls: type[Op]) -> Iterator[type[Op]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _below(sub)
