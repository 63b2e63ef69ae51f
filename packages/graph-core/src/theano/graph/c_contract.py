"""What types and ops that users write may say in C.

Nothing here generates or compiles anything: these are the questions, with the answers of those who have nothing to
say. :mod:`theano.codegen.blocks` asks them and puts the answers together.

Each method returns C++ text. A variable of a type is called ``name`` there, the Python object that stands for it
``py_<name>``; ``sub['fail']`` is what to write where something went wrong, after setting a Python exception. Nothing
else may leave the text (no ``return``, no ``goto`` of one's own), or what was allocated is never given back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import MethodNotDefined

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Value

#: The names that the code of a type or an op may use, such as ``sub['fail']``; the caller documents any others.
Sub = Mapping[str, Any]


class CLinkerObject:
    """What types and ops may ask of the compiler.

    Each method may take an argument ``c_compiler``, the command that will compile, or leave it out.
    """

    def c_headers(self, **kwargs: object) -> Sequence[str]:
        """Return the header files to include, such as ``"<math.h>"``, ``"mine.h"`` or ``math.h``."""
        return []

    def c_header_dirs(self, **kwargs: object) -> Sequence[str]:
        """Return folders of header files."""
        return []

    def c_libraries(self, **kwargs: object) -> Sequence[str]:
        """Return libraries to link with, without ``-l``."""
        return []

    def c_lib_dirs(self, **kwargs: object) -> Sequence[str]:
        """Return folders of libraries."""
        return []

    def c_support_code(self, **kwargs: object) -> str | Sequence[str]:
        """Return functions and types that the code uses, written once in a unit."""
        return ""

    def c_compile_args(self, **kwargs: object) -> Sequence[str]:
        """Return further options of the compiler."""
        return []

    def c_no_compile_args(self, **kwargs: object) -> Sequence[str]:
        """Return options that the compiler must not be given."""
        return []

    def c_init_code(self, **kwargs: object) -> Sequence[str]:
        """Return statements to run once, when the unit is loaded."""
        return []

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version of the code, to be changed whenever the code is; () keeps it out of the cache."""
        return ()


class CLinkerType(CLinkerObject):
    """What a type says in C: how a value gets from Python to C variables, and back.

    See Also
    --------
    theano.graph.type.CType : the class to derive from.
    """

    def c_element_type(self) -> str | None:
        """Return the C type of one element of a value, where values have elements."""
        return None

    def c_is_simple(self) -> bool:
        """Return whether a value is a plain C variable, which costs nothing to make anew."""
        return False

    def c_literal(self, data: Value) -> str:
        """Return a C expression with the value of a constant, to be written where the constant is used."""
        raise MethodNotDefined("c_literal", type(self), str(self))

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Return the declarations of the C variables of a value; all their names contain ``name``."""
        raise MethodNotDefined("c_declare", type(self), str(self))

    def c_init(self, name: str, sub: Sub) -> str:
        """Return what sets them before something is computed into them."""
        raise MethodNotDefined("c_init", type(self), str(self))

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Return what sets them from the Python object ``py_<name>``."""
        raise MethodNotDefined("c_extract", type(self), str(self))

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Return what sets those of an output, from what an earlier call left in ``py_<name>``, or None."""
        init = self.c_init(name, sub)
        return f"if (py_{name} == Py_None)\n{{\n{init}\n}}\nelse\n{{\n{self.c_extract(name, sub, check_input)}\n}}"

    def c_sync(self, name: str, sub: Sub) -> str:
        """Return what puts the value into ``py_<name>``, in the place of the reference that is there."""
        raise MethodNotDefined("c_sync", type(self), str(self))

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Return what gives back what the C variables hold; it runs after each success and each failure."""
        return ""


class CLinkerOp(CLinkerObject):
    """What an op says in C.

    Names of inputs are those that their types have declared, or a literal; those of outputs hold what `c_init` or
    `c_extract_out` of their types has put there.
    """

    def c_code(self, node: Node, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub) -> str:
        """Return the statements that compute the outputs.

        Parameters
        ----------
        node : Apply
        name : str
            A name of this node that occurs nowhere else in the unit.
        inputs, outputs : list of str
            Names of the C variables.
        sub : dict
            ``sub['fail']``; ``sub['params']``, the name of the op's parameters if it has some.
        """
        raise MethodNotDefined("c_code", type(self), str(self))

    def c_code_cleanup(
        self, node: Node, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Sub
    ) -> str:
        """Return what gives back what :meth:`c_code` has allocated; it runs after success and failure alike."""
        return ""

    def c_code_cache_version_apply(self, node: Node) -> tuple[object, ...]:
        """Return the version of the code of one node."""
        return self.c_code_cache_version()

    def c_support_code_apply(self, node: Node, name: str) -> str:
        """Return functions and types for one node; what they are called contains ``name``."""
        return ""

    def c_support_code_struct(self, node: Node, name: str) -> str:
        """Return declarations of what a thunk keeps from call to call; :meth:`c_code` sees it."""
        return ""

    def c_init_code_apply(self, node: Node, name: str) -> str:
        """Return statements for one node to run once, when the unit is loaded."""
        return ""

    def c_init_code_struct(self, node: Node, name: str, sub: Sub) -> str:
        """Return statements that set up what :meth:`c_support_code_struct` declares, when a thunk is made."""
        return ""

    def c_cleanup_code_struct(self, node: Node, name: str) -> str:
        """Return statements that give it back, when the thunk goes."""
        return ""


def overrides(thing: CLinkerObject, method: str) -> bool:
    """Return whether a class has an answer of its own to one of the questions.

    Examples
    --------
    >>> overrides(CLinkerOp(), "c_code")
    False
    """
    for base in (CLinkerOp, CLinkerType, CLinkerObject):
        default = base.__dict__.get(method)
        if default is not None and isinstance(thing, base):
            return getattr(type(thing), method, None) is not default
    return hasattr(thing, method)
