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
    return folders if any((folder / header).is_file() for folder in folders) else []


def declared(file: str, macro: str) -> list[tuple[str, str]]:
    """Return the functions that a header of ours lists, with what they take."""
    text = (C / file).read_text("ascii")
    lines = re.search(rf"#define {macro}\(X\)(.*?[^\\])\n", text, re.S)[1].replace("\\\n", " ")
    return re.findall(r"X\((\w+),\s*(\(.*?\))\)(?=\s+X\(|\s*$)", lines)


@pytest.mark.parametrize(("header", "file", "macro"), [
    ("cuda.h", "cuda.h", "TH_CUDA_FUNCTIONS"),
    ("cuda.h", "cuda.h", "TH_CUDA_GRAPH_FUNCTIONS"),
    ("cusolverDn.h", "cusolver.h", "TH_CUSOLVER_FUNCTIONS"),
])  # fmt: skip
def test_functions_are_those_of_the_headers(tmp_path, header, file, macro):
    folders = folders_with(header)
    if not folders:
        pytest.skip(f"{header} is not here: a wheel of NVIDIA's has it, or GPU_TEST_HEADERS, folders of headers")
    functions = declared(file, macro)
    assert len(functions) > 5
    text = f"#include <cstdint>\n#include <type_traits>\n#include <{header}>\n{SAME}\nstruct th_cuda_node;\n"
    for name, takes in functions:
        text += f'static_assert(same(&{name}, (int (*){takes})nullptr), "{name}");\n'
    (tmp_path / "check.cpp").write_text(text)
    command = [compiler("CXX", "c++"), "-std=c++17", "-fsyntax-only", *(f"-I{folder}" for folder in folders), tmp_path / "check.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
