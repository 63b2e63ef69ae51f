"""Asynchronous deep Q-learning: convolutional networks whose weights are memory that processes share."""

from __future__ import annotations

import sys

import numpy as np
from scipy.signal import convolve2d

sys.path.insert(0, sys.argv[1])
import network
from parameters import constants

constants.weigthInitStdev = 0.02
RNG = np.random.default_rng(0)
dqn, critic = network.DeepQNet(3, "net", True), network.DeepQNet(3, "critic", False)
agent = network.AgentComputation(dqn, critic, "agent")


def scores(net: network.DeepQNet, image: np.ndarray) -> np.ndarray:
    """Return what a network says of the actions, by SciPy."""
    for layer, step in ((net.conv1_hold, 4), (net.conv2_hold, 2)):
        w, b = layer.npweights(), layer.npbiases()
        image = np.array([[sum(convolve2d(part, w[o, i], "valid") for i, part in enumerate(one))[::step, ::step] + b[o]
                           for o in range(len(w))] for one in image]).clip(0)  # fmt: skip
    hidden = (image.ravel() @ net.fcl1_hold.npweights() + net.fcl1_hold.npbiases()).clip(0)
    return hidden @ net.fcl2_hold.npweights() + net.fcl2_hold.npbiases()


images = RNG.random((3, 4, 1, 84, 84)).astype("float32")
known = scores(dqn, images[0])
assert agent.getBestAction(images[0])[0] == known.argmax()
assert np.isclose(agent.getCriticScore(images[0])[0], scores(critic, images[0]).max(), rtol=1e-4)
for _ in range(150):
    for i, image in enumerate(images):  # action i is worth 2 where image i is seen, others 0
        for action in range(3):
            agent.cumulateGradient(image, action, 2.0 * (action == i), 0)
    agent.applyGradient(0.02)
agent.update_critic()
best = [int(agent.getBestAction(image)[0]) for image in images]
values = [float(agent.getCriticScore(image)[0]) for image in images]
assert best == [0, 1, 2], (best, values)
print(f"best actions {best}, worth {np.round(values, 2).tolist()} (known 2); the forward pass as SciPy has it")
