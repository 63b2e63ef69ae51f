"""HARD: one C++ unit of nested blocks, for nodes whose ops and types say in C what they do.

A unit computes one node, or a whole graph. Each variable and each node has a block, which holds all that comes
after it and ends in a label and its own cleanup:

.. code-block:: text

    {   double V1;                       declared          c_declare of x
        { V1 = ...; }                    set               c_extract of x: it may fail
        {   double V2;
            { V2 = 0; }                                    c_init of the output
            {
                { V2 = V1 + V1; }                          c_code of the node: it may fail
              __label_3: ;
            }
          __label_2: ;
            if (!__failure) { py_V2 = ...; }                 c_sync of the output
            { ... }                                        c_cleanup of the output
        }
      __label_1: ;
        { ... }                                            c_cleanup of x
    }

``sub['fail']`` of a block is a jump to its own label. From there the text falls through the ends of all blocks around
it, so what runs is the cleanup of exactly the blocks that were entered, from the inside out, whether something failed
or not. A block is entered when its variables are declared: cleanup sees what `c_declare` has declared, and no local
variable of `c_extract`, which is in braces of its own. Only `c_code` has no braces where the op has a `c_code_cleanup`,
so that this one sees its locals.

What lives as long as the thunk (constants, parameters, ``c_support_code_struct``) is set up by ``__set_up`` in steps.
It counts them, and ``__undo_all`` undoes the steps that were begun, the last one first.

The function that holds the blocks returns a type that nothing converts to: a ``return`` in a user's C does not
compile.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from theano.codegen.text import CText, comment_text
from theano.errors import MethodNotDefined
from theano.graph.apply import Apply
from theano.graph.c_contract import CLinkerObject, overrides
from theano.graph.type import Type
from theano.graph.variable import Constant, Variable
from theano.records import field, record

if TYPE_CHECKING:
    from theano.graph.annotations import Value

FORMAT = "block 1"
"""Part of every key: goes up with each change of what is written here."""
DEEPEST = 10
"""Blocks inside more than this many others are not indented any further."""
COMMENT = "//: "
"""Begins the comments that say what is computed, which are for users only."""
HEADERS = ("<Python.h>", "<stdio.h>", "<stdlib.h>", "<string.h>")
STREAMS = ("std::cout", "std::cerr", "std::endl", "std::ostream", "cout <<", "cerr <<")
"""Words that want ``<iostream>``, which costs as much time as all the rest, so it is included where one occurs."""


def ask(method: Callable[..., Any], *args: Any, **options: object) -> Any:
    """Call one of the questions of the contract with those of the options that it takes.

    A function that was put into a class without ``self`` is called without.

    Examples
    --------
    >>> ask(lambda name, sub: name, "V1", {}, check_input=True)
    'V1'
    """
    function = getattr(method, "__func__", None)
    if function is not None and next(iter(inspect.signature(function).parameters), "") == "name":
        method = function
    parameters = inspect.signature(method).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return method(*args, **options)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = {p.name for p in parameters}
    taken = {key: value for key, value in options.items() if key in names}
    if "c_compiler" in options and "c_compiler" not in names and len(positional) == 1 and not args:
        return method(options["c_compiler"])  # called something else
    return method(*args, **taken)


def code(method: Callable[..., Any], *args: Any, **options: object) -> str:
    """Ask for C, and take away the indentation that it has in the Python source of its op."""
    text = ask(method, *args, **options) or ""
    # The lines of a raw string are not to be moved.
    return text if 'R"' in text else dedent(text).strip("\n")


def texts(answer: str | Iterable[str] | None) -> list[str]:
    """Return what one of the questions was answered with as a list: it may be a text, a list of texts or None."""
    if not answer:
        return []
    return [answer] if isinstance(answer, str) else [text for text in answer if text]


@record(frozen=True)
class Needs:
    """What a unit needs of the compiler, put together from all ops and types in it."""

    headers: tuple[str, ...] = ()
    header_dirs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    lib_dirs: tuple[str, ...] = ()
    compile_args: tuple[str, ...] = ()
    no_compile_args: tuple[str, ...] = ()
    support_code: tuple[str, ...] = ()
    init_code: tuple[str, ...] = ()

    @classmethod
    def of(cls, things: Sequence[CLinkerObject], compiler: str) -> Needs:
        """Ask ops and types, each once."""
        found: dict[str, dict[str, None]] = {name: {} for name in cls.__match_args__}
        for thing in things:
            for name, texts_so_far in found.items():
                method = getattr(thing, f"c_{name}", None)
                if method is not None:
                    try:
                        answer = ask(method, c_compiler=compiler)
                    except NotImplementedError:
                        continue
                    texts_so_far.update(dict.fromkeys(texts(answer)))
        return cls(**{name: tuple(texts_so_far) for name, texts_so_far in found.items()})


@record(frozen=True, eq=False)
class Block:
    """A unit to compile, and what its thunks are made with.

    Attributes
    ----------
    name : str
        What it computes.
    text : str
        C++, complete but for the key.
    needs : Needs
    compiler : str
        A command; empty for the usual one.
    version : tuple
        Of all ops and types in it; empty if one of them has none, and the code is then not kept for other processes.
    inputs, outputs : list of Variable
        Whose cells a thunk is given, in this order.
    constants : list of objects
        The contents of further cells.
    owners : list of Apply or Variable
        Whose block has which number, from 1 on: a unit that has failed tells the number.
    """

    name: str
    text: str
    needs: Needs
    compiler: str
    version: tuple[Any, ...]
    inputs: list[Variable]
    outputs: list[Variable]
    constants: list[Any]
    owners: list[Apply | Variable]


def without_comments(text: str) -> str:
    r"""Return a unit without the comments about what it computes: the same for whatever else is computed alike.

    Examples
    --------
    >>> without_comments("//: x + 1\nint f();")
    'int f();'
    """
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(COMMENT))


def has_c_code(node: Apply) -> bool:
    """Return whether the op of a node says in C what it does; its types may still have nothing to say."""
    return overrides(node.op, "c_code")


@record
class _Level:
    """One block: who it is, and the texts it has."""

    owner: Any
    comment: str
    declare: str = ""
    enter: str = ""
    finish: str = ""  # where nothing failed
    leave: str = ""
    open: bool = False


@record
class _Step:
    """Something that lives as long as the thunk."""

    declare: str
    begin: str
    end: str


@record
class _Writer:
    nodes: Sequence[Apply]
    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    check_input: bool
    compiler: str
    names: dict[Variable, str] = field(default_factory=dict)
    constants: list[Any] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)
    types: dict[int, Type] = field(default_factory=dict)
    checked: set[Variable] = field(default_factory=set)

    def __post_init__(self) -> None:
        for node in self.nodes:
            if self.check_input if node.op.check_input is None else node.op.check_input:
                self.checked.update(node.inputs, node.outputs)

    # -- names -----------------------------------------------------------------------------------------

    def name(self, variable: Variable) -> str:
        if variable not in self.names:
            self.names[variable] = f"V{len(self.names) + 1}"
            self.types.setdefault(id(variable.type), variable.type)
        return self.names[variable]

    def checks(self, variable: Variable) -> bool:
        """Return whether an op that reads or makes the variable wants it checked."""
        return variable in self.checked

    def sub(self, number: int, where: str = "", **more: Any) -> dict[str, Any]:
        """Return the pieces of C for the block of a number; ``where`` is the label that failure jumps to."""
        jump = f" goto {where};" if where else ""
        note = f'if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "{_UNSAID}");'
        fail = f"{{ __failure = {number}; {note}{jump} }}"
        return {"fail": fail, "failure_var": "__failure", "id": number, "c_compiler": self.compiler, **more}

    # -- what lives as long as the thunk ----------------------------------------------------------------

    def kept(self, name: str, kind: Type, value: Value, checks: bool) -> None:
        """A value that is extracted once."""
        self.types.setdefault(id(kind), kind)
        sub = self.sub(-1 - len(self.steps), "__undo")
        self.constants.append(value)
        self.cells.append(name)
        declare = code(kind.c_declare, name, sub, check_input=checks)
        extract = code(kind.c_extract, name, sub, check_input=checks)
        begin = f"py_{name} = PyList_GET_ITEM(storage_{name}, 0);\nPy_INCREF(py_{name});\n{extract}"
        cleanup = code(kind.c_cleanup, name, self.sub(-1 - len(self.steps)))
        self.steps.append(_Step(f"PyObject *py_{name};\n{declare}", begin, f"{cleanup}\nPy_XDECREF(py_{name});"))

    def operand(self, variable: Variable) -> str:
        """Return the name of an input of a node, or the value of a constant as C."""
        if isinstance(variable, Constant) and variable not in self.names:
            try:
                return f"({ask(variable.type.c_literal, variable.data)})"
            except NotImplementedError:
                name = self.name(variable)
                self.kept(name, variable.type, variable.data, self.checks(variable))
        return self.name(variable)

    # -- blocks ------------------------------------------------------------------------------------------

    def variable(self, variable: Variable, role: str) -> None:
        name, kind, checks = self.name(variable), variable.type, self.checks(variable)
        number = len(self.levels) + 1
        sub, last = self.sub(number, f"__label_{number}"), self.sub(number)
        level = _Level(variable, f"{role} {variable}")
        level.declare = code(kind.c_declare, name, sub, check_input=checks)
        take = f"py_{name} = PyList_GET_ITEM(storage_{name}, 0);\nPy_INCREF(py_{name});\n"
        if role == "input":
            self.cells.append(name)
            level.enter = take + code(kind.c_extract, name, sub, check_input=checks)
        elif role == "output":
            self.cells.append(name)
            level.enter = take + self._extract_out(kind, name, sub, checks)
            level.finish = code(kind.c_sync, name, sub) + (
                f"\nif (!__failure) {{ PyObject *old = PyList_GET_ITEM(storage_{name}, 0);"
                f" Py_XINCREF(py_{name}); PyList_SET_ITEM(storage_{name}, 0, py_{name}); Py_XDECREF(old); }}"
            )
        else:
            level.enter = f"py_{name} = Py_None;\nPy_INCREF(py_{name});\n" + code(kind.c_init, name, sub)
        level.leave = f"{code(kind.c_cleanup, name, last)}\nPy_XDECREF(py_{name});"
        self.levels.append(level)

    def _extract_out(self, kind: Type, name: str, sub: dict[str, int | str], checks: bool) -> str:
        if ask(kind.c_is_simple):
            return code(kind.c_init, name, sub)
        if overrides(kind, "c_extract_out"):
            return code(kind.c_extract_out, name, sub, check_input=checks)
        init, extract = code(kind.c_init, name, sub), code(kind.c_extract, name, sub, check_input=checks)
        return f"if (py_{name} == Py_None) {{\n{init}\n}} else {{\n{extract}\n}}"

    def node(self, node: Apply, name: str) -> None:
        op, number = node.op, len(self.levels) + 1
        ins = [self.operand(v) for v in node.inputs]
        outs = [self.name(v) for v in node.outputs]
        more: dict[str, Any] = {}
        params = op.get_params(node) if op.params_type is not None else None
        if params is not None:
            more["params"] = f"P{name}"
            self.kept(more["params"], op.params_type, op.params_type.filter(params), True)
        members = "\n".join(texts(op.c_support_code_struct(node, name)))
        start = len(self.steps)
        begin = code(op.c_init_code_struct, node, name, self.sub(-1 - start, "__undo", **more))
        end = code(op.c_cleanup_code_struct, node, name)
        if members or begin or end:
            self.steps.append(_Step(members, begin, end))
        level = _Level(node, str(node))
        level.enter = code(op.c_code, node, name, ins, outs, self.sub(number, f"__label_{number}", **more))
        level.leave = code(op.c_code_cleanup, node, name, ins, outs, self.sub(number, **more))
        level.open = bool(level.leave.strip())
        self.levels.append(level)


_UNSAID = "Unexpected error in an Op's C code. No Python exception was set."


def write_block(
    nodes: Sequence[Apply],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    compiler: str = "",
    check_input: bool = True,
) -> Block:
    """Write the unit that computes some nodes.

    Parameters
    ----------
    nodes : list of Apply
        In an order in which each is computed before it is read.
    inputs, outputs : list of Variable
        What comes from Python and what goes there. Constants are no inputs.
    compiler : str
        The command that will compile it, where no op or type asks for another.
    check_input : bool
        For ops that do not say whether their inputs are checked.

    Raises
    ------
    MethodNotDefined
        An op or a type has nothing to say in C.
    """
    command = _compiler_of(nodes) or compiler
    w = _Writer(nodes, list(inputs), list(outputs), check_input, command)
    for v in w.inputs:
        w.variable(v, "input")
    made = [v for node in nodes for v in node.outputs]
    given = set(w.outputs)
    for v in made:
        w.variable(v, "output" if v in given else "value")
    names = [f"node_{i}" for i in range(len(nodes))]
    for node, name in zip(nodes, names, strict=True):
        if not has_c_code(node):
            raise MethodNotDefined("c_code", type(node.op), str(node.op))
        w.node(node, name)
    ops = {id(node.op): node.op for node in nodes}
    needs = Needs.of([*w.types.values(), *ops.values()], command)
    version = _version(nodes, w)
    title = ", ".join(map(str, w.outputs)) or "nothing"
    return Block(
        title, _text(w, needs, nodes, names, title), needs, _compiler_of(nodes), version,
        list(w.inputs), [v for v in made if v in given], w.constants, [level.owner for level in w.levels],
    )  # fmt: skip


def _compiler_of(nodes: Sequence[Apply]) -> str:
    """Return the compiler that an op or a type asks for, as a command; empty if none does."""
    for node in nodes:
        for thing in (node.op, *(v.type for v in (*node.inputs, *node.outputs))):
            wanted = thing.c_compiler() if hasattr(thing, "c_compiler") else None
            if wanted:
                return str(wanted) if isinstance(wanted, str) else str(getattr(wanted, "command", wanted.__name__))
    return ""


def _version(nodes: Sequence[Apply], w: _Writer) -> tuple[Any, ...]:
    versions: list[Any] = []
    for thing in [*nodes, *w.types.values()]:
        found = _version_of(thing)
        if not found:
            return ()
        versions.append((type(getattr(thing, "op", thing)).__name__, found))
    return tuple(versions)


def _version_of(thing: Any) -> tuple[Any, ...]:
    try:
        if isinstance(thing, Apply):
            return tuple(thing.op.c_code_cache_version_apply(thing) or ())
        return tuple(thing.c_code_cache_version() or ())
    except NotImplementedError:
        return ()


# -- the text ------------------------------------------------------------------------------------------------


def _text(w: _Writer, needs: Needs, nodes: Sequence[Apply], names: Sequence[str], title: str) -> str:
    c = CText(indent="  ")
    c(f"{COMMENT}{comment_text(title)}, generated by Theano")
    c("#define PY_SSIZE_T_CLEAN")
    support = [*needs.support_code]
    for node, name in zip(nodes, names, strict=True):
        support += texts(node.op.c_support_code_apply(node, name))
    body = CText(indent="  ")
    _struct(body, w)
    whole = "\n".join([*support, str(body)])
    streams = ["<iostream>"] if any(word in whole for word in STREAMS) else []
    for header in dict.fromkeys([*HEADERS, *streams, *needs.headers]):
        c(f"#include {header}" if header[0] in '<"' else f'#include "{header}"')
    c("")
    for text in support:
        c.verbatim(dedent(text).strip("\n"))
        c("")
    c.verbatim(str(body))
    once = [*needs.init_code, *(n.op.c_init_code_apply(n, name) for n, name in zip(nodes, names, strict=True))]
    _exports(c, [text for text in once if text])
    return str(c)


def _struct(c: CText, w: _Writer) -> None:
    c("namespace {", "struct no_return_in_c_code_use_fail { int failure; };")
    with c.block("struct theano_block", ";"):
        c(*[f"PyObject *storage_{name};" for name in w.cells], "int __begun, __failed;")
        for step in w.steps:
            _user(c, step.declare)
        with c.block("int __set_up(PyObject *cells)"):
            c("int __failure = 0;")
            c(*[f"storage_{name} = PyTuple_GET_ITEM(cells, {k});" for k, name in enumerate(w.cells)])
            for k, step in enumerate(w.steps):
                c(f"__begun = {k + 1};")
                with c.block():
                    _user(c, step.begin)
            with c.block("if (false)"):
                c("__undo: ;", "__failed = __failure;", "return -1;")
            c("return 0;")
        with c.block("void __undo_all()"):
            c("int __failure = 0;")
            for k, step in reversed(list(enumerate(w.steps))):
                with c.block(f"if (__begun > {k})"):
                    _user(c, step.end)
            c("(void)__failure;")
        with c.block("no_return_in_c_code_use_fail __compute()"):
            c("int __failure = 0;")
            kept = set(w.cells[len(w.cells) - len(w.constants) :])
            inner = [name for name in w.names.values() if name not in kept]
            c(*[f"PyObject *py_{name} = NULL;" for name in inner])
            _nest(c, w.levels)
            c("no_return_in_c_code_use_fail ended;", "ended.failure = __failure;", "return ended;")
    c("} // namespace", "")


def _nest(c: CText, levels: Sequence[_Level]) -> None:
    for number, level in enumerate(levels, 1):
        c("{", f"  {COMMENT}{comment_text(level.comment)}")
        c.depth += number <= DEEPEST
        _user(c, level.declare)
        if level.open:
            _user(c, level.enter)
        else:
            with c.block():
                _user(c, level.enter)
    for number, level in reversed(list(enumerate(levels, 1))):
        c(f"__label_{number}: ;")
        if level.finish:
            with c.block("if (!__failure)"):
                _user(c, level.finish)
        if level.leave.strip():
            with c.block():
                _user(c, level.leave)
        c.depth -= number <= DEEPEST
        c("}")


def _user(c: CText, text: str) -> None:
    """Append a block of an op's C code."""
    if not text.strip():
        return
    if 'R"' in text:
        c.verbatim(text)
    else:
        c(text.strip("\n"))


