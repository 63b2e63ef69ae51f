"""What a lowering accepts, as data: the operands' names, dtypes and numbers of axes, and which of them are alike.

Because it is data, the page of what is compiled is written from it, and a test tries what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from theano.graph.apply import Apply
from theano.loader.abi import dtype_names
from theano.records import NamedTuple, field, record, replace

if TYPE_CHECKING:
    from theano.graph.variable import Variable


@record(frozen=True)
class Dtypes:
    """A named set of element types.

    Examples
    --------
    >>> "uint8" in INTEGERS, "bool" in INTEGERS
    (True, False)
    >>> str(INTEGERS)
    'integer'
    """

    name: str
    names: frozenset[str]

    def __contains__(self, dtype: str) -> bool:
        return dtype in self.names

    def __str__(self) -> str:
        return self.name


DTYPE_NAMES = dtype_names()
"""The element types that compiled code knows, in the order in which ``abi.h`` numbers them."""


def _those(name: str, *prefixes: str) -> Dtypes:
    return Dtypes(name, frozenset(d for d in DTYPE_NAMES if d.startswith(prefixes)))


KNOWN = _those("any number", "")
REAL = _those("real", "bool", "int", "uint", "float")
INTEGERS = _those("integer", "int", "uint")
WHOLE = _those("bool or integer", "bool", "int", "uint")
FLOATS = _those("float", "float")
INEXACT = _those("float or complex", "float", "complex")
SINGLE_OR_DOUBLE = _those("float32 or float64", "float32", "float64")
BLAS = _those("float32, float64 or complex", "float32", "float64", "complex")
BOOL = _those("bool", "bool")
INT64 = _those("int64", "int64")
ANYTHING = Dtypes("anything", frozenset())
"""Also what is no number: slices, None."""


class _Operand(NamedTuple):
    """Which variables a name stands for, and what they have to be; a name with a star stands for all that are left."""

    name: str
    output: bool
    places: slice
    dtypes: frozenset[str] | None
    ndim: frozenset[int] | None

    def of(self, node: Apply) -> Sequence[Variable]:
        return (node.outputs if self.output else node.inputs)[self.places]


@record(frozen=True)
class Accepts:
    """Conditions on the operands of a node.

    Parameters
    ----------
    signature : str
        Names of inputs and outputs, ``"x, y -> z"``. The last of either side may have a star: it stands for any
        number of variables.
    dtypes : dict from str to Dtypes
        For names of operands; the others may be any number that compiled code knows.
    ndim : dict from str to int, tuple of int, or str
        How many axes an operand has, or the name of another one which has as many.
    same : tuple of str
        Names of operands, with spaces between, that are of one dtype.
    converts : tuple of str
        ``"y x"``: numbers of y are converted to the dtype of x, so that they are not complex where x is not.
    view : bool
        The op has to declare that its first output shares memory with an input.

    Examples
    --------
    >>> rows = Accepts("x, label -> cost", dtypes={"x": FLOATS, "label": INTEGERS}, ndim={"x": 2}, same=("x cost",))
    >>> print(rows)
    x: float, 2 axes; label: integer; x and cost of one dtype
    """

    signature: str
    dtypes: Mapping[str, Dtypes] = field(default_factory=dict)
    ndim: Mapping[str, int | tuple[int, ...] | str] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    converts: tuple[str, ...] = ()
    view: bool = False

    def __post_init__(self) -> None:
        told = {*self.dtypes, *self.ndim, *" ".join([*self.same, *self.converts]).split()}
        told |= {n for n in self.ndim.values() if isinstance(n, str)}
        unknown = told - {o.name for o in self.operands}
        if unknown:
            raise ValueError(f"no operands of these names are in {self.signature!r}: {', '.join(sorted(unknown))}")

    def changed(self, dtypes: Mapping[str, Dtypes], same: tuple[str, ...] | None = None) -> Accepts:
        """Return these conditions, with other dtypes for some operands, and perhaps others that are of one dtype.

        Examples
        --------
        >>> print(Accepts("x, y -> z", dtypes={"x": SINGLE_OR_DOUBLE}, same=("x y z",)).changed({"x": FLOATS}))
        x: float; x, y and z of one dtype
        """
        return replace(self, dtypes={**self.dtypes, **dtypes}, same=self.same if same is None else same)

    @cached_property
    def operands(self) -> tuple[_Operand, ...]:
        """What each name of the signature stands for."""
        inputs, _, outputs = self.signature.partition("->")
        return (*self._side(inputs, False), *self._side(outputs, True))

    def _side(self, text: str, output: bool) -> Iterator[_Operand]:
        for i, word in enumerate(filter(None, (word.strip() for word in text.split(",")))):
            name, starred = word.lstrip("*"), word.startswith("*")
            dtypes = self.dtypes.get(name, KNOWN)
            ndim = self.ndim.get(name)
            counts = {ndim} if isinstance(ndim, int) else None if isinstance(ndim, str) else ndim
            axes = None if counts is None else frozenset(counts)
            places = slice(i, None if starred else i + 1)
            yield _Operand(name, output, places, None if dtypes is ANYTHING else dtypes.names, axes)

    @cached_property
    def _by_name(self) -> dict[str, _Operand]:
        return {o.name: o for o in self.operands}

    @cached_property
    def _groups(self) -> list[list[_Operand]]:
        return [[self._by_name[name] for name in group.split()] for group in self.same]

    @cached_property
    def _alike(self) -> list[tuple[_Operand, _Operand]]:
        return [(self._by_name[a], self._by_name[b]) for a, b in self.ndim.items() if isinstance(b, str)]

    @cached_property
    def _converted(self) -> list[tuple[_Operand, _Operand]]:
        pairs = (pair.split() for pair in self.converts)
        return [(self._by_name[a], self._by_name[b]) for a, b in pairs]

    @cached_property
    def _counts(self) -> tuple[tuple[int, bool], tuple[int, bool]]:
        """For inputs and outputs: how many there are at least, and whether there may be more."""
        starred = {o.output for o in self.operands if o.places.stop is None}
        single = [o.output for o in self.operands if o.places.stop is not None]
        return (single.count(False), False in starred), (single.count(True), True in starred)

    def fits(self, node: Apply) -> bool:
        """Return whether a node is what the conditions ask for."""
        (least_in, more_in), (least_out, more_out) = self._counts
        inputs, outputs = node.inputs, node.outputs
        if not (len(inputs) == least_in or more_in and len(inputs) > least_in):
            return False
        if not (len(outputs) == least_out or more_out and len(outputs) > least_out):
            return False
        for _, output, places, dtypes, ndim in self.operands:
            for v in (outputs if output else inputs)[places]:
                # Each node comes by here: what a type has is looked up as it is first, which mostly is a string.
                if dtypes is not None and getattr(v.type, "dtype", "") not in dtypes and dtype_of(v) not in dtypes:
                    return False
                if dtypes is not None and v.type.buffer_spec() is None:  # numbers, but in no array: a sparse matrix
                    return False
                if ndim is not None and ndim_of(v) not in ndim:
                    return False
        for group in self._groups:
            if not _are_one([v for o in group for v in (outputs if o.output else inputs)[o.places]]):
                return False
        for a, b in self._alike:
            if len({ndim_of(v) for v in (*a.of(node), *b.of(node))}) != 1:
                return False
        for a, b in self._converted:
            if not all(_converts(v, w) for v in a.of(node) for w in b.of(node)):
                return False
        return not self.view or bool(node.op.view_map.get(0))

    def conversions(self, node: Apply) -> dict[int, str]:
        """Return which inputs of a node the kernel converts on the way, and to which dtypes."""
        found = {}
        for source, target in self._converted:
            dtype = dtype_of(target.of(node)[0])
            for i in range(*source.places.indices(len(node.inputs))):
                if dtype_of(node.inputs[i]) != dtype:
                    found[i] = dtype
        return found

    def __str__(self) -> str:
        told = []
        for o in self.operands:
            ndim = self.ndim.get(o.name)
            said = [str(self.dtypes[o.name])] if o.name in self.dtypes else []
            said += [] if ndim is None else [_axes(ndim)]
            if said:
                told.append(f"{o.name}: {', '.join(said)}")
        told += [f"{_and(group.split())} of one dtype" for group in self.same]
        told += ["{} not complex unless {} is".format(*pair.split()) for pair in self.converts]
        return "; ".join(told) or "any numbers"


def dtype_of(variable: Variable) -> str:
    """Return the dtype of a variable, or "" if it has none."""
    return str(getattr(variable.type, "dtype", ""))


def ndim_of(variable: Variable) -> int:
    """Return the number of dimensions of a tensor variable, or 0 for a scalar."""
    return int(getattr(variable.type, "ndim", 0))


def _are_one(variables: list[Variable]) -> bool:
    """Return whether variables have one dtype."""
    dtypes = [getattr(v.type, "dtype", "") for v in variables]
    return all(dtype == dtypes[0] for dtype in dtypes)


def _converts(source: Variable, target: Variable) -> bool:
    return dtype_of(target).startswith("complex") or not dtype_of(source).startswith("complex")


def _axes(ndim: int | tuple[int, ...] | str) -> str:
    if isinstance(ndim, str):
        return f"as many axes as {ndim}"
    counts = [ndim] if isinstance(ndim, int) else list(ndim)
    return "no axis" if counts == [0] else f"{' or '.join(map(str, counts))} {'axis' if counts == [1] else 'axes'}"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
