"""A program as people write them, with six typos, which type checkers find: `docs/test_stubs.py`."""

import numpy as np

import theano
import theano.tensor as T
from theano import function, shared, sparse
from theano.ifelse import ifelse

theano.config.floatX = "float64"
rng = np.random.default_rng(1)
stream = T.shared_randomstreams.RandomStreams(seed=2)


class Layer:
    """Weights, and what they make of an input."""

    def __init__(self, n_in: int, n_out: int, name: str):
        self.w = shared(rng.normal(size=(n_in, n_out)), name=f"w_{name}")
        self.b = shared(np.zeros(n_out), name=f"b_{name}", borrow=True)

    def output(self, x: T.TensorVariable) -> T.TensorVariable:
        """Return the activations."""
        return T.sigmod(T.dot(x, self.w) + self.b)  # typo 1

    def decay(self) -> T.TensorVariable:
        """Return the sum of squares."""
        return (self.w**2).summ()  # typo 2


x, y = T.dmatrix("x"), T.lvector("y")
first, second = Layer(4, 5, "first"), Layer(5, 3, "second")
noise = stream.normal(size=x.shape, std=0.1)
hidden = first.output(x + noise)
image = T.signal.pool.pool_2d(T.tensor4("image"), (2, 2), ignore_border=True)
p = T.nnet.softmax(second.output(hidden))
cost = -T.log(p)[T.arange(y.shape[0]), y].mean() + 0.01 * first.decay()
parameters = [first.w, first.b, second.w, second.b]
gradients = T.grad(cost, parameters)
updates = [(w, w - 0.1 * g) for w, g in zip(parameters, gradients, strict=True)]
train = function([x, y], cost, updates=updates, alow_input_downcast=True)  # typo 3
predict = function([x], [p.argmax(axis=1), p], mode=theano.Mode(linker="py"))
choice, probabilities = predict(np.ones((2, 4)))
print(choice.shape, probabilities.mean(axis=0), train(np.ones((2, 4)), [0, 1]))

start = T.zeros((3,))
states, changes = theano.scan(lambda s: s * 2, outputs_info=[start], n_step=4)  # typo 4
last = theano.function([], states[-1], updates=changes)
halves = T.split(x, [2, 2], 2, axis=0)
bigger = ifelse(T.gt(x.sum(), 0), x, -x)
s = sparse.csr_matrix("s")
product = sparse.dot(s, x.T)
print(first.w.get_vallue().shape, first.w.get_value(borrow=True).dtype)  # typo 5
bounds = T.clip(x, 0, 1).std(ddof=1) + T.nlinalg.det(x) + T.linalg.norm(x)
with theano.change_flags(on_unused_input="ignore"):
    f = function([x], x.reshape((-1, 2)).max(axis=1, keepdims=True))
print(theano.config.flotX, f.maker.fgraph, f.trust_input)  # typo 6
print(T.switch(x > 0, T.exp(x), x).dimshuffle("x", 0, 1).ndim, T.concatenate([x, x.T], axis=0).dtype)
