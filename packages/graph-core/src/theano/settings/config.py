"""`theano.config`: all flags as attributes, checked when they are set."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from theano.errors import ImmutableFlagError, TheanoConfigWarning, UnknownFlagError
from theano.settings import flags, sources
from theano.settings.kinds import ConfigParam

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


class Section:
    """The flags whose names begin alike: ``config.gcc`` holds ``config.gcc.cxxflags``."""

    _root: Config
    _prefix: str

    # Values live in the instance's own __dict__, so that reading a flag costs what reading any attribute does.
    # What is not in there (computed defaults, the a__b spelling, wrong names) comes through __getattr__.

    def __init__(self, root: Config, prefix: str):
        self.__dict__["_root"] = root
        self.__dict__["_prefix"] = prefix

    if not TYPE_CHECKING:  # which `theano.settings.declared` tells of each flag: a name that is none is an error

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # copy, pickle and inspect probe for methods; a flag never starts so
                raise AttributeError(name)
            return self._root._compute(self._prefix + name.replace("__", "."))

    def __setattr__(self, name: str, value: object) -> None:
        self._root._assign(self._prefix + name.replace("__", "."), value)

    def __dir__(self) -> Iterable[str]:
        start = len(self._prefix)
        below = (name[start:] for name in self._root._params if name.startswith(self._prefix))
        return sorted({name.partition(".")[0] for name in below} | set(object.__dir__(self)))

    def __repr__(self) -> str:
        return f"<flags theano.config.{self._prefix}*>"


class Config(Section):
    """All flags. Read and set them as attributes; ``print(theano.config)`` shows them with their help.

    Parameters
    ----------
    table : iterable of ConfigParam
        The flags.

    Examples
    --------
    >>> from theano import config
    >>> with config.change_flags(floatX="float32"):
    ...     print(config.floatX)
    float32
    >>> config.floatX = "float63"
    Traceback (most recent call last):
      ...
    theano.errors.FlagValueError: theano.config.floatX cannot be 'float63'.
      It takes one of float64, float32, float16.
    """

    _params: dict[str, ConfigParam]
    _given: dict[str, object]
    #: Texts of flags that the program has yet to add, by name.
    _waiting: dict[str, str]
    #: Flags without effect that were given, with the place and the reason.
    _idle: dict[str, tuple[str, str]]
    _sections: dict[str, Section]
    _watchers: dict[str, list[Callable[[Any], None]]]

    def __init__(self, table: Iterable[ConfigParam] = ()):
        super().__init__(self, "")
        # The first assignments, before there is a flag to check them against.
        self.__dict__.update(_params={}, _given={}, _sections={"": self}, _watchers={}, _waiting={}, _idle={})
        for param in table:
            self._declare(param)

    # Reading

    def flags(self) -> Iterator[ConfigParam]:
        """Yield every flag's declaration, in the order of the table.

        Examples
        --------
        >>> from theano import config
        >>> next(config.flags()).name
        'floatX'
        """
        yield from self._params.values()

    def given(self, name: str, default: Any = None) -> Any:
        """Return a flag's value if it was set, else ``default``.

        This is for flags whose default is found out by who needs it, such as ``cxx``.

        Parameters
        ----------
        name : str
            The flag, as ``gcc.cxxflags`` or ``gcc__cxxflags``.
        default : object
            What to return otherwise.
        """
        param = self._find(name)
        return self._given.get(param.name, default)

    def idle(self) -> dict[str, tuple[str, str]]:
        """Return the flags that were given and do nothing: by name, the place and the reason.

        Examples
        --------
        >>> from theano.settings import load_config
        >>> load_config({"THEANO_FLAGS": "magma.enabled=True", "THEANORC": ""}).idle()
        {'magma.enabled': ('THEANO_FLAGS', 'it was for the CUDA back-end of Theano before 2.0')}
        """
        waiting = dict.fromkeys(self._waiting, ("THEANO_FLAGS or an rc file", "no program has added it"))
        return self._idle | waiting

    def all_given(self) -> dict[str, Any]:
        """Return the flags that were set, and their values.

        Examples
        --------
        >>> from theano import config
        >>> with config.change_flags(threads=2):
        ...     config.all_given()["threads"]
        2
        """
        return dict(self._given)

    def __str__(self) -> str:
        return "\n".join(self._describe(param) for param in self._params.values())

    def _describe(self, param: ConfigParam) -> str:
        doc = param.doc + (f" No effect here: {param.inert}." if param.inert else "")
        fixed = "" if param.mutable else ", fixed at import"
        accepts = param.accepts().removeprefix("one of ")
        return f"{param.name} ({accepts}{fixed})\n    Doc:   {doc}\n    Value: {self._compute(param.name)}\n"

    def _find(self, name: str, origin: str = "") -> ConfigParam:
        dotted = name.replace("__", ".")
        dotted = flags.ALIASES.get(dotted, dotted)
        try:
            return self._params[dotted]
        except KeyError:
            raise UnknownFlagError(dotted, self._near(dotted), origin) from None

    def _near(self, name: str) -> tuple[str, ...]:
        from difflib import get_close_matches  # only a mistake needs it

        lowered = {known.lower(): known for known in self._params}
        return tuple(lowered[found] for found in get_close_matches(name.lower(), lowered, n=2, cutoff=0.75))

    def _compute(self, name: str) -> Any:
        param = self._find(name)
        if param.name in self._given:
            return self._given[param.name]
        return param.default(self.given) if callable(param.default) else param.default

    # Setting

    def add(self, name: str, doc: str, configparam: ConfigParam, in_c_key: bool = True) -> None:
        """Add a flag of a program's own.

        Parameters
        ----------
        name : str
            Its name; a dot makes a section.
        doc : str
            Its help.
        configparam : ConfigParam
            Its kind and default.
        in_c_key : bool
            Without effect: what compiled code depends on is part of its key by itself.

        Raises
        ------
        AttributeError
            There is a flag or a section of this name.
        FlagValueError
            The flag does not take its default, or what THEANO_FLAGS or an rc file says; where one of them says
            something, the default is not asked.

        Notes
        -----
        A flag that THEANO_FLAGS or an rc file names before it is declared waits for its declaration, if its name has a
        section of its own: ``THEANO_FLAGS=pylearn.depth=3``.
        """
        name = name.replace("__", ".")
        if name in self._params or name + "." in self._sections:
            raise AttributeError(f"theano.config has a flag or a section {name!r} already.")
        configparam.name, configparam.doc = name, doc
        compute, waiting = configparam.default, self._waiting.get(name)
        if callable(compute):
            configparam.default = lambda given: compute()
        elif waiting is None:
            configparam.default = configparam.convert(compute)
        value = None if waiting is None else configparam.convert(waiting, "THEANO_FLAGS or an rc file")
        self._declare(configparam)
        if waiting is not None:
            del self._waiting[name]
            self._put(configparam, value)

    def _declare(self, param: ConfigParam) -> None:
        self._params[param.name] = param
        self._section(param.name.rpartition(".")[0])
        if not callable(param.default):
            self._store(param, param.default)

    def _section(self, name: str) -> Section:
        """Return the section of a name such as ``dnn.conv``, made with those around it if need be."""
        prefix = name + "." if name else ""
        if prefix not in self._sections:
            outer, _, last = name.rpartition(".")
            self._sections[prefix] = self._section(outer).__dict__[last] = Section(self, prefix)
        return self._sections[prefix]

    def _store(self, param: ConfigParam, value: object) -> None:
        section, _, last = param.name.rpartition(".")
        self._section(section).__dict__[last] = value
        for watcher in self._watchers.get(param.name, ()):
            watcher(value)

    def watch(self, name: str, watcher: Callable[[Any], None]) -> None:
        """Call ``watcher`` with the value of a flag, now and whenever it is set.

        This is how a flag reaches code that runs too often to read it, or that stands below the flags.

        Parameters
        ----------
        name : str
            A flag whose default is a value, not a computation.
        watcher : callable

        Examples
        --------
        >>> from theano import config
        >>> config.watch("traceback.limit", lambda limit: print("frames:", limit))
        frames: 8
        """
        param = self._find(name)
        self._watchers.setdefault(param.name, []).append(watcher)
        watcher(self._compute(param.name))

    def _assign(self, name: str, value: object) -> None:
        param = self._find(name)
        if not param.mutable:
            raise ImmutableFlagError(param.name)
        self._put(param, param.convert(value))

    def _put(self, param: ConfigParam, value: object) -> None:
        self._given[param.name] = value
        self._store(param, value)

    def _restore(self, param: ConfigParam, was_given: bool, value: object) -> None:
        if was_given:
            self._put(param, value)
            return
        self._given.pop(param.name, None)
        if callable(param.default):
            section, _, last = param.name.rpartition(".")
            self._section(section).__dict__.pop(last, None)
        else:
            self._store(param, param.default)

    def __copy__(self) -> Config:
        # Programs keep a copy, and put it where theano.config was when a decorator changes the flags of the first one.
        return self

    def change_flags(self, args: Mapping[str, object] | Iterable[tuple[str, object]] = (), **kwargs: object) -> Changes:
        """Set flags for a while: as a context manager, or as a decorator of a function.

        Parameters
        ----------
        args : mapping or list of pairs
            Names with dots and their values.
        **kwargs
            Names (``gcc__cxxflags`` for ``gcc.cxxflags``) and their values.

        Examples
        --------
        >>> from theano import config
        >>> @config.change_flags({"gcc.cxxflags": "-g"}, floatX="float32")
        ... def in_single():
        ...     return config.floatX, config.gcc.cxxflags
        >>> in_single(), config.floatX
        (('float32', '-g'), 'float64')
        """
        return Changes(self, {**dict(args), **kwargs})

    def call_as_given(self, given: Mapping[str, object], function: Callable[[], R]) -> R:
        """Call a function while exactly the flags of :meth:`all_given` are set, as they were when it was asked.

        This is no context manager, because Ctrl-C at the entry of ``__exit__`` would leave the flags as they are.

        Parameters
        ----------
        given : dict
            What it returned.
        function : callable
        """
        before = dict(self._given)
        changed = [name for name in {**before, **given} if name not in before or name not in given
                   or before[name] is not given[name]]  # fmt: skip
        if not changed:
            return function()
        interrupt = None
        try:
            self._become(given, changed)
            return function()
        finally:
            while True:
                try:
                    self._become(before, changed)
                    break
                except KeyboardInterrupt as error:
                    interrupt = error
            if interrupt is not None:
                raise interrupt

    def _become(self, given: Mapping[str, object], names: Iterable[str]) -> None:
        for name in names:
            self._restore(self._params[name], name in given, given.get(name))

    def load(self, environ: Mapping[str, str]) -> None:
        """Take the values of the rc files, then those of THEANO_FLAGS, which win; only what wins is checked.

        Parameters
        ----------
        environ : mapping
            The environment.
        """
        winning: dict[str, tuple[ConfigParam, str, str]] = {}
        for path in sources.rc_files(environ):
            for given in sources.from_rc(path, environ):
                self._read(winning, *given)
        for given in sources.from_flags(environ.get("THEANO_FLAGS", "")):
            self._read(winning, *given)
        if self._idle:
            text = "\n  ".join(f"{name} ({origin}): {why}" for name, (origin, why) in self._idle.items())
            # The line of the user's program that imports theano, past this module's and two files of ours.
            warnings.warn(f"these flags have no effect:\n  {text}", TheanoConfigWarning, stacklevel=5)
        for param, text, origin in winning.values():
            if param.inert and param.name not in self._idle:
                self._idle[param.name] = origin, param.inert
            self._put(param, param.convert(text, origin))

    def _read(self, winning: dict[str, tuple[ConfigParam, str, str]], name: str, text: str, origin: str) -> None:
        """Enter a value in the place of an earlier one of the same flag."""
        dotted = name.replace("__", ".")
        if dotted in flags.RETIRED:
            self._idle[dotted] = origin, flags.RETIRED[dotted]
            return
        if origin != "THEANO_FLAGS":
            dotted = self._as_declared(dotted)
        if self._is_of_a_program(dotted):
            self._waiting[dotted] = text
            return
        param = self._find(dotted, origin)
        winning[param.name] = param, text, origin

    def _is_of_a_program(self, name: str) -> bool:
        """Return whether nothing here has a name like this: then a program may add the flag later."""
        section = name.partition(".")[0] + "."
        return section != name + "." and section not in self._sections and not self._near(name)

    def _as_declared(self, name: str) -> str:
        """Rc files never cared about case: floatx there is floatX."""
        if name in self._params:
            return name
        return next((known for known in self._params if known.lower() == name.lower()), name)


class Changes:
    """Flags set for a while; what `Config.change_flags` returns."""

    def __init__(self, config: Config, changes: Mapping[str, object]):
        self._config = config
        self._wanted = []
        for name, value in changes.items():
            param = config._find(name)
            if not param.mutable:
                raise ImmutableFlagError(param.name)
            self._wanted.append((param, param.convert(value)))
        self.flags = dict(changes)
        # A list, because a decorated function may call itself.
        self._before: list[list[tuple[ConfigParam, bool, object]]] = []

    def __enter__(self) -> Config:
        given = self._config._given
        self._before.append([(param, param.name in given, given.get(param.name)) for param, _ in self._wanted])
        for param, value in self._wanted:
            self._config._put(param, value)
        return self._config

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Left once more than entered, as PyMC3 does with a model inside itself: the flags are as they were already.
        before = self._before.pop() if self._before else []
        for param, was_given, value in reversed(before):
            self._config._restore(param, was_given, value)

    def __call__(self, function: F) -> F:
        """Decorate a function so that it runs with these flags."""

        @wraps(function)
        def with_flags(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return with_flags  # type: ignore[return-value]  # of the same signature, which wraps cannot say


def load_config(environ: Mapping[str, str] = os.environ) -> Config:
    """Make a Config with all flags, set as an environment says.

    Parameters
    ----------
    environ : mapping
        The environment; the process's own unless given.

    Examples
    --------
    >>> load_config({"THEANO_FLAGS": "floatX=float32", "THEANORC": ""}).floatX
    'float32'
    """
    config = Config(flags.TABLE)
    config.load(environ)
    return config
