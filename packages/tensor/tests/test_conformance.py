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
    texts = reasons.texts()
    size = -(-len(texts) // SLICES)  # neighbours are of one group, and are computed in one function
    chosen = portion(texts[first * size : (first + 1) * size], 3)
    unknown = [difference for because, *difference in reasons.explained(chosen) if because is None]
    assert not unknown, "mend these, or say why in tools/conformance/reasons.toml:\n" + "\n".join(
        "  ".join(difference) for difference in unknown
    )


@pytest.mark.slow
def test_each_reason_explains_something() -> None:
    """All differences are looked for once more, since the slices above are in several processes."""
    used = {because for because, *_ in reasons.explained(reasons.texts())}
    unused = [because for because, _, _ in reasons.reasons() if because not in used]
    assert not unused, "nothing differs for these reasons any more: " + "\n".join(unused)
