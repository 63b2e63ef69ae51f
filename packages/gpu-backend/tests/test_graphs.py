"""Random graphs on the device, against their values without rewriting; GPU_GRAPHS says how many (the sweep: 10,000)."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from compare import MODE, nodes

import theano

# The writer of random graphs is that of the tensor layer's tests.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tensor" / "tests"))
from random_graphs import Writer, well_behaved

GRAPHS = int(os.environ.get("GPU_GRAPHS", "80"))
BLOCK = 20


@pytest.mark.parametrize("block", range(GRAPHS // BLOCK))
def test_random_graphs(block):
    compared = worth = 0
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        writer = Writer(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = writer.write()
            wanted = well_behaved(outputs, writer.inputs, writer.values)
            if wanted is None:
                continue
            f = theano.function(writer.inputs, outputs, mode=MODE, on_unused_input="ignore")
            compared += 1
            worth += bool(nodes(f)[0])
            for w, found in zip(wanted, f(*writer.values), strict=True):
                np.testing.assert_allclose(found, w, rtol=2e-3, atol=2e-3, err_msg=f"seed {seed}")
    # What has but single elements, or only moves them, stays on the host.
    assert 4 * worth >= compared
