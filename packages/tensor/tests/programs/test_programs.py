"""Programs as users write them after a tutorial, each held to the same in NumPy."""

from __future__ import annotations

import pickle
from collections import OrderedDict

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from scipy.special import logsumexp

import theano
import theano.tensor as T
from theano.updates import OrderedUpdates

rng = np.random.RandomState(1234)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_logistic_regression_in_minibatches():
    """Shared data in minibatches, taken by givens; updates as a list of pairs; a validation function."""
    data_x = rng.randn(90, 5).astype(theano.config.floatX)
    labels = (data_x @ rng.randn(5, 3)).argmax(1)
    train_x = theano.shared(data_x, borrow=True)
    train_y = T.cast(theano.shared(labels.astype(theano.config.floatX), borrow=True), "int32")
    index, x, y = T.lscalar("index"), T.matrix("x"), T.ivector("y")
    W = theano.shared(value=np.zeros((5, 3), dtype=theano.config.floatX), name="W", borrow=True)
    b = theano.shared(value=np.zeros((3,), dtype=theano.config.floatX), name="b", borrow=True)
    p_y = T.nnet.softmax(T.dot(x, W) + b)
    y_pred = T.argmax(p_y, axis=1)
    cost = -T.mean(T.log(p_y)[T.arange(y.shape[0]), y])
    g_W, g_b = T.grad(cost=cost, wrt=[W, b])
    batch, rate = 30, 0.5
    part = slice(index * batch, (index + 1) * batch)
    train = theano.function(
        inputs=[index], outputs=cost, updates=[(W, W - rate * g_W), (b, b - rate * g_b)],
        givens={x: train_x[part], y: train_y[part]},
    )  # fmt: skip
    errors = theano.function([index], T.mean(T.neq(y_pred, y)), givens={x: train_x[part], y: train_y[part]})
    w, c = np.zeros((5, 3)), np.zeros(3)
    for _ in range(20):
        for i in range(3):
            rows = slice(i * batch, (i + 1) * batch)
            p = softmax(data_x[rows] @ w + c)
            d = (p - np.eye(3)[labels[rows]]) / batch
            np.testing.assert_allclose(train(i), -np.log(p[np.arange(batch), labels[rows]]).mean(), rtol=1e-9)
            w, c = w - rate * data_x[rows].T @ d, c - rate * d.sum(0)
    np.testing.assert_allclose(W.get_value(borrow=True), w, rtol=1e-9)
    for i in range(3):
        rows = slice(i * batch, (i + 1) * batch)
        assert errors(i) == ((data_x[rows] @ w + c).argmax(1) != labels[rows]).mean()


class HiddenLayer:
    """A layer, with the weights of its tutorial."""

    def __init__(self, rng, input, n_in, n_out, W=None, b=None, activation=T.tanh):
        self.input = input
        if W is None:
            bound = np.sqrt(6.0 / (n_in + n_out))
            values = np.asarray(rng.uniform(low=-bound, high=bound, size=(n_in, n_out)), dtype=theano.config.floatX)
            if activation == theano.tensor.nnet.sigmoid:
                values *= 4
            W = theano.shared(value=values, name="W", borrow=True)
        if b is None:
            b = theano.shared(value=np.zeros((n_out,), dtype=theano.config.floatX), name="b", borrow=True)
        self.W, self.b = W, b
        lin_output = T.dot(input, self.W) + self.b
        self.output = lin_output if activation is None else activation(lin_output)
        self.params = [self.W, self.b]


def test_multilayer_perceptron_with_regularisation():
    x, y = T.matrix("x"), T.ivector("y")
    hidden = HiddenLayer(rng, x, 4, 6)
    top = HiddenLayer(rng, hidden.output, 6, 3, activation=T.nnet.softmax)
    params = hidden.params + top.params
    L1 = abs(hidden.W).sum() + abs(top.W).sum()
    L2 = (hidden.W**2).sum() + (top.W**2).sum()
    cost = T.nnet.categorical_crossentropy(top.output, y).mean() + 0.001 * L1 + 0.01 * L2
    gparams = [T.grad(cost, param) for param in params]
    updates = [(param, param - 0.1 * gparam) for param, gparam in zip(params, gparams)]
    train = theano.function([x, y], cost, updates=updates)
    X, Y = rng.randn(20, 4), rng.randint(0, 3, 20).astype("int32")
    w1, b1, w2, b2 = (p.get_value() for p in params)
    for _ in range(5):
        h = np.tanh(X @ w1 + b1)
        p = softmax(h @ w2 + b2)
        loss = -np.log(p[np.arange(20), Y]).mean() + 0.001 * (abs(w1).sum() + abs(w2).sum()) + 0.01 * ((w1**2).sum() + (w2**2).sum())
        np.testing.assert_allclose(train(X, Y), loss, rtol=1e-9)
        d2 = (p - np.eye(3)[Y]) / 20
        d1 = (d2 @ w2.T) * (1 - h**2)
        g1, g2 = X.T @ d1 + 0.001 * np.sign(w1) + 0.02 * w1, h.T @ d2 + 0.001 * np.sign(w2) + 0.02 * w2
        w1, b1, w2, b2 = w1 - 0.1 * g1, b1 - 0.1 * d1.sum(0), w2 - 0.1 * g2, b2 - 0.1 * d2.sum(0)
    np.testing.assert_allclose(hidden.W.get_value(), w1, rtol=1e-9)


