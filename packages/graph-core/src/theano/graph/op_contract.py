"""What an op may tell about itself beside how it is computed: the questions, with the answers of those who say nothing.

No op has to define any of these. Call the method; to find out first whether the op implements it (a call
costs time, or there is another way), use `answers`. An op's C code is described in `graph/c_contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import MethodNotDefined
from theano.graph.source import created_at

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Value
    from theano.graph.variable import Variable


class OpContract:
    """The optional attributes and methods of an op.

    An op knows of which classes the variables of its nodes are, and says so where it overrides a method: there a
    ``Node`` is an ``Apply[Dot, Tensor]``, and ``Operands`` are a ``Sequence[Tensor]``.

    Attributes
    ----------
    default_output : int or None
        The output that a call returns where there are several.
    view_map : dict from int to list of int
        For an output, the inputs whose memory it may share. Several are allowed.
    views_contiguous : bool
        Whether the output shares the first input's memory where that is contiguous, and may be a
        copy where they do not.
    destroy_map : dict from int (or None) to list of int
        For an output, the inputs that are overwritten to make it; under None, inputs used as working space.
    destroyhandler_tolerate_same : list of (int, int)
        Inputs that may be one variable although the first of each pair is overwritten.
    destroyhandler_tolerate_aliased : list of (int, int)
        Inputs that may share memory in any way although the first of each pair is overwritten.
    commutative, associative : bool
        Whether patterns may match the inputs in any order, and grouped in any way.
    lazy : bool or None
        Whether thunks of the op may ask for inputs when they are called; None: only a thunk can tell.
    is_length : bool
        Whether the output is a number that is never negative: the length of something.
    priority : int
        Where the node runs among those that need nothing of it: -1 as early as possible, 1 as late, 0 anywhere.
    moves_only : bool
        It computes nothing, so that even a linker that wants everything compiled may let it run in Python.
    slopes_of_whole : bool
        Whether the gradient passes through outputs that are whole numbers, as it does where numbers are only moved;
        any other function whose values are whole jumps, and is flat elsewhere.
    linear_in : tuple of int or slice, or None
        The inputs in each of which the op is linear; those of a slice together. R_op follows: the sum of the op itself
        with each replaced by its direction. Empty: no output moves. None (the default): R_op or the gradient says it.
    shapes : str or None
        The lengths of the outputs by those of the inputs: ``"ij,jk->ik"`` for a product of matrices. A small letter is
        one length, a capital any number of them, and the first input that has a letter gives it: ``",A->A"`` is the
        shape of the second input, ``"iA->i"`` its first length, ``"->"`` no dimension. infer_shape follows.
    check_input : bool or None
        Whether the types of the inputs check them in C; None: as ``config.check_input`` says.
    params_type : Type or None
        The type of what ``get_params`` returns, for ops that have parameters.
    """

    default_output: int | None = None
    view_map: dict[int, list[int]] = {}
    views_contiguous: bool = False
    destroy_map: dict[int | None, list[int]] = {}
    destroyhandler_tolerate_same: Sequence[tuple[int, int]] = ()
    destroyhandler_tolerate_aliased: Sequence[tuple[int, int]] = ()
    commutative: bool = False
    associative: bool = False
    lazy: bool | None = None
    is_length: bool = False
    priority: int = 0
    moves_only: bool = False
    slopes_of_whole: bool = False
    linear_in: tuple[int | slice, ...] | None = None
    shapes: str | None = None
    check_input: bool | None = None
    params_type: Any = None

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        # A default must not hide what a class named after Op says: ``class Mine(Op, SaysShapes)``.
        bases = cls.__mro__
        for base in bases[bases.index(OpContract) + 1 : -1]:
            for name in _NAMES.intersection(vars(base)):
                if getattr(cls, name) is vars(OpContract)[name]:
                    setattr(cls, name, vars(base)[name])
        for method, statement in _STATEMENTS.items():
            # It counts more than the method of a base.
            if statement in vars(cls) and method not in vars(cls) and stated(cls, statement) is not None:
                setattr(cls, method, vars(OpContract)[method])

    # -- derivatives: asked by grad and Rop, while a user builds a graph ---------------------------------------

    def grad(self, inputs: Operands, output_grads: Operands) -> Sequence[Variable]:
        """Return the gradient of a cost with respect to each input, given that with respect to each output."""
        raise MethodNotDefined("grad", type(self), type(self).__name__)

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Operands) -> Sequence[Variable]:
        """Return the same as :meth:`grad`; an op that wants to use its outputs overrides this one."""
        return self.grad(inputs, output_grads)

    def R_op(self: Any, inputs: Operands, eval_points: Operands) -> Sequence[Variable | None]:
        """Return the derivative of each output along the direction ``eval_points`` of the inputs.

        Directions are None for inputs that do not move (zeros, where the op is no layer's), and for outputs that do
        not. Without this method, and without :attr:`linear_in`, the gradient is asked, twice.
        """
        linear_in = stated(self, "linear_in")
        if linear_in is None:
            raise MethodNotDefined("R_op", type(self), type(self).__name__)
        moved: Sequence[Any] | None = None
        for one in linear_in:
            numbers = range(len(inputs))[one] if isinstance(one, slice) else [range(len(inputs))[one]]
            points = {k: eval_points[k] for k in numbers}
            if any(d is not None for d in points.values()):
                along = {k: inputs[k].zeros_like() if d is None else d for k, d in points.items()}
                made = self(*(along.get(k, x) for k, x in enumerate(inputs)), return_list=True)[0].owner.outputs
                moved = made if moved is None else [a + b for a, b in zip(moved, made, strict=True)]
        return moved or [None] * len(self.make_node(*inputs).outputs)

    def connection_pattern(self, node: Node) -> Sequence[Sequence[bool]]:
        """Return, for each input, a list that says of each output whether the input has an influence on its elements.

        What only says how long something is has none. The default: each input on each output.
        """
        return [[True] * len(node.outputs)] * len(node.inputs)

    # -- many values at once: asked where a graph is given a batch axis (`theano.batching`) ----------------------

    def batch(self, node: Node, inputs: Operands, batched: Sequence[bool]) -> Sequence[Variable] | None:
        """Return the outputs of ``node`` for many rows at once, or None: no rule, the rows are computed in a loop.

        Parameters
        ----------
        node : Apply
            For one row.
        inputs : list of Variable
            In place of its inputs; those with a batch axis have one dimension more, the first.
        batched : list of bool
            Which have one; at least one has. All batch axes are equally long.

        Returns
        -------
        list of Variable or None
            Each with a batch axis, or without one where it is the same for all rows.
        """
        return None

    # -- other processors: asked where it is decided what is computed in whose memory ----------------------------

    def place_on_device(self, node: Node, placing: Any) -> Sequence[Variable] | None:
        """Return what takes the place of the outputs of ``node`` where some of its operands are on a device.

        Asked only of ops that define it, in place of entries in the lowering table: an op that holds a graph, or that
        hands values on, has places for them one by one.

        Parameters
        ----------
        node : Apply
        placing : theano.tensor.device.placement.Placing

        Returns
        -------
        list of Variable or None
            On the host, by transfers; None: the node stays as it is.
        """
        return None

    # -- properties of outputs before they are computed ---------------------------------------------------------

    def infer_shape(self, node: Node, shapes: Sequence[Any]) -> Sequence[Any]:
        """Return the lengths of each output, or None for one that only the computed value can tell.

        Asked by rewriting, once for a node. The form ``infer_shape(fgraph, node, shapes)`` is understood too.

        Parameters
        ----------
        node : Apply
        shapes : list of tuple of Variable
            The lengths of each input; ``()`` for one that is no tensor.
        """
        letters = stated(self, "shapes")
        return [None] * len(node.outputs) if letters is None else lengths_by(letters, shapes)

    def static_value(self, node: Node, index: int, ask: Callable[[Any], Any]) -> Value:
        """Return the one number that output ``index`` holds, in all its elements, or None where it is not known.

        Asked while a graph is built and rewritten (``get_scalar_constant_value``).

        Parameters
        ----------
        node : Apply
        index : int
        ask : callable
            Returns the same of an input, or raises NotScalarConstantError.
        """
        return None

    def static_length(self, node: Node, index: int) -> int | None:
        """Return the length of output ``index``, a vector, or None where it is not known (``get_vector_length``)."""
        return None

    def static_element(self, node: Node, k: int, ask: Callable[[Any], Any]) -> Value:
        """Return element ``k`` of the first output, a vector, or None where it is not known.

        Without this method, ``ask`` is asked for all elements.
        """
        return None

    # -- what rewriting and the machine may do ------------------------------------------------------------------

    #: What was measured of the functions that the op calls: one ``ProfileStats`` for each.
    inner_profiles: Sequence[Any] = ()

    def carried_inputs(self, node: Node) -> Sequence[Variable]:
        """Return the inputs of which an output is the new value, as a loop has them for what each step replaces."""
        return ()

    def restored_inputs(self, inputs: Operands) -> Operands:
        """Return the inputs of a node that is read from a pickle, with what other versions of the op kept elsewhere."""
        return inputs

    def do_constant_folding(self, node: Node) -> bool:
        """Return whether ``node`` may be computed while compiling when all its inputs are constants."""
        return True

    def checked_inputs(self, node: Node) -> Sequence[int] | None:
        """Return the inputs whose values the compiled form looks at to see whether it will fail.

        To declare this is a promise about ``c_kernel``: it checks first (types and shapes of any input, values of
        these), then asks for each of its outputs once, then writes and cannot fail any more but for want of scratch
        memory. Such a node may write the new value of a shared variable over the old one. None (the default): no
        promise.
        """
        return None


def stated(op: Any, name: str) -> Any:
    """Return ``op.linear_in`` or ``op.shapes``, or None where an op keeps something else under that name.

    A user's op may keep data of its own under these names.

    Examples
    --------
    >>> from theano.graph import Op
    >>> class Mine(Op):
    ...     shapes = [(2, 3)]
    ...     linear_in = (0, slice(2, None))
    >>> stated(Mine(), "shapes"), stated(Mine(), "linear_in")
    (None, (0, slice(2, None, None)))
    """
    said = getattr(op, name)
    if name == "shapes":
        return said if isinstance(said, str) and "->" in said else None
    return said if isinstance(said, tuple) and all(isinstance(one, (int, slice)) for one in said) else None


def lengths_by(text: str, shapes: Sequence[Sequence[Variable | int]]) -> list[tuple[Variable | int, ...]]:
    """Return the lengths of outputs as `OpContract.shapes` states them, of the lengths of inputs.

    Examples
    --------
    >>> lengths_by("ij,jk->ik", [(2, 3), (3, 4)]), lengths_by(",aB->Ba,", [(), (5, 6, 7)])
    ([(2, 4)], [(6, 7, 5), ()])
    """
    known: dict[str, Sequence[Any]] = {}
    given, wanted = text.split("->")
    for letters, lengths in zip(given.split(","), shapes, strict=False):
        spare = len(lengths) - sum(letter.islower() for letter in letters)
        at = 0
        for letter in letters:
            end = at + (1 if letter.islower() else spare)
            known.setdefault(letter, lengths[at:end])
            at = end
    return [tuple(n for letter in letters for n in known[letter]) for letters in wanted.split(",")]


def check_maps(node: Node) -> None:
    """Refuse a ``view_map`` or ``destroy_map`` that speaks of what a node does not have.

    Raises
    ------
    TypeError
        It names the op, the node and what is wrong.
    """
    for name in ("view_map", "destroy_map"):
        declared: Any = getattr(node.op, name)
        problem = _problem_of_map(declared, node, name) if declared else ""
        if problem:
            where = created_at(node.outputs[0]) if node.outputs else None
            raise TypeError(
                f"{node.op}.{name} is {declared!r}: {problem}. The node is {node} with {len(node.inputs)} inputs and "
                f"{len(node.outputs)} outputs{f', written at {where}' if where else ''}.\nDeclare a dictionary from "
                f"the number of an output to a list of numbers of inputs, as {name} = {{0: [0]}}; both count from 0."
            )


def _problem_of_map(declared: object, node: Node, name: str) -> str:
    if not hasattr(declared, "items"):
        return f"it is of type {type(declared).__name__}"
    for o, named in declared.items():
        # Working space that is overwritten belongs to no output.
        if not _counts(o, node.outputs) and (o is not None or name == "view_map"):
            return f"{o!r} is the number of no output"
        if not isinstance(named, (list, tuple)):
            return f"output {o!r} maps to {named!r}, which is not a list of inputs"
        for i in named:
            if not _counts(i, node.inputs):
                return f"{i!r} is the number of no input"
    return ""


def _counts(number: Any, variables: Operands) -> bool:
    return hasattr(number, "__index__") and 0 <= number < len(variables)


#: For a method, the attribute that may say the same.
_STATEMENTS = {"R_op": "linear_in", "infer_shape": "shapes"}
_NAMES = frozenset(name for name in vars(OpContract) if not name.startswith("_"))


def answers(op: OpContract, method: str) -> bool:
    """Return whether an op has a method of its own, be it that of its class or one that was set on it.

    Examples
    --------
    >>> from theano.graph import Op
    >>> class Same(Op):
    ...     __props__ = ()
    ...     def infer_shape(self, node, shapes):
    ...         return shapes
    >>> answers(Same(), "infer_shape"), answers(Same(), "connection_pattern")
    (True, False)
    """
    if method in _STATEMENTS and stated(op, _STATEMENTS[method]) is not None:
        return True
    return getattr(getattr(op, method), "__func__", None) is not getattr(OpContract, method)
