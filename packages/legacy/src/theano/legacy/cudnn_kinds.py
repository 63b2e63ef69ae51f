"""Which kind of convolution cuDNN called one by the dtype of its operands and that of its sums."""

from __future__ import annotations


def is_true_half_config(dtype: str, precision: str) -> bool:
    """Return whether operands and sums are of half precision.

    Examples
    --------
    >>> is_true_half_config("float16", "float16"), is_true_half_config("float16", "float32")
    (True, False)
    """
    return dtype == precision == "float16"


def is_pseudo_half_config(dtype: str, precision: str) -> bool:
    """Return whether operands are of half precision, and sums of single precision.

    Examples
    --------
    >>> is_pseudo_half_config("float16", "float32")
    True
    """
    return dtype == "float16" and precision == "float32"


def is_float_config(dtype: str, precision: str) -> bool:
    """Return whether all is of single precision.

    Examples
    --------
    >>> is_float_config("float32", "float32")
    True
    """
    return dtype == precision == "float32"


def is_double_config(dtype: str, precision: str) -> bool:
    """Return whether all is of double precision.

    Examples
    --------
    >>> is_double_config("float64", "float64")
    True
    """
    return dtype == precision == "float64"
