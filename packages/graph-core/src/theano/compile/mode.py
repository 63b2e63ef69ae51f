"""Modes: how a function is rewritten and how its nodes are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from theano.graph.fgraph import FunctionGraph
from theano.layers import lazily
from theano.layers.spellings import named
from theano.records import replace
from theano.rewriting import (
    Query,
    Report,
    RewriteSettings,
    predefined_queries,
    query_of,
    rewrite,
)
from theano.runtime.link import CLinker, Linker, LinkWith, OpWiseCLinker, PerformLinker
from theano.settings import config

if TYPE_CHECKING:
    from theano.runtime.failure import Explainer

#: Linkers by the names that ``config.linker`` and ``Mode`` take. They differ in whether compiled code is used
#: and whether memory is given back during a call: there is one machine.
predefined_linkers: dict[str, Linker] = {
    "py": PerformLinker(),
    "c": CLinker(),
    "c|py": OpWiseCLinker(),
    "c|py_nogc": OpWiseCLinker(allow_gc=False).called("c|py_nogc"),
    "vm": Linker("vm"),
    "vm_nogc": Linker("vm_nogc", allow_gc=False),
    "cvm": Linker("cvm"),
    "cvm_nogc": Linker("cvm_nogc", allow_gc=False),
}

#: Queries by the names that ``config.optimizer`` and ``Mode`` take.
predefined_optimizers = predefined_queries

OPT_NONE = predefined_queries["None"]
OPT_MERGE = predefined_queries["merge"]
OPT_FAST_COMPILE = predefined_queries["fast_compile"]
OPT_FAST_RUN = predefined_queries["fast_run"]
OPT_FAST_RUN_STABLE = predefined_queries["fast_run_stable"]
OPT_STABILIZE = predefined_queries["stabilize"]
OPT_O2 = predefined_queries["o2"]
OPT_O3 = predefined_queries["o3"]
OPT_UNSAFE = predefined_queries["unsafe"]


#: Tags that the ready-made queries leave out.
exclude: list[str] = []


def register_linker(name: str, linker: Linker) -> None:
    """Let ``linker`` be known as ``name``."""
    if name in predefined_linkers:
        raise ValueError(f"there is a linker called {name} already")
    predefined_linkers[name] = linker


def register_optimizer(name: str, opt: Query) -> None:
    """Let the query ``opt`` be known as ``name``."""
    if name in predefined_optimizers:
        raise ValueError(f"there is an optimizer called {name} already")
    predefined_optimizers[name] = opt


_old, __dir__ = lazily(globals())


def __getattr__(name: str) -> Any:
    if name == "local_useless":
        # Rules that take away what does nothing, as one collection; the facade is loaded for those who ask for it.
        from theano.rewriting.userdefined import optdb

        return optdb["useless"]
    return _old(name)


class Rewriter(Protocol):
    """A user-defined graph rewriter, as far as a mode knows it."""

    def optimize(self, fgraph: FunctionGraph) -> Any:
        """Change ``fgraph``."""


class Mode:
    """How to compile: which rewrites, and what computes the nodes.

    Parameters
    ----------
    linker : Linker or str, optional
        ``'py'`` runs every op in Python; ``'c'`` wants compiled code for each; the others (``'c|py'``, ``'vm'``,
        ``'cvm'`` and, keeping memory between calls, ``'..._nogc'``) use what there is. By default ``config.linker``.
    optimizer : Query, Optimizer or str, optional
        Which rewrites: ``'fast_run'``, ``'fast_compile'``, ``'o1'`` to ``'o4'``, None for none at all; an optimizer of
        one's own, and nothing else. By default ``config.optimizer``.

    Examples
    --------
    >>> mode = Mode(linker="py", optimizer="fast_run").excluding("inplace")
    >>> mode
    Mode(linker=py, optimizer=fast_run - inplace)
    """

    def __init__(self, linker: Linker | str | None = None, optimizer: Query | Rewriter | str | None = "default"):
        if linker is None:
            linker = str(config.linker)
        if isinstance(optimizer, str) and optimizer == "default":
            optimizer = str(config.optimizer)
        self.provided_linker = linker
        self.provided_optimizer = optimizer
        self.linker = _linker_of(linker)
        self.optimizer = _query_of(optimizer)

    def including(self, *tags: str) -> Mode:
        """Return a mode with the rewrites of some tags or names, too."""
        return self._with(self.optimizer.including(*tags))

    def excluding(self, *tags: str) -> Mode:
        """Return a mode without the rewrites of some tags or names."""
        return self._with(self.optimizer.excluding(*tags))

    def requiring(self, *tags: str) -> Mode:
        """Return a mode with only the rewrites that have all of some tags."""
        return self._with(self.optimizer.requiring(*tags))

    def register(self, *optimizations: tuple[Any, float]) -> Mode:
        """Return a mode with rewriters of one's own, too, each with its position among the passes.

        Examples
        --------
        >>> from theano.rewriting.userdefined import MergeOptimizer
        >>> mode = Mode(optimizer="fast_compile").register((MergeOptimizer(), 49.9))
        >>> len(mode.optimizer.extra_optimizations)
        1
        """
        return self._with(self.optimizer.register(*optimizations))

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Query | str = "", **kwargs: Any) -> Mode:
        """Return a mode like this one.

        Parameters
        ----------
        link_kwargs : dict, optional
            Changes to the linker: ``{'allow_gc': False}``.
        optimizer : Query or str
            Other rewrites.
        """
        linker = self.linker.clone(**link_kwargs) if link_kwargs else self.linker
        return type(self)(linker, optimizer or self.optimizer, **kwargs)

    # -- what modes that look do otherwise ----------------------------------------------------------------

    @property
    def inspects_nodes(self) -> bool:
        """Whether functions run node by node in Python, for inspection."""
        return self.linker.inspects_nodes

    @property
    def _optimizer(self) -> Query:
        """The query by another name; what is set in it concerns this mode alone."""
        self.optimizer = replace(self.optimizer)
        return self.optimizer

    @_optimizer.setter
    def _optimizer(self, query: Query) -> None:
        self.optimizer = query

    @property
    def query(self) -> Query:
        """Which rewrites, up to the position where ``config.optdb.position_cutoff`` ends them."""
        cutoff = min(self.optimizer.position_cutoff, config.optdb.position_cutoff)
        query = replace(self.optimizer, position_cutoff=cutoff)
        if not query.extra_optimizations:
            return query
        # The facade is loaded for those who bring rewriters of their own.
        from theano.rewriting.userdefined import adapted

        return adapted(query)

    def rewrite(self, fgraph: FunctionGraph, settings: RewriteSettings) -> Report:
        """Rewrite a graph in place."""
        return rewrite(fgraph, self.query, settings)

    def evaluator(self, fgraph: FunctionGraph, link_with: LinkWith, explainer: Explainer, report: Report | None) -> Any:
        """Return what runs a rewritten graph, or None: then the machine does.

        Parameters
        ----------
        fgraph, link_with, explainer
            As for :meth:`theano.runtime.link.Linker.evaluator`.
        report : Report or None
            What :meth:`rewrite` returned.
        """
        return self.linker.evaluator(fgraph, link_with, explainer)

    def _with(self, query: Query) -> Mode:
        copy = self.clone()
        copy.provided_linker, copy.optimizer = self.provided_linker, query
        copy.provided_optimizer = query
        return copy

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple):  # of another version: the linker and the rewrites
            Mode.__init__(self, *state)
        else:
            self.__dict__.update(state)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.linker == other.linker and self.optimizer == other.optimizer

    def __hash__(self) -> int:
        return hash((type(self), self.linker, self.optimizer))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(linker={self.linker}, optimizer={describe_query(self.optimizer)})"


def describe_query(query: Query) -> str:
    """Return what a query picks, in a few words.

    Examples
    --------
    >>> describe_query(OPT_FAST_RUN.including("unsafe"))
    'fast_run + unsafe'
    """
    text = " + ".join(sorted(query.include)) or "None"
    text += "".join(f" - {tag}" for tag in sorted(query.exclude))
    return text + "".join(f" & {tag}" for tag in sorted(query.require))


def _query_of(optimizer: Query | Rewriter | str | None) -> Query:
    """Return the query that ``optimizer`` means; a graph rewriter is one for itself alone."""
    if hasattr(optimizer, "optimize"):
        return Query(extra_optimizations=[(optimizer, 0.0)])
    return query_of(optimizer)


def _linker_of(linker: Linker | str) -> Linker:
    if isinstance(linker, Linker):
        return linker
    if linker in predefined_linkers:
        return predefined_linkers[linker]
    raise ValueError(f"no linker is called {linker!r}; there are {', '.join(sorted(predefined_linkers))}")


FAST_RUN = Mode("cvm", "fast_run")
#: Python forms and few rewrites: the first call comes soonest.
FAST_COMPILE = Mode(Linker("vm", "never"), "fast_compile")

predefined_modes: dict[str, Mode] = {"FAST_COMPILE": FAST_COMPILE, "FAST_RUN": FAST_RUN}

#: Modes that are created on access by name, since they read the flags then: ``module:class``.
made_to_order: dict[str, str] = {
    "DebugMode": "theano.compile.debugmode:DebugMode",
    "DEBUG_MODE": "theano.compile.debugmode:DebugMode",
    "NanGuardMode": "theano.compile.nanguardmode:NanGuardMode",
}


def register_mode(name: str, mode: Mode) -> None:
    """Let ``mode`` be known as ``name``."""
    if name in predefined_modes:
        raise ValueError(f"there is a mode called {name} already")
    predefined_modes[name] = mode


def get_mode(orig_string: Mode | str | None) -> Mode:
    """Return the mode that a user means.

    Parameters
    ----------
    orig_string : Mode, str or None
        A mode, the name of one, or None for what ``config`` says (``mode``, ``linker``, ``optimizer``,
        ``optimizer_including``, ``optimizer_excluding``, ``optimizer_requiring``).

    Raises
    ------
    ValueError
        No mode has that name.
    """
    if isinstance(orig_string, Mode):
        return orig_string
    name = str(config.mode) if orig_string is None else orig_string
    if name == "Mode":
        mode = Mode(str(config.linker), str(config.optimizer))
    elif name in predefined_modes:
        mode = predefined_modes[name]
    elif name in made_to_order:
        mode = named(made_to_order[name])(optimizer=str(config.optimizer))
    else:
        known = ", ".join(sorted({"Mode", *predefined_modes, *made_to_order}))
        raise ValueError(f"no mode is called {name!r}; there are {known}")
    if orig_string is not None:
        return mode
    for verb in ("including", "excluding", "requiring"):
        tags = str(getattr(config, f"optimizer_{verb}") or "")
        if tags:
            mode = getattr(mode, verb)(*tags.split(":"))
    return mode


def get_default_mode() -> Mode:
    """Return the mode of functions that name none."""
    return get_mode(None)

