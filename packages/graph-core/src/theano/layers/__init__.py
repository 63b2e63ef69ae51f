"""Which layers there are, and how they come in.

A layer is a distribution that adds packages to ``theano``. It describes itself in one `Layer`, in a module that imports
nothing of it (those of this project in ``theano/layers/<layer>.py`` of their own sources), and names that as an entry
point of the group ``theano.layers`` in its ``pyproject.toml``. A lower layer never imports an upper one, and does not
ask for one by name either: it asks for what it needs, an attribute of a module or a handler of a value, and the
descriptions name the layer that has it. What a layer answers once it is imported, it registers at the points of
`theano.extensions`.

Examples
--------
>>> attribute("theano", "nonsense")
Traceback (most recent call last):
 ...
AttributeError: module 'theano' has no attribute 'nonsense'
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any

# Upper layers put their descriptions into other folders: those by which ``theano`` has extended its path.
__path__ = [f"{folder}/layers" for folder in sys.modules[__name__.rpartition(".")[0]].__path__]

from theano.errors import UnavailableLayerError
from theano.extensions import Extension, lazy_names
from theano.layers.spellings import OldNames, Table, install, named
from theano.messages import logger
from theano.records import field, record

#: The group of entry points under which distributions name their descriptions.
GROUP = "theano.layers"

#: Points that most layers answer, by name: the modules that lower their ops, the packages that hold their rules, and
#: what the doctor looks at.
LOWERINGS, RULES, CHECKS = "lowering.table.modules", "rewriting.families.packages", "toolchain.checks.checks"


@record(frozen=True)
class Layer:
    """What a layer says of itself before it is imported.

    Parameters
    ----------
    distribution : str
        What to install to have it.
    module : str
        What to import to bring it in.
    names : dict from str to str
        What it adds to ``theano`` and to modules of lower layers, by full name; for each the module that it is, or
        ``"module:attribute"``.
    spellings : str
        The module that has a table of old spellings, `theano.layers.spellings`, or several with spaces between them;
        they are loaded when one is looked for.
    members : dict from str to dict
        What it adds to values of a class of a lower layer, by the full name of the class: from ``"module:class"`` of
        the results of such a value and has the members, to their names with spaces between them.
    knows : callable
        From a value to whether the layer makes variables of such values: ``theano.shared`` asks.
    extensions : tuple of Extension
        What it answers at the points of lower layers as soon as it is imported, though most of its modules are not.
    exports : str
        The module that says how its kernels come along with an exported model, `theano.aot.exports`; it is loaded when
        one is exported.
    start : callable, optional
        Starts the devices that flags name; called when ``theano`` is imported and they name one.

    Examples
    --------
    >>> layer = Layer("theano-example", "json", names={"theano.example.loads": "json:loads"})
    >>> layer.get("theano.example.loads")("[1]")
    [1]
    """

    distribution: str
    module: str
    names: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    knows: Callable[[object], bool] = lambda value: False
    extensions: tuple[Extension, ...] = ()
    spellings: str = ""
    exports: str = ""
    start: Callable[[], None] | None = None

    def load(self) -> ModuleType:
        """Import the layer."""
        return importlib.import_module(self.module)

    def get(self, name: str) -> Any:
        """Return what the layer adds under a full name."""
        return named(self.names[name])


@record(frozen=True)
class Published:
    """The description of a distribution that may not be installed."""

    names: frozenset[str]
    checks: tuple[str, ...] = ()


def _published(names: str, *checks: str) -> Published:
    return Published(frozenset(f"theano.{name}" for name in names.split()), checks)


#: What is to be found in which distribution: names, and topics of the doctor's page. A layer that is not installed
#: cannot describe itself, and access to a name of it must report the distribution to install. Nothing else is read
#: from this table, and a layer that is missing in it works all the same.
PUBLISHED = {
    "theano-scalar": _published("scalar"),
    "theano-tensor": _published(
        "tensor dot get_scalar_constant_value distributed scan scan_module map reduce foldl foldr scan_checkpoints "
        "ifelse raise_op vectorize vectorize_graph scipy_callable "
        "scipy_objective "
        "compile.Rebroadcast compile.Shape compile.Shape_i compile.SpecifyShape compile.rebroadcast compile.shape "
        "compile.shape_i compile.specify_shape compile.register_rebroadcast_c_code compile.register_shape_c_code "
        "compile.register_shape_i_c_code compile.register_specify_shape_c_code "
        "gradient.hessian gradient.jacobian gradient.numeric_grad gradient.verify_grad gradient.mode_not_slow",
        "BLAS",
    ),
    "theano-sparse": _published("sparse sparse_grad"),
    "theano-gpu-backend": _published("gpuarray"),
    "theano-legacy": _published("legacy sandbox misc tests test typed_list _asarray"),
}
#: The distribution that has names of older versions; they are too many to be listed here.
_OLDER = "theano-legacy"

_described: dict[str, Layer] = {}


def describe(layer: Layer) -> Layer:
    """Make a layer known, and return it; a module with a description calls this.

    Examples
    --------
    >>> layer = describe(Layer("theano-example", "json", names={"theano.decoder": "json.decoder"}))
    >>> import theano
    >>> theano.decoder.__name__
    'json.decoder'
    >>> _ = _described.pop("theano-example")
    """
    _described[layer.distribution] = layer
    return layer


def enter(layer: Layer) -> None:
    """Register the extensions of a layer; the layer calls this when it is imported."""
    describe(layer)
    for extension in layer.extensions:
        extension.enter()


def installed(declared: bool = True) -> Iterator[Layer]:
    """Yield the layers above graph-core that are installed, imported or not.

    Parameters
    ----------
    declared : bool
        Also look for layers that this one has never heard of: in the entry points of all distributions, which takes
        many milliseconds the first time.

    Examples
    --------
    >>> all(isinstance(layer, Layer) for layer in installed())
    True
    """
    for distribution in PUBLISHED:
        if distribution not in _described:
            _look_for(distribution)
    if declared:
        _read_entry_points()
    yield from list(_described.values())


def attribute(module: str, name: str) -> Any:
    """Return what a layer adds to a module of a lower one: for the module's ``__getattr__``.

    Raises
    ------
    UnavailableLayerError
        It belongs to a layer that is not installed. It is an AttributeError, so that ``hasattr`` stays honest.
    AttributeError
        No layer has it.
    """
    wanted = f"{module}.{name}"
    home = next((d for d, published in PUBLISHED.items() if wanted in published.names), None)
    for declared in _search(name, home):
        layer = next((layer for layer in installed(declared) if wanted in layer.names), None)
        if layer is not None:
            return layer.get(wanted)
        old = old_names.place(module, name, declared)
        if old is not None:
            return named(old)
    if home is not None:
        raise UnavailableLayerError(
            f"{wanted} is not installed here. It belongs to the distribution {home}: pip install {home}"
        )
    raise AttributeError(f"module {module!r} has no attribute {name!r}{'' if name.startswith('__') else _hint(wanted)}")


def member(value: object, owner: str, name: str) -> Any:
    """Return what a layer adds to a value of a class of a lower one: for the ``__getattr__`` of the class.

    Parameters
    ----------
    value : object
        The value.
    owner : str
        The full name of the class.
    name : str
        The attributes that the value was asked for.

    Raises
    ------
    AttributeError
        No layer has it.
    """
    for layer in () if name.startswith("__") else installed(False):
        for made_by, names in layer.members.get(owner, {}).items():
            if name in names.split():
                return getattr(named(made_by)(value), name)
    hint = "" if name.startswith("_") else _hint(f"{owner}.{name}")
    raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}{hint}")


def _search(name: str, home: str | None) -> tuple[bool, ...]:
    """Return where to look for a name: in known layers, then in all that entry points name."""
    if name.startswith("__"):  # Python and its tools ask for such, which are no layer's business
        return ()
    return (False,) if home is not None or name.startswith("_") else (False, True)


def start_devices() -> None:
    """Start the devices that flags name, by the layers that know how.

    Raises
    ------
    UnavailableLayerError
        No layer does.
    """
    starters = [layer.start for layer in installed() if layer.start is not None]
    if not starters:
        raise UnavailableLayerError(
            "the flags name a device, and no layer for devices is installed: pip install theano-gpu-backend, or set"
            " device=cpu"
        )
    for start in starters:
        start()


def added_names(module: str) -> list[str]:
    """Return the names that installed layers add to a module, and old spellings: for the module's ``__dir__``."""
    full = (name.rpartition(".") for layer in installed() for name in layer.names)
    return [*(name for home, _, name in full if home == module), *old_names.all_of(module)]


