"""What machine code is made for, and in whose memory it finds its operands."""

from __future__ import annotations

from theano.errors import DeviceNotStartedError
from theano.extensions import Table
from theano.graph.apply import Apply
from theano.records import record


@record(frozen=True)
class Target:
    """A processor, with a language of its own and perhaps memory of its own.

    Parameters
    ----------
    name : str
        In lower case; entries of the table are found by it.
    device : str
        In whose memory the operands of its kernels are, as `BufferSpec` says it.

    Examples
    --------
    >>> CPU
    Target(name='cpu', device='cpu')
    >>> Target("cpu") == CPU
    True
    """

    name: str
    device: str = "cpu"


CPU = Target("cpu")
"""The processor that runs this program."""

ANY = Target("any")
"""The processor that runs this program, for data in any memory: kernels that compute nothing, but move elements."""

#: For the name of a device whose memory is not the host's, the target whose kernels work on it.
targets: Table[str, Target] = Table("lowering.targets.targets", "what works on the memory of a device")


def target_of(node: Apply) -> Target:
    """Return what computes a node: the target in whose memory its outputs are; it may read indices elsewhere.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Same(Op):
    ...     itypes = otypes = [generic]
    >>> target_of(Same()(generic("x")).owner) is CPU
    True
    """
    device = node.outputs[0].type.device if node.outputs else CPU.device
    return CPU if device == CPU.device else targets[device]


def require_devices(node: Apply) -> None:
    """Raise DeviceNotStartedError if a node has operands on a device that this process has not started.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Same(Op):
    ...     itypes = otypes = [generic]
    >>> require_devices(Same()(generic("x")).owner)
    """
    for v in (*node.inputs, *node.outputs):
        device = v.type.device
        if device != CPU.device and device not in targets:
            there = ", ".join(targets) or "none"
            raise DeviceNotStartedError(
                f"{node}: {v} is on the device {device}, which was not started (there are: {there}). Start it first, "
                "by the flag device or contexts, or leave the rules out that move computation to it."
            )
