"""What the trial under an emulator says of a machine that lacks something, and of what pytest prints."""

from __future__ import annotations

import pytest

import arm64


def test_a_machine_with_everything_lacks_nothing():
    assert arm64.lacking(which=lambda name: f"/usr/bin/{name}", root=True) == []


def test_what_lacks_is_said_with_the_command_that_brings_it():
    there = {"debootstrap", "aarch64-linux-gnu-gcc"}
    said = arm64.lacking(which=lambda name: name if name in there else None, root=False)
    assert said[:2] == ["qemu-aarch64-static is not here", "aarch64-linux-gnu-g++ is not here"]
    assert said[2].endswith("apt-get install qemu-user-static g++-aarch64-linux-gnu")
    assert said[3:] == ["debootstrap works for root only"]


def test_the_chosen_tests_are_there():
    for layer in arm64.LAYERS:
        for name in arm64.TESTS[layer]:
            file, _, function = name.partition("::")
            path = arm64.ROOT / "packages" / layer / "tests" / file
            assert path.is_file() and f"def {function}" in path.read_text(), f"{layer}: {name}"


@pytest.mark.parametrize(
    ("last", "counts"),
    [
        ("20 passed in 5.01s", {"passed": 20}),
        ("1 failed, 20 passed, 2 warnings in 65.01s (0:01:05)", {"failed": 1, "passed": 20, "warnings": 2}),
        ("Segmentation fault", {}),
    ],
)
def test_counts_are_those_of_the_last_line(last, counts):
    assert arm64.counted(f"....\n3 passed in 1s\n{last}\n") == counts
