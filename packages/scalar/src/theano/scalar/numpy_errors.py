"""What ops that run through NumPy do about floating-point errors: the flags ``numpy.seterr_*``."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.settings import config

#: What the flags speak of: config.numpy.seterr_all, config.numpy.seterr_divide, config.numpy.seterr_over,
#: config.numpy.seterr_under and config.numpy.seterr_invalid.
KINDS = ("all", "divide", "over", "under", "invalid")


def wanted(flags: object) -> dict[str, str]:
    """Return the arguments of ``numpy.errstate`` that the flags ask for.

    Parameters
    ----------
    flags : object
        With the attributes ``seterr_all``, ``seterr_divide``, ``seterr_over``, ``seterr_under``, ``seterr_invalid``.

    Examples
    --------
    >>> wanted(config.numpy)
    {'all': 'ignore'}
    """
    values = {kind: str(getattr(flags, f"seterr_{kind}")) for kind in KINDS}
    return {name: value for name, value in values.items() if value != "None"}


#: For ``numpy.errstate``. The flags cannot change while a program runs.
NUMPY_ERRORS: dict[str, Any] = wanted(config.numpy)

_SET = any(config.given(f"numpy.seterr_{kind}") for kind in KINDS)
if _SET:
    # Who sets them means all of NumPy, the user's own code included; who does not keeps NumPy as it was.
    np.seterr(**NUMPY_ERRORS)
