"""The lowering table: its entries, where they are found, and `lower`, which turns a node into a kernel.

The classes of our ops hold no C. A layer says at the point `modules` which of its modules have the entries for the ops
of which module, and these are imported when the first such node is lowered. Classes that users write may have a
method ``c_kernel`` instead of an entry.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from theano.extensions import Table
from theano.graph.apply import Apply
from theano.graph.canonical import is_ours
from theano.graph.kernel import Builtin, Kernel
from theano.graph.op import Op
from theano.lowering.accepts import Accepts, Dtypes
from theano.lowering.targets import ANY, CPU, Target
from theano.records import record

if TYPE_CHECKING:
    from theano.graph.annotations import Node

Becomes = Callable[[Any, Apply[Any, Any]], Kernel | Builtin | None]


@record(frozen=True)
class Lowering:
    """One entry of the table: what nodes of an op become on a target.

    Parameters
    ----------
    op : class of Op
        It counts for subclasses that have no entry, and define neither ``c_kernel`` nor, where a user wrote them,
        ``perform`` or ``c_code``.
    becomes : callable or None
        From an op and its node to a `Kernel` or a `Builtin`, or None where only ``perform`` will do. None: nodes of
        this class are not compiled, even if those of a base class are.
    accepts : Accepts or None
        Nodes that do not fit are left to ``perform``; None: ``becomes`` decides alone.
    when : callable or None
        What cannot be said as data, from an op and its node; its docstring begins with "Tell whether".
    target : Target
        `ANY`: this entry is one of the CPU's, and of all other targets, after those that the class has for one.
    on_host : callable or None
        From a node to the numbers of those inputs that its kernel reads in the host's memory, although the others are
        in the target's: lengths, indices, factors. None: that input is missing. It returns None for a node that only
        the CPU can compute.
    only_lengths : bool
        The kernel reads no more than lengths, in whatever memory its inputs are, and its results are in the host's.
    selects : bool
        The results are a part of the inputs, so that it is cheaper to move them than these to another memory.
    by_types : bool
        What a node becomes follows from its op and from the types of its inputs and outputs, and from nothing else:
        nodes that agree in these may share it.

    Examples
    --------
    >>> from theano.graph import Apply, Op, generic
    >>> class Same(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> def same(op, node):
    ...     return Builtin("/opt/theano/_kernels.so", "alias")
    >>> register(Lowering(Same, same))
    >>> lower(Same()(generic("x")).owner).symbol
    'alias'
    """

    op: type[Op]
    becomes: Becomes | None
    accepts: Accepts | None = None
    when: Callable[[Any, Node], bool] | None = None
    target: Target = CPU
    on_host: Callable[[Node], Collection[int] | None] | None = None
    only_lengths: bool = False
    selects: bool = False
    by_types: bool = False

    def host_inputs(self, node: Apply) -> Collection[int] | None:
        """Return the numbers of those inputs of ``node`` that are in the host's memory; None: all, and all outputs."""
        return () if self.on_host is None else self.on_host(node)

    def fits(self, node: Apply) -> bool:
        """Return whether this entry is for ``node``, whose op is of its class."""
        return (self.accepts is None or self.accepts.fits(node)) and (self.when is None or self.when(node.op, node))

    @property
    def doc(self) -> str:
        """One sentence: what the kernel computes."""
        return (inspect.getdoc(self.becomes) or "").partition("\n")[0] if self.becomes is not None else "Not compiled."


# For the name of a target and a class of ops its entries, which are tried in this order.
_entries: dict[str, dict[type, tuple[Lowering, ...]]] = {}
# Modules of ops (and any others that define classes) whose entries are in the table, if they have any.
_ready: set[str] = set()


def register(*lowerings: Lowering) -> None:
    """Enter lowerings into the table, after those that their classes have."""
    for entry in lowerings:
        for name in {entry.target.name, CPU.name if entry.target is ANY else entry.target.name}:
            of_target = _entries.setdefault(name, {})
            of_target[entry.op] = (*of_target.get(entry.op, ()), entry)


def like_cpu(
    op: type[Op], becomes: Becomes, dtypes: Mapping[str, Dtypes] | None = None, *,
    target: Target, same: tuple[str, ...] | None = None, number: int = 0, **others: Any,
) -> Lowering:  # fmt: skip
    """Return an entry of another target for an op that the CPU has an entry for: what it accepts is said there.

    Parameters
    ----------
    op, becomes
        As `Lowering` has them.
    dtypes : mapping, optional
        Which dtypes operands have there that are others.
    target : Target
    same : tuple of str, optional
        Which operands are of one dtype there, if these are others.
    number : int
        Which of the CPU's entries says it.
    **others
        Further fields of the entry.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> from theano.lowering.accepts import FLOATS, Accepts
    >>> class Twice(Op):
    ...     itypes = otypes = [generic]
    >>> def twice(op, node):
    ...     return Builtin("/opt/theano/_kernels.so", "twice")
    >>> register(Lowering(Twice, twice, Accepts("x -> y", same=("x y",))))
    >>> print(like_cpu(Twice, twice, {"x": FLOATS}, target=Target("toy", "toy")).accepts)
    x: float; x and y of one dtype
    """
    _import_for(op.__module__)
    accepts = _entries[CPU.name][op][number].accepts
    assert accepts is not None, "the CPU's entry says it as data"
    return Lowering(op, becomes, accepts.changed(dtypes or {}, same), target=target, **others)


class _Modules(Table[str, tuple[str, ...]]):
    def register(self, key: str, answer: tuple[str, ...]) -> tuple[str, ...]:
        """Add modules to those that have entries for the ops of a module or package."""
        _ready.clear()
        return super().register(key, tuple(dict.fromkeys((*self.get(key, ()), *answer))))


#: For a module or package that defines ops, the modules that `register` their entries, of which none is loaded before
#: such a node is lowered.
modules = _Modules("lowering.table.modules", "which modules have the entries of an op")


#: What nodes became, by op and types.
Shared = dict[Any, Kernel | Builtin | None]


def lower(node: Apply, target: Target = CPU, shared: Shared | None = None) -> Kernel | Builtin | None:
    """Return what computes ``node`` on a target, or None where there is only ``perform`` (or what users say in C).

    The nearest class of the op decides that has an entry for the target, or that defines ``c_kernel`` itself, which
    speaks for the CPU.

    Parameters
    ----------
    node : Apply
    target : Target
    shared : dict, optional
        For callers that lower several nodes: those that may share a kernel (``by_types``) get the same one.
    """
    op = node.op
    for cls in type(op).__mro__:
        if "c_kernel" in cls.__dict__ and cls is not Op:
            return op.c_kernel(node) if target == CPU else None
        entries = _entries_of(cls, target)
        if entries is not None:
            return _lowered(_fitting(entries, node), op, node, shared)
        if _computes(cls):
            break
    return None


def _computes(cls: type) -> bool:
    """Return whether a user's class says itself how it computes: what it derives from does not know."""
    return not is_ours(cls.__module__) and ("perform" in cls.__dict__ or "c_code" in cls.__dict__)


def find(node: Apply, target: Target = CPU) -> Lowering | None:
    """Return the entry that says what ``node`` becomes, or None."""
    return _fitting(_nearest(node.op, target), node)


def lowerings(target: Target = CPU) -> Iterator[Lowering]:
    """Yield all entries for a target; modules that were not loaded yet are."""
    for place in list(modules):
        _load(place)
    for entries in list(_entries.get(target.name, {}).values()):
        yield from entries


def why_not(node: Apply) -> str:
    """Return why nothing is compiled of ``node`` for the CPU, in words, for where `lower` has returned None.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Plain(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> why_not(Plain()(generic("x")).owner)
    'Plain has no compiled form: neither c_code nor c_kernel'
    """
    entries = _nearest(node.op, CPU)
    if not entries:
        return f"{type(node.op).__name__} has no compiled form: neither c_code nor c_kernel"
    if _fitting(entries, node) is not None:
        return "its compiled form does not take these operands"
    compiled = [entry for entry in entries if entry.becomes is not None and entry.accepts is not None]
    taken = " or ".join(dict.fromkeys(str(entry.accepts) for entry in compiled))
    return f"its compiled form takes {taken}" if taken else "its compiled form does not take these operands"


def _entries_of(cls: type, target: Target) -> tuple[Lowering, ...] | None:
    if cls.__module__ not in _ready:
        _load(cls.__module__)
    own, every = (_entries.get(name, {}).get(cls) for name in (target.name, ANY.name))
    if target == CPU or every is None:
        return own
    return (*(own or ()), *every)


def _load(module: str) -> None:
    _import_for(module)
    _ready.add(module)


def _import_for(module: str) -> None:
    """Import the modules that have the entries for ops of a module or of the packages it is in."""
    place = module
    while place:
        for name in modules.get(place, ()):
            importlib.import_module(name)
        place = place.rpartition(".")[0]


def _nearest(op: Op, target: Target) -> tuple[Lowering, ...]:
    """Return the entries of the nearest class of an op that has any."""
    for cls in type(op).__mro__:
        entries = _entries_of(cls, target)
        if entries is not None:
            return entries
        if _computes(cls):
            break
    return ()


def _fitting(entries: tuple[Lowering, ...], node: Apply) -> Lowering | None:
    return next((entry for entry in entries if entry.fits(node)), None)


def _lowered(entry: Lowering | None, op: Op, node: Apply, shared: Shared | None = None) -> Kernel | Builtin | None:
    if entry is None or entry.becomes is None:
        return None
    if shared is None or not entry.by_types:
        return entry.becomes(op, node)
    key = op, tuple([v.type for v in node.inputs]), tuple([v.type for v in node.outputs])
    if key not in shared:
        shared[key] = entry.becomes(op, node)
    return shared[key]


def kernel_on_cpu(op: Op, node: Apply) -> Kernel | Builtin | None:
    """Return what ``Op.c_kernel`` returns for an op that does not define it: what the table says, for the CPU."""
    return _lowered(_fitting(_nearest(op, CPU), node), op, node)

