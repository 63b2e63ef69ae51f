"""A plan as text: the tables in C, the header with the functions of the model, its loader, and its metadata."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from json import dumps
from typing import Any

from theano.aot.exports import Loop
from theano.aot.plan import Plan, Planned, PlannedStep
from theano.codegen.text import CText
from theano.loader.abi import abi_constants

_LOADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loader.py.in")
_ARGUMENTS = "theano_model *model, const theano_array *inputs, theano_array *outputs"
_KINDS = {"input": "MODEL_INPUT", "constant": "MODEL_CONSTANT", "shared": "MODEL_STATE", "temp": "MODEL_TEMP"}


def dtype_number(dtype: str) -> int:
    """Return the number that C has for a dtype.

    Examples
    --------
    >>> dtype_number("float64")
    11
    """
    return abi_constants()[f"TH_{dtype.upper()}"]


def c_string(text: str) -> str:
    r"""Return a text as C has it.

    Examples
    --------
    >>> print(c_string('a "b"?'))
    "a \"b\"?"
    """
    out = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        else:
            out.append(char if 32 <= byte < 127 else f"\\{byte:03o}")
    return '"' + "".join(out).replace("??", "?\\?") + '"'


# -- the tables ----------------------------------------------------------------------------------------------------


class Tables:
    """Writes the tables of a plan."""

    def __init__(self, plan: Plan, name: str):
        self.plan, self.name, self.c = plan, name, CText()

    def write(self) -> str:
        """Return the text of ``NAME_tables.c``."""
        c, plan, name = self.c, self.plan, self.name
        c(f"/* The tables of {name}, and its functions; written by theano.export. */")
        c(f'#include "../{name}.h"', '#include "model.h"', "")
        for symbol in sorted({*plan.kernels, *plan.builtins}):
            c(f"extern int {symbol}(th_ctx *ctx);")
        # Addresses of what is elsewhere: of what type a function is does not matter for that.
        for symbol in sorted(set(plan.symbols.values()) - {*plan.kernels, *plan.builtins, *plan.numbers}):
            c(f"extern void {symbol}(void);")
        for symbol, numbers in sorted(plan.numbers.items()):
            c(f"static const int64_t {symbol}[] = {{{', '.join(map(str, numbers))}}};")
        c("")
        for k, program in enumerate(plan.programs):
            self._program(k, program)
        self._array("th_model_program", "programs", [self._summary(k, p) for k, p in enumerate(plan.programs)])
        self._array("th_model_cell", "cells", [
            f"{{{c_string(cell.name) if cell.name else 'NULL'}, {c_string(cell.file)}, {dtype_number(cell.dtype)}, "
            f"{len(cell.ones)}, {_mask(cell.ones)}}}"
            for cell in plan.cells
        ])  # fmt: skip
        c(f"static const th_model_tables tables = {{programs, cells, {len(plan.programs)}, {len(plan.cells)}}};", "")
        self._relocations()
        self._functions()
        return str(c)

    def _array(self, kind: str, name: str, items: Sequence[str], const: str = "const ") -> None:
        c = self.c
        c(f"static {const}{kind} {name}[] = {{")
        for item in items or ["{0}"]:
            c(f"    {item},")
        c("};", "")

    def _numbers(self, name: str, numbers: Iterable[int]) -> str:
        """Write a table of numbers, and return what points to it."""
        listed = list(numbers)
        if not listed:
            return "NULL"
        self.c(f"static const int32_t {name}[] = {{{', '.join(map(str, listed))}}};")
        return name

    def _program(self, k: int, planned: Planned) -> None:
        program = planned.program
        producer = {out: i for i, step in enumerate(planned.steps) for out in step.outputs}
        overwritten = {o.slot for o in program.overwritten}
        slots = []
        for number, slot in enumerate(program.slots):
            spec = slot.spec
            dtype, ndim, ones = (-1, 0, "0") if spec is None else (
                dtype_number(spec.dtype), spec.ndim, _mask(spec.broadcastable))  # fmt: skip
            pool = program.reuse[number] if program.reuse and slot.kind == "temp" else -1
            slots.append(
                f"{{{_KINDS[slot.kind]}, {dtype}, {ndim}, {planned.cells.get(number, -1)}, {pool}, "
                f"{producer.get(number, -1)}, {int(number in overwritten)}, {ones}}}"
            )
        self._array("th_model_slot", f"p{k}_slots", slots)
        rows = [self._instruction(f"p{k}_i{i}", i, step, planned) for i, step in enumerate(planned.steps)]
        self._array("th_model_instruction", f"p{k}_code", rows)
        self._array("th_model_input", f"p{k}_inputs", [
            f"{{{given.slot}, {cell}, {int(bool(given.writable))}, {c_string(name)}}}"
            for given, cell, name in zip(program.inputs, planned.input_cells, planned.input_names, strict=True)
        ])  # fmt: skip
        self._array("th_model_update", f"p{k}_updates", [
            f"{{{cell}, {update.slot}}}" for update, cell in zip(program.updates, planned.update_cells, strict=True)
        ])  # fmt: skip
        self._numbers(f"p{k}_outputs", program.outputs)
        self._numbers(f"p{k}_wanted", _wanted(planned, producer))
        self.c("")

    def _instruction(self, at: str, i: int, step: PlannedStep, planned: Planned) -> str:
        program, c = planned.program, self.c
        params = "NULL"
        if step.params:
            params = f"{at}_params"
            data = step.params.ljust(-(-len(step.params) // 8) * 8, b"\0")
            clean = bytearray(data)
            for offset, _ in step.pointers:
                clean[offset : offset + 8] = bytes(8)
            words = [int.from_bytes(clean[j : j + 8], sys.byteorder) for j in range(0, len(clean), 8)]
            const = "" if step.pointers else "const "
            c(f"static {const}uint64_t {params}[] = {{{', '.join(f'{word:#x}u' for word in words)}}};")
        before = program.control_dependencies[i] if program.control_dependencies else []
        ins, outs = self._numbers(f"{at}_in", step.inputs), self._numbers(f"{at}_out", step.outputs)
        freed, first = self._numbers(f"{at}_frees", program.frees[i]), self._numbers(f"{at}_before", before)
        names = "NULL"
        if step.names:
            names = f"{at}_names"
            c(f"static const char *const {names}[] = {{{', '.join(map(c_string, step.names))}}};")
        loop = f"&{self._loop(at, step, step.loop)}" if step.loop is not None else "NULL"
        return (
            f"{{{step.symbol or 'NULL'}, {loop}, {step.call}, {int(step.lazy)}, {params}, {ins}, {outs}, {freed}, "
            f"{first}, {len(step.inputs)}, {len(step.outputs)}, {len(program.frees[i])}, {len(before)}, "
            f"{c_string(step.what)}, {names}}}"
        )

    def _loop(self, at: str, step: PlannedStep, loop: Loop) -> str:
        c = self.c
        pairs = {"taps": loop.taps, "needed": loop.needed}
        for name, rows in pairs.items():
            self._array("th_model_rows", f"{at}_{name}", [f"{{{i}, {k}}}" for i, k in rows])
        states = []
        for k, state in enumerate(loop.states):
            taps = self._numbers(f"{at}_state{k}", state.taps)
            states.append(f"{{{state.input}, {state.depth}, {len(state.taps)}, {taps}, {_all(state.keep)}}}")
        self._array("th_model_state", f"{at}_states", states)
        c(f"static const int64_t {at}_keep[] = {{{', '.join(str(_all(k)) for k in loop.keep) or '0'}}};")
        lengths = self._numbers(f"{at}_lengths", step.lengths)
        c(f"static const th_model_loop {at}_loop = {{")
        count = -1 if loop.count is None else loop.count
        lengths_of = (len(loop.taps), len(loop.needed), len(loop.states), len(loop.keep))
        ranges = (loop.carried.start, len(loop.carried), loop.fixed.start, len(loop.fixed))
        c(f"    {', '.join(map(str, (step.step, count, *lengths_of, *ranges, int(loop.until))))},")
        c(f"    {at}_taps, {at}_needed, {at}_states, {at}_keep, {lengths}, {c_string(loop.name)}}};")
        return f"{at}_loop"

    def _summary(self, k: int, planned: Planned) -> str:
        program = planned.program
        wanted = _wanted(planned, {out: i for i, step in enumerate(planned.steps) for out in step.outputs})
        outputs = f"p{k}_outputs" if program.outputs else "NULL"
        pools = max(program.reuse, default=-1) + 1
        return (
            f"{{{c_string(planned.name)}, p{k}_slots, p{k}_code, p{k}_inputs, {outputs}, "
            f"{f'p{k}_wanted' if wanted else 'NULL'}, p{k}_updates, {len(program.slots)}, {len(planned.steps)}, "
            f"{len(program.inputs)}, {len(program.outputs)}, {len(wanted)}, {len(program.updates)}, {pools}, "
            f"{int(program.lazy)}}}"
        )

    def _relocations(self) -> None:
        """Write what puts addresses into parameters: they are known when the library is loaded."""
        self.c("static void put_addresses(void) {")
        for k, planned in enumerate(self.plan.programs):
            for i, step in enumerate(planned.steps):
                for offset, name in step.pointers:
                    symbol = self.plan.symbols[name]
                    self.c(f"    p{k}_i{i}_params[{offset // 8}] = (uint64_t)(uintptr_t)&{symbol};")
        self.c("}", "")

    def _functions(self) -> None:
        c, name = self.c, self.name
        c(f"theano_model *{name}_open(const char *folder, char *message, size_t room) {{")
        c("    put_addresses();", "    return th_model_open(&tables, folder, message, room);", "}")
        for function, number in self.plan.functions.items():
            c(f"int {name}_{function}({_ARGUMENTS}) {{")
            c(f"    return th_model_call(model, {number}, inputs, outputs);", "}")
        c(f"int {name}_get(theano_model *model, const char *value, theano_array *array) {{")
        c("    return th_model_get(model, value, array);", "}")
        c(f"int {name}_set(theano_model *model, const char *value, const theano_array *array) {{")
        c("    return th_model_set(model, value, array);", "}")
        c(f"void {name}_copy(const theano_array *array, void *to) {{ th_model_copy_array(array, to); }}")
        c(f"int {name}_save(theano_model *model, const char *folder) {{ return th_model_save(model, folder); }}")
        c(f"const char *{name}_message(const theano_model *model) {{ return th_model_message(model); }}")
        c(f"void {name}_set_parallel(theano_model *model, theano_parallel run) {{")
        c("    th_model_set_parallel(model, run);", "}")
        c(f"void {name}_close(theano_model *model) {{ th_model_close(model); }}")


def _all(keep: int | None) -> int:
    return -1 if keep is None else keep


def _mask(ones: Sequence[bool]) -> str:
    return f"{sum(1 << d for d, one in enumerate(ones) if one):#x}u"


def _wanted(planned: Planned, producer: dict[int, int]) -> list[int]:
    """Return the instructions that results need, of a program that runs on demand."""
    if not planned.program.lazy:
        return []
    results = [*planned.program.outputs, *(update.slot for update in planned.program.updates)]
    return list(dict.fromkeys(producer[slot] for slot in results if slot in producer))


# -- what callers see ----------------------------------------------------------------------------------------------


def array_text(name: str, spec: Any) -> str:
    """Return an array in words, as comments of the header have it."""
    return f"{spec.dtype}{_brackets(spec.broadcastable)} {name}"


def _brackets(ones: Sequence[bool]) -> str:
    return "".join("[1]" if one else "[]" for one in ones)


def header_text(plan: Plan, name: str) -> str:
    """Return the text of ``NAME.h``."""
    c = CText()
    guard = f"THEANO_MODEL_{name.upper()}_H"
    c(f"/* The model {name}; written by theano.export. There are as many brackets as dimensions. */")
    c(f"#ifndef {guard}", f"#define {guard}", "", '#include "theano_model.h"', "")
    c("#ifdef __cplusplus", 'extern "C" {', "#endif", "")
    c("#if defined(_WIN32)", "#define THEANO_MODEL_API __declspec(dllexport)", "#else")
    c('#define THEANO_MODEL_API __attribute__((visibility("default")))', "#endif", "")
    c("/* Reads the values of the model from a folder. NULL: it cannot, and `message` says why. */")
    c(f"THEANO_MODEL_API theano_model *{name}_open(const char *folder, char *message, size_t room);", "")
    for function, number in plan.functions.items():
        planned = plan.programs[number]
        slots = planned.program.slots
        c.comment(f"{function}: THEANO_OK, or what went wrong.")
        for title, names, numbers in (
            ("inputs", planned.input_names, [given.slot for given in planned.program.inputs]),
            ("outputs", planned.output_names, planned.program.outputs),
        ):
            for k, (each, slot) in enumerate(zip(names, numbers, strict=True)):
                c.comment(f"    {title}[{k}]: {array_text(each, slots[slot].spec)}")
        for stored in planned.update_cells:
            c.comment(f"    stores {plan.cells[stored].name}")
        c(f"THEANO_MODEL_API int {name}_{function}({_ARGUMENTS});", "")
    c("/* A stored value by its name: `get` points to it until it is next changed, `set` copies. */")
    for cell in plan.cells:
        if cell.name:
            c.comment(f"    {cell.name}: {cell.dtype}{_brackets(cell.ones)}")
    c(f"THEANO_MODEL_API int {name}_get(theano_model *model, const char *value, theano_array *array);")
    c(f"THEANO_MODEL_API int {name}_set(theano_model *model, const char *value, const theano_array *array);", "")
    c("/* The elements of an array, in C order: `to` has room for them. */")
    c(f"THEANO_MODEL_API void {name}_copy(const theano_array *array, void *to);", "")
    c("/* Writes the stored values into files of a folder: of the model's own, to go on from there. */")
    c(f"THEANO_MODEL_API int {name}_save(theano_model *model, const char *folder);", "")
    c("/* What went wrong in the last call. */")
    c(f"THEANO_MODEL_API const char *{name}_message(const theano_model *model);", "")
    c("/* Lets big loops run on threads of the caller's; without it all is computed in the thread that calls. */")
    c(f"THEANO_MODEL_API void {name}_set_parallel(theano_model *model, theano_parallel run);", "")
    c(f"THEANO_MODEL_API void {name}_close(theano_model *model);", "")
    c("#ifdef __cplusplus", "}", "#endif", "#endif")
    return str(c)


def metadata(plan: Plan, name: str) -> dict[str, Any]:
    """Return what ``NAME.json`` says: functions with their arrays, and stored values."""

    def arrays(names: Sequence[str], numbers: Sequence[int], slots: Any) -> list[dict[str, Any]]:
        return [
            {"name": each, "dtype": slots[k].spec.dtype, "shape": _shape(slots[k].spec.broadcastable)}
            for each, k in zip(names, numbers, strict=True)
        ]

    functions = {}
    for function, number in plan.functions.items():
        planned = plan.programs[number]
        program = planned.program
        inputs = arrays(planned.input_names, [given.slot for given in program.inputs], program.slots)
        for entry, cell in zip(inputs, planned.input_cells, strict=True):
            if cell >= 0:
                entry["default"] = plan.cells[cell].file
        functions[function] = {
            "inputs": inputs,
            "outputs": arrays(planned.output_names, program.outputs, program.slots),
            "updates": [plan.cells[cell].name for cell in planned.update_cells],
        }
    values = [
        {"name": cell.name, "dtype": cell.dtype, "shape": list(memoryview(cell.value).shape or ()), "file": cell.file}
        for cell in plan.cells
        if cell.name
    ]
    return {"format": 1, "name": name, "functions": functions, "values": values}


def _shape(ones: Sequence[bool]) -> list[int | None]:
    return [1 if one else None for one in ones]


def json_text(data: dict[str, Any]) -> str:
    """Return metadata as text."""
    return dumps(data, indent=1, ensure_ascii=False) + "\n"


def loader_text(name: str, library: str) -> str:
    """Return the text of ``NAME.py``."""
    with open(_LOADER, encoding="utf-8") as template:
        return template.read().replace("NAME", name).replace("LIBRARY", library)
