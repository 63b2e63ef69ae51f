"""Ops: what a node computes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import MethodNotDefined
from theano.extensions import Chain, Single, lazy_names
from theano.graph.apply import Apply
from theano.graph.c_contract import CLinkerOp
from theano.graph.documentation import document_calls
from theano.graph.op_contract import OpContract
from theano.graph.props import Structural
from theano.graph.source import user_trace
from theano.graph.type import Type
from theano.graph.variable import Scratchpad, Variable, get_test_value

if TYPE_CHECKING:
    from theano.graph.annotations import Cell, Node, Storage, Value, Values
    from theano.graph.kernel import Builtin, Kernel


class CalledWith:
    """How ops are called, for `inspect.signature`: by the parameters of ``make_node``, or of their own ``__call__``.

    Examples
    --------
    >>> import inspect
    >>> class Pair(Op):
    ...     def make_node(self, first, second):
    ...         pass
    >>> inspect.signature(Pair())
    <Signature (first, second)>
    """

    def __init__(self, find: Callable[..., inspect.Signature]):
        self.find = find

    def __get__(self, op: object, owner: type) -> inspect.Signature:
        if op is None:
            raise AttributeError("__signature__")  # of a class it is that of its constructor
        return self.find(op)


def _of_make_node(op: Op) -> inspect.Signature:
    own = type(op).__call__ is not NodeMaker.__call__
    return inspect.signature(op.__call__ if own else op.make_node)


class NodeMaker(Structural, OpContract):
    """An op as graphs know it: how a node of it is made. How nodes are computed is `Op`'s.

    It stands apart because PyMC3 3.8 has an op whose ``__call__`` goes past that of `Op`: ``super(theano.Op, self)``.
    """

    itypes: Sequence[Type]
    otypes: Sequence[Type]
    #: For ops that compute the test values of their outputs themselves, as that one does.
    _get_test_value = staticmethod(get_test_value)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        document_calls(cls, "make_node")

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node that applies this op to ``inputs``.

        The default serves ops that name ``itypes`` and ``otypes``.

        Raises
        ------
        TypeError
            An input is not a variable of the type wanted, and cannot be converted.
        ValueError
            The number of inputs is not that of ``itypes``.
        """
        if not hasattr(self, "itypes"):
            raise NotImplementedError(f"{type(self).__name__} needs make_node, or both itypes and otypes")
        if not hasattr(self, "otypes"):
            raise NotImplementedError(f"{type(self).__name__} has itypes but no otypes: it needs both, or make_node")
        if len(inputs) != len(self.itypes):
            raise ValueError(f"{self} takes {len(self.itypes)} inputs, got {len(inputs)}: {list(inputs)}")
        variables = []
        for i, (value, wanted) in enumerate(zip(inputs, self.itypes, strict=True)):
            if isinstance(value, Variable) and value.type != wanted:
                raise TypeError(f"input {i} of {self} must be of type {wanted}, but {value} is of type {value.type}")
            variables.append(wanted.filter_variable(value))
        return Apply(self, variables, [wanted() for wanted in self.otypes])  # type: ignore[arg-type]  # each is an Op

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the output of this op applied to ``inputs``.

        Parameters
        ----------
        *inputs : object
            Handed to :meth:`make_node`, as are keyword arguments.
        return_list : bool
            Return a list, also of one output.
        name : str
            Name of the (only or default) output.

        Returns
        -------
        Variable or list of Variable
            One variable if there is one output or a ``default_output``, else the list.
        """
        return_list = kwargs.pop("return_list", False)
        name = kwargs.pop("name", None)
        node = self.make_node(*inputs, **kwargs)
        trace = user_trace()
        for output in node.outputs:
            output.tag.trace = trace
        for observe in call_observers:
            observe(node)
        outputs = node.outputs
        if self.default_output is not None:
            result = outputs[self.default_output]
        elif len(outputs) == 1:
            result = outputs[0]
        else:
            return list(outputs)
        if name is not None:
            result.name = name
        return [result] if return_list else result


class Op(NodeMaker, CLinkerOp):
    """An operation: it checks and types its inputs, computes its outputs and knows its derivative.

    An op needs to say how a node is made (:meth:`make_node`, or ``itypes`` and ``otypes``) and how it is
    computed (:meth:`perform`, :meth:`c_code`, :meth:`c_kernel` or :meth:`make_thunk`). The rest is optional; it is
    declared, with its defaults, in `theano.graph.op_contract` and `theano.graph.c_contract`.

    Attributes
    ----------
    __props__ : tuple of str
        Names of the parameters; equality, hash and text follow from them.
    itypes, otypes : list of Type
        In place of ``make_node``, for ops with fixed types.

    Examples
    --------
    >>> from theano.graph import Apply, generic
    >>> class Double(Op):
    ...     __props__ = ()
    ...     itypes = [generic]
    ...     otypes = [generic]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0] * 2
    >>> y = Double()(generic("x"))
    >>> y, y.owner
    (Double.0, Double(x))
    """

    __signature__ = CalledWith(_of_make_node)

    # -- computing ----------------------------------------------------------------------------------

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Compute the outputs in Python.

        Parameters
        ----------
        node : Apply
        inputs : list of values
        output_storage : list of lists of one element
            Where the outputs go. The element may hold what an earlier call left, of the right type but of any
            shape, and may be written into; or None.
        """
        raise MethodNotDefined("perform", type(self), type(self).__name__)

    def c_kernel(self, node: Node) -> Kernel | Builtin | None:
        """Return the compiled form of ``node``, or None where there is only :meth:`perform`.

        Ops that users write may define it. The classes of our own ops hold no C: what their nodes become says the
        table of `theano.lowering`, and this method repeats it.

        The parameters of a kernel are best declared, as a subclass of
        `theano.graph.parameters.Parameters`: ``c_struct()`` is then a support block of the source, which reads
        ``ctx->params`` by name. Raw bytes do too, but a program that holds some is kept for other processes only if
        the kernel's ``pointers`` say where addresses stand in them: ``()``, nowhere.

        Examples
        --------
        >>> from theano.graph.kernel import Kernel
        >>> from theano.graph.parameters import Int, Parameters
        >>> class Shift(Parameters):
        ...     by = Int("how far")
        >>> source = "int KERNEL(th_ctx *ctx) { const th_shift_params *p = ctx->params; return p->by == 0; }"
        >>> kernel = Kernel("shift", source, (Shift.c_struct(),), Shift(by=3))
        >>> kernel.packed == Shift(by=3).packed(), kernel.places
        (True, ())
        """
        return table_answer.required()(self, node)

    def make_thunk(
        self,
        node: Node,
        storage_map: dict[Variable, Cell],
        compute_map: dict[Variable, Cell],
        no_recycling: Sequence[Variable],
        impl: str | None = None,
    ) -> Callable[[], object]:
        """Return a function without arguments that computes ``node`` within the given storage.

        An op that overrides this method takes the whole execution into its own hands: ``perform`` and
        ``c_kernel`` are not asked. A thunk whose ``lazy`` attribute is True may return the indexes of
        inputs that it still needs; the machine computes them and calls again.

        Parameters
        ----------
        node : Apply
        storage_map : dict from Variable to list of one value
        compute_map : dict from Variable to list of one flag (0 to compute, 1 computed, 2 collected)
        no_recycling : list of Variable
            Outputs whose storage must be new at each call.
        """
        if impl != "py":
            try:
                return self.make_c_thunk(node, storage_map, compute_map, no_recycling)
            except NotImplementedError:
                if impl == "c":
                    raise
        return self.make_py_thunk(node, storage_map, compute_map, no_recycling)

    def make_c_thunk(
        self,
        node: Node,
        storage_map: dict[Variable, Cell],
        compute_map: dict[Variable, Cell],
        no_recycling: Sequence[Variable],
    ) -> Callable[[], object]:
        """Return a thunk that runs the compiled form, be it :meth:`c_code` or :meth:`c_kernel`.

        Raises
        ------
        MethodNotDefined
            It does not exist.
        """
        if c_thunk_maker.answer is None:
            raise MethodNotDefined("make_c_thunk", type(self), str(self))
        return c_thunk_maker.answer(node, storage_map, compute_map, no_recycling)

    def make_py_thunk(
        self,
        node: Node,
        storage_map: dict[Variable, Cell],
        compute_map: dict[Variable, Cell],
        no_recycling: Sequence[Variable],
        debug: bool = False,
    ) -> Callable[[], object]:
        """Return a thunk that calls :meth:`perform`."""
        inputs = [storage_map[v] for v in node.inputs]
        outputs = [storage_map[v] for v in node.outputs]
        computed = [compute_map[v] for v in node.outputs]
        perform = performer(node)

        def thunk() -> None:
            perform(node, [cell[0] for cell in inputs], outputs)
            for flag in computed:
                flag[0] = True

        vars(thunk).update(lazy=False)
        return thunk

    def prepare_node(
        self,
        node: Node,
        storage_map: dict[Variable, Cell] | None,
        compute_map: dict[Variable, Cell] | None,
        impl: str | None,
    ) -> None:
        """Do what has to be done once before ``node`` is run; ops may override it."""

    def get_params(self, node: Node) -> Value:
        """Return an object that is handed to the computation of ``node`` beside its inputs, or None.

        The default serves ops whose ``params_type`` is a `ParamsType`: it reads the op's attributes of these names.
        """
        collect = getattr(self.params_type, "get_params", None)
        return None if collect is None else collect(self)

    # -- state ------------------------------------------------------------------------------------------

    @property
    def tag(self) -> Scratchpad:
        """Free space that travels with the op."""
        pad = self.__dict__.get("_tag")
        if pad is None:
            pad = self.__dict__["_tag"] = Scratchpad()
        return pad

    @tag.setter
    def tag(self, own: object) -> None:
        self.__dict__["_tag"] = own

    def __repr__(self) -> str:
        return str(self)


