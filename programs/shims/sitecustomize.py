"""What Python, NumPy, SciPy and h5py have dropped since the programs were written, put back before one of them starts.

Python imports this module by itself when its folder is on the path. Nothing here concerns Theano: what a program
misses of Theano is a fault of ours, and is mended there.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib.util
import inspect
import os
import sys
import types
from typing import Any, NamedTuple

import numpy as np
import numpy.testing
import scipy.integrate
import scipy.misc
import scipy.signal
import scipy.signal.windows
import scipy.special

# Python 3.10 dropped the abstract classes of collections.abc from collections.
for name in collections.abc.__all__:
    setattr(collections, name, getattr(collections.abc, name))


class ArgSpec(NamedTuple):
    """What `getargspec` returned."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(function: Any) -> ArgSpec:
    """Return a function's parameters; Python 3.11 dropped it for `getfullargspec`."""
    return ArgSpec(*inspect.getfullargspec(function)[:4])


inspect.ArgSpec, inspect.getargspec = ArgSpec, getargspec  # type: ignore[attr-defined]

if os.environ.get("PROGRAM_PYTHON") == "2":
    import python2  # noqa: F401

# NumPy 1.24 dropped its names for Python's own types.
for kind in (bool, int, float, complex, object, str):
    if kind.__name__ not in np.__dict__:
        setattr(np, kind.__name__, kind)

# NumPy 1.24 dropped its own measuring of floating-point numbers.
np.MachAr = lambda: np.finfo(float)  # type: ignore[attr-defined]

# NumPy 1.23 dropped a second name of array.item.
np.asscalar = lambda array: array.item()  # type: ignore[attr-defined]

# NumPy 1.18 dropped that a number of points may be a float.
points = np.linspace
np.linspace = lambda start, stop, num=50, *args, **kwargs: points(start, stop, int(num), *args, **kwargs)

# NumPy 2.0 dropped second names, and a conversion for each dtype.
SECOND = {"Inf": "inf", "NaN": "nan", "float_": "float64", "string_": "bytes_", "unicode_": "str_", "product": "prod",
          "in1d": "isin", "trapz": "trapezoid", "alltrue": "all", "sometrue": "any"}  # fmt: skip
for old, new in SECOND.items():
    setattr(np, old, getattr(np, new))


class Casts:
    """What `numpy.cast` was: for a dtype, the conversion to it."""

    def __getitem__(self, dtype: Any) -> Any:
        """Return the conversion."""
        return lambda value: np.asarray(value, dtype)


np.cast = Casts()  # type: ignore[attr-defined]


class Tester:
    """What ran a package's tests; NumPy 1.25 dropped it with nose. Programs make one when they are imported."""

    def test(self) -> None:
        """Say what runs them now."""
        raise NotImplementedError("run the tests with pytest")


numpy.testing.Tester = Tester  # type: ignore[attr-defined]

# NumPy 2.0 dropped a module of its tests, whose sum of products NeuPy calls.
umath_tests: Any = types.ModuleType("numpy.core.umath_tests")
umath_tests.inner1d = lambda a, b: np.einsum("...i,...i", a, b)
sys.modules["numpy.core.umath_tests"] = umath_tests

# scikit-learn 0.20 dropped the homes that model selection had before, and 0.24 that of labels, a function of which sknn
# replaces by one that takes less than scikit-learn gives it now: it gets a module of its own.
if importlib.util.find_spec("sklearn") and "sknn" in os.environ.get("PROGRAM", ""):
    import sklearn.base
    import sklearn.model_selection
    import sklearn.preprocessing._label

    for module in ("cross_validation", "grid_search"):
        sys.modules[f"sklearn.{module}"] = sklearn.model_selection
        setattr(sklearn, module, sklearn.model_selection)

    class Labels(types.ModuleType):
        """The old home of labels: what is put there in the place of a function is called with what it takes."""

        def __setattr__(self, name: str, value: Any) -> None:
            """Replace a name, and where scikit-learn looks for it now."""
            super().__setattr__(name, value)
            setattr(sklearn.preprocessing._label, name, lambda y, **_: value(y))

    labels = Labels("sklearn.preprocessing.label")
    labels.__dict__.update(vars(sklearn.preprocessing._label))
    sys.modules["sklearn.preprocessing.label"] = sklearn.preprocessing.label = labels  # type: ignore[attr-defined]

    # scikit-learn 0.24 dropped that a parameter which an estimator does not keep is None; sknn does not keep two.
    parameters = sklearn.base.BaseEstimator.get_params

    def get_params(self: Any, deep: bool = True) -> dict[str, Any]:
        """Return an estimator's parameters; None for those that it does not keep."""
        for key in self._get_param_names():
            self.__dict__.setdefault(key, getattr(self, key, None))
        return parameters(self, deep)

    sklearn.base.BaseEstimator.get_params = get_params

# pytest 6 dropped a fixture's scope as its first argument.
if os.environ.get("PROGRAM") == "pymc3_38" and importlib.util.find_spec("pytest"):
    import pytest

    fixture = pytest.fixture

    def scoped(first: Any = None, **options: Any) -> Any:
        """Return what makes a fixture of a function, or the fixture."""
        return fixture(scope=first, **options) if isinstance(first, str) else fixture(first, **options)

    pytest.fixture = scoped

# SciPy 1.3 dropped functions of its module misc for those of special.
scipy.misc.logsumexp, scipy.misc.comb, scipy.misc.factorial = (
    scipy.special.logsumexp, scipy.special.comb, scipy.special.factorial
)  # fmt: skip

# SciPy 1.14 dropped the first names of the rules of integration.
scipy.integrate.cumtrapz, scipy.integrate.trapz, scipy.integrate.simps = (
    scipy.integrate.cumulative_trapezoid, scipy.integrate.trapezoid, scipy.integrate.simpson
)  # fmt: skip

# SciPy 1.13 dropped the windows' second home.
scipy.signal.gaussian = scipy.signal.windows.gaussian

try:
    import h5py
except ImportError:
    pass
else:
    # h5py 3.0 reads text that was written as bytes as str, where it was bytes, and text of datasets as bytes, where it
    # was str; it opens files to read, where it was to read and append; and it dropped a second name of File.id, and the
    # property that read a whole dataset.
    read, opened = h5py.AttributeManager.__getitem__, h5py.File.__init__

    def as_written(self: Any, name: str) -> Any:
        """Return an attribute; text of the ASCII character set as bytes."""
        value, kind = read(self, name), self.get_id(name).get_type()
        if not isinstance(kind, h5py.h5t.TypeStringID) or kind.get_cset() != h5py.h5t.CSET_ASCII:
            return value
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return np.char.encode(value.astype(str), "utf8")
        return value.encode() if isinstance(value, str) else value

    def whole(self: Any) -> Any:
        """Return what a dataset holds; text of any length as str."""
        text = h5py.check_string_dtype(self.dtype)
        return self.asstr()[()] if text and text.length is None and text.encoding == "utf-8" else self[()]

    def appending(self: Any, name: Any, mode: str | None = None, *args: Any, **kwargs: Any) -> None:
        """Open a file, by default to read and append."""
        opened(self, name, mode or "a", *args, **kwargs)

    h5py.AttributeManager.__getitem__, h5py.File.__init__ = as_written, appending
    h5py.File.fid = h5py.File.id
    h5py.Dataset.value = property(whole)
