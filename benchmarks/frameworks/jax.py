"""JAX with jit, on the processor or a device; arrays stay its own between calls."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.frameworks.base import CACHE, DEVICE, THREADS, Built, Framework, clock, copies, copies_by_name
from benchmarks.workload import Workload


def _import_with_threads():
    """Import JAX with a pool of so many threads as wanted.

    Its client makes one thread for each core in the process's affinity mask and takes no other advice, so the mask is
    narrowed while the client is made, and widened again for all threads.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(cores)[:THREADS]))
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # others use the same device
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", DEVICE.partition(":")[0] or "cpu")
    if DEVICE:
        jax.config.update("jax_default_matmul_precision", "highest")  # float32 means float32, for everybody
    if CACHE:
        jax.config.update("jax_compilation_cache_dir", str(Path(CACHE) / "jax"))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.numpy.zeros(3).block_until_ready()
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cores)
        except OSError:
            pass  # it has ended
    return jax


jax = _import_with_threads()
jnp = jax.numpy


class Jax(Framework):
    """Workloads under ``jax.jit``; state is donated, so that it can be updated in place."""

    version = jax.__version__
    device = jax.devices()[0].device_kind if DEVICE else ""

    def __init__(self) -> None:
        same = "exp log log1p tanh sin cos sqrt where clip dot outer sum mean var std max min prod argmax argmin any"
        for word in f"{same} all cumsum concatenate stack reshape".split():
            setattr(self, word, getattr(jnp, word))
        self.batched_dot, self.erf = jnp.matmul, jax.scipy.special.erf
        self.sigmoid, self.softplus, self.relu = jax.nn.sigmoid, jax.nn.softplus, jax.nn.relu
        self.softmax, self.log_softmax, self.logsumexp = jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp

    def contiguous(self, x): return x
    def take(self, x, index): return x[index]
    def sort(self, x): return jnp.sort(x, stable=False)
    def argsort(self, x): return jnp.argsort(x, stable=False)
    def largest(self, x, k): return jax.lax.top_k(x, k)[0]
    def searchsorted(self, x, v): return jnp.searchsorted(x, v)
    def add_rows(self, x, index, v): return x.at[index].add(v)
    def set_rows(self, x, index, v): return x.at[index].set(v)
    def set_block(self, x, block, v): return x.at[slice(*block), slice(*block)].set(v)

    def inverse(self, x): return jnp.linalg.inv(x)
    def cholesky(self, x): return jnp.linalg.cholesky(x)
    def solve(self, x, y): return jnp.linalg.solve(x, y)
    def solve_lower(self, x, y): return jax.scipy.linalg.solve_triangular(x, y, lower=True)
    def det(self, x): return jnp.linalg.det(x)
    def eigh(self, x): return jnp.linalg.eigh(x)
    def svd(self, x): return jnp.linalg.svd(x, full_matrices=False)
    def singular_values(self, x): return jnp.linalg.svd(x, compute_uv=False)
    def qr(self, x): return jnp.linalg.qr(x)
    def diagonal(self, x): return jnp.diagonal(x)

    def cross_entropy(self, z, y):
        return -jnp.mean(jax.nn.log_softmax(z)[jnp.arange(z.shape[0]), y])

    def value_and_grad(self, function, wrt):
        return jax.value_and_grad(function, argnums=tuple(range(len(wrt))))(*wrt)

    def conv2d(self, x, w, pad=0, groups=1):
        return jax.lax.conv_general_dilated(x, w, (1, 1), [(pad, pad)] * 2, feature_group_count=groups)

    def batch_norm(self, x, gamma, beta):
        center, variance = jnp.mean(x, (0, 2, 3), keepdims=True), jnp.var(x, (0, 2, 3), keepdims=True)
        scale = jnp.reshape(gamma, (1, -1, 1, 1)) / jnp.sqrt(variance + 1e-4)
        return (x - center) * scale + jnp.reshape(beta, (1, -1, 1, 1))

    def max_pool2(self, x):
        window = (1, 1, 2, 2)
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")

    def iterate(self, step, start, count, constants):
        return jax.lax.scan(lambda h, _: (step(h, *constants), None), start, None, length=count)[0]

    def recurrent(self, step, sequence, shape, constants):
        start = jnp.zeros(shape, sequence.dtype)
        return jax.lax.scan(lambda h, xt: (step(xt, h, *constants), None), start, sequence)[0]

    def states(self, step, sequence, starts, constants):
        def both(past, xt):
            new = tuple(step(xt, *past, *constants))
            return new, new

        return jax.lax.scan(both, tuple(starts), sequence)[1]

    def sparse_dot(self, s, d): return s @ d

    def random(self, kind, size, from_counter=False):
        self.key, key = jax.random.split(self.key)
        return getattr(jax.random, kind)(key, (size,), self.dtype)

    def array(self, value):
        """Return an array of its own."""
        if hasattr(value, "tocsr"):
            from jax.experimental import sparse

            return sparse.BCSR.from_scipy_sparse(value)
        return jnp.asarray(value)

    def build(self, workload: Workload, dtype: str) -> Built:
        """Trace, compile, call once."""
        inputs, state = workload.arrays(dtype)
        self.dtype = dtype
        names = list(inputs)
        given = [self.array(value) for value in inputs.values()]
        kept = {name: self.array(value) for name, value in state.items()}
        if workload.group == "k":
            kept = {"key": jax.random.key(0)}

        def pure(state, *values):
            self.key = state.pop("key", None) if workload.group == "k" else None
            results, new = workload.gives(workload.body(self, **dict(zip(names, values)), **state))
            return results, ({"key": self.key} if workload.group == "k" else new)

        if not kept:
            return self._stateless(jax.jit(lambda *values: pure({}, *values)[0]), given)
        jitted = jax.jit(lambda state, *values: pure(dict(state), *values), donate_argnums=0)
        before = clock()
        results, new = jax.block_until_ready(jitted(kept, *given))
        seconds = {"total": clock() - before}
        box = [(results, new)]
        results, first = copies(results), copies_by_name({} if workload.group == "k" else new)

        def start():
            box[0] = jitted(box[0][1], *given)

        def finish():
            jax.block_until_ready(box[0])

        if DEVICE:
            return Built(start, (), results, first, seconds, finish=finish)

        def call():
            results, new = box[0] = jitted(box[0][1], *given)
            jax.block_until_ready((results, new))

        return Built(call, (), results, first, seconds)

    def _stateless(self, jitted, given) -> Built:
        before = clock()
        results = jax.block_until_ready(jitted(*given))
        seconds = {"total": clock() - before}
        if DEVICE:
            box = [results]
            results = copies(results)

            def start(*values):
                box[0] = jitted(*values)

            return Built(start, tuple(given), results, {}, seconds, finish=lambda: jax.block_until_ready(box[0]))
        if len(results) == 1:
            call = lambda *values: jitted(*values)[0].block_until_ready()
        else:
            call = lambda *values: jax.block_until_ready(jitted(*values))
        return Built(call, tuple(given), copies(results), {}, seconds)


