"""Writes ``program_schema.h`` from ``schema.py``: ``setup.py`` calls it when the layer is built.

It reads the declarations as text, so that nothing of the package need be importable where it is built.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_KINDS = {"bool": ("p", "int"), "int": ("i", "int"), "float": ("d", "double"), "str": ("s", "const char *")}
"""How ``PyArg_ParseTuple`` reads a field, and what it writes into; all else comes as the object it is."""


def header(schema: str, types: str) -> str:
    """Return the header.

    Parameters
    ----------
    schema : str
        The text of ``loader/schema.py``: its named tuples become records, the other classes are the entries.
    types : str
        The text of ``graph/type.py``, which has the record ``BufferSpec``.

    Examples
    --------
    >>> text = header("class Update(NamedTuple): cell: Cell; how: int = 0", "")
    >>> "PyObject *cell = nullptr;" in text, "int how = 0;" in text, "Update is (cell[, how])" in text
    (True, True, True)
    """
    declared = list(_classes(schema))
    records = [*declared, *(c for c in _classes(types) if c.name == "BufferSpec")]
    entries = [f for c in declared if not _is_record(c) for f in _fields(c)]
    return "\n".join(
        [
            "/* Written by setup.py from theano/loader/schema.py: change that. Objects are borrowed. */",
            "#ifndef THEANO_PROGRAM_SCHEMA_H",
            "#define THEANO_PROGRAM_SCHEMA_H",
            "#include <Python.h>",
            "",
            "namespace theano {",
            "namespace schema {",
            "",
            *(line for c in records if _is_record(c) for line in _record(c)),
            "struct Entries {",
            *(f"    PyObject *{_name(f)} = nullptr;" for f in entries),
            "};",
            "",
            "constexpr struct { const char *name; PyObject *Entries::*entry; } entries[] = {",
            *(f'    {{"{_name(f)}", &Entries::{_name(f)}}},' for f in entries),
            "};",
            "",
            "} // namespace schema",
            "} // namespace theano",
            "#endif",
            "",
        ]
    )


def _classes(text: str) -> Iterator[ast.ClassDef]:
    return (statement for statement in ast.parse(text).body if isinstance(statement, ast.ClassDef))


def _is_record(declared: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in declared.bases)


def _fields(declared: ast.ClassDef) -> list[ast.AnnAssign]:
    return [statement for statement in declared.body if isinstance(statement, ast.AnnAssign)]


def _name(field: ast.AnnAssign) -> str:
    return ast.unparse(field.target)


def _texts(field: ast.AnnAssign) -> Sequence[str]:
    """Return the texts that a field may be, where its type is a Literal."""
    if not (isinstance(field.annotation, ast.Subscript) and ast.unparse(field.annotation.value) == "Literal"):
        return ()
    choices = ast.literal_eval(field.annotation.slice)
    return (choices,) if isinstance(choices, str) else tuple(choices)


def _record(declared: ast.ClassDef) -> Iterator[str]:
    fields = _fields(declared)
    read = [_KINDS["str"] if _texts(f) else _KINDS.get(ast.unparse(f.annotation), ("O", "PyObject *")) for f in fields]
    needed = sum(f.value is None for f in fields)
    names = ", ".join(_name(f) for f in fields[:needed])
    names += "".join(f"[, {_name(f)}]" for f in fields[needed:])
    usage = f"program: {declared.name} is ({names})"
    letters = "".join(letter for letter, _ in read)
    form = letters if needed == len(fields) else f"{letters[:needed]}|{letters[needed:]}"
    yield f"struct {declared.name} {{"
    for field, (_, kind) in zip(fields, read, strict=True):
        space = "" if kind.endswith("*") else " "
        yield f"    {kind}{space}{_name(field)} = {_initial(field, kind)};"
        if len(_texts(field)) == 1:
            yield f'    static constexpr const char *{_name(field)}_is = "{_texts(field)[0]}";'
    places = ", ".join(f"&{_name(f)}" for f in fields)
    yield "    bool read(PyObject *record) {"
    yield "        if (!PyTuple_Check(record)) {"
    yield f'            PyErr_SetString(PyExc_TypeError, "{usage}");'
    yield "            return false;"
    yield "        }"
    yield f'        return PyArg_ParseTuple(record, "{form};{usage}", {places});'
    yield "    }"
    yield "};"
    yield ""


def _initial(field: ast.AnnAssign, kind: str) -> str:
    default = None if field.value is None else ast.literal_eval(field.value) if kind != "PyObject *" else None
    if kind.endswith("*"):
        return "nullptr" if default is None else f'"{default}"'
    return "0" if default is None else repr(type(0.0 if kind == "double" else 0)(default))
