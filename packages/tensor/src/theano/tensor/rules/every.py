"""All rules of the tensor layer: to import this enters them."""

from __future__ import annotations

import importlib

from theano.tensor.rules import FAMILIES

for _name in FAMILIES:
    importlib.import_module(f"theano.tensor.{_name}")
