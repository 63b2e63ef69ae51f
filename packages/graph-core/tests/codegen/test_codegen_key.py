"""Keys of generated code: a digest of the parts, each with its length, and nothing left out."""

from __future__ import annotations

import hashlib

from theano.codegen.key import KEY_LENGTH, digest_parts, kernel_key, symbol_of, unit_key
from theano.graph.kernel import Kernel


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def test_parts_have_their_lengths_before_them() -> None:
    assert digest_parts([]) == digest(b"") and digest_parts([""]) == digest(b"0:")
    assert digest_parts(["ab", "c"]) == digest(b"2:ab1:c") and digest_parts(["ü\udcff"]) == digest(b"3:\xc3\xbc\xff")
    assert KEY_LENGTH == len(digest_parts(["x"])) == 32


def test_whatever_could_change_the_machine_code_is_in_a_key() -> None:
    source = "int KERNEL(th_ctx *c) { return 0; }"
    kernel = Kernel("a", source, support=("one", "two"))
    others = [
        Kernel("a", source + " "), Kernel("a", source), Kernel("a", source, support=("one",)),
        Kernel("a", source, support=("two", "one")), Kernel("a", source, support=("one", "two"), plain_loops=True),
    ]  # fmt: skip
    keys = [kernel_key(k, "abi", "gcc") for k in [kernel, *others]]
    keys += [kernel_key(kernel, "abi 2", "gcc"), kernel_key(kernel, "abi", "clang"), kernel_key(kernel, "abigcc", "")]
    keys += [unit_key("abi", "gcc"), unit_key("abi", "clang"), unit_key("other", "gcc"), unit_key("abigcc", "")]
    assert len(set(keys)) == len(keys) and {symbol_of(key) for key in keys} == {"th_" + key for key in keys}
    same = Kernel("b", source, params=b"12345678", support=("one", "two"), work=9.0)
    assert kernel_key(same, "abi", "gcc") == keys[0], "the name, the parameters and the estimate do not change it"