def test_autoencoder_with_tied_weights():
    x = T.matrix("x")
    W = theano.shared(rng.uniform(-0.5, 0.5, (6, 3)), name="W")
    b, b_prime = theano.shared(np.zeros(3), name="b"), theano.shared(np.zeros(6), name="b'")
    y = T.nnet.sigmoid(T.dot(x, W) + b)
    z = T.nnet.sigmoid(T.dot(y, W.T) + b_prime)
    L = -T.sum(x * T.log(z) + (1 - x) * T.log(1 - z), axis=1)
    cost = T.mean(L)
    same = T.nnet.binary_crossentropy(z, x).sum(axis=1).mean()
    params = [W, b, b_prime]
    learn = theano.function([x], [cost, same], updates=[(p, p - 0.3 * g) for p, g in zip(params, T.grad(cost, params))])
    X = (rng.rand(12, 6) > 0.5).astype("float64")
    w, c, d = (p.get_value() for p in params)
    for _ in range(4):
        h = sigmoid(X @ w + c)
        out = sigmoid(h @ w.T + d)
        loss = -(X * np.log(out) + (1 - X) * np.log(1 - out)).sum(1).mean()
        np.testing.assert_allclose(learn(X), [loss, loss], rtol=1e-9)
        e = (out - X) / 12
        f = (e @ w) * h * (1 - h)
        w, c, d = w - 0.3 * (X.T @ f + e.T @ h), c - 0.3 * f.sum(0), d - 0.3 * e.sum(0)
    np.testing.assert_allclose(W.get_value(), w, rtol=1e-9)


def test_gaussian_mixture():
    """Log-likelihood of points, all components at once; what each point's own component says, by an index of both."""
    x, mu, logsd, logits = T.dmatrix("x"), T.dmatrix("mu"), T.dmatrix("logsd"), T.dvector("logits")
    z = T.lvector("z")
    delta = (x[:, np.newaxis, :] - mu[None]) / T.exp(logsd)
    each = (-0.5 * delta**2 - logsd - 0.5 * np.log(2 * np.pi)).sum(axis=2) + T.log(T.nnet.softmax(logits.dimshuffle("x", 0)))
    biggest = each.max(axis=1, keepdims=True)
    ll = (T.log(T.exp(each - biggest).sum(axis=1, keepdims=True)) + biggest).sum()
    own = each[T.arange(x.shape[0]), z].sum()
    f = theano.function([x, mu, logsd, logits, z], [ll, own, T.grad(ll, mu)])
    X, M, S, Lg, Z = rng.randn(9, 2), rng.randn(3, 2), rng.randn(3, 2) * 0.3, rng.randn(3), rng.randint(0, 3, 9)
    w = np.stack([scipy.stats.norm(M[k], np.exp(S[k])).logpdf(X).sum(1) for k in range(3)], 1) + Lg - logsumexp(Lg)
    total, chosen, slope = f(X, M, S, Lg, Z)
    np.testing.assert_allclose([total, chosen], [logsumexp(w, axis=1).sum(), w[np.arange(9), Z].sum()], rtol=1e-9)
    r = np.exp(w - logsumexp(w, axis=1, keepdims=True))
    np.testing.assert_allclose(slope, (r[:, :, None] * (X[:, None] - M) / np.exp(2 * S)).sum(0), rtol=1e-8)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1 with size 3"):
        f(X, M, S, Lg, Z + 3 - Z)


