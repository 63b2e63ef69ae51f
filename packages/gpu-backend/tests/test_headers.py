"""What we take functions of NVIDIA's for, held to NVIDIA's headers, where wheels have brought these.

Ours has no names of NVIDIA's types: an enumeration is an int, and what is behind an address is nobody's business. So what is
compared is how many arguments there are, and whether each is an address or a number of the same size.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest
from host_device import compiler

C = Path(__file__).parents[1] / "src/theano/gpuarray/kernels/c"

SAME = """
template <class T, class U> constexpr bool same_type() {
    using namespace std;
    if constexpr (is_pointer_v<T> || is_pointer_v<U>) return is_pointer_v<T> && is_pointer_v<U>;
    else return sizeof(T) == sizeof(U) && is_floating_point_v<T> == is_floating_point_v<U>;
}
template <class... T, class... U, class R, class Q> constexpr bool same(R (*)(T...), Q (*)(U...)) {
    if constexpr (sizeof...(T) != sizeof...(U)) return false;
    else return (same_type<T, U>() && ...) && same_type<R, Q>();
}
"""


def folders_with(header: str) -> list[Path]:
    """Return the folders of NVIDIA's headers, if one of that name is there; GPU_TEST_HEADERS names more."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or []) if spec is not None else []
    folders = [Path(folder) for folder in os.environ.get("GPU_TEST_HEADERS", "").split(os.pathsep) if folder]
    folders += [folder for root in roots for folder in sorted(Path(root).glob("*/include"))]
    if not any((folder / "crt").is_dir() for folder in folders):  # which some headers need, and not all wheels bring
        folders.append(Path("/usr/local/cuda/include"))
    return folders if any((folder / header).is_file() for folder in folders) else []


def declared(file: str, macro: str) -> list[tuple[str, str]]:
    """Return the functions that a header of ours lists, with what they take."""
    text = (C / file).read_text("ascii")
    lines = re.search(rf"#define {macro}\(X\)(.*?[^\\])\n", text, re.S)[1].replace("\\\n", " ")
    return re.findall(r"X\((\w+),\s*(\(.*?\))\)(?=\s+X\(|\s*$)", lines)


def struct(file: str, name: str) -> str:
    """Return a struct of a header of ours."""
    return re.search(rf"typedef struct {name} {{.*?}} {name};", (C / file).read_text("ascii"), re.S)[0]


def compiled(folder: Path, header: str, text: str) -> None:
    """Compile a program with a header of NVIDIA's; the test is skipped if that is not here."""
    folders = folders_with(header)
    if not folders:
        pytest.skip(f"{header} is not here: a wheel of NVIDIA's has it, or GPU_TEST_HEADERS, folders of headers")
    path = folder / "check.cpp"
    path.write_text(f"#include <cstddef>\n#include <cstdint>\n#include <type_traits>\n#include <{header}>\n{SAME}\n{text}")
    command = [compiler("CXX", "c++"), "-std=c++17", "-w", "-fsyntax-only", *(f"-I{each}" for each in folders), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: Where C++ has another function of that name, which of them is ours.
OVERLOADED = {
    "cublasGemmStridedBatchedEx": "cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,"
    " const void *, const void *, cudaDataType, int, long long, const void *, cudaDataType, int, long long, const void *, void *,"
    " cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t)",
}


@pytest.mark.parametrize(("header", "file", "macro"), [
    ("cuda.h", "cuda.h", "TH_CUDA_FUNCTIONS"),
    ("cuda.h", "cuda.h", "TH_CUDA_GRAPH_FUNCTIONS"),
    ("cublas_v2.h", "cublas.h", "TH_CUBLAS_FUNCTIONS"),
    ("cusolverDn.h", "cusolver.h", "TH_CUSOLVER_FUNCTIONS"),
    ("cudnn.h", "cudnn.h", "TH_CUDNN_FUNCTIONS"),
])  # fmt: skip
def test_functions_are_those_of_the_headers(tmp_path, header, file, macro):
    functions = declared(file, macro)
    assert len(functions) >= 4
    text = "struct th_cuda_node;\nstruct th_cudnn_algorithm;\n"
    for name, takes in functions:
        theirs = f"static_cast<{OVERLOADED[name]}>(&{name})" if name in OVERLOADED else f"&{name}"
        text += f'static_assert(same({theirs}, (int (*){takes})nullptr), "{name}");\n'
    compiled(tmp_path, header, text)


STRUCTS = {
    "CUDA_KERNEL_NODE_PARAMS": ("cuda.h", "cuda.h", "th_cuda_node", {
        "function": "func", "groups": "gridDimX", "group": "blockDimX", "shared": "sharedMemBytes", "arguments": "kernelParams",
        "extra": "extra", "kernel": "kern", "context": "ctx",
    }),
    **{f"cudnnConvolution{what}AlgoPerf_t": ("cudnn.h", "cudnn.h", "th_cudnn_algorithm", {
        "number": "algo", "status": "status", "time": "time", "bytes": "memory", "is_deterministic": "determinism", "math": "mathType",
    }) for what in ("Fwd", "BwdData", "BwdFilter")},
}  # fmt: skip


@pytest.mark.parametrize("theirs", list(STRUCTS))
def test_structs_are_those_of_the_headers(tmp_path, theirs):
    header, file, ours, members = STRUCTS[theirs]
    text = struct(file, ours) + f"\nstatic_assert(sizeof({ours}) == sizeof({theirs}));\n"
    for mine, other in members.items():
        text += f"static_assert(offsetof({ours}, {mine}) == offsetof({theirs}, {other}));\n"
    compiled(tmp_path, header, text)


def test_numbers_are_those_of_the_headers(tmp_path):
    enumeration = re.search(r"enum th_cudnn_number {.*?};", (C / "cudnn.h").read_text("ascii"), re.S)[0]
    names = re.findall(r"TH_(CUDNN_\w+) =", enumeration)
    assert len(names) >= 10
    compiled(tmp_path, "cudnn.h", "\n".join([enumeration, *(f"static_assert(int(TH_{n}) == int({n}));" for n in names)]))
