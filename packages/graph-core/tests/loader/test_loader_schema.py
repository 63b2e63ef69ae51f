"""What C++ reads of a program is what Python declares."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any

import pytest

from theano.graph import type as graph_type
from theano.graph.type import BufferSpec
from theano.loader import schema
from theano.loader.module import Function
from theano.loader.schema_header import header

HEADER = header(inspect.getsource(schema), inspect.getsource(graph_type))
RECORDS = [*schema.RECORDS.values(), BufferSpec]


def test_all_records_are_known_by_name() -> None:
    declared = [c for c in vars(schema).values() if inspect.isclass(c) and hasattr(c, "_fields")]
    assert list(schema.RECORDS.values()) == declared


@pytest.mark.parametrize("record", RECORDS)
def test_fields_are_read_in_the_order_of_the_declaration(record: Any) -> None:
    (body,) = re.findall(rf"struct {record.__name__} {{(.*?)\n}};", HEADER, re.DOTALL)
    members = re.findall(r"^    (?!static)\S.*?(\w+) = ", body, re.MULTILINE)
    ((form, places),) = re.findall(r'ParseTuple\(record, "(\S+);.*?", (.*)\)', body)
    assert members == re.findall(r"&(\w+)", places) == list(record._fields)
    needed, _, rest = form.partition("|")
    assert len(needed + rest) == len(record._fields) and len(rest) == len(record._field_defaults)


def test_entries_are_those_of_programs_and_of_processes() -> None:
    wanted = [*(f.name for f in fields(schema.MachineProgram)), *schema.ProcessEntries.__annotations__]
    assert re.findall(r'{"(\w+)", &Entries::\w+}', HEADER) == wanted


def test_the_compiled_loader_takes_every_entry_that_is_declared() -> None:
    program = schema.MachineProgram(slots=[], instructions=[], inputs=[], outputs=[])
    assert Function(program.description() | dict.fromkeys(schema.ProcessEntries.__annotations__))() == []
    with pytest.raises(TypeError, match="unknown entry 'slots_'"):
        Function(slots_=[])


def test_records_that_are_no_tuples_are_refused_by_their_fields() -> None:
    with pytest.raises(TypeError, match=r"Slot is \(kind, spec, value\)"):
        Function(slots=[["input", None, None]])
    with pytest.raises(TypeError, match=r"BufferSpec is \(dtype, ndim, broadcastable\[, scalar\]\[, device\]\)"):
        Function(slots=[("input", ("float64",), None)])
