"""Which layers there are, and how they come in: by name, when somebody asks for them.

A lower layer never imports an upper one. What this file holds is the list of names that ``theano`` shows to
its users, so that ``theano.tensor`` appears as soon as it is used, and so that a missing one is answered with
the name of the distribution to install.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from theano.errors import UnavailableLayerError

#: Sub-packages of ``theano`` that other distributions ship.
DISTRIBUTIONS = {
    "scalar": "theano-scalar",
    "tensor": "theano-tensor",
    "scan_module": "theano-tensor",
    "ifelse": "theano-tensor",
    "raise_op": "theano-tensor",
    "typed_list": "theano-tensor",
    "sandbox": "theano-tensor",
    "d3viz": "theano-tensor",
    "tests": "theano-tensor",
    "misc": "theano-tensor",
    "sparse": "theano-sparse",
    "gpuarray": "theano-gpu-backend",
}

_absent: set[str] = set()


def is_installed(name: str) -> bool:
    """Return whether the layer that ships ``theano.<name>`` is installed.

    Examples
    --------
    >>> is_installed("no_such_layer")
    False
    """
    return importlib.util.find_spec(f"theano.{name}") is not None


def load(name: str) -> ModuleType:
    """Import and return ``theano.<name>``.

    Raises
    ------
    UnavailableLayerError
        The layer is not installed. It is an AttributeError, so that ``hasattr`` stays honest.
    """
    if not is_installed(name):
        distribution = DISTRIBUTIONS.get(name, f"theano-{name}")
        raise UnavailableLayerError(
            f"theano.{name} is not installed here. It belongs to the distribution {distribution}: "
            f"pip install {distribution}"
        )
    return importlib.import_module(f"theano.{name}")


def load_for_value(value: object) -> None:
    """Bring in the installed layers that may know values like ``value``.

    ``theano.shared(array)`` is a program's first statement as often as not: nothing has loaded the layer
    that knows arrays yet, and without it the array would be taken for just any Python object.
    """
    wanted = ["tensor"]
    if type(value).__module__.partition(".")[0] == "scipy":
        wanted.append("sparse")
    for name in wanted:
        if name in _absent:
            continue
        if is_installed(name):
            importlib.import_module(f"theano.{name}")
        else:
            _absent.add(name)


def lazily(
    namespace: Mapping[str, Any], places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a module's ``__getattr__`` and ``__dir__``, for names that are brought in when somebody asks for them.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``.
    places : dict from str to str
        For a name, the module that it is, or ``"module:name"``.

    Examples
    --------
    >>> get, names = lazily({"__name__": "here"}, {"loads": "json:loads", "tools": "functools"})
    >>> get("loads")("[1]"), get("tools").__name__, names()
    ([1], 'functools', ['__name__', 'loads', 'tools'])
    >>> get("dumps")
    Traceback (most recent call last):
     ...
    AttributeError: module 'here' has no attribute 'dumps'
    """

    def __getattr__(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        module, _, attribute = places[name].partition(":")
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found

    return __getattr__, lambda: sorted({*namespace, *places})
