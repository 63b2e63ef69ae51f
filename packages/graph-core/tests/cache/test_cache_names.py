"""The names of files: what is one of the cache's, and what lies one letter beside it."""

from __future__ import annotations

import hashlib

import pytest

from theano.cache.names import EntryName, ReferenceName, StageName, digest_of, is_bucket

KEY, DIGEST, KERNEL = "0123456789abcdef" * 2, "fedcba9876543210" * 2, "00112233445566778899aabbccddeeff"
HEADS = {
    "so": b"", "plan": f"theano-cache plan {KEY}\n".encode(), "txt": f"theano-cache txt {KEY}\n".encode(),
    "c": f"/* theano-cache c {KEY} */\n".encode(),
}  # fmt: skip


@pytest.mark.parametrize("kind", HEADS)
def test_entries(kind: str) -> None:
    name = EntryName(KEY, DIGEST, kind)
    assert name.file == f"{KEY}.{DIGEST}.{kind}" and name.relative == f"01/{name.file}"
    assert EntryName.parse(name.file) == name and name.head == HEADS[kind]


def test_references() -> None:
    name = ReferenceName(KERNEL, EntryName(KEY, DIGEST, "so"))
    assert name.file == f"{KERNEL}.{KEY}.{DIGEST}.ref" and name.relative == f"00/{name.file}"
    assert ReferenceName.parse(name.file) == name and EntryName.parse(name.file) is None


def test_stages() -> None:
    name = StageName(12, 345, "00ff00ff" * 2, "a1b2")
    assert name.file == ".stage-12-345-00ff00ff00ff00ff-a1b2" and StageName.parse(name.file) == name
    assert StageName.parse(".stage-12-345-00ff00ff-a1b2") is not None, "as names were once"


@pytest.mark.parametrize("name", [
    "", "x", f"{KEY}.{DIGEST}", f"{KEY}.{DIGEST}.o", f"{KEY}.{DIGEST}.so.tmp", f"{KEY}.{DIGEST}.so\n",
    f"{KEY[1:]}.{DIGEST}.so", f"{KEY}0.{DIGEST}.so", f"{KEY}.{DIGEST[1:]}.so", f"{KEY}.{DIGEST}0.so",
    f"{KEY.upper()}.{DIGEST}.so", f"{KEY}-{DIGEST}.so", f"x{KEY}.{DIGEST}.so", f"{KEY}.{DIGEST}.ref",
    f"{KERNEL}.{KEY}.{DIGEST}.so", f"{KERNEL}.{KEY}.{DIGEST[1:]}.ref", f"{KERNEL}.{KEY}.{DIGEST}.ref~",
    ".stage-1-2-00ff00f-a", ".stage-1-2-00ff00ff00ff00ff0-a", ".stage-1-2-00ff00ff-", ".stage-1-2-00ff00ff-a.b",
    ".stage-x-2-00ff00ff-a", ".stage-1--00ff00ff-a", "stage-1-2-00ff00ff-a", ".stage-1-2-00ff00ff-a\n",
])  # fmt: skip
def test_names_of_others(name: str) -> None:
    assert EntryName.parse(name) is ReferenceName.parse(name) is StageName.parse(name) is None


@pytest.mark.parametrize(("name", "expected"), [
    ("00", True), ("9f", True), ("ff", True), ("0", False), ("000", False), ("FF", False), ("gg", False), ("0\n", False),
    ("00\n", False),
])  # fmt: skip
def test_buckets(name: str, expected: bool) -> None:
    assert is_bucket(name) is expected


@pytest.mark.parametrize("data", [b"", b"abc", bytes(100)])
def test_a_digest_is_half_of_a_sha256(data: bytes) -> None:
    assert digest_of(data) == hashlib.sha256(data).hexdigest()[:32] and len(digest_of(data)) == len(DIGEST)
