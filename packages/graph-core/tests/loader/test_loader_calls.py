"""Arguments in, results out: what the vectorcall type promises."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from loader_specs import SCALAR, VECTOR, ZERO, given, number

from theano.loader import module
from theano.loader.module import Function


def two_inputs(kernels: Any, **more: Any) -> Function:
    """``a + b``, where ``b`` has a default."""
    program = {
        "slots": [("input", VECTOR, None), ("input", VECTOR, None), ("temp", VECTOR, None)],
        "instructions": [("c", kernels.add, None, [0, 1], [2], 1.0)],
        "inputs": [given(0, "a", np.asarray), (1, "b", False, [np.ones(2)], np.asarray)],
        "outputs": [2],
        "returns": "one",
        "name": "plus",
    }
    return Function({**program, **more})


def test_positional_keyword_and_default(kernels: Any) -> None:
    f = two_inputs(kernels)
    x, y = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    assert f(x, y).tolist() == [11, 22]
    assert f(x, b=y).tolist() == f(b=y, a=x).tolist() == f(a=x, b=y).tolist() == [11, 22]
    assert f(x).tolist() == f(a=x).tolist() == [2, 3]
    assert f([1.0, 2.0], [3.0, 4.0]).tolist() == [4, 6]
    name = "".join(["a"])  # not the interned string
    assert f(**{name: x}).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda f, x: f(), r"plus\(\) misses input 'a'"),
        (lambda f, x: f(b=x), r"plus\(\) misses input 'a'"),
        (lambda f, x: f(x, x, x), r"plus\(\) got too many arguments: 3"),
        (lambda f, x: f(x, c=x), r"plus\(\) has no input named 'c'"),
        (lambda f, x: f(x, a=x), r"plus\(\) got two values for input 'a'"),
    ],
)
def test_wrong_calls_name_the_input(kernels: Any, call: Any, text: str) -> None:
    f = two_inputs(kernels)
    with pytest.raises(TypeError, match=text):
        call(f, np.zeros(2))
    assert f(np.zeros(2)).tolist() == [1, 1]


def test_wrong_calls_ask_the_hook(kernels: Any) -> None:
    seen = []
    f = two_inputs(kernels, on_bad_call=lambda kind, detail: seen.append((kind, detail)) or LookupError(kind))
    x = np.zeros(2)
    for args, more in [((), {}), ((x, x, x), {}), ((x,), {"c": x}), ((x,), {"a": x})]:
        with pytest.raises(LookupError):
            f(*args, **more)
    assert seen == [("missing", 0), ("too_many", 3), ("unknown", "c"), ("duplicate", 0)]


def test_every_layout_is_taken_as_it_is(chain: Any) -> None:
    f = chain(1)
    base = np.arange(20.0)
    unaligned = np.frombuffer(b"x" + base.tobytes(), dtype="u1")[1:].view("f8")
    for x in [
        base,
        base[::-1],
        base[::2],
        base[3:7],
        np.broadcast_to(np.float64(2), (5,)),
        base[:0],
        unaligned,
        base.astype(">f8"),
    ]:
        assert np.array_equal(f(x), x + 1), x.flags


def test_longlong_is_int64() -> None:
    spec = ("int64", 1, (False,), False)
    f = Function(slots=[("input", spec, None)], instructions=[], inputs=[given(0, "x")], outputs=[0], returns="one")
    x = np.zeros(2, dtype="longlong")
    assert f(x) is x


@pytest.mark.parametrize("value", [np.zeros(3, "f4"), np.zeros((1, 3)), 1.0, "text", None, np.zeros(3, "M8[s]")])
def test_what_does_not_fit_is_a_type_error(chain: Any, value: Any) -> None:
    with pytest.raises(TypeError, match="expected float64 with 1 dimensions"):
        chain(1)(value)


def test_broadcastable_dimensions_are_checked() -> None:
    spec = ("float64", 2, (True, False), False)
    f = Function(slots=[("input", spec, None)], instructions=[], inputs=[given(0, "x")], outputs=[0], returns="one")
    assert f(np.zeros((1, 3))).shape == (1, 3)
    with pytest.raises(TypeError, match="length 1"):
        f(np.zeros((2, 3)))


def test_subclasses_go_through_the_filter(kernels: Any) -> None:
    class Mine(np.ndarray):
        pass

    seen: list[type] = []

    def filter(value: Any) -> Any:
        seen.append(type(value))
        return np.asarray(value)

    f = two_inputs(kernels, inputs=[given(0, "a", filter), given(1, "b", filter)])
    x = np.zeros(2).view(Mine)
    assert type(f(x, np.ones(2))) is np.ndarray
    assert seen == [Mine]


def test_a_filter_may_refuse(kernels: Any) -> None:
    def filter(value: Any) -> Any:
        raise ValueError("no thanks")

    f = two_inputs(kernels, inputs=[given(0, "a", filter), given(1, "b", filter)])
    with pytest.raises(ValueError, match="no thanks"):
        f(np.zeros(2), [1.0, 2.0])
    assert f(np.zeros(2), np.ones(2)).tolist() == [1, 1]


def test_zero_dimensions_and_scalars(kernels: Any) -> None:
    def program(spec: Any) -> Function:
        return Function(
            slots=[("input", spec, None), ("input", spec, None), ("temp", spec, None), ("temp", spec, None)],
            instructions=[
                ("c", kernels.add_scalar, None, [0, 1], [2], 1.0),
                ("c", kernels.add_scalar, None, [2, 1], [3], 1.0),
            ],
            inputs=[given(0, "a"), given(1, "b")],
            outputs=[3],
            returns="one",
        )

    array = program(ZERO)(np.array(1.0), np.array(2.0))
    assert type(array) is np.ndarray and array.shape == () and array == 5
    scalar = program(SCALAR)(np.float64(1), 2)
    assert type(scalar) is np.float64 and scalar == 5
    with pytest.raises(TypeError):
        program(SCALAR)(np.float32(1), np.float64(1))


def test_returns() -> None:
    entries: dict[str, Any] = {"slots": [("input", None, None)], "instructions": [], "inputs": [given(0, "x")]}
    assert Function(entries, outputs=[0], returns="one")(3) == 3
    assert Function(entries, outputs=[0, 0], returns="list")(3) == [3, 3]
    assert Function(entries, outputs=[], returns="none")(3) is None
    assert Function(entries, outputs=[0, 0], returns="dict", keys=["p", "q"])(3) == {"p": 3, "q": 3}


def test_python_numbers_from_python_ops_meet_kernels(kernels: Any) -> None:
    def halve(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = float(inputs[0]) / 2

    f = Function(
        slots=[("input", ZERO, None), ("temp", ZERO, None), ("temp", ZERO, None)],
        instructions=[("perform", halve, None, [0], [1]), ("c", kernels.add_scalar, None, [0, 1], [2], 1.0)],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
    )
    assert f(np.array(4.0)) == 6


def test_subclass_keeps_the_fast_call(kernels: Any) -> None:
    @module.enable_vectorcall
    class Compiled(Function):
        def __init__(self, program: Any, title: str) -> None:
            super().__init__(program)
            self.title = title

    entries: dict[str, Any] = {
        "slots": [("input", None, None)],
        "instructions": [],
        "inputs": [given(0, "x")],
        "outputs": [0],
    }
    f = Compiled(entries, "one")
    assert (f(4), f(x=5), f.title) == ([4], [5], "one")
    assert Compiled.__flags__ & (1 << 11), "Py_TPFLAGS_HAVE_VECTORCALL"

    class Slow(Function):
        def __call__(self, *args: Any) -> Any:
            return "mine"

    with pytest.raises(TypeError, match="defines __call__"):
        module.enable_vectorcall(Slow)
    with pytest.raises(TypeError, match="subclass of Function"):
        module.enable_vectorcall(int)
    assert Slow(entries)(1) == "mine"


def test_writable_inputs_copy_what_is_read_only(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.add_inplace, number(1), [0], [1], 1.0)],
        inputs=[given(0, "x", writable=True)],
        outputs=[1],
        returns="one",
    )
    x = np.zeros(3)
    assert f(x) is x and x.tolist() == [1, 1, 1]
    x.flags.writeable = False
    assert f(x).tolist() == [2, 2, 2] and x.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"outputs": [7]}, "out of range"),
        ({"slots": [("input", VECTOR, None), ("odd", None, None)]}, "kind"),
        ({"instructions": []}, "never computed"),
        ({"instructions": [("c", 0, None, [0], [1], 1.0)]}, "null"),
        ({"instructions": [("fly",)]}, "kind"),
        ({"slots": [("input", ("object", 1, (False,), False), None), ("temp", None, None)]}, "no compiled code"),
        ({"slots": [("input", None, None), ("temp", VECTOR, None)]}, "without a buffer specification"),
        ({"returns": "two"}, "'returns'"),
        ({"surprise": 1}, "unknown entry"),
        ({"inputs": []}, "not among"),
        ({"updates": [((), 1)]}, "one-element list"),
        ({"frees": [[1], [1]]}, "one entry per instruction"),
        ({"commit_start": 2}, "'commit_start'"),
        ({"commit_start": -1}, "'commit_start'"),
        ({"instructions": [("perform", print, None, [0], [1])], "commit_start": 0}, "compiled kernels"),
        ({"overwritten": [(0, 1)]}, "only shared slots"),
        ({"overwritten": [(9, 1)]}, "out of range"),
        ({"overwritten": [(1,)]}, "Overwritten is"),
        ({"result_bases": [(0, 1)]}, "a base of a result is"),
        ({"result_bases": [(1, 0)]}, "a base of a result is"),
    ],
)
def test_broken_programs_are_refused(kernels: Any, change: dict[str, Any], error: str) -> None:
    program = {
        "slots": [("input", VECTOR, None), ("temp", VECTOR, None)],
        "instructions": [("c", kernels.add_const, number(1), [0], [1], 1.0)],
        "inputs": [given(0, "x")],
        "outputs": [1],
    }
    Function(program)
    with pytest.raises((ValueError, TypeError), match=error):
        Function({**program, **change})


def test_uninitialised_and_twice_initialised() -> None:
    class Lazybones(Function):
        def __init__(self) -> None:
            pass

    with pytest.raises(TypeError, match="never initialised"):
        Lazybones()()
    f = Function(slots=[], instructions=[], inputs=[], outputs=[])
    assert f() == []
    with pytest.raises(RuntimeError, match="once"):
        f.__init__(slots=[], instructions=[], inputs=[], outputs=[])  # type: ignore[misc]


def test_library_checks(kernels_path: Any) -> None:
    with pytest.raises(ValueError, match="was built for the key test-kernels, wanted other"):
        module.Library(kernels_path, "other")
    with pytest.raises(OSError, match="nowhere"):
        module.Library("/nowhere/x.so")
    library = module.Library(str(kernels_path))
    assert library.symbol("add") > 0
    with pytest.raises(LookupError, match="no symbol missing"):
        library.symbol("missing")


def test_cycles_are_collected() -> None:
    class Hooks:
        function: Any = None

        def on_error(self, *args: Any) -> Any:
            return args[1]

    hooks = Hooks()
    entries: dict[str, Any] = {"slots": [("constant", None, hooks)], "instructions": [], "inputs": [], "outputs": [0]}
    f = Function(entries, on_error=hooks.on_error)
    f.itself = f
    hooks.function = f
    f()
    gone = weakref.ref(hooks), weakref.ref(f)
    del hooks, f, entries
    gc.collect()
    assert gone[0]() is None and gone[1]() is None
    assert not gc.garbage


def test_refcounts_are_even(kernels: Any) -> None:
    cell = [np.ones(2)]
    default = [np.ones(2)]
    f = Function(
        slots=[
            ("input", VECTOR, None),
            ("input", VECTOR, None),
            ("shared", VECTOR, cell),
            ("temp", VECTOR, None),
            ("temp", VECTOR, None),
        ],
        instructions=[("c", kernels.add, None, [0, 1], [3], 1.0), ("c", kernels.add, None, [3, 2], [4], 1.0)],
        inputs=[given(0, "x"), (1, "y", False, default, None)],
        outputs=[4],
        returns="one",
    )
    x = np.zeros(2)
    before = [sys.getrefcount(o) for o in (x, cell[0], default[0], f, cell)]
    for _ in range(1000):
        f(x)
        f(x=x)
        f(x, y=x)
        with pytest.raises(TypeError):
            f()
        with pytest.raises(module.KernelShapeError):
            f(np.zeros(3))
    assert [sys.getrefcount(o) for o in (x, cell[0], default[0], f, cell)] == before


def test_arguments_are_borrowed_for_the_call_only(kernels: Any) -> None:
    """What a frame knows of an argument is never used by the next call, whatever way that binds its own."""
    f = Function(
        slots=[("input", ZERO, None), ("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.expand_view, None, [0], [2], 1.0), ("c", kernels.add, None, [2, 1], [3], 1.0)],
        inputs=[given(0, "a"), given(1, "b")],
        outputs=[3, 1, 2],
    )
    b = np.ones(1)
    for make in [np.array, float, np.array, np.float64, np.array]:
        a = make(2.0)
        died = weakref.ref(a) if isinstance(a, np.ndarray) else None
        total, same, view = f(a, b)
        assert (total.tolist(), view.tolist()) == ([3], [2])
        assert same is b
        for other, error in [("no array", TypeError), (np.ones(2), module.KernelShapeError)]:
            with pytest.raises(error):
                f(a, other)
        if died is not None:
            assert view.base is a, "what is returned keeps the argument alive"
            del a, view
            assert died() is None, "nothing else does"
    assert sys.getrefcount(b) == 3  # b, same, the argument


def test_a_frame_that_is_called_again_before_it_is_done(kernels: Any) -> None:
    calls: list[Any] = []

    def inner(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        x = inputs[0]
        calls.append(x)
        outputs[0][0] = f(x[1:].copy()) + x[0] if len(x) > 1 else x.copy()

    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[
            ("perform", inner, None, [0], [1]),
            ("c", kernels.add_const, number(1.0), [1], [2], 1.0),
        ],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
    )
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        assert f(x).tolist() == [9.0]
        assert calls.pop(0) is x and [len(c) for c in calls] == [2, 1]
        calls.clear()
    assert sys.getrefcount(x) == 2


def test_results_that_somebody_keeps_are_never_written_again(chain: Any) -> None:
    f, x = chain(1), np.zeros(3)
    kept = [f(x + k) for k in range(5)]
    f(np.zeros(4))
    kept += [f(x + k) for k in range(5, 9)]
    assert [k.tolist() for k in kept] == [[k + 1.0] * 3 for k in range(9)]
    y = f(x)
    y.shape = (3, 1)
    z = f(x)
    assert z.shape == (3,) and z is not y
    view = f(x)[1:]
    f(x + 7)
    f(x + 8)
    f(x + 9)
    assert view.tolist() == [1, 1]


def test_options_are_about_the_call() -> None:
    entries: dict[str, Any] = {
        "slots": [("input", None, None)],
        "instructions": [],
        "inputs": [given(0, "x")],
        "outputs": [0],
    }
    f = Function(entries, options={"only": lambda f, args, kwargs: (f, args, kwargs), "x": lambda *a: 1 / 0})
    assert f(1, only=[0]) == (f, (1,), {"only": [0]})
    assert f(x=2, only=None) == (f, (), {"x": 2, "only": None})
    assert f(x=3) == f(3) == [3]  # an input's name is the input's
    with pytest.raises(TypeError, match="no input named 'other'"):
        f(3, other=1)
