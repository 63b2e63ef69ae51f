"""This Theano, and PyTensor: the same programs with small differences."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.frameworks.base import Built, Framework, NotAvailable, clock, copies, copies_by_name
from benchmarks.workload import TOLERANCE, Workload


class TheanoLike(Framework):
    """What both have in common. ``top`` is the package, ``T`` its module of tensors."""

    mode: str | None = None
    finish: Any = None
    top: Any
    T: Any

    def __init__(self) -> None:
        same = "exp log log1p tanh sin cos sqrt erf clip dot outer sum mean var std max min prod argmax argmin any"
        for word in f"{same} all cumsum concatenate stack reshape".split():
            setattr(self, word, getattr(self.T, word))
        self.where = self.T.switch
        self.version = self.top.__version__
        self.hidden_state: list = []

    def take(self, x, index): return x[index]
    def sort(self, x): return self.T.sort(x)
    def argsort(self, x): return self.T.argsort(x)
    def where_true(self, x, mask): return x[mask]
    def searchsorted(self, x, v): return self.T.extra_ops.searchsorted(x, v)
    def largest(self, x, k): return self.T.topk(x, k) if hasattr(self.T, "topk") else self.T.sort(x)[-k:][::-1]
    def add_rows(self, x, index, v): return self.T.inc_subtensor(x[index], v)
    def set_rows(self, x, index, v): return self.T.set_subtensor(x[index], v)

    def contiguous(self, x): return self.T.extra_ops.cpu_contiguous(x)
    def diagonal(self, x): return self.T.diagonal(x)
    def svd(self, x): return self.linalg("svd")(x, full_matrices=False)
    def singular_values(self, x): return self.linalg("svd")(x, compute_uv=False)
    def inverse(self, x): return self.linalg("matrix_inverse")(x)
    def cholesky(self, x): return self.linalg("cholesky")(x)
    def det(self, x): return self.linalg("det")(x)
    def eigh(self, x): return self.linalg("eigh")(x)
    def qr(self, x): return self.linalg("qr")(x)

    def linalg(self, name: str) -> Any:
        raise NotImplementedError

    def set_block(self, x, block, v):
        return self.T.set_subtensor(x[slice(*block), slice(*block)], v)

    def logsumexp(self, x, axis):
        return self.T.log(self.T.sum(self.T.exp(x), axis=axis))  # rewriting makes it stable

    def cross_entropy(self, z, y):
        return -self.T.mean(self.T.log(self.softmax(z))[self.T.arange(y.shape[0]), y])

    def value_and_grad(self, function, wrt):
        cost = function(*wrt)
        before = clock()
        gradients = self.top.grad(cost, list(wrt))
        self.gradient_seconds = clock() - before
        return cost, gradients

    def scan(self, step, **how):
        raise NotImplementedError

    def iterate(self, step, start, count, constants):
        return self.scan(step, outputs_info=start, non_sequences=constants, n_steps=count)[-1]

    def recurrent(self, step, sequence, shape, constants):
        start = self.T.zeros(shape, dtype=sequence.dtype)
        return self.scan(step, sequences=sequence, outputs_info=start, non_sequences=constants, strict=True)[-1]

    def states(self, step, sequence, starts, constants):
        found = self.scan(step, sequences=sequence, outputs_info=list(starts), non_sequences=constants, strict=True)
        return found if isinstance(found, (list, tuple)) else [found]

    def sparse_module(self) -> Any:
        raise NotImplementedError

    def sparse_dot(self, s, d): return self.sparse_module().structured_dot(s, d)

    def variable(self, name, value, stretched):
        """Return a variable; of its shape is known at most which lengths are 1."""
        if hasattr(value, "tocsr"):
            return self.sparse_module().csr_matrix(name, dtype=value.dtype)
        ones = tuple(stretched and length == 1 for length in value.shape)
        return self.tensor(name, str(value.dtype), ones)

    def tensor(self, name, dtype, ones):
        raise NotImplementedError

    def argument(self, value): return value
    def result(self, variable): return variable

    def build(self, workload: Workload, dtype: str) -> Built:
        """Build the graph, compile it, call it once."""
        inputs, state = workload.arrays(dtype)
        self.gradient_seconds, self.hidden_state = 0.0, []
        self.dtype = dtype
        # Numbers written in Python must not widen a float32 program.
        self.top.config.floatX = dtype if dtype in TOLERANCE else "float64"
        self.shapes = {name: value.shape for name, value in inputs.items()}
        t0 = clock()
        variables = {name: self.variable(name, value, workload.stretched) for name, value in inputs.items()}
        shared = {name: self.top.shared(value, name=name) for name, value in state.items()}
        results, new = workload.gives(workload.body(self, **variables, **shared))
        updates = [(shared[name], self._as(expression, shared[name])) for name, expression in new.items()]
        t1 = clock()
        how = {"updates": updates + self.hidden_state, "mode": self.mode, "on_unused_input": "ignore"}
        function = self.top.function(list(variables.values()), list(map(self.result, results)), **how)
        t2 = clock()
        arguments = tuple(map(self.argument, inputs.values()))
        t3 = clock()
        first = function(*arguments)  # some compile only now
        if self.finish is not None:
            self.finish()
        t4 = clock()
        seconds = {"graph": t1 - t0, "gradient": self.gradient_seconds, "function": t2 - t1, "first call": t4 - t3}
        seconds["total"] = t2 - t0 + t4 - t3
        kept = copies_by_name({name: variable.get_value() for name, variable in shared.items()})
        return Built(function, arguments, copies(first or []), kept, seconds, finish=self.finish)

    def _as(self, expression, old):
        return expression if expression.dtype == old.dtype else self.T.cast(expression, old.dtype)


class OurTheano(TheanoLike):
    """What this repository makes."""

    def __init__(self) -> None:
        import theano
        import theano.tensor as T
        import theano.tensor.nnet as nnet

        self.top, self.T, self.nnet = theano, T, nnet
        super().__init__()
        self.sigmoid, self.softplus, self.softmax, self.relu = nnet.sigmoid, nnet.softplus, nnet.softmax, nnet.relu
        self.batched_dot = T.batched_dot

    def log_softmax(self, x): return self.T.log(self.softmax(x))  # (rewriting makes it stable)
    def linalg(self, name): return getattr(self.T.slinalg, name, None) or getattr(self.T.nlinalg, name)
    def solve(self, x, y): return self.T.slinalg.solve(x, y)
    def solve_lower(self, x, y): return self.T.slinalg.solve_lower_triangular(x, y)

    @staticmethod
    def _needs(module: str, name: str) -> Any:
        """Return something that may not have been written yet."""
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise NotAvailable(f"{module}.{name} is not there") from error

    def conv2d(self, x, w, pad=0, groups=1):
        return self.nnet.conv2d(x, w, border_mode=pad, filter_flip=False, num_groups=groups)

    def max_pool2(self, x):
        return import_module("theano.tensor.signal.pool").pool_2d(x, (2, 2), ignore_border=True)

    def batch_norm(self, x, gamma, beta):
        return self.nnet.bn.batch_normalization_train(x, gamma, beta, axes="spatial", epsilon=1e-4)[0]

    def scan(self, step, **how):
        return self._needs("theano", "scan")(step, **how)[0]

    def sparse_module(self):
        self._needs("theano.sparse", "structured_dot")
        return import_module("theano.sparse")

    def random(self, kind, size, from_counter=False):
        streams = self._needs("theano.tensor.random", "PhiloxStreams" if from_counter else "MRG_RandomStreams")(1)
        return getattr(streams, kind)(size=(size,), dtype=self.dtype)

    def tensor(self, name, dtype, ones):
        return self.T.TensorType(dtype, ones)(name)


class OurTheanoOnDevice(OurTheano):
    """The same on the device that its flag names; arguments, results and state stay there between calls."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays = import_module("theano.gpuarray")
        context = self.arrays.get_context(None)
        self.device, self.finish = context.devname, context.wait

    def tensor(self, name, dtype, ones): return self.arrays.GpuArrayType(dtype, ones)(name)
    def argument(self, value): return value if hasattr(value, "tocsr") else self.arrays.asarray(value)
    def result(self, variable): return self.arrays.as_gpuarray_variable(variable)


