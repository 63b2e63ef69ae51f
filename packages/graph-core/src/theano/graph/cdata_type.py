"""Pointers to whatever C++ likes, handed from op to op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.c_contract import Sub
from theano.graph.type import CType

if TYPE_CHECKING:
    from theano.graph.annotations import Value

_DESTRUCTOR = """\
#ifndef THEANO_CAPSULE_DESTRUCTOR
#define THEANO_CAPSULE_DESTRUCTOR
static void theano_capsule_destructor(PyObject *capsule) {
    void (*free_it)(void *) = (void (*)(void *))PyCapsule_GetContext(capsule);
    if (free_it) free_it(PyCapsule_GetPointer(capsule, NULL));
}
#endif"""


class CDataType(CType):
    r"""Pointers. In Python they are capsules, and nothing can be done with them.

    Parameters
    ----------
    ctype : str
        The type of the pointer, with its star.
    freefunc : str, optional
        Name of a function of one pointer, which is called with the last reference. The op that makes the
        value, or ``extra_support_code``, defines it; as the ops that only read it must declare it too, it belongs in
        the latter.
    headers, header_dirs, libraries, lib_dirs, compile_args : list of str
        What C++ code that handles such pointers needs.
    extra_support_code : str
    version : tuple
        For the cache of compiled code.

    Examples
    --------
    >>> CDataType("struct plan *", "plan_free").c_declare("V1", {})
    'struct plan * V1;\nbool kept_V1;'
    """

    __props__ = (
        "ctype", "freefunc", "headers", "header_dirs", "libraries", "lib_dirs", "compile_args", "extra_support_code",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        ctype: str,
        freefunc: str | None = None,
        headers: Sequence[str] = (),
        header_dirs: Sequence[str] = (),
        libraries: Sequence[str] = (),
        lib_dirs: Sequence[str] = (),
        compile_args: Sequence[str] = (),
        extra_support_code: str = "",
        version: tuple[Any, ...] | None = None,
    ):
        if not isinstance(ctype, str) or not ctype.strip():
            raise TypeError(f"the C type of the pointer must be a text, not {ctype!r}")
        self.ctype, self.freefunc = ctype, freefunc
        self.headers, self.header_dirs = tuple(headers or ()), tuple(header_dirs or ())
        self.libraries, self.lib_dirs = tuple(libraries or ()), tuple(lib_dirs or ())
        self.compile_args = tuple(compile_args or ())
        self.extra_support_code, self.version = extra_support_code or "", version

    def __str__(self) -> str:
        return f"CDataType{{{self.ctype}}}"

    def filter(self, value: Value, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return a capsule as it is."""
        if value is not None and type(value).__name__ != "PyCapsule":
            raise TypeError(f"{self} takes a capsule, not {value!r}")
        return value

    def make_value(self, address: int) -> Any:
        """Return the capsule of an address; the memory behind it is not freed with it."""
        import ctypes  # rarely wanted, and big

        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(address, None, None)

    def values_eq(self, a: Value, b: Value) -> bool:
        """Return whether two capsules are the same object."""
        return a is b

    def value_copy(self, value: Value) -> Value:
        """Return the capsule itself: the memory behind it cannot be copied."""
        return value

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare the pointer, and whether another object owns it."""
        return f"{self.ctype} {name};\nbool kept_{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin with a null pointer."""
        return f"{name} = NULL;\nkept_{name} = false;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Take the pointer out of the capsule."""
        return f"""\
kept_{name} = true;
{name} = ({self.ctype})PyCapsule_GetPointer(py_{name}, NULL);
if (!{name}) {{
    {sub["fail"]}
}}"""

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Begin with a null pointer: the old one is its capsule's."""
        return self.c_init(name, sub)

    def c_sync(self, name: str, sub: Sub) -> str:
        """Put the pointer into a capsule, which frees it."""
        context = f"PyCapsule_SetContext(py_{name}, (void *)({self.freefunc}))" if self.freefunc else "0"
        return f"""\
Py_XDECREF(py_{name});
if ({name}) {{
    py_{name} = PyCapsule_New((void *){name}, NULL, theano_capsule_destructor);
    if (!py_{name} || {context} != 0) {{
        {sub["fail"]}
    }}
    kept_{name} = true;
}} else {{
    py_{name} = Py_None;
    Py_INCREF(py_{name});
}}"""

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Free what an op has made and then failed to hand over."""
        return f"if ({name} && !kept_{name}) {self.freefunc}({name});" if self.freefunc else ""

    def c_support_code(self, **kwargs: object) -> list[str]:
        """Return the capsules' destructor."""
        return [_DESTRUCTOR, *([self.extra_support_code] if self.extra_support_code else [])]

    def c_headers(self, **kwargs: object) -> Sequence[str]:
        """Return the argument, as do the methods that follow."""
        return self.headers

    def c_header_dirs(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self.header_dirs

    def c_libraries(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self.libraries

    def c_lib_dirs(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self.lib_dirs

    def c_compile_args(self, **kwargs: object) -> Sequence[str]:
        """See `c_headers`."""
        return self.compile_args

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version, with that of these texts."""
        return (1, *(self.version or ()))
