"""This Theano beside other systems, on the same work, in the same run: ``nox -s bench``.

- `workload` says what a workload is, `workloads` lists them, each once;
- `frameworks` says each in NumPy, numexpr, Theano, PyTensor, JAX and PyTorch;
- `worker` is the process of one framework, `process` the other end of its pipe;
- `runner` lets the frameworks take turns and collects what they measured;
- `rating` turns measurements into ratios, `report` prints them as text and Markdown.

Nothing here but `frameworks.theano_like` imports theano, and a worker needs no package but its framework and NumPy.
"""
