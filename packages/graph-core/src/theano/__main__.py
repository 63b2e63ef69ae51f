"""``python -m theano``: which Theano this is, and the commands that say more."""

from __future__ import annotations

import os
import sys

import theano
from theano.cache.store import CacheSettings
from theano.layers import installed
from theano.settings import config


def main() -> None:
    """Print the page."""
    python = os.path.basename(sys.executable)
    layers = ", ".join(layer.distribution for layer in installed())
    print(f"Theano {theano.__version__}, in {os.path.dirname(os.path.abspath(theano.__file__))}")
    print(f"layers     {layers or 'theano-graph-core alone'}")
    print(f"cache      {CacheSettings.from_config(config).directory()}")
    for module, what in (
        ("theano.doctor", "checks the compiler, the cache and the layers"),
        ("theano.cache", "lists, verifies, clears and exports compiled modules"),
    ):
        print(f"{python} -m {module:<14} {what}")
    print("print(theano.config) in a program lists the flags.")


if __name__ == "__main__":
    main()
