"""What is mutated, by group, and the tests that are asked first.

Left out are names of older versions (``packages/legacy``), pictures and printing, and the GPU layer. Tests of that
layer open a device on import. Where this is the CPU, a program takes seconds to compile, and all cases take hours.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS = ("graph-core", "scalar", "tensor", "sparse")

CORE, TENSOR = "packages/graph-core/src/theano", "packages/tensor/src/theano/tensor"
SCALAR, SPARSE = "packages/scalar/src/theano/scalar", "packages/sparse/src/theano/sparse"
SCAN, DISTRIBUTED = "packages/tensor/src/theano/scan", "packages/tensor/src/theano/distributed"
CORE_TESTS, TENSOR_TESTS = "packages/graph-core/tests", "packages/tensor/tests"
SCALAR_TESTS, SPARSE_TESTS = "packages/scalar/tests", "packages/sparse/tests"
RECORDED = f"{TENSOR_TESTS}/test_recorded_cases.py"

#: Patterns of files, and tests. A group of a sample is measured with these tests alone. Of all tests, a mutant of the
#: group meets these first; where a line runs on import, nobody knows who depends on it, and these are asked.
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rules": (
        (f"{TENSOR}/rules/*.py", f"{TENSOR}/*/rules/*.py", f"{TENSOR}/*/rules.py"),
        (f"{TENSOR_TESTS}/rules", f"{TENSOR_TESTS}/linalg", f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/control/test_ifelse.py", f"{TENSOR_TESTS}/rows/test_rows.py",
         f"{TENSOR_TESTS}/reduce/test_logsumexp.py",
         RECORDED),
    ),
    "gradients": (
        (f"{CORE}/gradient/*.py", f"{TENSOR}/linalg/gradients.py", f"{TENSOR}/index/basic.py",
         f"{TENSOR}/elemwise/op.py", f"{TENSOR}/reduce/careduce.py"),
        (f"{CORE_TESTS}/gradient", f"{TENSOR_TESTS}/test_every_op.py", f"{TENSOR_TESTS}/linalg",
         f"{TENSOR_TESTS}/index/test_index.py", f"{TENSOR_TESTS}/reduce/test_reduce.py",
         f"{TENSOR_TESTS}/elemwise/test_elemwise.py",
         f"{TENSOR_TESTS}/reduce/test_axes.py", f"{TENSOR_TESTS}/test_known.py", RECORDED),
    ),
    "shapes": (
        (f"{TENSOR}/shape/*.py", f"{TENSOR}/index/lengths.py", f"{TENSOR}/shape/rules/shapes.py",
         f"{TENSOR}/shape/rules/lengths.py"),
        (f"{TENSOR_TESTS}/rules", f"{TENSOR_TESTS}/test_every_op.py", f"{TENSOR_TESTS}/index/test_index.py",
         f"{TENSOR_TESTS}/shape/test_shape.py", f"{TENSOR_TESTS}/shape/test_shape_forms.py",
         f"{TENSOR_TESTS}/reduce/test_axes.py",
         f"{TENSOR_TESTS}/test_known.py", f"{TENSOR_TESTS}/test_cases.py", RECORDED),
    ),
    "updates": (
        (f"{CORE}/runtime/updates.py", f"{CORE}/compile/pack.py", f"{CORE}/compile/shared.py", f"{CORE}/updates.py"),
        (f"{CORE_TESTS}/compile", f"{CORE_TESTS}/runtime", f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/running/test_arguments.py", f"{TENSOR_TESTS}/plans",
         f"{TENSOR_TESTS}/test_recorded_plans.py"),
    ),
    "memory": (
        (f"{CORE}/graph/aliasing.py", f"{CORE}/compile/aliasing.py", f"{CORE}/runtime/resource_limits.py",
         f"{TENSOR}/rules/inplace.py", f"{CORE}/runtime/program.py"),
        (f"{CORE_TESTS}/graph", f"{CORE_TESTS}/compile", f"{CORE_TESTS}/runtime",
         f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/rules", RECORDED, f"{TENSOR_TESTS}/test_recorded_plans.py"),
    ),
    "cache": (
        (f"{CORE}/cache/*.py", f"{CORE}/compile/key.py", f"{CORE}/compile/program_cache.py",
         f"{CORE}/compile/program_source.py", f"{CORE}/runtime/serialized.py", f"{CORE}/codegen/key.py"),
        (f"{CORE_TESTS}/cache", f"{CORE_TESTS}/codegen", f"{TENSOR_TESTS}/plans"),
    ),
    "graph": (
        (f"{CORE}/graph/*.py",),
        (f"{CORE_TESTS}/graph", f"{CORE_TESTS}/gradient", f"{CORE_TESTS}/compile"),
    ),
    "rewriting": (
        (f"{CORE}/rewriting/*.py", f"{CORE}/rewriting/userdefined/*.py"),
        (f"{CORE_TESTS}/rewriting", f"{TENSOR_TESTS}/rules"),
    ),
    "functions": (
        (f"{CORE}/compile/*.py", f"{CORE}/runtime/*.py"),
        (f"{CORE_TESTS}/compile", f"{CORE_TESTS}/runtime", f"{TENSOR_TESTS}/running", f"{TENSOR_TESTS}/checking"),
    ),
    "code": (
        (f"{CORE}/codegen/*.py", f"{CORE}/aot/*.py", f"{TENSOR}/kernels/*.py"),
        (f"{CORE_TESTS}/codegen", f"{TENSOR_TESTS}/kernels", f"{TENSOR_TESTS}/aot"),
    ),
    "settings": (
        (f"{CORE}/settings/*.py", f"{CORE}/toolchain/*.py"),
        (f"{CORE_TESTS}/settings", f"{CORE_TESTS}/toolchain"),
    ),
    "lowering": (
        (f"{CORE}/lowering/*.py", f"{TENSOR}/*/lowering*.py", f"{SCAN}/lowering.py", f"{SCAN}/writer.py"),
        (f"{CORE_TESTS}/lowering", f"{TENSOR_TESTS}/kernels", RECORDED, f"{TENSOR_TESTS}/test_compiled.py"),
    ),
    # Derivatives stand beside the definitions.
    "scalar-definitions": (
        tuple(f"{SCALAR}/{name}.py" for name in (
            "arithmetic", "bitwise", "casting", "comparison", "complex_parts", "define", "exponential", "rounding",
            "special", "trigonometric")),
        (SCALAR_TESTS, f"{TENSOR_TESTS}/elemwise"),
    ),
    "scalar-dtypes": (
        tuple(f"{SCALAR}/{name}.py" for name in (
            "c_values", "convert", "ctypes", "dtypes", "output_types", "policy", "type", "variable")),
        (SCALAR_TESTS, f"{TENSOR_TESTS}/elemwise/test_output_types.py"),
    ),
    "scalar-programs": (
        tuple(f"{SCALAR}/{name}.py" for name in (
            "base", "c/__init__", "canonical", "cbody", "composite", "joined", "lowering", "program")),
        (SCALAR_TESTS, f"{TENSOR_TESTS}/elemwise"),
    ),
    "language": (
        (f"{TENSOR}/*.py", f"{TENSOR}/create/*.py", f"{TENSOR}/control/*.py", f"{TENSOR}/elemwise/*.py"),
        (f"{TENSOR_TESTS}/language", f"{TENSOR_TESTS}/elemwise", f"{TENSOR_TESTS}/shape/test_checked_lengths.py",
         f"{TENSOR_TESTS}/test_door.py", f"{TENSOR_TESTS}/test_latex.py", RECORDED),
    ),
    "operations": (
        tuple(f"{TENSOR}/{name}/*.py" for name in (
            "blas", "conv", "fft", "join", "linalg", "nnet", "pool", "random", "reduce", "rows", "sort")),
        (f"{TENSOR_TESTS}/test_every_op.py", f"{TENSOR_TESTS}/test_known.py",
         f"{TENSOR_TESTS}/random/test_random_variables.py", RECORDED),
    ),
    "index": (
        (f"{TENSOR}/index/*.py", f"{TENSOR}/index/rules/*.py"),
        (f"{TENSOR_TESTS}/index", RECORDED),
    ),
    "scan": ((f"{SCAN}/*.py",), (f"{TENSOR_TESTS}/scan",)),
    "distributed": ((f"{DISTRIBUTED}/*.py",), (f"{TENSOR_TESTS}/distributed",)),
    "sparse-language": (
        (f"{SPARSE}/*.py", f"{SPARSE}/*/op.py", f"{SPARSE}/elemwise/*.py", f"{SPARSE}/parts/*.py"),
        (SPARSE_TESTS,),
    ),
    "sparse-rules": (
        (f"{SPARSE}/*/rules.py", f"{SPARSE}/*/lowering.py", f"{SPARSE}/kernels/*.py"),
        (SPARSE_TESTS,),
    ),
}  # fmt: skip


def patterns() -> list[str]:
    """Return the patterns of all files that are mutated."""
    return sorted({pattern for sources, _ in GROUPS.values() for pattern in sources})


def layer_of(test: str) -> str:
    """Return the folder of the layer that a path or a test belongs to.

    Examples
    --------
    >>> layer_of("packages/scalar/tests/test_tiny.py::test_one")
    'packages/scalar'
    """
    return "/".join(test.partition("::")[0].split("/")[:2])
