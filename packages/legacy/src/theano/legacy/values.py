"""What older modules held beside functions and classes: marks, groups of types, an instance."""

from __future__ import annotations

import logging
from typing import Any

from theano.gradient import NullType
from theano.legacy.helpers import logging_default_handler

#: Stand for a value that was not given.
undef: Any = object()
NoParams: Any = object()
NODEFAULT = ["NODEFAULT"]

#: Types whose values may be stretched: a program puts its own here.
expandable_types: tuple[type, ...] = ()

#: The type of an undefined gradient without an explanation.
null_type = NullType()

logging_default_formatter = logging.Formatter(fmt="%(levelname)s (%(name)s): %(message)s")
logging_default_handler.setFormatter(logging_default_formatter)
