"""All rules of the tensor layer but those that wait for their ops: to import this enters them."""

from __future__ import annotations

import importlib

from theano.tensor.rules import FAMILIES, WITH_THEIR_OPS

for _name in FAMILIES:
    if _name not in WITH_THEIR_OPS:
        importlib.import_module(f"theano.tensor.{_name}")
