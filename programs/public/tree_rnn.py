"""Recurrent networks over trees (plain, LSTM of two kinds, GRU): sums of the leaves, and the root by NumPy."""

from __future__ import annotations

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import tree_gru
import tree_lstm
import tree_rnn as program

RNG = np.random.default_rng(0)
np.random.seed(0)


def random_tree(depth: int) -> program.BinaryNode:
    """Return a tree whose nodes are numbers of words."""
    node = program.BinaryNode(int(RNG.integers(0, 5)))
    if depth > 1:
        node.add_left(random_tree(depth - 1))
        node.add_right(random_tree(int(RNG.integers(1, depth))))
    return node


def state(model: program.TreeRNN, node: program.BinaryNode) -> np.ndarray:
    """Return the state at a node, by NumPy."""
    W, U, b, words = (p.get_value() for p in (model.W_hx, model.W_hh, model.b_h, model.embeddings))
    below = sum((state(model, child) for child in node.children), np.zeros(len(b)))
    return np.tanh(b + W @ words[node.val] + U @ below)


def share(node: program.BinaryNode) -> float:
    """Return the share of a tree's nodes that hold the word 0."""
    nodes = [node]
    for one in nodes:
        nodes.extend(one.children)
    return float(np.mean([one.val == 0 for one in nodes]))


plain = program.TreeRNN(5, 4, 6, 2)
tree = random_tree(4)
assert np.allclose(plain.evaluate(tree), state(plain, tree), atol=1e-5)
trees = [random_tree(int(RNG.integers(2, 4))) for _ in range(80)]
goals = [np.array([share(one), 1 - share(one)], "float32") for one in trees]
left = {}
for kind in (program.TreeRNN, tree_lstm.ChildSumTreeLSTM, tree_lstm.NaryTreeLSTM, tree_gru.ChildSumTreeGRU):
    model = kind(5, 6, 10, 2, learning_rate=0.1, momentum=0.0)
    losses = [np.mean([float(model.train_step(one, goal)[0]) for one, goal in zip(trees, goals)]) for _ in range(15)]
    left[kind.__name__] = round(float(losses[-1] / losses[0]), 3)
    assert left[kind.__name__] < 0.7, left
print(f"the root's state as NumPy has it; of the loss is left {left}")