def test_kalman_filter_step():
    from theano.tensor.nlinalg import det, matrix_inverse, trace

    m, y = T.vectors("m", "y")
    P, A, Q, H, R = T.matrices("P", "A", "Q", "H", "R")
    m_, P_ = A.dot(m), A.dot(P).dot(A.T) + Q
    S = H.dot(P_).dot(H.T) + R
    K = P_.dot(H.T).dot(matrix_inverse(S))
    v = y - H.dot(m_)
    new_m, new_P = m_ + K.dot(v), (T.eye(3) - K.dot(H)).dot(P_)
    ll = -0.5 * (v.dot(T.slinalg.solve(S, v)) + T.log(det(S)) + v.shape[0] * np.log(2 * np.pi))
    step = theano.function([m, P, y, A, Q, H, R], [new_m, new_P, ll, trace(new_P)])
    a, h = rng.randn(3, 3), rng.randn(2, 3)
    q, r, p = np.eye(3) * 0.1, np.eye(2) * 0.5, np.eye(3)
    mean, obs = rng.randn(3), rng.randn(2)
    pm, pp = a @ mean, a @ p @ a.T + q
    s = h @ pp @ h.T + r
    k = pp @ h.T @ np.linalg.inv(s)
    got = step(mean, p, obs, a, q, h, r)
    np.testing.assert_allclose(got[0], pm + k @ (obs - h @ pm), rtol=1e-8)
    np.testing.assert_allclose(got[1], (np.eye(3) - k @ h) @ pp, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(got[2], scipy.stats.multivariate_normal(h @ pm, s).logpdf(obs), rtol=1e-8)
    np.testing.assert_allclose(got[3], np.trace(got[1]))


def test_principal_components():
    x, k = T.matrix("x"), T.iscalar("k")
    centred = x - x.mean(axis=0)
    U, s, V = T.nlinalg.svd(centred, full_matrices=False)
    scores = T.dot(centred, V[:k].T)
    explained = T.extra_ops.cumsum(s**2) / T.sum(s**2)
    back = T.dot(scores, V[:k]) + x.mean(axis=0, keepdims=True)
    f = theano.function([x, k], [scores, explained, back])
    X = rng.randn(20, 5) @ rng.randn(5, 5)
    u, d, vt = np.linalg.svd(X - X.mean(0), full_matrices=False)
    found = f(X, 2)
    np.testing.assert_allclose(abs(found[0]), abs(u[:, :2] * d[:2]), rtol=1e-8)
    np.testing.assert_allclose(found[1], (d**2).cumsum() / (d**2).sum())
    np.testing.assert_allclose(found[2], (u[:, :2] * d[:2]) @ vt[:2] + X.mean(0), rtol=1e-8)


def test_word_embeddings():
    """Rows of a table are read and written: its gradient is asked of the rows alone."""
    table = theano.shared(rng.randn(10, 4), name="embeddings")
    start = table.get_value()
    words, target = T.ivector("words"), T.vector("target")
    rows = table[words]
    cost = ((rows.mean(axis=0) - target) ** 2).sum()
    grad_rows = T.grad(cost, rows)
    train = theano.function([words, target], cost, updates={table: T.inc_subtensor(rows, -0.1 * grad_rows)})
    t = rng.randn(4)
    w = np.array([3, 5, 3], dtype="int32")
    mean = start[w].mean(0)
    np.testing.assert_allclose(train(w, t), ((mean - t) ** 2).sum())
    np.add.at(start, w, -0.1 * 2 * (mean - t) / 3)
    np.testing.assert_allclose(table.get_value(), start)
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        train(np.array([10], dtype="int32"), t)
    np.testing.assert_allclose(table.get_value(), start)


def test_adam():
    def adam(loss, all_params, learning_rate=0.01, b1=0.9, b2=0.999, e=1e-8):
        updates = OrderedUpdates()
        t = theano.shared(np.float32(1))
        for theta, g in zip(all_params, theano.grad(loss, all_params)):
            m_previous = theano.shared(np.zeros(theta.get_value().shape, dtype=theano.config.floatX))
            v_previous = theano.shared(np.zeros(theta.get_value().shape, dtype=theano.config.floatX))
            m = b1 * m_previous + (1 - b1) * g
            v = b2 * v_previous + (1 - b2) * g**2
            m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
            updates[m_previous], updates[v_previous] = m, v
            updates[theta] = theta - (learning_rate * m_hat) / (T.sqrt(v_hat) + e)
        updates[t] = t + np.float32(1)
        return updates

    p = theano.shared(np.array([1.0, -2.0, 3.0]), name="p")
    step = theano.function([], outputs=[], updates=adam((p**2).sum(), [p]))
    w, m, v = p.get_value(), np.zeros(3), np.zeros(3)
    for i in range(1, 11):
        assert step() == []
        g = 2 * w
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - 0.01 * (m / (1 - 0.9**i)) / (np.sqrt(v / (1 - 0.999**i)) + 1e-8)
    # 1 - b2**t is a difference of float32: Theano raises a number of float32 to a power of float32.
    np.testing.assert_allclose(p.get_value(), w, rtol=1e-3)


def test_hessian_vector_product():
    x, v = T.dvectors("x", "v")
    A = theano.shared(rng.randn(4, 4))
    y = T.sum(T.tanh(T.dot(A, x)) ** 2)
    gy = T.grad(y, x)
    by_rop, by_grad = T.Rop(gy, x, v), T.grad(T.sum(gy * v), x)
    H = theano.gradient.hessian(y, x)
    f = theano.function([x, v], [by_rop, by_grad, T.dot(H, v), T.Lop(gy, x, v)])
    for each in (found := f(rng.randn(4), rng.randn(4))):
        np.testing.assert_allclose(each, found[0], rtol=1e-8)
    J = theano.function([x], theano.gradient.jacobian(T.tanh(T.dot(A, x)), x))
    X = rng.randn(4)
    np.testing.assert_allclose(J(X), (1 - np.tanh(A.get_value() @ X) ** 2)[:, None] * A.get_value(), rtol=1e-9)


def test_switch_chooses_element_by_element():
    a, b = T.scalars("a", "b")
    x, y = T.matrices("x", "y")
    f = theano.function([a, b, x, y], T.switch(T.lt(a, b), T.mean(x), T.mean(y)), mode=theano.Mode(linker="vm"))
    X, Y = np.ones((3, 4)), np.zeros((2, 2))
    assert f(0.0, 1.0, X, Y) == 1 and f(1.0, 0.0, X, Y) == 0
    clipped = theano.function([x], T.switch(x > 0, T.log(x), 0.0).sum())
    assert clipped(np.array([[-1.0, np.e]])) == 1
    with pytest.raises(TypeError, match="(?i)truth|bool|lack"):
        if a < b:
            pass


@theano.compile.ops.as_op(itypes=[T.dmatrix, T.dvector], otypes=[T.dvector])
def weighted_median(matrix, weights):
    """Rows' weighted medians, in plain NumPy."""
    order = np.argsort(matrix, axis=1)
    total = weights[order].cumsum(1)
    place = (total >= weights.sum() / 2).argmax(1)
    return np.take_along_axis(matrix, np.take_along_axis(order, place[:, None], 1), 1)[:, 0]


def test_an_op_of_ones_own():
    x, w = T.dmatrix("x"), T.dvector("w")
    f = theano.function([x, w], weighted_median(x * 2, w) + 1)
    np.testing.assert_array_equal(f([[1, 2, 3], [9, 7, 8]], [1, 1, 1]), [5, 17])
    with pytest.raises(TypeError, match="(?s)dvector|vector|float64"):
        weighted_median(x, x)


class DoubleOp(theano.Op):
    """Twice its input, written as the tutorial on extending has it."""

    __props__ = ()
    itypes = [T.dmatrix]
    otypes = [T.dmatrix]

    def perform(self, node, inputs, output_storage):
        """Compute."""
        output_storage[0][0] = inputs[0] * 2

    def infer_shape(self, node, i0_shapes):
        """Return the shape."""
        return i0_shapes

    def grad(self, inputs, output_grads):
        """Return twice the gradient."""
        return [output_grads[0] * 2]

    def R_op(self, inputs, eval_points):
        """Return twice the direction."""
        return self.grad(inputs, eval_points) if eval_points[0] is not None else eval_points


def test_a_class_of_ones_own():
    x = T.matrix("x")
    f = theano.function([x], [DoubleOp()(x), T.grad((DoubleOp()(x) ** 2).sum(), x)])
    X = rng.randn(2, 3)
    np.testing.assert_allclose(f(X), [2 * X, 8 * X])
    T.verify_grad(DoubleOp(), [X], rng=np.random.RandomState(0))


def test_a_pickled_model(tmp_path):
    W = theano.shared(rng.randn(3, 2), name="W")
    x = T.matrix("x")
    f = theano.function([x], T.tanh(T.dot(x, W)), updates=OrderedDict([(W, W * 0.5)]))
    X = rng.randn(4, 3)
    with open(tmp_path / "model.pkl", "wb") as file:
        pickle.dump([f, W], file, protocol=pickle.HIGHEST_PROTOCOL)
    with open(tmp_path / "model.pkl", "rb") as file:
        g, V = pickle.load(file)
    np.testing.assert_array_equal(f(X), g(X))
    np.testing.assert_array_equal(f(X), g(X))
    np.testing.assert_array_equal(V.get_value(), g.get_shared()[0].get_value())