#: Called with each node that a user's op call makes.
call_observers: Chain[Callable[[Apply], None]] = Chain("graph.op.call_observers", "observers of new nodes")

#: For :meth:`Op.c_kernel` where a class does not define it: from an op and a node to what the lowering table has.
table_answer: Single[Callable[[Op, Apply], Kernel | Builtin | None]] = Single(
    "graph.op.table_answer", "what the lowering table has for a node"
)

#: For :meth:`Op.make_c_thunk`: from a node, its two maps and what must not be recycled to the thunk.
c_thunk_maker: Single[Callable[..., Callable[[], object]]] = Single(
    "graph.op.c_thunk_maker", "how a node is compiled alone"
)


class COp(Op):
    """An op with a form in C, :meth:`c_code`. Each op may have one; the name says that this one does.

    Examples
    --------
    >>> from theano.graph import Apply, generic
    >>> class Same(COp):
    ...     __props__ = ()
    ...     def make_node(self, x):
    ...         return Apply(self, [x], [generic()])
    ...     def c_code(self, node, name, inputs, outputs, sub):
    ...         x, z = inputs[0], outputs[0]
    ...         return f"Py_XDECREF({z}); {z} = {x}; Py_INCREF({z});"
    >>> import theano
    >>> x = generic("x")
    >>> theano.function([x], Same()(x))("unchanged")
    'unchanged'
    """


