"""What older programs read of a profile."""

from __future__ import annotations

from io import StringIO

import pytest

import theano
import theano.tensor as T


def test_sums_and_parts_of_the_summary():
    x = T.dvector("x")
    f = theano.function([x], T.sort(T.sort(x)[::-1]), profile=True, mode=theano.Mode("py", None))
    f([1.0, 2.0])
    p = f.profile
    assert p.vm_call_time == p.fct_call_time and p.fct_call == {f: 1}
    assert set(p.class_nodes()) == set(p.class_callcount()) == set(p.class_impl()) == set(p.by_class())
    assert set(p.class_impl().values()) == set(p.op_impl().values()) == {"Py"}
    assert sum(p.op_nodes().values()) == sum(p.class_nodes().values()) == p.nb_nodes == sum(p.class_callcount().values())
    for times in (p.op_time(), p.class_time()):
        assert sum(times.values()) == pytest.approx(p.thunk_time)
    for part, word in (
        (p.summary_function, "calls"), (p.summary_class, "Class"), (p.summary_ops, "Ops"), (p.summary_nodes, "Nodes"),
        (p.summary_globals, ""), (p.summary_memory, ""),
    ):  # fmt: skip
        out = StringIO()
        part(out)
        assert word in out.getvalue()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        p.nonsense
