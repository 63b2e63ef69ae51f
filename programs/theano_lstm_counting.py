"""theano-lstm 0.0.15: stacked cells in a loop, learning to tell what comes next in sequences."""

from __future__ import annotations

import numpy as np
from theano_lstm import LSTM, RNN, Embedding, Layer, StackedCells, create_optimization_updates, masked_loss

import theano
import theano.tensor as T

SYMBOLS, LENGTH = 5, 12


def sequences() -> np.ndarray:
    """Return sequences that count upwards modulo SYMBOLS, by one or by two."""
    steps = np.arange(LENGTH + 1)
    rows = [(start + step * steps) % SYMBOLS for start in range(SYMBOLS) for step in (1, 2)]
    return np.array(rows, "int32")


def learned(cell: type, method: str) -> tuple[float, float]:
    """Train stacked cells; return the loss at the end, and how many symbols after the first two are foretold."""
    model = StackedCells(8, layers=[16], activation=T.tanh, celltype=cell)
    model.layers.insert(0, Embedding(SYMBOLS, 8))
    model.layers.append(Layer(16, SYMBOLS, lambda x: T.nnet.softmax(x.T).T if x.ndim > 1 else T.nnet.softmax(x)[0]))
    symbols = T.imatrix("symbols")

    def step(symbol: T.TensorVariable, hidden: T.TensorVariable) -> list[T.TensorVariable]:
        embedded, state, answer = model.forward(symbol, [None, hidden, None], [])
        del embedded
        return [state, answer]

    start = T.repeat(model.layers[1].initial_hidden_state.dimshuffle("x", 0), symbols.shape[0], axis=0)
    (_, answers), updates = theano.scan(step, sequences=symbols[:, :-1].T, outputs_info=[start, None])
    answers = answers.dimshuffle(1, 0, 2)
    lengths, starts = T.ivector("lengths"), T.ivector("starts")
    loss = masked_loss(answers, symbols[:, 1:], lengths, starts).mean()
    moves, *_ = create_optimization_updates(loss, model.params, method=method, lr=0.1)
    moves.update(updates)
    train = theano.function([symbols, lengths, starts], loss, updates=moves)
    answer = theano.function([symbols], answers.argmax(axis=2))
    data = sequences()
    ends, ones = np.full(len(data), LENGTH - 1, "int32"), np.ones(len(data), "int32")
    losses = [float(train(data, ends, ones)) for _ in range(400)]
    accuracy = float((answer(data)[:, 1:] == data[:, 2:]).mean())
    print(f"{cell.__name__}, {method}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, accuracy {accuracy:.3f}")
    return losses[-1] / losses[0], accuracy


for cell in (RNN, LSTM):  # its GRU names a module that it does not import
    left, accuracy = learned(cell, "adagrad")
    assert left < 0.5 and accuracy > 0.9, cell
