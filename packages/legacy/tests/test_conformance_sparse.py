"""Calls of theano.sparse against what Theano 1.0.5 answered, as the tensor layer's tests have it for other calls."""

from __future__ import annotations

import pytest

import theano.sparse  # noqa: F401  (for its calls)
from conformance import reasons
from tools.portion import portion

SLICES = 8


@pytest.mark.parametrize("first", range(SLICES))
def test_each_difference_from_theano_has_a_reason(first: int) -> None:
    texts = reasons.texts(of_sparse=True)
    size = -(-len(texts) // SLICES)  # neighbours are of one group, and are computed in one function
    unknown = reasons.without_reason(portion(texts[first * size : (first + 1) * size], 3))
    assert not unknown, unknown


@pytest.mark.slow
def test_each_reason_explains_something() -> None:
    """Calls of tensors are looked at once more, since each layer's tests see their own."""
    used = {because for because, *_ in reasons.explained(reasons.texts())}
    unused = [because for because, _, _ in reasons.reasons() if because not in used]
    assert not unused, "nothing differs for these reasons any more: " + "\n".join(unused)
