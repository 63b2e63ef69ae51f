"""Each entry of the lowering table: some node of the tables of cases fits it, and what does not fit is left to Python."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from every_op import samples

import theano.compile.copy_ops as plumbing
import theano.tensor as T
from theano import scalar as scal
from theano.compile.checkpoint import ControlDependency
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin, Kernel
from theano.graph.op import Op
from theano.ifelse import ifelse
from theano.lowering.accepts import DTYPE_NAMES, dtype_of
from theano.lowering.table import Lowering, find, lower, lowerings
from theano.scalar.type import Scalar
from theano.scan.op import Scan
from theano.scan.spec import LoopSpec
from theano.tensor.control.checks import CheckedLength
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.common import Ready
from theano.tensor.linalg.elimination import LUFactor
from theano.tensor.linalg.equations import lstsq
from theano.tensor.random.mrg import mrg_uniform
from theano.tensor.random.philox import PhiloxDraw
from theano.tensor.type import TensorType

m, v, k, h = T.dmatrix("m"), T.dvector("v"), T.lscalar("k"), T.dscalar("h")

#: Nodes of ops that the tables of cases do not have: the content is undefined, or they are made for something else.
MORE = [
    T.AllocEmpty("float64")(k, k).owner, lstsq()(m, v, 0.1)[0].owner, LUFactor()(m)[0].owner, ifelse(k, m, m + 1).owner,
    plumbing.deep_copy_op(m).owner, plumbing.view_op(m).owner, scal.add(scal.float64("a"), scal.int8("b")).owner,
    CheckedLength()(k, T.eq(k, 1)).owner, T.slinalg.eigvalsh(m, None).owner, ToDevice("some")(m).owner,
    FromDevice()(ToDevice("some")(m)).owner, mrg_uniform.new(T.imatrix(), None, "float64", (k,))[1].owner,
    Scan(LoopSpec(states=((-1,),)), [h], [h + 1])(k, v).owner, ControlDependency()(m, v).owner,
    PhiloxDraw("normal", T.dvector)(TensorType("uint64", (False,))(), (k,))[1].owner,
]  # fmt: skip

ENTRIES = list(lowerings())


def name_of(entry: Lowering) -> str:
    return f"{entry.op.__name__}-{getattr(entry.becomes, 'symbol', 'generated')}-{entry.accepts}"


EACH = pytest.mark.parametrize("entry", ENTRIES, ids=name_of)


@cache
def by_entry() -> dict[int, list[Apply]]:
    """Return the nodes of the tables and ``MORE`` by the entry (its ``id``) that each is lowered by."""
    found: dict[int, list[Apply]] = {}
    for node in [*(sample.node for several in samples().values() for sample in several), *MORE]:
        found.setdefault(id(find(node)), []).append(node)
    return found


def nodes_of(entry: Lowering) -> list[Apply]:
    return by_entry().get(id(entry), [])


def retyped(node: Apply, changes: dict[int, str]) -> Apply | None:
    """Return a node as no op makes it: the n-th of its variables have other dtypes."""
    variables: list[Any] = []
    for i, variable in enumerate([*node.inputs, *node.outputs]):
        kind = variable.type
        if i not in changes:
            variables.append(kind())
        elif isinstance(kind, TensorType):
            variables.append(TensorType(changes[i], kind.broadcastable)())
        elif isinstance(kind, Scalar):
            variables.append(Scalar(changes[i])())
        else:
            return None
    count = len(node.inputs)
    return Apply(node.op, variables[:count], variables[count:])


@EACH
def test_a_node_fits_and_becomes_what_the_entry_says(entry):
    found = nodes_of(entry)
    assert found, f"add a case to cases_ops.py (or MORE): nothing is lowered by {name_of(entry)}"
    kernels = [lower(node) for node in found]
    assert any(kernel is not None for kernel in kernels), name_of(entry)
    for kernel in kernels:
        if isinstance(entry.becomes, Ready):
            assert kernel is None or (isinstance(kernel, Builtin) and kernel.symbol == entry.becomes.symbol)
        else:
            assert kernel is None or isinstance(kernel, (Kernel, Builtin))


@EACH
def test_dtypes_that_do_not_fit_are_left_to_python(entry):
    """Each variable alone, and all of one dtype together, in every dtype: a kernel or None, and None if not accepted."""
    refused = 0
    for node in sorted(nodes_of(entry), key=lambda node: len(str(node.op)))[:3]:  # of many steps, one refuses some dtypes
        variables = [*node.inputs, *node.outputs]
        alone = [{i: d} for i in range(min(len(variables), 6)) for d in DTYPE_NAMES]
        together = [{i: d for i, v in enumerate(variables) if dtype_of(v) == "float64"} for d in DTYPE_NAMES]
        for changes in [*alone, *together]:
            made = retyped(node, changes)
            if made is None:
                continue
            kernel = lower(made)
            assert kernel is None or isinstance(kernel, (Kernel, Builtin))
            if find(made) is None:
                refused += 1
                assert kernel is None, made
    if entry.accepts is not None and (entry.accepts.dtypes or entry.accepts.same):
        assert refused, f"no dtype was refused by {name_of(entry)}"


@EACH
def test_an_entry_says_what_it_computes(entry):
    assert entry.becomes is None or entry.doc.startswith("Return "), entry
    assert entry.doc.endswith(".")
    assert entry.when is None or (entry.when.__doc__ or "").startswith("Tell whether "), entry


def test_no_class_of_this_layer_holds_c():
    def below(cls: type) -> set[type]:
        return {cls, *(c for sub in cls.__subclasses__() for c in below(sub))}

    ours = {c for c in below(Op) if c.__module__.startswith("theano.") and "test" not in c.__module__}
    assert Elemwise in ours
    assert [c for c in ours - {Op} if "c_kernel" in c.__dict__] == []


def test_entries_that_share_a_kernel_are_those_of_large_graphs():
    sharing = {entry.op.__name__ for entry in ENTRIES if entry.by_types}
    assert sharing == {*"Elemwise ElemwiseOfNumbers CAReduce MapReduce MapReduceOfNumbers DimShuffle Dot Dot22 Gemm Gemv".split()}


def test_entries_that_read_a_part_are_those_that_may_stay_where_all_of_it_is():
    parts = {"Subtensor", "SubtensorChain", "AdvancedSubtensor1", "BaseAdvancedSubtensor", "ExtractDiag"}
    assert {entry.op.__name__ for entry in ENTRIES if entry.selects} == parts


def test_each_module_of_entries_is_found_by_its_ops():
    """What `theano.layers.tensor` says of modules is so: each entry is loaded by a node of its op, alone."""
    from theano.layers.tensor import MODULES

    for entry in ENTRIES:
        if not entry.op.__module__.startswith("theano.tensor."):
            continue
        place = entry.op.__module__.removeprefix("theano.tensor.")
        while place not in MODULES:
            assert "." in place, entry.op
            place = place.rpartition(".")[0]
        where = getattr(entry.becomes, "params", entry.becomes).__module__.removeprefix("theano.tensor.")
        assert where in MODULES[place], entry.op


def test_an_op_of_people_has_the_kernel_of_its_base_or_its_own():
    class Mine(Elemwise):
        pass

    class Own(Elemwise):
        def c_kernel(self, node):
            return None

    node = T.exp(m).owner
    assert lower(Mine(scal.exp).make_node(m)) == lower(node)
    assert lower(Mine(scal.gamma).make_node(m)).source == lower(T.gamma(m).owner).source
    assert lower(Own(scal.exp).make_node(m)) is None
    assert node.op.c_kernel(node) == lower(node)
    assert np.isclose(T.exp(0.5).eval(), np.exp(0.5))
