"""``import theano``: what it costs, what it shows, what it says of what is not there."""

import subprocess
import sys

import pytest

import theano
from theano import layers
from theano.errors import UnavailableLayerError

WATCH = """
import sys
seen = []
def watch(event, args):
    if event == "open" and isinstance(args[1], str) and any(m in args[1] for m in "wax+"):
        seen.append((event, str(args[0])))
    elif event.split(".")[0] in ("subprocess", "socket") or event in ("os.system", "os.posix_spawn", "os.fork", "os.mkdir"):
        seen.append((event, str(args)))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
import theano
assert not seen, seen
for name in ("numpy", "scipy", "theano.loader", "theano.toolchain.build", "theano.gof", "theano.gradient"):
    assert name not in sys.modules, name
print("quiet")
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_starts_and_writes_nothing():
    assert run(WATCH) == "quiet\n"


def test_documented_names_are_there():
    for name in "Apply Constant Container FunctionGraph Generic In Mode Op OrderedUpdates Out Param Type Variable".split():
        assert isinstance(getattr(theano, name), type), name
    for name in "as_op change_flags clone config function pp pprint shared grad gof printing compile gradient utils".split():
        assert hasattr(theano, name) and name in dir(theano), name
    assert issubclass(theano.Function, theano.compile.Function)


def test_old_spellings():
    from theano.compile.function_module import Function, UnusedInputError
    from theano.compile.io import In
    from theano.compile.ops import as_op
    from theano.compile.pfunc import Param
    from theano.compile.profiling import ProfileStats
    from theano.compile.sharedvalue import SharedVariable
    from theano.gof.fg import FunctionGraph
    from theano.gof.graph import Apply, Constant, Variable
    from theano.gof.op import PureOp
    from theano.gof.type import Generic
    from theano.gof.utils import MethodNotDefined

    assert In is theano.In and Param is theano.Param and as_op is theano.as_op and Apply is theano.Apply
    assert PureOp is theano.Op and Generic is theano.Generic and theano.gof.FunctionGraph is FunctionGraph
    assert Function and UnusedInputError and ProfileStats and SharedVariable and Constant and Variable and MethodNotDefined
    assert str(type(theano.generic("x").type)) and repr(Apply) == "<class 'theano.gof.graph.Apply'>"


def test_a_layer_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(layers.DISTRIBUTIONS, "imaginary", "theano-imaginary")
    assert not hasattr(theano, "imaginary") and "imaginary" not in dir(theano)
    with pytest.raises(UnavailableLayerError, match="pip install theano-imaginary"):
        theano.imaginary
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        theano.nonsense
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        theano.compile.nonsense


def test_updates_are_ordered_and_checked():
    a, b = theano.shared({}, name="a"), theano.shared({}, name="b")
    updates = theano.OrderedUpdates([(b, a)])
    updates[a] = b
    assert list(updates) == [b, a]
    updates.update({a: a})
    assert updates[a] is a
    assert dict(theano.OrderedUpdates({a: b}) + {b: a}) == {a: b, b: a} == dict({a: b} + theano.OrderedUpdates({b: a}))
    with pytest.raises(KeyError, match="two different expressions"):
        theano.OrderedUpdates({a: b}) + {a: a}
    for wrong in (lambda: theano.OrderedUpdates({"a": b}), lambda: updates.__setitem__(3, a), lambda: updates.update({3: a})):
        with pytest.raises(TypeError, match="only shared variables"):
            wrong()
