"""Symbolic mathematics, differentiated and compiled to fast machine code."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from collections.abc import Callable, Iterable, Mapping, Sequence
import theano.distributed as _distributed
import theano.doctor as _doctor
import theano.errors as _errors
import theano.gpuarray as _gpuarray
import theano.ifelse as _ifelse
import theano.raise_op as _raise_op
import theano.scalar as _scalar
import theano.sparse as _sparse
import theano.tensor as _tensor
import numpy as np
from theano import (
    compile as compile, configparser as configparser, d3viz as d3viz, gof as gof, gradient as gradient, graph as graph,
    printing as printing,
)
from theano.aot.export import export as export
from theano.compile.builders import OpFromGraph as OpFromGraph
from theano.compile.checkpoint import checkpoint as checkpoint, checkpoint_sequential as checkpoint_sequential
from theano.compile.executable import Function as _Function
from theano.compile.from_function import as_op as as_op
from theano.compile.function import Pairs, function_dump as function_dump
from theano.compile.inputs import (
    In as In, Out as Out, Param as Param, SymbolicInput as SymbolicInput, SymbolicOutput as SymbolicOutput,
)
from theano.compile.maker import FunctionMaker as FunctionMaker
from theano.compile.mode import (
    Mode as Mode, predefined_linkers as predefined_linkers, predefined_modes as predefined_modes, predefined_optimizers
    as predefined_optimizers,
)
from theano.compile.shared import Container as Container, SharedVariable
from theano.errors import InconsistencyError as InconsistencyError, UnavailableLayerError as UnavailableLayerError
from theano.graph.apply import Apply as Apply
from theano.graph.fgraph import FunctionGraph as FunctionGraph
from theano.graph.op import Op as Op
from theano.graph.type import Generic as Generic, Type as Type, generic as generic
from theano.graph.variable import Constant as Constant, Variable as Variable
from theano.layers.spellings import OldModule
from theano.printing.formula import pp as pp, pprint as pprint
from theano.runtime.failure import last_error as last_error
from theano.runtime.profile import ProfileStats as ProfileStats, explain_compile as explain_compile
from theano.scan.checkpoints import scan_checkpoints as scan_checkpoints
from theano.scan.utils import until as _until
from theano.scan.views import foldl as foldl, foldr as foldr
from theano.settings import change_flags as change_flags
from theano.settings.declared import Flags
from theano.sparse.structure.op import sparse_grad as sparse_grad
from theano.tensor.batching.vectorize import vectorize as vectorize, vectorize_graph as vectorize_graph
from theano.tensor.blas.dot import dot as dot
from theano.tensor.callbacks import scipy_callable as scipy_callable, scipy_objective as scipy_objective
from theano.tensor.convert import get_scalar_constant_value as get_scalar_constant_value
from theano.tensor.random.var import RandomStateSharedVariable
from theano.tensor.sharedvar import ScalarSharedVariable, TensorSharedVariable
from theano.tensor.var import TensorVariable
from theano.updates import OrderedUpdates as OrderedUpdates
from typing import Any, Generic as _Generic, Literal, overload
from typing_extensions import TypeVar

Result = TypeVar("Result", default=Any)

class Function(_Function, _Generic[Result]):
    def __call__(self, *args: Any, **kwargs: Any) -> Result: ...


@overload
def Lop(
    f: Any, wrt: TensorVariable, eval_points: Any, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise',
) -> TensorVariable: ...
@overload
def Lop(
    f: Any, wrt: Sequence[TensorVariable], eval_points: Any, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise',
) -> list[TensorVariable]: ...
@overload
def Lop(
    f: Any, wrt: Any, eval_points: Any, consider_constant: Iterable[Variable] | None = None, disconnected_inputs: str =
    'raise',
) -> Any: ...
@overload
def Rop(
    f: TensorVariable, wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected: str =
    'zero',
) -> TensorVariable: ...
@overload
def Rop(
    f: Sequence[TensorVariable], wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected:
    str = 'zero',
) -> list[TensorVariable]: ...
@overload
def Rop(
    f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected: str = 'zero',
) -> Any: ...
__version__: str
@overload
def clone(
    output: TensorVariable, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any =
    None, copy_orphans: bool | None = None,
) -> TensorVariable: ...
@overload
def clone(
    output: Sequence[TensorVariable], replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs:
    Any = None, copy_orphans: bool | None = None,
) -> list[TensorVariable]: ...
@overload
def clone(
    output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any = None,
    copy_orphans: bool | None = None,
) -> Any: ...
config: Flags
distributed = _distributed
doctor = _doctor
errors = _errors
@overload
def function(
    inputs: Sequence[Any], outputs: None = None, mode: Mode | str | None = None, updates: Pairs | None = None, givens:
    Pairs | None = None, no_default_updates: bool | Sequence[SharedVariable] = False, accept_inplace: bool = False,
    name: str | None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: bool | str
    | ProfileStats | None = None, on_unused_input: str | None = None,
) -> Function[None]: ...
@overload
def function(
    inputs: Sequence[Any], outputs: TensorVariable, mode: Mode | str | None = None, updates: Pairs | None = None,
    givens: Pairs | None = None, no_default_updates: bool | Sequence[SharedVariable] = False, accept_inplace: bool =
    False, name: str | None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: bool
    | str | ProfileStats | None = None, on_unused_input: str | None = None,
) -> Function[np.ndarray]: ...
@overload
def function(
    inputs: Sequence[Any], outputs: Sequence[TensorVariable], mode: Mode | str | None = None, updates: Pairs | None =
    None, givens: Pairs | None = None, no_default_updates: bool | Sequence[SharedVariable] = False, accept_inplace: bool
    = False, name: str | None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile:
    bool | str | ProfileStats | None = None, on_unused_input: str | None = None,
) -> Function[list[np.ndarray]]: ...
@overload
def function(
    inputs: Sequence[Any], outputs: Mapping[str, TensorVariable], mode: Mode | str | None = None, updates: Pairs | None
    = None, givens: Pairs | None = None, no_default_updates: bool | Sequence[SharedVariable] = False, accept_inplace:
    bool = False, name: str | None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None,
    profile: bool | str | ProfileStats | None = None, on_unused_input: str | None = None,
) -> Function[dict[str, np.ndarray]]: ...
@overload
def function(
    inputs: Sequence[Any], outputs: Any, mode: Mode | str | None = None, updates: Pairs | None = None, givens: Pairs |
    None = None, no_default_updates: bool | Sequence[SharedVariable] = False, accept_inplace: bool = False, name: str |
    None = None, rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: bool | str |
    ProfileStats | None = None, on_unused_input: str | None = None,
) -> Function[Any]: ...
gpuarray = _gpuarray
@overload
def grad(
    cost: Variable | None, wrt: TensorVariable, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: str = 'zero', null_gradients: str = 'raise',
) -> TensorVariable: ...
@overload
def grad(
    cost: Variable | None, wrt: Sequence[TensorVariable], consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: str = 'zero', null_gradients: str = 'raise',
) -> list[TensorVariable]: ...
@overload
def grad(
    cost: Variable | None, wrt: Any, consider_constant: Iterable[Variable] | None = None, disconnected_inputs: str =
    'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None, return_disconnected: str =
    'zero', null_gradients: str = 'raise',
) -> Any: ...
ifelse = _ifelse
def map(
    fn: Callable[..., Any], sequences: Any, non_sequences: Any = None, truncate_gradient: int = -1, go_backwards: bool =
    False, mode: Any = None, name: str | None = None,
) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
raise_op = _raise_op
@overload
def reduce(
    fn: Callable[..., Any], sequences: Any, outputs_info: Variable | dict[str, Any], non_sequences: Any = None,
    go_backwards: bool = False, mode: Any = None, name: str | None = None,
) -> tuple[TensorVariable, OrderedUpdates]: ...
@overload
def reduce(
    fn: Callable[..., Any], sequences: Any, outputs_info: Any, non_sequences: Any = None, go_backwards: bool = False,
    mode: Any = None, name: str | None = None,
) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
scalar = _scalar
class _scan:
    @overload
    def __call__(self, 
        fn: Callable[..., Any], sequences: Any = None, *, outputs_info: Variable | dict[str, Any], non_sequences: Any =
        None, n_steps: Any = None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str |
        None = None, profile: bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list:
        Literal[False] = False,
    ) -> tuple[TensorVariable, OrderedUpdates]: ...
    @overload
    def __call__(self, 
        fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None, n_steps: Any =
        None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str | None = None, profile:
        bool | str = False, allow_gc: bool | None = None, strict: bool = False, *, return_list: Literal[True],
    ) -> tuple[list[TensorVariable], OrderedUpdates]: ...
    @overload
    def __call__(self, 
        fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None, n_steps: Any =
        None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str | None = None, profile:
        bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list: bool = False,
    ) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
    @overload
    @staticmethod
    def clone(
        output: TensorVariable, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any =
        None, copy_orphans: bool | None = None,
    ) -> TensorVariable: ...
    @overload
    @staticmethod
    def clone(
        output: Sequence[TensorVariable], replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs:
        Any = None, copy_orphans: bool | None = None,
    ) -> list[TensorVariable]: ...
    @overload
    @staticmethod
    def clone(
        output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any = None,
        copy_orphans: bool | None = None,
    ) -> Any: ...
    @staticmethod
    def foldl(
        fn: Callable[..., Any], sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None, name: str |
        None = None,
    ) -> tuple[TensorVariable, OrderedUpdates]: ...
    @staticmethod
    def foldr(
        fn: Callable[..., Any], sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None, name: str |
        None = None,
    ) -> tuple[TensorVariable, OrderedUpdates]: ...
    @staticmethod
    def map(
        fn: Callable[..., Any], sequences: Any, non_sequences: Any = None, truncate_gradient: int = -1, go_backwards: bool =
        False, mode: Any = None, name: str | None = None,
    ) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
    @overload
    @staticmethod
    def reduce(
        fn: Callable[..., Any], sequences: Any, outputs_info: Variable | dict[str, Any], non_sequences: Any = None,
        go_backwards: bool = False, mode: Any = None, name: str | None = None,
    ) -> tuple[TensorVariable, OrderedUpdates]: ...
    @overload
    @staticmethod
    def reduce(
        fn: Callable[..., Any], sequences: Any, outputs_info: Any, non_sequences: Any = None, go_backwards: bool = False,
        mode: Any = None, name: str | None = None,
    ) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
    @overload
    @staticmethod
    def scan(
        fn: Callable[..., Any], sequences: Any = None, *, outputs_info: Variable | dict[str, Any], non_sequences: Any =
        None, n_steps: Any = None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str |
        None = None, profile: bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list:
        Literal[False] = False,
    ) -> tuple[TensorVariable, OrderedUpdates]: ...
    @overload
    @staticmethod
    def scan(
        fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None, n_steps: Any =
        None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str | None = None, profile:
        bool | str = False, allow_gc: bool | None = None, strict: bool = False, *, return_list: Literal[True],
    ) -> tuple[list[TensorVariable], OrderedUpdates]: ...
    @overload
    @staticmethod
    def scan(
        fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None, n_steps: Any =
        None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None, name: str | None = None, profile:
        bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list: bool = False,
    ) -> tuple[TensorVariable | Any, OrderedUpdates]: ...
    @staticmethod
    def scan_checkpoints(
        fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None, name: str =
        'checkpointscan_fn', n_steps: Any = None, save_every_N: int = 10, padding: bool = True,
    ) -> tuple[Any, OrderedUpdates]: ...
    until: type[_until]

scan: _scan
scan_module: OldModule
@overload
def shared(
    value: complex | np.number | np.bool_, name: str | None = None, strict: bool = False, allow_downcast: bool | None =
    None, borrow: bool = False, target: str = 'cpu',
) -> ScalarSharedVariable: ...
@overload
def shared(
    value: np.ndarray, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None, borrow: bool =
    False, broadcastable: Any = None, target: str = 'cpu',
) -> TensorSharedVariable: ...
@overload
def shared(
    value: object, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None, borrow: bool =
    False,
) -> RandomStateSharedVariable: ...
@overload
def shared(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None, **kwargs: Any,
) -> Any: ...
sparse = _sparse
def subgraph_grad(
    wrt: Sequence[Variable], end: Sequence[Variable], start: Mapping[Variable, Variable] | None = None, cost: Variable |
    None = None, details: bool = False,
) -> tuple[list[TensorVariable], list[TensorVariable]]: ...
tensor = _tensor
