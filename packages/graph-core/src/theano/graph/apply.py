"""Apply nodes: one op, applied to some inputs, making some outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Self

from theano.graph.notebook import NotebookDisplay
from theano.graph.pickling import flattened_state, restored_state
from theano.graph.text import printable
from theano.graph.variable import Scratchpad, Variable

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with defaults, which Python's own has from 3.13 on

    from theano.graph.op import Op

    O = TypeVar("O", bound=Op, covariant=True, default=Op)
    V = TypeVar("V", bound=Variable, covariant=True, default=Variable)
else:
    from typing import TypeVar

    O, V = TypeVar("O", covariant=True), TypeVar("V", covariant=True)


class Apply(NotebookDisplay, Generic[O, V]):
    """The application of an op to inputs.

    Type checkers know it by the classes of its op and of its variables: ``Apply[Dot]`` is a node of the op ``Dot``.

    Parameters
    ----------
    op : Op
    inputs : list of Variable
    outputs : list of Variable
        Fresh variables; they become the node's.

    Raises
    ------
    TypeError
        An input or output is not a Variable, or one of the two is not a list.
    ValueError
        An output belongs to another node already.
    """

    fgraph: Any = None

    def __init__(self, op: O, inputs: Sequence[V], outputs: Sequence[V]):
        for what, variables in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(variables, (list, tuple)):
                raise TypeError(f"the {what} of an Apply must be a list or a tuple, not {variables!r}")
        for i, variable in enumerate(inputs):
            if not isinstance(variable, Variable):
                raise TypeError(f"input {i} of an Apply of {op} must be a Variable, not {variable!r}")
        self.op: O = op
        self.inputs: list[V] = list(inputs)
        self.outputs: list[V] = []
        self.tag = Scratchpad()
        for i, variable in enumerate(outputs):
            if not isinstance(variable, Variable):
                raise TypeError(f"output {i} of an Apply of {op} must be a Variable, not {variable!r}")
            if variable.owner is None:
                variable.owner, variable.index = self, i
            elif variable.owner is not self or variable.index != i:
                raise ValueError(f"output {i} of an Apply of {op}, {variable}, belongs to another node already")
            self.outputs.append(variable)

    @property
    def nin(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return len(self.outputs)

    @property
    def out(self) -> V:
        """The default output, the same as ``default_output()``."""
        return self.default_output()

    def default_output(self) -> V:
        """Return the output that stands for this node where one variable is wanted.

        Raises
        ------
        AttributeError
            The node has several outputs and its op names no default, or what it names is no number of an output.
        """
        choice = self.op.default_output
        if choice is None:
            if len(self.outputs) != 1:
                raise AttributeError(
                    f"{self.op} has {len(self.outputs)} outputs and no default_output: choose one of node.outputs"
                )
            choice = 0
        if not isinstance(choice, int) or not 0 <= choice < len(self.outputs):
            raise AttributeError(
                f"{self.op}.default_output is {choice!r}; "
                f"it must be the number of one of the {len(self.outputs)} outputs"
            )
        return self.outputs[choice]

    def get_parents(self) -> list[V]:
        """Return the nodes one step towards the inputs: the node's inputs."""
        return list(self.inputs)

    def run_params(self) -> Any:
        """Return the run-time parameters of the op, or None."""
        return self.op.get_params(self)

    def clone(self) -> Self:
        """Return a node of the same op and inputs with fresh outputs."""
        return self.with_inputs(self.inputs)

    def with_inputs(self, inputs: Sequence[Variable]) -> Self:
        """Return a node of the same op with fresh outputs of the same types; the caller vouches for the inputs."""
        # Not through __init__, whose checks these have passed before: functions copy all nodes of their graphs.
        node = self.__class__.__new__(self.__class__)
        vouched: Sequence[Any] = inputs
        node.op, node.inputs, node.outputs, node.tag = self.op, list(vouched), [], Scratchpad()
        node.tag.__dict__.update(self.tag.__dict__)
        for i, output in enumerate(self.outputs):
            fresh = output.clone()
            fresh.owner, fresh.index = node, i
            node.outputs.append(fresh)
        return node

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> Apply:
        """Return a node of the same op applied to other inputs.

        Parameters
        ----------
        inputs : list of Variable
        strict : bool
            Require the types of today's inputs (converting where a type knows how). Otherwise
            the node is made anew by ``op.make_node``, and its outputs may be of other types.

        Raises
        ------
        TypeError
            An input is of another type, cannot be converted, and ``strict`` is True.
        """
        new_inputs = list(inputs)
        remake = False
        for i, (old, new) in enumerate(zip(self.inputs, new_inputs, strict=True)):
            if old.type == new.type:
                continue
            if strict:
                new_inputs[i] = old.type.filter_variable(new)
            else:
                remake = True
        if not remake:
            return self.with_inputs(new_inputs)
        node = self.op.make_node(*new_inputs)
        node.tag.__update__(self.tag)
        for old, new in zip(self.outputs, node.outputs, strict=True):
            new.tag.__update__(old.tag)
            new.name = old.name
        return node

    def __getstate__(self) -> dict[str, object]:
        return flattened_state(dict(self.__dict__), self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(restored_state(state))
        self.inputs[:] = self.op.restored_inputs(self.inputs)

    def __str__(self) -> str:
        return printable(f"{self.op}({', '.join(map(str, self.inputs))})")

    def __repr__(self) -> str:
        return str(self)


# The documentation prints this class under the name it always had.
Apply.__module__ = "theano.gof.graph"