def names_in_use(module: str, own: Iterable[str], unused: str = "") -> list[str]:
    """Return what `dir` and editors show of a public module: what people use, without what only older programs do.

    Parameters
    ----------
    module : str
        Its full name.
    own : iterable of str
        Its own names; those that begin with an underscore are left out.
    unused : str
        More names to leave out, with spaces between them.

    Examples
    --------
    >>> names_in_use("theano.notation", ["write", "_write", "os"], "os")
    ['write']
    """
    added = {name for layer in installed() if layer.distribution != _OLDER for name in layer.names}
    modules = (name for table in _tables(True, older=False) for name in table)
    below = {name.removeprefix(f"{module}.") for name in (*added, *modules) if name.startswith(f"{module}.")}
    named = {*own, *(name.partition(".")[0] for name in below)} - set(unused.split())
    return sorted(name for name in named if name == "__version__" or not name.startswith("_"))


def load_for_value(value: object) -> None:
    """Bring in the layer that makes variables of values like ``value``, if one is installed.

    ``theano.shared(array)`` is a program's first statement as often as not: nothing has loaded the layer
    that knows arrays yet, and without it the array would be taken for just any Python object.
    """
    for declared in (False, True):
        knowing = next((layer for layer in installed(declared) if layer.knows(value)), None)
        if knowing is not None:
            knowing.load()
            return


