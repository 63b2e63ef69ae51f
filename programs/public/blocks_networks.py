"""Blocks and Fuel: a recurrent network that counts, by the main loop, with dropout put into its graph; saved."""

from __future__ import annotations

import sys

import numpy as np

import theano
from theano import tensor

theano.config.floatX = "float32"
sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/fuel_checkout"]
from blocks.algorithms import Adam, CompositeRule, GradientDescent, StepClipping  # noqa: E402
from blocks.bricks import Linear, Softmax  # noqa: E402
from blocks.bricks.lookup import LookupTable  # noqa: E402
from blocks.bricks.recurrent import GatedRecurrent  # noqa: E402
from blocks.extensions import FinishAfter  # noqa: E402
from blocks.extensions.monitoring import DataStreamMonitoring  # noqa: E402
from blocks.filter import VariableFilter  # noqa: E402
from blocks.graph import ComputationGraph, apply_dropout  # noqa: E402
from blocks.initialization import Constant, IsotropicGaussian, Orthogonal  # noqa: E402
from blocks.main_loop import MainLoop  # noqa: E402
from blocks.model import Model  # noqa: E402
from blocks.serialization import dump, load_parameters  # noqa: E402
from fuel.datasets import IndexableDataset  # noqa: E402
from fuel.schemes import SequentialScheme  # noqa: E402
from fuel.streams import DataStream  # noqa: E402

steps = np.arange(13)
rows = np.array([(start + by * steps) % 5 for start in range(5) for by in (1, 2)])
x = tensor.lmatrix("numbers").T  # time first
table, gates = LookupTable(5, 8, name="table"), Linear(8, 32, name="gates")
inputs, cell, out = Linear(8, 16, name="inputs"), GatedRecurrent(dim=16, name="cell"), Linear(16, 5, name="out")
for brick in (table, inputs, gates, cell, out):
    brick.weights_init = Orthogonal() if brick is cell else IsotropicGaussian(0.1)
    brick.biases_init = Constant(0)
    brick.initialize()
seen = table.apply(x[:-1])
scores = out.apply(cell.apply(inputs.apply(seen), gates.apply(seen)))
cost = Softmax().categorical_cross_entropy(x[1:].flatten(), scores.reshape((-1, 5))).mean()
cost.name = "cost"
graph = ComputationGraph(cost)
kept = VariableFilter(bricks=[cell], name_regex="states")(graph.variables)[:1]
noisy = apply_dropout(graph, kept, 0.1).outputs[0]
stream = DataStream(IndexableDataset({"numbers": rows}), iteration_scheme=SequentialScheme(10, 10))
rule = CompositeRule([StepClipping(5.0), Adam(0.02)])
loop = MainLoop(
    GradientDescent(cost=noisy, parameters=graph.parameters, step_rule=rule),
    stream,
    model=Model(noisy),
    extensions=[DataStreamMonitoring([cost], stream, prefix="all", after_epoch=True), FinishAfter(after_n_epochs=250)],
)
loop.run()
found = float(loop.log.current_row["all_cost"])
# The first step of each cannot be told: one of two, so log 2 for one of twelve numbers is the least there can be.
assert np.log(2) / 12 - 1e-3 < found < 0.15, found
with open("model", "wb") as file:
    dump({"parameters": None}, file, parameters=graph.parameters)
with open("model", "rb") as file:
    assert len(load_parameters(file)) == len(graph.parameters)
print(f"cost {found:.4f}, where {np.log(2) / 12:.4f} is the least there can be")