class PyTensor(TheanoLike):
    """PyTensor, as it comes."""

    def __init__(self) -> None:
        import pytensor
        import pytensor.tensor as T
        import pytensor.tensor.special as special

        self.top, self.T, self.special = pytensor, T, special
        super().__init__()
        self.sigmoid, self.softplus, self.batched_dot = T.sigmoid, T.softplus, T.matmul

    def relu(self, x): return self.T.maximum(x, 0)
    def linalg(self, name): return getattr(self.T.linalg, name)
    def solve(self, x, y): return self.T.linalg.solve(x, y, b_ndim=y.ndim)
    def solve_lower(self, x, y): return self.T.linalg.solve_triangular(x, y, lower=True, b_ndim=y.ndim)
    def softmax(self, x): return self.special.softmax(x, axis=-1)
    def log_softmax(self, x): return self.special.log_softmax(x, axis=-1)

    def cross_entropy(self, z, y):
        return -self.T.mean(self.log_softmax(z)[self.T.arange(y.shape[0]), y])

    def conv2d(self, x, w, pad=0, groups=1): raise NotAvailable("no convolution of many channels")
    def max_pool2(self, x): raise NotAvailable("no pooling")
    def scan(self, step, **how): return self.top.scan(step, return_updates=False, **how)
    def sparse_module(self): return import_module("pytensor.sparse")

    def random(self, kind, size, from_counter=False):
        streams = import_module("pytensor.tensor.random.utils").RandomStream(1)
        drawn = getattr(streams, kind)(0, 1, size=(size,), dtype=self.dtype)
        updates = streams.updates()
        self.hidden_state = list(updates.items() if hasattr(updates, "items") else updates)
        return drawn

    def tensor(self, name, dtype, ones):
        return self.T.tensor(name, dtype=dtype, shape=tuple(1 if one else None for one in ones))


class PyTensorC(PyTensor):
    """Its C backend."""

    mode = "CVM"


class PyTensorNumba(PyTensor):
    """Its Numba backend."""

    mode = "NUMBA"
