"""Random numbers: draws whose states stay on the device, and outcomes chosen by uniform numbers."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from theano.gpuarray.dialect import device_blocks, text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceCategories, DeviceMrg, DevicePhilox, DrawnKind
from theano.gpuarray.lowering.common import TARGET, functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS, INTEGERS, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.scalar.c import support
from theano.scalar.ctypes import c_type, storage_support
from theano.tensor.kernels.common import dtype_of
from theano.tensor.random.categories import ChoiceFromUniform, MultinomialFromUniform
from theano.tensor.random.mrg import mrg_uniform
from theano.tensor.random.philox import PhiloxDraw


def _generator(header: str, file: str, blocks: tuple[str, ...]) -> str:
    """Return the text of a generator: what it shares with the CPU, and the kernels."""
    shared = files("theano.tensor.random").joinpath(f"c/{header}").read_text("ascii")
    own = "".join(f"{block}\n" for block in device_blocks(blocks) or ())
    return f"{own}#define TH_HELPER TH_INLINE\n{shared}{text_of(file)}"


@ready("th_kernel_gpu_mrg")
def mrg_kernel(op: Any, node: Apply) -> Parameters:
    """Return uniform numbers of many streams of MRG31k3p, and the next states."""
    text = _generator("mrg_step.h", "random_mrg.cl", storage_support("float16"))
    (function,) = functions(node, text, ("mrg",))
    return DeviceMrg(function=function, in_place=op.inplace)


@ready("th_kernel_gpu_philox")
def philox_kernel(op: Any, node: Apply) -> Parameters:
    """Return bits, uniform or normal numbers of Philox 4x32-10, and the next state."""
    text = _generator("philox_block.h", "random_philox.cl", support(["log_f64", "log_plain_f32"]))
    draw, advance = functions(node, text, ("philox_draw", "philox_advance"))
    return DevicePhilox(draw=draw, advance=advance, kind=DrawnKind[op.kind.upper()], in_place=op.inplace)


def _categories(node: Apply, chooses: bool, replace: bool) -> Parameters:
    unis, result = dtype_of(node.inputs[1]), dtype_of(node.outputs[0])
    stored = {"float16": "th_store_f16((float)(x))", "bool": "((x) != 0)"}.get(result, f"(({c_type(result)})(x))")
    words = {
        "UNI": c_type(unis), "UNI_LOAD(x)": "th_load_f16(x)" if unis == "float16" else "(x)",
        "RESULT": c_type(result), "RESULT_STORE(x)": stored,
    }  # fmt: skip
    half = "".join(f"{block}\n" for block in device_blocks(storage_support("float16")) or ())
    text = shipped("random_categories.cl", dtype_of(node.inputs[0]), **words)
    found = functions(node, text if half in text else half + text, ("multinomial", "choice"))
    return DeviceCategories(function=found[chooses], chooses=chooses, replace=replace)


@ready("th_kernel_gpu_categories")
def multinomial_kernel(op: Any, node: Apply) -> Parameters:
    """Return how often each outcome comes up, for each row of probabilities."""
    return _categories(node, chooses=False, replace=True)


@ready("th_kernel_gpu_categories")
def choice_kernel(op: Any, node: Apply) -> Parameters:
    """Return outcomes of each row of probabilities, one after the other."""
    return _categories(node, chooses=True, replace=op.replace)


def _size(node: Apply) -> tuple[int, ...]:
    """Return the input that says how many numbers are wanted."""
    return (1,)


def _trials(node: Apply) -> tuple[int, ...]:
    """Return the input that says how many trials there are."""
    return (2,)


_CATEGORIES = Accepts(
    "p, unis, n -> found", dtypes={"p": FLOATS, "unis": FLOATS, "n": INTEGERS, "found": REAL}, ndim={"p": 2, "unis": 1}
)

register(
    on_device(mrg_uniform, mrg_kernel, {"numbers": FLOATS}, on_host=_size),
    on_device(PhiloxDraw, philox_kernel, on_host=_size),
    Lowering(MultinomialFromUniform, multinomial_kernel, _CATEGORIES, target=TARGET, on_host=_trials),
    Lowering(ChoiceFromUniform, choice_kernel, _CATEGORIES, target=TARGET, on_host=_trials),
)
