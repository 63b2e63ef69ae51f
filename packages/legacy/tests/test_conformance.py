"""Calls of the public interface against what Theano 1.0.5 answered: each difference has a reason in `reasons.toml`.

`python3 tools/run.py conformance` asks Theano itself again.
"""

from __future__ import annotations

import pytest

from conformance import reasons
from tools.portion import portion

SLICES = 40


@pytest.mark.parametrize("first", range(SLICES))
def test_each_difference_from_theano_has_a_reason(first: int) -> None:
    texts = reasons.texts(of_sparse=False)
    size = -(-len(texts) // SLICES)  # neighbours are of one group, and are computed in one function
    unknown = reasons.without_reason(portion(texts[first * size : (first + 1) * size], 3))
    assert not unknown, unknown
