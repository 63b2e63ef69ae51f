"""Loading compiled kernels and running programs of them.

``abi.h`` is what kernels and machine expect of each other, :mod:`theano.loader.module` the Python
door, ``core.h`` the plan of the machine behind it. Importing this package loads nothing: the
compiled module comes with ``theano.loader.module``.
"""

from __future__ import annotations