def _exports(c: CText, once: Sequence[str]) -> None:
    c("static PyObject *theano_block_once(void) {")
    for text in once:
        with c.block():
            _user(c, text)
    c("  return Py_None;", "}", "", _EXPORTS)


_EXPORTS = """\
#define THEANO_EXPORT extern "C" __attribute__((visibility("default")))

THEANO_EXPORT void *theano_block_new(PyObject *cells) {
  static bool done = false;
  if (!done && !theano_block_once()) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "c_init_code failed and did not say why");
    return NULL;
  }
  done = true;
  theano_block *block = new theano_block();
  if (block->__set_up(cells) == 0) return block;
  block->__undo_all();
  delete block;
  return NULL;
}

THEANO_EXPORT int theano_block_run(void *self) {
  theano_block *block = (theano_block *)self;
#ifdef __cpp_exceptions
  try {
    block->__failed = block->__compute().failure;
  } catch (...) {
    block->__failed = -1;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a C++ exception left an op's C code");
  }
#else
  block->__failed = block->__compute().failure;
#endif
  return block->__failed ? -1 : 0;
}

THEANO_EXPORT int theano_block_failed(void *self) { return ((theano_block *)self)->__failed; }

THEANO_EXPORT void theano_block_delete(void *self) {
  ((theano_block *)self)->__undo_all();
  delete (theano_block *)self;
}
"""
