"""A type whose values can be overwritten, and ops that copy, share or overwrite them: lists of numbers."""

from __future__ import annotations

from theano.graph import Apply, Op, Type


class Row(Type):
    """Lists of ``kind``, of ``length`` numbers or of any number of them."""

    __props__ = ("kind", "length")

    def __init__(self, kind=float, length=None):
        self.kind, self.length = kind, length

    def filter(self, value, strict=False, allow_downcast=None):
        if not isinstance(value, list):
            if strict or not isinstance(value, tuple):
                raise TypeError(f"a {type(value).__name__} is no list")
            value = list(value)
        if self.length is not None and len(value) != self.length:
            raise ValueError(f"{len(value)} numbers where {self.length} belong")
        if all(type(x) is self.kind for x in value):
            return value
        if strict:
            raise TypeError(f"not all numbers are {self.kind.__name__}")
        if self.kind is int and not allow_downcast and any(x != int(x) for x in value):
            raise TypeError("whole numbers only, unless allow_downcast is True")
        return [self.kind(x) for x in value]

    def may_share_memory(self, a, b):
        return a is b

    def value_copy(self, value):
        return list(value)

    def __str__(self):
        return f"Row({self.kind.__name__})" if self.length is None else f"Row({self.kind.__name__}, {self.length})"


row, whole = Row(), Row(int)


class RowOp(Op):
    __props__ = ()

    def make_node(self, *inputs):
        return Apply(self, [row.filter_variable(v) for v in inputs], [row()])


class Plus(RowOp):
    """Elementwise sum, in a new list."""

    __props__ = ()

    def perform(self, node, inputs, output_storage):
        a, b = inputs
        if len(a) != len(b):
            raise ValueError(f"lengths {len(a)} and {len(b)} differ")
        output_storage[0][0] = [x + y for x, y in zip(a, b)]

    def __str__(self):
        return "plus"


class PlusInto(RowOp):
    """Adds the second input to the memory of the first."""

    __props__ = ()
    destroy_map = {0: [0]}

    def perform(self, node, inputs, output_storage):
        a, b = inputs
        for i, y in enumerate(b):
            a[i] += y
        output_storage[0][0] = a

    def __str__(self):
        return "plus_into"


class Same(RowOp):
    """A view of its input."""

    __props__ = ()
    view_map = {0: [0]}

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]

    def __str__(self):
        return "same"


class Whole(Op):
    """Rounds: float rows to whole ones."""

    __props__ = ()
    itypes, otypes = [row], [whole]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = [round(x) for x in inputs[0]]


class Boom(RowOp):
    """Fails."""

    __props__ = ("error",)

    def __init__(self, error=ValueError):
        self.error = error

    def perform(self, node, inputs, output_storage):
        raise self.error("boom")

    def __str__(self):
        return "boom"


plus, plus_into, same, rounded, boom = Plus(), PlusInto(), Same(), Whole(), Boom()
