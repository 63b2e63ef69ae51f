"""Element-wise functions declared by the name and the docstring of a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano import scalar as scal
from theano.tensor.elemwise.op import Elemwise


def scalar_elemwise(
    *symbol: Callable[..., object], nfunc: str | None = None, nin: int | None = None, nout: int | None = None,
    symbolname: str | None = None,
) -> Callable[..., object] | Elemwise:  # fmt: skip
    """Return the scalar operation of the same name, applied to tensors element by element; a decorator.

    Parameters
    ----------
    symbol : callable
        Its name and docstring are used; it is not called. A name that ends in ``_inplace`` gives an operation that
        writes into its first input.
    nfunc, nin, nout : str, int, int, optional
        NumPy's function, with how many inputs and outputs.
    symbolname : str, optional
        In place of the function's name.

    Examples
    --------
    >>> import theano.tensor as T
    >>> @scalar_elemwise
    ... def sqr(a):
    ...     '''The square.'''
    >>> sqr(T.dvector("x")).owner
    Elemwise{sqr,no_inplace}(x)
    """

    def construct(function: Callable[..., Any]) -> Elemwise:
        name = symbolname or function.__name__
        stem, inplace = name.removesuffix("_inplace"), name.endswith("_inplace")
        if not hasattr(scal, stem):
            raise ValueError(f"scalar_elemwise: unknown scalar operation {stem!r}")
        shown = f"Elemwise{{{stem},{'inplace' if inplace else 'no_inplace'}}}"
        spec = (nfunc, nin, nout) if nfunc and nin and nout else None
        made = Elemwise(getattr(scal, stem), {0: 0} if inplace else {}, name=shown, nfunc_spec=spec)
        made.__doc__ = f"{function.__doc__}\n\n    {made.__doc__}" if function.__doc__ else made.__doc__
        return made

    return construct(symbol[0]) if symbol else construct
