"""Every rule under its own name, also those that are declared as patterns and bound to no name of a module."""

from __future__ import annotations

from typing import Any

from theano.rewriting import phases


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(phases.all_rules())
    try:
        return phases.all_rules()[name]
    except KeyError:
        raise AttributeError(f"no rule is called {name!r}") from None


def __dir__() -> list[str]:
    return sorted(phases.all_rules())
