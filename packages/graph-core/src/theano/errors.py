"""Every exception of the core: what it means, and what to do about it.

The classes that programs catch keep the names and bases they always had; the messages name the expression,
where it was written, and the next step.
"""

from __future__ import annotations


class TheanoError(Exception):
    """Base of the exceptions that have no better one among Python's own."""


class MethodNotDefined(AttributeError, NotImplementedError):
    """An op is asked for something it does not define.

    Remedy: define the method named in the message, or keep the op out of that use.
    """

    def __init__(self, method: str, *context: object):
        self.method, self.context = method, context
        name = context[-1] if context else "this op"
        super().__init__(f"{name} does not define {method}")


class MissingInputError(TheanoError):
    """An expression depends on a variable that is neither an input of the function nor given a value.

    Remedy: add the variable named in the message to the inputs, or replace it with ``givens``.
    """

    def __init__(self, *args: object, variable: object = None):
        super().__init__(*args)
        self.variable = variable


class FreeInputError(MissingInputError, TypeError):
    """The expression of an op depends on a variable that is not among the inputs of the expression.

    Remedy: add the variable named in the message to the inputs, and pass it where the op is applied.
    """


class DeviceError(TheanoError, RuntimeError):
    """A device (a GPU) failed: a launch, a transfer, or an earlier request.

    Remedy: what the driver says is in the message. Where the device is lost (CUDA's errors 700 and above), nothing more
    can be computed on it in this process: save what is on the host and start again.
    """


class DeviceMemoryError(DeviceError, MemoryError):
    """A device has no room for a value; shared variables are as they were.

    Remedy: give smaller batches, drop the arrays that the message lists, or let less be kept (``context.trim()``).
    """


class DeviceNotStartedError(DeviceError, ValueError):
    """A function is to compute on a device that this process has not started.

    Remedy: start it first (the flags ``device`` and ``contexts``, `theano.gpuarray.use`), under the name that the
    message tells; or leave the tag ``gpuarray`` out of the mode.
    """


class InconsistencyError(TheanoError):
    """A change would leave the graph without a meaning: a cycle, or memory overwritten before it is read."""


class CycleError(InconsistencyError, ValueError):
    """A variable would depend on itself."""


class UnusedInputError(TheanoError):
    """An input of a function is not used to compute its outputs.

    Remedy: remove it, or pass ``on_unused_input='ignore'`` (or ``'warn'``) to ``theano.function``.
    """


class OutputKeyError(TypeError, AssertionError):
    """A key of a dictionary of outputs is not a string.

    Remedy: name the outputs of ``theano.function`` by strings, or give them as a list.
    """


class AliasedMemoryError(TheanoError):
    """Two values that must be independent share memory."""


class ShapeError(ValueError):
    """The shapes of some values do not fit together."""


class ArgumentError(TypeError, ValueError, IndexError, AssertionError):
    """An argument is not of the kind that a function takes: no tensor, of another dtype, or of other dimensions.

    Theano raised one of the four bases, by what its code came upon first. A program that catches that one catches this.
    Remedy: cast or reshape the argument that the message names.
    """


class IndexDtypeError(ArgumentError):
    """An index is of a dtype that counts nothing, such as a float.

    Remedy: cast it to a dtype of whole numbers, or compare, for a mask.
    """


class NumberRangeError(TypeError, OverflowError):
    """A Python number does not fit in the dtype asked for, or in any.

    Remedy: give a dtype that holds it; a number beyond 64 bits can only be a float, as in ``float(2**70)``.
    """


class NullTypeGradError(TypeError):
    """A gradient is undefined or not implemented, and something asked for its value."""


class DisconnectedInputError(ValueError):
    """A gradient is asked with respect to a variable that the cost does not depend on.

    Remedy: check the expression, or pass ``disconnected_inputs='ignore'`` (or ``'warn'``).
    """


class GradientError(TheanoError):
    """A gradient differs from finite differences.

    Parameters
    ----------
    arg, err_pos, shape
        Which argument, which of its elements (flat), and the argument's shape.
    val1, val2
        The element of the gradient, and the difference quotient.
    abs_err, rel_err, abs_tol, rel_tol
        How far they are apart, and how far they may be.
    """

    def __init__(
        self, arg: int, err_pos: object, shape: object, val1: object, val2: object,
        abs_err: object, rel_err: object, abs_tol: object, rel_tol: object,
    ):  # fmt: skip
        super().__init__(arg, err_pos, shape, val1, val2, abs_err, rel_err, abs_tol, rel_tol)
        self.arg, self.err_pos, self.shape, self.val1, self.val2 = arg, err_pos, shape, val1, val2
        self.abs_err, self.rel_err, self.abs_tol, self.rel_tol = abs_err, rel_err, abs_tol, rel_tol

    def __str__(self) -> str:
        return (
            f"the gradient of argument {self.arg} (shape {self.shape}) is {self.val1} at element {self.err_pos}, "
            f"finite differences say {self.val2}:\n"
            f"  apart by {self.abs_err} (allowed: {self.abs_tol}), relatively by {self.rel_err} "
            f"(allowed: {self.rel_tol}).\n"
            "  Look at the op's grad; at a kink or where numbers cancel, move the point or raise the tolerances."
        )


