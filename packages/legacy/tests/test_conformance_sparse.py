"""Calls of theano.sparse against what Theano 1.0.5 answered, as the tensor layer's tests have it for other calls."""

from __future__ import annotations

import pytest

import theano.sparse  # noqa: F401  (for its calls)
from conformance import reasons
from tools.portion import portion

SLICES = 8


@pytest.mark.parametrize("first", range(SLICES))
def test_each_difference_from_theano_has_a_reason(first: int) -> None:
    chosen = portion(reasons.texts(of_sparse=True)[first::SLICES], 3)
    unknown = [difference for because, *difference in reasons.explained(chosen) if because is None]
    assert not unknown, "mend these, or say why in tools/conformance/reasons.toml:\n" + "\n".join(
        "  ".join(difference) for difference in unknown
    )


@pytest.mark.slow
def test_each_reason_explains_something() -> None:
    """Calls of tensors are looked at once more, since each layer's tests see their own."""
    used = {because for because, *_ in reasons.explained(reasons.texts())}
    unused = [because for because, _, _ in reasons.reasons() if because not in used]
    assert not unused, "nothing differs for these reasons any more: " + "\n".join(unused)
