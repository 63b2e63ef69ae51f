"""`transfer`: values moved between devices, and who can move them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.tensor.convert import as_tensor_variable
from theano.tensor.operators import transfers

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def transfer(var: TensorLike, target: str) -> Tensor:
    """Return ``var`` on another device; ``"cpu"`` is the only one in this layer.

    Parameters
    ----------
    var : Variable
        What is moved.
    target : str
        Name of a device.

    Returns
    -------
    Variable
        Of a type of that device.

    See Also
    --------
    theano.shared

    Examples
    --------
    >>> import theano.tensor as T
    >>> transfer(T.constant([1.0]), "cpu").eval()
    array([1.])
    """
    return as_tensor_variable(var).transfer(target)


def register_transfer(fn: Callable[[Any, str], Any]) -> None:
    """Let ``fn`` move variables: from a variable and a device to the variable there, or None.

    Parameters
    ----------
    fn : callable
        It is asked by :func:`transfer`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.tensor.operators import transfers
    >>> mine = lambda variable, target: variable if target == "mine" else None
    >>> register_transfer(mine)
    >>> transfer(T.constant(1.0), "mine").eval()
    array(1., dtype=float32)
    >>> transfers.remove(mine)
    """
    transfers.register(fn)