class UnavailableLayerError(AttributeError):
    """A layer of the system is used that is not installed.

    Remedy: install the distribution named in the message.
    """


class NoCompilerError(TheanoError):
    """No C compiler can be used here: none was found or works, it is switched off, or the disk is full.

    ``theano.function`` catches it and runs the Python form of each op instead, saying so once.
    Remedy: ``python -m theano.doctor`` prints the command that installs a compiler on this system.
    """

    #: Whether the compiler works, and it is one op whose C cannot be made: a library that it names is missing, say.
    only_this = False


class ExportError(TheanoError, NotImplementedError):
    """A function cannot be exported: something of it needs Python.

    Remedy: the message lists the ops that are computed in Python, and where they were written. Put others in their
    place, or leave what they compute to the program that calls the model, as one of its inputs.
    """


class KernelCompileError(TheanoError):
    """The C compiler refused a kernel.

    The message shows the C line and the expression it came from; ``log`` holds all the compiler said and
    ``source`` the whole unit. Remedy: report it, or correct the C text of the op if it is yours.
    """

    def __init__(self, message: str, *, kernel: str = "", log: str = "", source: str = ""):
        super().__init__(message)
        self.kernel, self.log, self.source = kernel, log, source


class CacheWarning(UserWarning):
    """The cache of compiled modules cannot be used; this process works in a private temporary directory.

    Remedy: run the command that the message names.
    """


class RewriteError(TheanoError):
    """A rewrite rule is wrong: it raised, or offered a replacement of another type than what it replaces.

    The message names the rule, the node and the user's line.
    Remedy: correct the rule, or exclude it by name: ``mode.excluding("its_name")``.
    """


class RewriteWarning(UserWarning):
    """A rewrite rule failed and was switched off for one function; the function is right without it."""


class TestValueError(AttributeError, ValueError):
    """A variable has no test value (``variable.tag.test_value``), and one is asked for.

    Reading it from a variable raises it as an ``AttributeError``; calling an op while the flag
    ``compute_test_value`` is ``'raise'`` raises it as a ``ValueError``.
    """

    __test__ = False  # no test for pytest to collect


class NanGuardError(TheanoError, AssertionError):
    """A number is NaN, infinite or huge in a function compiled in `NanGuardMode`.

    The message names the node, the line that wrote it, and what went in.
    Remedy: look at the inputs of the node; where such numbers are meant,
    ``variable.tag.nan_guard_mode_check = False`` on the variable that holds them.
    """


class DebugModeError(TheanoError):
    """What `DebugMode` found: an op or a rule does not do what it says.

    The message names the op, the line that wrote it, the values, and what to look at.
    """

    def __init__(self, *args: object, text: str = ""):
        super().__init__(*args)
        self.text = text

    def __str__(self) -> str:
        return self.text or super().__str__()


class BadThunkOutput(DebugModeError):
    """Two ways to compute one variable disagree: Python and C, a first and a second time, other output memory.

    Parameters
    ----------
    r
        The variable.
    thunk1, val1, thunk2, val2
        The two ways, in words, and what they computed.
    inputs_val
        What they computed it from.
    """

    def __init__(
        self, r: object, thunk1: str, val1: object, thunk2: str, val2: object, inputs_val: object = (), text: str = ""
    ):
        super().__init__(r, thunk1, val1, thunk2, val2, inputs_val, text=text)
        self.r, self.thunk1, self.val1, self.thunk2, self.val2 = r, thunk1, val1, thunk2, val2
        self.inputs_val = inputs_val

    def offending_op(self) -> object:
        """Return the class of the op that computes the variable."""
        owner = getattr(self.r, "owner", None)
        return None if owner is None else type(owner.op)


class BadOptimization(DebugModeError):
    """A rule put a variable in the place of another, and the two have different values.

    Parameters
    ----------
    old_r, new_r, old_r_val, new_r_val
        The variable replaced, what replaced it, and their values.
    reason
        The name of the rule.
    old_graph, new_graph
        The two expressions as text.
    """

    def __init__(
        self, old_r: object, new_r: object, old_r_val: object, new_r_val: object, reason: str,
        old_graph: str = "", new_graph: str = "", text: str = "",
    ):  # fmt: skip
        super().__init__(old_r, new_r, old_r_val, new_r_val, reason, old_graph, new_graph, text=text)
        self.old_r, self.new_r, self.old_r_val, self.new_r_val = old_r, new_r, old_r_val, new_r_val
        self.reason, self.old_graph, self.new_graph = reason, old_graph, new_graph


