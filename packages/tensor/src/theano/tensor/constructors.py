"""Types with names and constructors of variables: ``dmatrix``, ``vector``, ``scalars`` and the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.settings import config
from theano.tensor.type import TensorType
from theano.tensor.type_documentation import LETTERS, PATTERNS

if TYPE_CHECKING:
    from theano.tensor.type import Tensor

PLURALS = {kind: "matrices" if kind == "matrix" else kind + "s" for kind in PATTERNS}


def tensor(*args: Any, **kwargs: Any) -> Tensor:
    """Return a variable of any dtype and pattern.

    Parameters
    ----------
    *args : object
        The dtype, and for each dimension whether its length is 1: ``tensor("float32", (False, True))``.
    **kwargs : object
        The same by the names ``dtype`` and ``broadcastable``, and ``name``.

    Returns
    -------
    TensorVariable
        An input for :func:`theano.function`.

    See Also
    --------
    TensorType, scalar, vector, matrix, tensor3

    Examples
    --------
    >>> tensor("float32", (False, True), name="c").type
    TensorType(float32, col)
    """
    name = kwargs.pop("name", None)
    return TensorType(*args, **kwargs)(name)


def _constructor(kind: str) -> Callable[..., Any]:
    pattern = PATTERNS[kind]

    def make(name: str | None = None, dtype: str | None = None) -> Tensor:
        return TensorType(str(config.floatX) if dtype is None else dtype, pattern)(name)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = f"""Return a symbolic {kind}.

    Parameters
    ----------
    name : str, optional
        What graphs and messages call it, and the keyword of its value when a function is called.
    dtype : str, optional
        Of its elements; floatX where it is not given.

    Returns
    -------
    TensorVariable
        An input for :func:`theano.function`.

    See Also
    --------
    {PLURALS[kind]}, d{kind}, tensor, theano.shared

    Examples
    --------
    >>> {kind}("x").ndim
    {len(pattern)}
    """
    return make


def plural(make: Callable[..., Any], name: str, what: str) -> Callable[..., Any]:
    """Return a constructor of several variables at once from that of one.

    Parameters
    ----------
    make : callable
        A constructor, or a type.
    name : str
        What to call the new one.
    what : str
        Kind of variable, for the documentation.
    """

    def make_several(*names: Any, **kwargs: object) -> list[Tensor]:
        single = False
        if len(names) == 1 and isinstance(names[0], (int, list, tuple)):
            only = names[0]
            names = (None,) * only if isinstance(only, int) else tuple(only)
        elif len(names) == 1 and isinstance(names[0], str):
            # One string is several names: words, or, without a space, letters.
            names = tuple(names[0].split()) if " " in names[0].strip() else tuple(names[0].strip())
            single = len(names) == 1
        made = [make(n, **kwargs) for n in names]
        return made[0] if single else made

    make_several.__name__ = make_several.__qualname__ = name
    make_several.__doc__ = f"""Return several variables: {what}.

    Parameters
    ----------
    *names : str or None
        One name each; or one string of names (words, or letters if it has no space); or a number of variables.
        For one name, the variable itself is returned.
    **kwargs : object
        Options of the constructor of one variable, such as ``dtype``.

    Returns
    -------
    list of TensorVariable, or TensorVariable
        One for each name.

    See Also
    --------
    tensor, theano.function

    Examples
    --------
    >>> {name}("a b")
    [a, b]
    """
    return make_several


scalar, vector, matrix = _constructor("scalar"), _constructor("vector"), _constructor("matrix")
row, col = _constructor("row"), _constructor("col")
tensor3, tensor4, tensor5 = _constructor("tensor3"), _constructor("tensor4"), _constructor("tensor5")
tensor6, tensor7 = _constructor("tensor6"), _constructor("tensor7")

#: ``dmatrix``, ``lvector``, ...: the types by letter and kind.
TYPES: dict[str, TensorType] = {
    letter + kind: TensorType(dtype, pattern) for letter, dtype in LETTERS.items() for kind, pattern in PATTERNS.items()
}


def _several() -> dict[str, Callable[..., Any]]:
    made = {}
    for kind, many in PLURALS.items():
        made[many] = plural(globals()[kind], many, f"each a {kind} of floatX")
        for letter in "ilfdcz":
            one = TYPES[letter + kind]
            made[letter + many] = plural(one, letter + many, f"each of type {one}")
    return made


SEVERAL = _several()
globals().update(TYPES)
globals().update(SEVERAL)


def _of(letters: str, kind: str) -> tuple[TensorType, ...]:
    return tuple(TYPES[letter + kind] for letter in letters)


int_types = int_scalar_types = _of("bwil", "scalar")
float_types = float_scalar_types = _of("fd", "scalar")
complex_types = complex_scalar_types = _of("cz", "scalar")
int_vector_types, float_vector_types = _of("bwil", "vector"), _of("fd", "vector")
int_matrix_types, float_matrix_types = _of("bwil", "matrix"), _of("fd", "matrix")
complex_vector_types, complex_matrix_types = _of("cz", "vector"), _of("cz", "matrix")
