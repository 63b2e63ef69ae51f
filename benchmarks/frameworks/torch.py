"""PyTorch, on the processor or a device: eager, and through torch.compile."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.frameworks.base import (
    CACHE,
    DEVICE,
    THREADS,
    Built,
    Framework,
    NotAvailable,
    clock,
    copies,
    copies_by_name,
)
from benchmarks.workload import Workload

if CACHE:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(CACHE) / "inductor")
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

import torch

# Float32 means float32, for everybody.
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
ON_CUDA = DEVICE.startswith("cuda")


def device_name() -> str:
    """Return what the device calls itself."""
    return torch.cuda.get_device_name(DEVICE) if ON_CUDA else DEVICE


def wait() -> None:
    """Wait for what the device was asked for."""
    if ON_CUDA:
        torch.cuda.synchronize()


def along(function):
    """Return a reduction that takes an axis or None as NumPy's do."""
    return lambda x, axis=None: function(x) if axis is None else function(x, dim=axis)


class Torch(Framework):
    """Op by op."""

    version = torch.__version__
    device = device_name()

    def __init__(self) -> None:
        torch.set_num_threads(THREADS)
        for word in "exp log log1p tanh sin cos sqrt erf sigmoid relu where clip outer stack reshape logsumexp".split():
            setattr(self, word, getattr(torch, word))
        for word in "sum mean prod argmax argmin any all".split():
            setattr(self, word, along(getattr(torch, word)))
        self.max, self.min = along(torch.amax), along(torch.amin)
        self.dot, self.batched_dot, self.concatenate = torch.matmul, torch.bmm, torch.cat
        self.softplus = torch.nn.functional.softplus
        self.cross_entropy = torch.nn.functional.cross_entropy
        self.sparse_dot = torch.matmul

    def var(self, x, axis=None): return torch.var(x, dim=axis, correction=0)
    def std(self, x, axis=None): return torch.std(x, dim=axis, correction=0)
    def cumsum(self, x): return torch.cumsum(x, 0)
    def softmax(self, x): return torch.softmax(x, -1)
    def log_softmax(self, x): return torch.log_softmax(x, -1)
    def contiguous(self, x): return x.contiguous()
    def take(self, x, index): return x[index]
    def sort(self, x): return torch.sort(x)[0]
    def argsort(self, x): return torch.argsort(x)
    def largest(self, x, k): return torch.topk(x, k)[0]
    def searchsorted(self, x, v): return torch.searchsorted(x, v)
    def where_true(self, x, mask): return x[mask]
    def conv2d(self, x, w, pad=0, groups=1): return torch.nn.functional.conv2d(x, w, padding=pad, groups=groups)

    def batch_norm(self, x, gamma, beta):
        return torch.nn.functional.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-4)

    def max_pool2(self, x): return torch.nn.functional.max_pool2d(x, 2)
    def add_rows(self, x, index, v): return x.index_add_(0, index, v)  # (of state only: in place)
    def set_rows(self, x, index, v): return x.index_put_((index,), v)

    def inverse(self, x): return torch.linalg.inv(x)
    def cholesky(self, x): return torch.linalg.cholesky(x)
    def solve(self, x, y): return torch.linalg.solve(x, y)
    def solve_lower(self, x, y):
        if y.ndim == 2:
            return torch.linalg.solve_triangular(x, y, upper=False)
        return torch.linalg.solve_triangular(x, y[:, None], upper=False)[:, 0]

    def det(self, x): return torch.linalg.det(x)
    def eigh(self, x): return torch.linalg.eigh(x)
    def svd(self, x): return torch.linalg.svd(x, full_matrices=False)
    def singular_values(self, x): return torch.linalg.svdvals(x)
    def qr(self, x): return torch.linalg.qr(x)
    def diagonal(self, x): return torch.diagonal(x)

    def set_block(self, x, block, v):
        x = x.clone()
        x[slice(*block), slice(*block)] = v
        return x

    def value_and_grad(self, function, wrt):
        wrt = [p.detach().requires_grad_(True) for p in wrt]
        with torch.enable_grad():
            cost = function(*wrt)
            gradients = torch.autograd.grad(cost, wrt)
        return cost.detach(), gradients

    def iterate(self, step, start, count, constants):
        for _ in range(count):
            start = step(start, *constants)
        return start

    def recurrent(self, step, sequence, shape, constants):
        h = sequence.new_zeros(shape)
        for xt in sequence:
            h = step(xt, h, *constants)
        return h

    def states(self, step, sequence, starts, constants):
        past, stacks = starts, [[] for _ in starts]
        for xt in sequence:
            past = step(xt, *past, *constants)
            for stack, row in zip(stacks, past):
                stack.append(row)
        return [torch.stack(stack) for stack in stacks]

    def random(self, kind, size, from_counter=False):
        draw = {"normal": torch.randn, "uniform": torch.rand}[kind]
        return draw(size, dtype=getattr(torch, self.dtype), device=DEVICE or None)

    def array(self, value):
        """Return a tensor of its own."""
        if hasattr(value, "tocsr"):
            parts = (torch.from_numpy(part.astype("int64")) for part in (value.indptr, value.indices))
            return torch.sparse_csr_tensor(*parts, torch.from_numpy(value.data), value.shape, device=DEVICE or None)
        return torch.tensor(value, device=DEVICE or None)

    def build(self, workload: Workload, dtype: str) -> Built:
        """Call it once, in a mode that records no gradients but those asked for."""
        if ON_CUDA:
            torch.cuda.empty_cache()  # the others need the memory, too
        inputs, state = workload.arrays(dtype)
        self.dtype = dtype
        given = {name: self.array(value) for name, value in inputs.items()}
        kept = {name: self.array(value) for name, value in state.items()}
        torch.autograd.set_grad_enabled(False)
        names = list(given)

        if state:

            def step():
                results, new = workload.body(self, **given, **kept)
                for name, value in new.items():
                    kept[name].copy_(value)
                return results

            function, arguments = self.compiled(step, workload), ()
        else:
            function = self.compiled(lambda *values: workload.body(self, **dict(zip(names, values))), workload)
            arguments = tuple(given.values())
        before = clock()
        results = function(*arguments)
        wait()
        seconds = {"total": clock() - before}
        first, state = copies(r.detach().cpu() for r in results), copies_by_name({k: t.cpu() for k, t in kept.items()})
        return Built(function, arguments, first, state, seconds, finish=wait if DEVICE else None)

    def compiled(self, function, workload: Workload):
        """Return a function as it is to be called."""
        return function


class TorchChannelsLast(Torch):
    """Op by op, where images and filters come with the channels of a pixel side by side, and so do the results."""

    def array(self, value):
        made = super().array(value)
        return made.contiguous(memory_format=torch.channels_last) if made.ndim == 4 else made

    def build(self, workload: Workload, dtype: str) -> Built:
        if workload.group not in "fg":
            raise NotAvailable("no images")
        return super().build(workload, dtype)


class TorchCompile(Torch):
    """The same through its compiler."""

    def value_and_grad(self, function, wrt):
        gradients, cost = torch.func.grad_and_value(function, argnums=tuple(range(len(wrt))))(*wrt)
        return cost, gradients

    def compiled(self, function, workload: Workload):
        if workload.group == "h":
            raise NotAvailable("it would unroll the loop")
        torch._dynamo.reset()
        return torch.compile(function, dynamic=False)
