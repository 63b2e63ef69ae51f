"""What the kernels of this layer share: their library, their parameters and the headers of C (``c/``)."""
