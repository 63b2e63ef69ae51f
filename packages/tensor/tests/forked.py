"""A process that has made a function of tensors forks for the programs of several modules of tests."""

from __future__ import annotations

from warm import Warm

#: Each program has the flags of its own environment, and no others. What only the first function imports is there, too,
#: because that function was not in a cache; what was found and loaded for it is forgotten.
PREPARE = """
import os, sys, tempfile, time
os.environ.update(THEANO_FLAGS="", THEANORC="")
import numpy as np
import theano, theano.tensor as T
from theano.codegen import unit
from theano.compile.program_cache import counts
from theano.toolchain import select
x = T.fvector("x")
with tempfile.TemporaryDirectory() as folder:
    given = {**theano.config.all_given(), "base_compiledir": folder}
    theano.config.call_as_given(given, lambda: theano.function([x], T.arcsinh(x - T.cosh(x)))([3.0]))
select.forget()
unit._loaded, counts.found, counts.missed = unit._Loaded(), 0, 0
"""
TENSORS = Warm(PREPARE, each="theano.config.load(os.environ)")
