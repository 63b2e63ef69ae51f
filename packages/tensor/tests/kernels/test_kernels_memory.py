"""Compiled code of every op, as it is and in place: inputs stay what they are unless destroyed, outputs lie where declared."""

from __future__ import annotations

import numpy as np
import pytest
from every_op import samples
from kernel_harness import compile_many, run
from test_every_op import NAMES, check_memory, held, variants

from theano.graph import Constant

#: How many nodes of one class are compiled; the Elemwise of one scalar op is much like that of another.
MOST = 12


def chosen():
    """Yield for each class some nodes with values, and the kernels of the forms of each."""
    for cls, found in samples().items():
        numbers = [s for s in found if all(isinstance(x, (np.ndarray, np.generic)) or isinstance(v, Constant) for v, x in zip(s.node.inputs, s.inputs, strict=True))]
        step = max(1, len(numbers) // MOST)
        for sample in numbers[::step][: MOST + 1]:
            yield cls, sample, [(v, v.op.c_kernel(v)) for v in variants(sample.node)]


@pytest.fixture(scope="module")
def kernels():
    by_class: dict[str, list] = {}
    for cls, sample, forms in chosen():
        by_class.setdefault(cls.__name__, []).append((sample, [(v, k) for v, k in forms if k is not None]))
    compile_many([k for found in by_class.values() for _, forms in found for _, k in forms])
    return by_class


def as_input(v, x):
    if isinstance(v, Constant) and not isinstance(x, (np.ndarray, np.generic)):
        return v, None
    return held(np.asarray(x))


@pytest.mark.parametrize("name", NAMES)
def test_memory_of_compiled_code(kernels, name):
    for sample, forms in kernels.get(name, ()):
        for variant, kernel in forms:
            pairs = [as_input(v, x) for v, x in zip(variant.inputs, sample.inputs, strict=True)]
            given, buffers = [p[0] for p in pairs], [p[1] for p in pairs]
            results = run(kernel, variant, given)
            what = f"{variant} in {sample.case}, compiled"
            check_memory(variant, sample.inputs, given, buffers, list(results), sample.outputs, results.shares, what)
