"""What ``import theano.tensor`` brings in. Time is a matter of the benchmark; what it is made of is counted here."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PARTS = """
import json, sys
import numpy
before = set(sys.modules)
import theano.tensor as T
print(json.dumps(sorted(set(sys.modules) - before)))
"""

FIRST = """
import json, sys
import theano, theano.tensor as T
x = T.dvector("x")
f = theano.function([x], T.exp(x) * 2)
print(json.dumps([f([0.0]).tolist(), sorted(sys.modules)]))
"""


def run(program: str):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_brings_in_little():
    brought = run(PARTS)
    ours = [name for name in brought if name.startswith("theano")]
    assert len(ours) < 163, ours
    assert len(brought) - len(ours) < 30, brought
    later = (
        "rules", "rewriting", "opt", "nnet", "fft", "nlinalg", "slinalg", "inplace", "testing", "compile.maker", "cache",
        "codegen", "runtime.link", "rows",
    )  # fmt: skip
    assert not [name for name in ours if name.removeprefix("theano.").removeprefix("tensor.").startswith(later)]
    # Each makes classes by writing and compiling code, or takes as long as two to ten modules of ours.
    heavy = "array copy dataclasses hashlib json logging scipy signal string subprocess tempfile threading".split()
    assert not {*heavy} & set(brought)


def test_a_function_that_is_in_the_cache_needs_no_rules():
    answer, _ = run(FIRST)
    again, modules = run(FIRST)
    assert answer == again == [2.0]
    assert not [name for name in modules if name.startswith(("theano.tensor.rules", "theano.rewriting.userdefined"))]


@pytest.mark.parametrize("program", [
    "from theano.tensor import *; print(len([fft, nnet, nlinalg, slinalg, inplace, opt, xlogx, verify_grad]))",
    "from theano.tensor import fft, nnet, nlinalg, slinalg, inplace, opt, rules, choice; print(8)",
    "import theano.tensor as T; print(8 * (T.nnet.softmax(T.dmatrix()).ndim == 2))",
    "import theano.tensor as T; print(8 * (T.nlinalg.det(T.dmatrix()).ndim == 0))",
    "import theano.tensor as T; T.jacobian; import theano.gradient as g; g.jacobian; print(8 * callable(T.jacobian))",
    "import theano.tensor as T; print(8 * ({'fft', 'nnet', 'opt', 'xlogx', 'inplace', 'verify_grad'} <= {*dir(T)}))",
    "import theano, theano.tensor as T; print(8 * (theano.pp(1 / T.nnet.sigmoid(T.dscalar('x'))) == '(TensorConstant{1} / sigmoid(x))'))",
])  # fmt: skip
def test_what_comes_later_is_there(program):
    assert run(program) == 8


#: Modules of which these consist: `import` and `getattr` find them, and `dir` has what programs call.
INSIDE = {
    "theano.tensor": "choice rules verify",
    "theano.tensor.nnet": "activation crossentropy labels likelihood",
}


@pytest.mark.parametrize("module", INSIDE)
def test_dir_has_what_is_called_and_no_parts(module):
    inside = INSIDE[module].split()
    program = f"import json, {module} as m; print(json.dumps([[n, hasattr(m, n)] for n in (*{inside}, '', *dir(m))]))"
    found = run(program)
    hidden, shown = dict(found[: len(inside)]), dict(found[len(inside) + 1 :])
    assert all(hidden.values()) and all(shown.values())
    assert not {*hidden, "annotations", "lazily"} & {*shown} and len(shown) > 50
