"""How arrays look in the C++ that users write for their ops: as ``PyArrayObject *``."""

from __future__ import annotations

import numpy as np

from theano.graph.c_contract import Sub
from theano.scalar import c_values


class ArraysInC(c_values.NumPyInC):
    """The C contract of the type of arrays.

    A variable ``V1`` is a ``PyArrayObject *V1``, which an input is given with a reference of its own, and which is NULL
    for an output that nothing was computed into before. ``dtype_V1`` is the type of its elements.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.imatrix.c_element_type()
    'npy_int32'
    """

    broadcastable: tuple[bool, ...]

    def dtype_specs(self) -> tuple[type, str, str]:
        """Return the element type as Python's class, its name in C and NumPy's C constant."""
        kind = type(np.zeros((), self.dtype).item())
        return kind, c_values.element_type(self.dtype), c_values.type_number(self.dtype)

    def c_element_type(self) -> str:
        """Return the C type of an element."""
        return c_values.element_type(self.dtype)

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare the array, and ``dtype_<name>`` for the type of its elements."""
        return f"{c_values.typedefs(name, self.dtype) if check_input else ''}PyArrayObject *{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin without an array."""
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Take the array if it is one of this type."""
        return c_values.array_extract(name, self.dtype, len(self.broadcastable), sub, check_input)

    def c_sync(self, name: str, sub: Sub) -> str:
        """Hand the array over."""
        return c_values.array_sync(name, sub)

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Give up the reference."""
        return f"Py_XDECREF({name});"
