"""The second level of the cache: the programs of whole functions, under the keys of their graphs.

What is found makes rewriting, code generation and planning superfluous. What goes wrong here, whatever it is, is a
miss: the function is compiled as if there were no second level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from theano.compile.environment import are_known, check_sources, environment, read_sources
from theano.compile.key import GraphDescription, function_key
from theano.compile.request import Request
from theano.errors import NoCompilerError
from theano.graph.canonical import NoCanonicalForm
from theano.loader.schema import MachineProgram
from theano.records import field, record
from theano.runtime.link import Linked
from theano.runtime.profile import CompileTimes
from theano.runtime.program import Argument
from theano.settings import config

if TYPE_CHECKING:
    from theano.runtime.serialized import SerializedProgram


@record
class Lookup:
    """What was found for a function.

    Attributes
    ----------
    plan : SerializedProgram or None
    key : str
        Under which it may be kept; empty if it may not, or is already.
    late_key : callable or None
        Returns that key, where nothing could be found, so that it is not computed yet.
    reason : str
        Why it may not be kept.
    constants : list
        The values of those of the user's graph, which a serialized program knows by number.
    flags : dict
        The flags that were set, for a later look at the rewritten graph.
    """

    plan: SerializedProgram | None = None
    key: str = ""
    reason: str = ""
    constants: Sequence[Any] = ()
    flags: dict[str, Any] = field(default_factory=dict)
    late_key: Callable[[], str] | None = None

    @property
    def may_be_kept(self) -> bool:
        """Whether the program may be kept and is not yet."""
        return bool(self.key) or self.late_key is not None

    def forget(self, reason: str = "") -> None:
        """Let the program not be kept, or not again."""
        self.key, self.late_key, self.reason = "", None, reason or self.reason


@record
class CacheCounts:
    """What the second level did in this process."""

    found: int = 0
    missed: int = 0
    kept: int = 0
    without_key: int = 0


counts = CacheCounts()


def look_up(request: Request, times: CompileTimes) -> Lookup:
    """Return the program of a function if it is in the cache, else the key under which it may be kept.

    Parameters
    ----------
    request : Request
        Its graph, as packing left it, and what is done with it.
    times : CompileTimes
        Where the seconds go.
    """
    start = perf_counter()
    try:
        lookup = _describe(request)
    except (NoCanonicalForm, NoCompilerError, RecursionError) as problem:
        counts.without_key += 1
        lookup = Lookup(reason=str(problem).partition("\n")[0])
    between = perf_counter()
    times.keying = between - start
    counts.missed += lookup.late_key is not None
    if lookup.key:
        lookup.plan = _find(lookup.key)
        counts.found += lookup.plan is not None
        counts.missed += lookup.plan is None
        if lookup.plan is not None:
            lookup.key = ""
        times.finding = perf_counter() - between
    return lookup


def _describe(request: Request) -> Lookup:
    if not config.cache.plans:
        raise NoCanonicalForm("the flag cache.plans is off")
    if request.mode.inspects_nodes:
        raise NoCanonicalForm("the mode inspects each node")
    if request.mode.linker.compiled == "never":
        raise NoCanonicalForm("it runs in Python")
    # All that speaks to a compiler and to the disk: `import theano` does without.
    from theano.cache.store import CacheSettings, open_cache
    from theano.codegen.unit import current_toolchain
    from theano.toolchain.description import ToolchainSettings

    store = open_cache(CacheSettings.from_config(config))
    sources = read_sources(store)
    graph = GraphDescription(request.closed)
    tools = current_toolchain(ToolchainSettings.from_config(config), store)
    around = environment(tools.identity)

    def key() -> str:
        settings = request.rewrite_settings()
        given = request.accept_inplace, request.allow_gc, [sources(), *around]
        return function_key(graph, request.mode, settings, *given)

    if are_known() or store.holds_plans():
        return Lookup(None, key(), "", graph.constants, config.all_given())
    # Where nothing is kept nothing can be found: the sources are read while the graph is rewritten and compiled.
    return Lookup(None, "", "", graph.constants, config.all_given(), key)


def _find(key: str) -> SerializedProgram | None:
    # As above; it brings in the loader, which brings in NumPy.
    from theano.cache.store import CacheSettings, open_cache
    from theano.codegen.unit import find_kernels
    from theano.runtime.serialized import BadProgram, deserialize

    settings = CacheSettings.from_config(config)
    for text in open_cache(settings).plans(key):
        try:
            return deserialize(text, lambda keys, units: find_kernels(keys, units, settings))
        except BadProgram:
            continue
    return None


def keep(lookup: Lookup, program: MachineProgram, linked: Linked, arguments: Sequence[Argument]) -> None:
    """Keep the program of a function, if another process can make something of it."""
    # As above.
    from theano.cache.store import CacheSettings, open_cache
    from theano.runtime.serialized import serialize

    try:
        if lookup.late_key is not None:
            lookup.key = lookup.late_key()
        check_sources()
        text = serialize(program, linked, arguments, lookup.constants)
        open_cache(CacheSettings.from_config(config)).add_plan(lookup.key, text)
        counts.kept += 1
    except (NoCanonicalForm, UnicodeEncodeError, RecursionError) as problem:
        lookup.reason = str(problem).partition("\n")[0]
    lookup.forget()
