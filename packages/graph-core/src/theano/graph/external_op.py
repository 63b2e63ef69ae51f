"""Ops whose C++ is in files of its own, and ops that may use OpenMP."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import MethodNotDefined
from theano.graph.c_contract import Sub
from theano.graph.op import COp

if TYPE_CHECKING:
    from theano.graph.annotations import Node

SECTIONS = {
    "init_code", "init_code_apply", "init_code_struct", "support_code", "support_code_apply", "support_code_struct",
    "cleanup_code_struct", "code", "code_cleanup",
}  # fmt: skip
_MARK = re.compile(r"^#section[ \t]+([A-Za-z0-9_]+)[ \t]*$", re.MULTILINE)
_OLD_MARKS = ("THEANO_APPLY_CODE_SECTION", "THEANO_SUPPORT_CODE_SECTION")

Macros = tuple[str, str]


def get_sub_macros(sub: Sub) -> Macros:
    """Return the macros ``FAIL`` and ``PARAMS`` for the pieces of a block, and what undefines them.

    Examples
    --------
    >>> get_sub_macros({"fail": "goto end;"})
    ('#define FAIL goto end;', '#undef FAIL')
    """
    fail = " ".join(str(sub["fail"]).splitlines())
    defined, undefined = [f"#define FAIL {fail}"], ["#undef FAIL"]
    if "params" in sub:
        defined.append(f"#define PARAMS {sub['params']}")
        undefined.append("#undef PARAMS")
    return "\n".join(defined), "\n".join(undefined)


def get_io_macros(inputs: Sequence[str], outputs: Sequence[str]) -> Macros:
    """Return the macros ``INPUT_0``, ``OUTPUT_0`` and so on for names of variables, and what undefines them.

    Examples
    --------
    >>> print(get_io_macros(["V1"], ["V2"])[0])
    #define INPUT_0 V1
    #define OUTPUT_0 V2
    """
    named = [(f"INPUT_{i}", v) for i, v in enumerate(inputs)] + [(f"OUTPUT_{i}", v) for i, v in enumerate(outputs)]
    return "\n".join(f"#define {n} {v}" for n, v in named), "\n".join(f"#undef {n}" for n, _ in named)


class ExternalCOp(COp):
    """An op whose C++ stands in files.

    A file is cut into parts by lines ``#section code``, and so on: each name is that of the method of an op that the
    part answers, ``support_code``, ``support_code_apply``, ``support_code_struct``, ``init_code``, ``init_code_apply``,
    ``init_code_struct``, ``cleanup_code_struct``, ``code``, ``code_cleanup``. There are macros in all but
    ``support_code`` and ``init_code``: ``APPLY_SPECIFIC(name)`` makes names that no other node uses, ``DTYPE_INPUT_0``,
    ``TYPENUM_INPUT_0`` and ``ITEMSIZE_INPUT_0`` tell the types of inputs, likewise of outputs. Where the op has
    parameters, ``PARAMS_TYPE`` is their struct, and ``DTYPE_PARAM_name``, ``TYPENUM_PARAM_name`` and
    ``ITEMSIZE_PARAM_name`` tell the types of its fields. ``FAIL`` and ``PARAMS`` are there where `c_code` has ``sub``;
    ``INPUT_0`` and ``OUTPUT_0`` in ``code`` and ``code_cleanup``.

    Parameters
    ----------
    func_files : str or list of str
        Paths; those that are not absolute begin at the file of the class.
    func_name : str, optional
        A function that does the work, in place of a section ``code``: it is given the inputs, pointers to the outputs,
        and the parameters if there are some, and returns 0, or sets a Python exception and returns something else.
    """

    #: How many arguments the function has; what is missing is NULL. None: as many as there are.
    _cop_num_inputs: int | None = None
    _cop_num_outputs: int | None = None

    @classmethod
    def get_path(cls, path: str) -> str:
        """Return a path that is relative to the file of this class as an absolute one."""
        if os.path.isabs(path):
            return path
        return os.path.realpath(os.path.join(os.path.dirname(inspect.getfile(cls)), path))

    def __init__(self, func_files: str | Sequence[str], func_name: str | None = None):
        self.func_files = [self.get_path(f) for f in ([func_files] if isinstance(func_files, str) else func_files)]
        self.func_name = func_name
        self.load_c_code(self.func_files)
        if self.code_sections:
            if "op_code" in self.code_sections:
                raise ValueError("a section op_code is of an old form: it is called code now")
            if func_name is not None and "code" in self.code_sections:
                raise ValueError(f"{type(self).__name__} has a section code and func_name={func_name!r}: choose one")
        if func_name is None and "code" not in self.code_sections:
            raise ValueError(f"{type(self).__name__} has neither a section code nor a func_name: nothing computes")

    def load_c_code(self, func_files: Sequence[str]) -> None:
        """Read files."""
        self.code_sections: dict[str, str] = {}
        for path in func_files:
            with open(path, encoding="utf-8") as file:
                self._cut(file.read(), path)

    def _cut(self, text: str, path: str) -> None:
        if any(mark in text for mark in _OLD_MARKS):
            raise ValueError(f"{path} is cut by marks of an old form: write `#section support_code` and the like")
        parts = _MARK.split(text)
        if len(parts) == 1:
            raise ValueError(f"{path} has no section: begin its parts with lines like `#section support_code`")
        before = re.sub(r"/\*.*?\*/|//[^\n]*", "", parts[0], flags=re.DOTALL)
        if before.strip():
            raise ValueError(f"{path} has code before its first section: {before.strip().splitlines()[0]!r}")
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name not in SECTIONS:
                raise ValueError(f"{path} has a section {name!r}; the sections are {', '.join(sorted(SECTIONS))}")
            self.code_sections[name] = self.code_sections.get(name, "") + body.strip("\n") + "\n"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), {k: v for k, v in self.__dict__.items() if k != "code_sections"})

    # -- the parts as answers ------------------------------------------------------------------------------

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return a version for the text of the files: where it is the same, nothing changed."""
        return (1, self.func_name, *sorted(self.code_sections.items()))

    def c_init_code(self, **kwargs: object) -> list[str]:
        """Return the section of this name, as do the methods that follow."""
        return [self.code_sections["init_code"]] if "init_code" in self.code_sections else []

    def c_support_code(self, **kwargs: object) -> str:
        """See `c_init_code`."""
        return self.code_sections.get("support_code", "")

    def _section(self, section: str, node: Node, name: str, *more: Macros) -> str:
        if section not in self.code_sections:
            return ""
        macros = [self.get_c_macros(node, name), *more]
        heads, tails = [m[0] for m in macros], [m[1] for m in macros]
        return "\n".join([*heads, self.code_sections[section], *reversed(tails)])

    def c_init_code_apply(self, node: Node, name: str) -> str:
        """See `c_init_code`."""
        return self._section("init_code_apply", node, name)

    def c_support_code_apply(self, node: Node, name: str) -> str:
        """See `c_init_code`."""
        return self._section("support_code_apply", node, name)

    def c_support_code_struct(self, node: Node, name: str) -> str:
        """See `c_init_code`."""
        return self._section("support_code_struct", node, name)

    def c_cleanup_code_struct(self, node: Node, name: str) -> str:
        """See `c_init_code`."""
        return self._section("cleanup_code_struct", node, name)

    def c_init_code_struct(self, node: Node, name: str, sub: Sub) -> str:
        """See `c_init_code`."""
        return self._section("init_code_struct", node, name, get_sub_macros(sub))

    def c_code(self, node: Node, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub) -> str:
        """Return the section, or the call of the function."""
        macros = get_sub_macros(sub)
        if self.func_name is None:
            return self._section("code", node, name, macros, get_io_macros(inputs, outputs))
        head, tail = self.get_c_macros(node, name)
        call = f"if ({self.func_name}({self.format_c_function_args(inputs, outputs, sub)}) != 0) {{ FAIL }}"
        return "\n".join([head, macros[0], f"{{ {call} }}", macros[1], tail])

    def c_code_cleanup(
        self, node: Node, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub
    ) -> str:
        """See `c_init_code`."""
        return self._section("code_cleanup", node, name, get_sub_macros(sub), get_io_macros(inputs, outputs))

    def format_c_function_args(self, inputs: Sequence[str], outputs: Sequence[str], sub: Sub | None = None) -> str:
        """Return the arguments of the function: inputs, addresses of outputs, parameters."""
        ins, outs = list(inputs), [f"&{v}" for v in outputs]
        ins += ["NULL"] * ((self._cop_num_inputs or 0) - len(ins))
        outs += ["NULL"] * ((self._cop_num_outputs or 0) - len(outs))
        return ", ".join([*ins, *outs, *([sub["params"]] if sub and "params" in sub else [])])

    def get_c_macros(self, node: Node, name: str, check_input: bool | None = None) -> Macros:
        """Return the macros that depend on the node alone, and what undefines them."""
        defined, names = [f"#define APPLY_SPECIFIC(str) str##_{name}"], ["APPLY_SPECIFIC"]
        kinds: dict[str, Any] = {}
        if check_input if check_input is not None else self.check_input is not False:
            kinds.update((f"INPUT_{i}", v.type) for i, v in enumerate(node.inputs))
            kinds.update((f"OUTPUT_{i}", v.type) for i, v in enumerate(node.outputs))
        params = self.params_type
        if hasattr(params, "fields"):  # a ParamsType
            defined.append(f"#define PARAMS_TYPE {params.name}")
            names.append("PARAMS_TYPE")
            kinds.update((f"PARAM_{field}", kind) for field, kind in zip(params.fields, params.types, strict=True))
        for whose, kind in kinds.items():
            for what, value in _facts(kind).items():
                defined.append(f"#define {what}_{whose} {value}")
                names.append(f"{what}_{whose}")
        return "\n".join(defined), "\n".join(f"#undef {n}" for n in names)