# -- finding descriptions ------------------------------------------------------------------------------------


@cache
def _look_for(distribution: str) -> None:
    """Import the description of a layer of this project, if it is there.

    It is in this package, so that neither metadata is read, nor metadata older than the sources is in the way.
    """
    name = f"{__name__}.{distribution.removeprefix('theano-').replace('-', '_')}"
    if importlib.util.find_spec(name) is not None:
        importlib.import_module(name)


@cache
def _read_entry_points() -> None:
    """Import the descriptions that installed distributions name."""
    # It takes longer to load than all of graph-core's small modules, and is wanted for unknown layers only.
    from importlib import metadata

    for entry in metadata.entry_points(group=GROUP):
        try:
            layer = entry.load()
        except (ImportError, AttributeError) as problem:
            logger.warning("theano: the layer %s cannot be described: %s", entry.value, problem)
            continue
        if isinstance(layer, Layer):
            describe(layer)
        else:
            logger.warning("theano: the entry point %s is a %s, not a Layer", entry.value, type(layer).__name__)


# -- old spellings ---------------------------------------------------------------------------------------------


def _tables(declared: bool, older: bool = True) -> Iterator[Table]:
    """Yield the tables of old spellings: this layer's, and of those that are installed."""
    yield importlib.import_module(f"{__name__}.documented_graph_core").OLD_NAMES
    for layer in installed(declared):
        if not older and layer.distribution == _OLDER:
            continue
        yield from (importlib.import_module(table).OLD_NAMES for table in layer.spellings.split())


def _hint(wanted: str) -> str:
    """Return the message for an unknown name, if a distribution that may have it is not installed."""
    there = {layer.distribution for layer in installed(False)}
    home = next((d for d, published in PUBLISHED.items() if wanted in published.names and d not in there), None)
    if home is not None:
        return f". It belongs to the distribution {home}: pip install {home}"
    if _OLDER in there:
        return ""
    return f". Names of older versions come with {_OLDER}, which is not installed: pip install {_OLDER}"


old_names = OldNames(_tables, _hint)
install(old_names)


# -- names that come later -----------------------------------------------------------------------------------


def lazily(
    namespace: Mapping[str, Any], places: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a module's ``__getattr__`` and ``__dir__``, for names that are imported on first access.

    Old spellings that the tables of layers have for the module need no entry here.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``.
    places : dict from str to str
        For a name, the module that it is, or ``"module:name"``.

    Returns
    -------
    tuple of callable
        The two functions.

    Examples
    --------
    >>> get, names = lazily({"__name__": "here"}, {"loads": "json:loads", "tools": "functools"})
    >>> get("loads")("[1]"), get("tools").__name__, names()
    ([1], 'functools', ['__name__', 'loads', 'tools'])
    >>> get("dumps")
    Traceback (most recent call last):
     ...
    AttributeError: module 'here' has no attribute 'dumps'
    """

    def __getattr__(name: str) -> Any:
        return named(places[name]) if name in places else attribute(namespace["__name__"], name)

    return __getattr__, lambda: sorted({*namespace, *places, *added_names(namespace["__name__"])})


lazy_names.register(lazily)
