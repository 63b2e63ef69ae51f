"""What the machine calls to have a node computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Thunk:
    """A function without arguments that computes one node within cells that it was made for.

    An op's ``make_thunk`` returns one, or anything else that can be called so. One that is compiled has an attribute
    ``cthunk``: a capsule whose pointer is ``int run(void *context)``, called with the capsule's context and the GIL. It
    returns 0 when the node is computed, a negative number after setting a Python exception, and k > 0 if it wants
    input k - 1 first. The machine then calls that, and not the object.

    Attributes
    ----------
    lazy : bool
        Whether it may ask for inputs. If not, all are there when it is called, and it returns None.

    Examples
    --------
    >>> class Add(Thunk):
    ...     def __init__(self, inputs, output):
    ...         self.inputs, self.output = inputs, output
    ...     def __call__(self):
    ...         self.output[0] = sum(cell[0] for cell in self.inputs)
    >>> result = [None]
    >>> Add([[1], [2]], result)(), result
    (None, [3])
    """

    lazy = False

    def __call__(self) -> Sequence[Any] | None:
        """Compute the outputs; return the indexes of the inputs that are wanted first, or None."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it computes")
