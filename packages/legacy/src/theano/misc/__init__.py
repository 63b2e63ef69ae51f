"""Odds and ends under the names that programs import them by."""

from theano.layers import lazily

__getattr__, __dir__ = lazily(
    globals(),
    {
        name: f"theano.misc.{name}"
        for name in (
            "check_blas",
            "doubleop",
            "may_share_memory",
            "ordered_set",
            "pkl_utils",
            "safe_asarray",
            "strutil",
            "windows",
        )
    },
)
