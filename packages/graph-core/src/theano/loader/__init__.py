"""Loading compiled kernels and running programs of them.

``abi.h`` is what kernels and machine expect of each other, :mod:`theano.loader.schema` declares what a program consists
of, :mod:`theano.loader.module` is how Python uses the machine, ``core.h`` how the machine looks inside. Importing this
package loads nothing: the compiled module comes with ``theano.loader.module``.
"""

from __future__ import annotations