def performer(node: Node) -> Callable[[Apply, Values, Storage], object]:
    """Return ``node.op.perform``, with the parameters of the op bound to it if it has some."""
    op = node.op
    params = op.get_params(node) if op.params_type is not None else None
    perform: Callable[..., object] = op.perform
    if params is None:
        return perform
    value = op.params_type.filter(params)

    def with_params(node: Node, inputs: Values, output_storage: Storage) -> object:
        return perform(node, inputs, output_storage, value)

    return with_params


def has_perform(op: Op) -> bool:
    """Return whether ``op`` can be computed in Python."""
    return type(op).perform is not Op.perform or "perform" in vars(op)


def has_own_thunk(op: Op) -> bool:
    """Return whether ``op`` takes its execution into its own hands."""
    return type(op).make_thunk is not Op.make_thunk


#: Names that have modules of their own, which need this one.
_ELSEWHERE = {
    "ExternalCOp": "external_op", "OpenMPOp": "external_op", "get_io_macros": "external_op",
    "get_sub_macros": "external_op", "Params": "params_type", "ParamsType": "params_type",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"theano.graph.{_ELSEWHERE[name]}"), name)
    return lazy_names.required()(globals())[0](name)


def __dir__() -> list[str]:
    return sorted({*_ELSEWHERE, *lazy_names.required()(globals())[1]()})