def _facts(kind: Any) -> dict[str, str]:
    """Return the C type of an element, NumPy's number for it and its size, of types that have a dtype."""
    element = kind.c_element_type()
    dtype = getattr(kind, "dtype", None)
    if element is None or not isinstance(dtype, str):
        return {}
    return {"DTYPE": element, "TYPENUM": f"NPY_{dtype.upper()}", "ITEMSIZE": f"sizeof({element})"}


def _restored(cls: type[ExternalCOp], fields: dict[str, Any]) -> ExternalCOp:
    made: ExternalCOp = cls.__new__(cls)
    made.__dict__.update(fields)
    made.load_c_code(made.func_files)
    return made


class OpenMPOp(COp):
    """An op whose C++ may say ``#pragma omp``.

    Parameters
    ----------
    openmp : bool, optional
        Whether it does; None: as ``config.openmp`` says when the op is made.
    """

    #: Set by the code that reads the flags.
    default_openmp = False
    #: Whether a compiler here knows OpenMP: the op asks once, by compiling something.
    gxx_support_openmp: bool | None = None

    def __init__(self, openmp: bool | None = None):
        self.openmp = bool(OpenMPOp.default_openmp if openmp is None else openmp)

    def update_self_openmp(self) -> None:
        """Do without OpenMP where the compiler has none."""
        if self.openmp and OpenMPOp.gxx_support_openmp is False:
            warnings.warn(f"{self} runs without OpenMP: the compiler here has none", stacklevel=3)
            self.openmp = False

    def c_compile_args(self, **kwargs: object) -> list[str]:
        """Return the option that turns OpenMP on."""
        self.update_self_openmp()
        return ["-fopenmp"] if self.openmp else []

    def c_headers(self, **kwargs: object) -> list[str]:
        """Return OpenMP's header."""
        self.update_self_openmp()
        return ["omp.h"] if self.openmp else []

    def prepare_node(self, node: Node, storage_map: Any, compute_map: Any, impl: str | None) -> None:
        """See whether the compiler has OpenMP before C++ is written."""
        if impl == "c":
            self.update_self_openmp()

    def c_code(self, node: Node, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub) -> str:
        """Say nothing: classes that derive from this one do."""
        raise MethodNotDefined("c_code", type(self), str(self))