class BadDestroyMap(DebugModeError):
    """An op wrote into an input that its ``destroy_map`` does not name.

    Parameters
    ----------
    node, idx
        The node, and the number of the input.
    old_val, new_val
        The input before and after.
    perform
        Which of the op's forms did it, in words.
    """

    def __init__(
        self, node: object, idx: int, old_val: object, new_val: object, perform: str, text: str = ""
    ):
        super().__init__(node, idx, old_val, new_val, perform, text=text)
        self.node, self.idx, self.old_val, self.new_val, self.perform = node, idx, old_val, new_val, perform


class BadViewMap(DebugModeError):
    """An output of an op uses memory that its ``view_map`` and ``destroy_map`` do not declare.

    Parameters
    ----------
    node, output, out_storage
        The node, its output, and the output's value.
    in_alias_idx, out_alias_idx
        The numbers of the inputs, or of the other outputs, with which it shares memory.
    """

    def __init__(
        self, node: object, output: object, out_storage: object, in_alias_idx: object = None,
        out_alias_idx: object = None, text: str = "",
    ):  # fmt: skip
        super().__init__(node, output, out_storage, in_alias_idx, out_alias_idx, text=text)
        self.node, self.output, self.out_storage = node, output, out_storage
        self.in_alias_idx, self.out_alias_idx = in_alias_idx, out_alias_idx


class StochasticOrder(DebugModeError):
    """Rewriting the same graph again gave another graph: a rule or an op's equality depends on chance."""


class InvalidValueError(DebugModeError):
    """A value is not of the type of its variable, or not finite where that is checked.

    Parameters
    ----------
    r, v
        The variable and the value.
    client_node
        The node that was to read it.
    hint, specific_hint
        What is wrong, in words.
    """

    def __init__(
        self, r: object, v: object, client_node: object = None, hint: str = "none", specific_hint: str = "none",
        context_message: str = "", text: str = "",
    ):  # fmt: skip
        super().__init__(r, v, client_node, hint, specific_hint, context_message, text=text)
        self.r, self.v, self.client_node = r, v, client_node
        self.hint, self.specific_hint, self.context_message = hint, specific_hint, context_message


class FlagError(ValueError):
    """A flag of ``theano.config`` is used in a way it cannot be."""

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are rebuilt from their message, which is not what the classes below are made from.
        return ValueError.__new__, (type(self), *self.args), self.__dict__


class FlagValueError(FlagError):
    """A flag is given a value it does not take.

    Remedy: use one of the values in the message, in the place it names (a program, THEANO_FLAGS, the rc file).
    """

    def __init__(
        self,
        flag: str,
        value: object,
        accepts: str,
        origin: str = "",
        choices: tuple[str, ...] = (),
        reason: str = "",
    ):
        self.flag, self.value, self.choices = flag, value, choices
        lines = [f"theano.config.{flag} cannot be {value!r}" + (f" (set in {origin})." if origin else ".")]
        lines.append(f"  {reason}" if reason else f"  It takes {accepts}.")
        super().__init__("\n".join(lines))


class UnknownFlagError(FlagError, AttributeError):
    """A flag of this name does not exist.

    Remedy: correct the name; ``print(theano.config)`` shows every flag.
    """

    def __init__(self, flag: str, near: tuple[str, ...] = (), origin: str = ""):
        self.flag, self.near = flag, near
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        where = f" (set in {origin})" if origin else ""
        super().__init__(f"theano.config has no flag {flag!r}{where}.{guess}\n  print(theano.config) lists the flags.")


class FlagSyntaxError(FlagError):
    """THEANO_FLAGS or an rc file cannot be read.

    Remedy: THEANO_FLAGS is a list ``name=value,name=value``; an rc file has lines ``name = value`` below
    ``[global]`` or below a section such as ``[gcc]``.
    """


class ImmutableFlagError(FlagError, AttributeError):
    """A program assigns a flag that is fixed once theano is imported.

    Remedy: set it in THEANO_FLAGS or in the rc file.
    """

    def __init__(self, flag: str):
        self.flag = flag
        super().__init__(
            f"theano.config.{flag} is fixed once theano is imported.\n"
            f"  Set it before: THEANO_FLAGS={flag}=... in the environment, or in the rc file."
        )


class TheanoConfigWarning(UserWarning):
    """A flag is accepted, but does not do what it once did."""
