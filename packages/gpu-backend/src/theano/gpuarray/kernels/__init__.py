"""The host's halves of kernels and the drivers (``c/``), and how Python talks to them."""
