"""Which memory the table of cases is computed in: as recorded (see ``written.py``), and run with values that know who wrote them.

Each case is planned twice: as a function of arguments, and as one step of an optimization, where its inputs are shared
variables and each is updated with its gradient. Nothing is compiled: kernels are written, and their addresses made up.
"""

from __future__ import annotations

import warnings

import pytest
from every_op import tables
from written import digest, ops

import theano
from theano.compile import In, Out
from theano.compile.aliasing import insert_deepcopy
from theano.compile.mode import predefined_linkers
from theano.compile.shared import Container
from theano.graph import FunctionGraph
from theano.graph.features import Supervisor
from theano.rewriting import rewrite
from theano.runtime.link import link
from theano.runtime.program import Argument, build, in_slots

BY_NAME = {case.name: case for case in tables()}


def planned(specs, outputs):
    """Return the program of a function, its nodes in their order, and the number of each variable's slot."""
    inputs = [spec.variable for spec in specs]
    updated = [i for i, spec in enumerate(specs) if spec.update is not None]
    fgraph = FunctionGraph(inputs, [*(o.variable for o in outputs), *(specs[i].update for i in updated)], clone=False)
    fgraph.update_mapping = {len(outputs) + k: i for k, i in enumerate(updated)}
    mutable = [spec.variable for spec in specs if spec.mutable]
    fgraph.attach_feature(Supervisor(set(inputs) - set(mutable), [inputs[i] for i in updated]))
    rewrite(fgraph)
    insert_deepcopy(fgraph, specs, outputs)
    fgraph.validate()
    linked = link(fgraph.toposort(), predefined_linkers["cvm"], lambda kernels: range(len(kernels)), fgraph.outputs)
    arguments = [Argument(s.variable, None, ["cell"], s.implicit, not s.implicit, None, s.mutable) for s in specs]
    updates = [(["cell"], i) for i in fgraph.update_mapping]
    program = build(fgraph, linked, arguments, len(outputs), updates, "list")
    return program, linked.nodes, {v: i for i, v in enumerate(in_slots(fgraph.inputs, linked.nodes, fgraph.outputs))}


def of_arguments(case):
    variables = case.variables()
    return [In(x, mutable=i == 0) for i, x in enumerate(variables)], [Out(case.build(*variables))]


def step(case):
    """Return a step of gradient descent, or where nothing can be differentiated, one that stores the result itself."""
    variables = case.variables()
    out = case.build(*variables)
    floats = [x for x in variables if x.dtype == "float64"]
    if case.smooth and floats:
        slopes = theano.grad((out * out).sum(), floats, disconnected_inputs="ignore")
        new = dict(zip(floats, [x - 0.1 * g for x, g in zip(floats, slopes, strict=True)], strict=True))
    else:
        new = {x: out for x in variables if x.type == out.type}
    cell = lambda x: Container(x.type, [None])
    specs = [In(x, value=cell(x), update=new.get(x), mutable=False, borrow=True) for x in variables]
    return [s if s.update is not None else In(s.variable) for s in specs], [Out(out.sum() if out.ndim else out)]


def shown(program, nodes):
    """Return a plan as text: what lies where, what is freed when, who writes over what."""
    lines = [
        f"{node.op}: {i.inputs} -> {[(o, program.reuse[o]) for o in i.outputs]}, frees {freed}"
        for node, i, freed in zip(nodes, program.instructions, program.frees, strict=True)
    ]
    writable = [i.writable for i in program.inputs]
    rest = (
        program.commit_start, program.overwritten, program.result_bases, writable, program.outputs,
        [u.slot for u in program.updates],
    )  # fmt: skip
    return "\n".join([*lines, str(rest)])


def check_by_running(program, nodes, slots):
    """Run a plan with numbers for memory and, in the place of values, who wrote them; whoever reads finds what he wants."""
    home = {slot: ("slot", slot) for slot in range(len(program.slots))}
    wrote, holds = {}, {}

    def write(slot, place, who):
        home[slot], wrote[slot], holds[place] = place, who, who

    for slot, home_of in home.items():
        if program.slots[slot].kind != "temp":
            write(slot, home_of, ("given", slot))
    for k, (node, instruction) in enumerate(zip(nodes, program.instructions, strict=True)):
        assert instruction.inputs == [slots[v] for v in node.inputs]
        for slot in instruction.inputs:
            assert holds[home[slot]] == wrote[slot], f"{node.op} reads what was written over"
        for o, slot in enumerate(instruction.outputs):
            overwritten, viewed = node.op.destroy_map.get(o), node.op.view_map.get(o)
            if overwritten:
                write(slot, home[instruction.inputs[overwritten[0]]], (k, o))
            elif viewed:
                home[slot], wrote[slot] = home[instruction.inputs[viewed[0]]], wrote[instruction.inputs[viewed[0]]]
            else:
                place = home[slot] if program.reuse[slot] < 0 else ("buffer", program.reuse[slot])
                assert all(home[s] != place for s in instruction.inputs), f"{node.op} would write where it reads"
                write(slot, place, (k, o))
        for slot in program.frees[k]:
            del wrote[slot]
    for slot in (*program.outputs, *(u.slot for u in program.updates)):
        assert holds[home[slot]] == wrote[slot], "a result was written over"


@pytest.mark.parametrize("build_of", [of_arguments, step])
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded_plan(name, build_of, snapshot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program, nodes, slots = planned(*build_of(BY_NAME[name]))
    if not program.lazy:
        check_by_running(program, nodes, slots)
    counts = f"{ops(nodes)}; last {program.commit_start} of {len(nodes)}, overwritten {[o.how for o in program.overwritten]}"
    assert f"{counts}; {digest(f'plan/{name} {build_of.__name__}', shown(program, nodes))}" == snapshot
