"""A layer small enough to be held in the head: one type, three ops. The tests of the graph need nothing else."""

from __future__ import annotations

from theano.graph import Apply, Op, Type


class Number(Type):
    __props__ = ("kind",)

    def __init__(self, kind="any"):
        self.kind = kind

    def filter(self, value, strict=False, allow_downcast=None):
        if isinstance(value, (int, float)):
            return value
        if strict:
            raise TypeError(f"{value!r} is not a number")
        return float(value)

    def __str__(self):
        return f"Number({self.kind})"


number = Number()


class Combine(Op):
    """Adds its inputs; in place (overwriting the first) or as a view, for tests of aliasing."""

    __props__ = ("name", "inplace", "views")

    def __init__(self, name="add", inplace=(), views=()):
        self.name, self.inplace, self.views = name, tuple(inplace), tuple(views)
        if inplace:
            self.destroy_map = {0: list(inplace)}
        if views:
            self.view_map = {0: list(views)}

    def make_node(self, *inputs):
        return Apply(self, [number.filter_variable(i) for i in inputs], [number()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = sum(inputs)

    def __str__(self):
        return self.name


add = Combine()
add_into = Combine("add_into", inplace=[0])
view = Combine("view", views=[0])
either = Combine("either", views=[0, 1])


class Split(Op):
    """Two outputs, of which nobody has to use both."""

    __props__ = ()
    itypes = [number]
    otypes = [number, number]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = output_storage[1][0] = inputs[0] / 2


split = Split()
