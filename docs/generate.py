"""Write the pages whose content is in the code: the flags, and the errors."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import theano
from theano import errors
from theano.settings.flags import TABLE
from theano.settings.kinds import ConfigParam

CONFIG_HEAD = """# Flags

`theano.config` holds the flags. They are read once, when theano is imported: first from the rc file, then from the
environment, which wins.

```sh
THEANO_FLAGS=floatX=float32,optimizer=fast_compile python3 program.py
```

The rc file is `~/.theanorc`, or the files that `THEANORC` lists; the last one wins.

```ini
[global]
floatX = float32

[gcc]
cxxflags = -g
```

A program can read and set most flags, for good or for a while:

```python
>>> import theano
>>> theano.config.floatX
'float64'
>>> with theano.config.change_flags(floatX="float32"):
...     print(theano.tensor.matrix().dtype)
float32

```

Names with a dot can also be written with two underscores: `gcc__cxxflags` is `gcc.cxxflags`. A name or value that
does not exist is an error that says which ones do. The same list, with the values in force, is printed by
`python -c "import theano; print(theano.config)"`.

"""

ERRORS_HEAD = """# Errors

Where the old Theano documents the class of an exception, the one raised here is that class or one made from it, so
that programs which catch it work. All are in `theano.errors`.

"""


def version() -> str:
    """Return the version that the pages describe."""
    return theano.__version__


def config_page() -> str:
    """Return the page of flags."""
    works = [param for param in TABLE if not param.inert]
    inert = [param for param in TABLE if param.inert]
    lines = [CONFIG_HEAD, "## Flags that do something\n"]
    lines += [_flag(param) for param in works]
    lines.append("\n## Flags that are accepted and do nothing\n")
    lines.append("Programs and rc files may set them; their values are checked, and nothing depends on them.\n")
    lines.append("| flag | default | why |\n|---|---|---|")
    lines += [f"| `{param.name}` | {_default(param)} | {param.inert} |" for param in inert]
    return "\n".join(lines) + "\n"


def _flag(param: ConfigParam) -> str:
    accepts = param.accepts().removeprefix("one of ")
    fixed = "" if param.mutable else "; fixed at import"
    takes = f"*Takes* {_escape(accepts)}{fixed}. *Default:* {_default(param)}"
    return f"`{param.name}`\n: {_escape(param.doc)}\n: {takes}\n"


def _default(param: ConfigParam) -> str:
    if callable(param.default):
        return "found on the machine"
    return "empty" if param.default == "" else f"`{param.default}`"


def _escape(text: str) -> str:
    return re.sub(r"([*_<|])", r"\\\1", text)


def errors_page() -> str:
    """Return the page of errors."""
    lines = [ERRORS_HEAD]
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, BaseException) and kind.__module__ == errors.__name__:
            bases = ", ".join(f"`{base.__name__}`" for base in kind.__mro__[1:-3] if base is not errors.TheanoError)
            doc = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
            lines.append(f"## {name}\n\n{doc}\n" + (f"\n*Is a* {bases}.\n" if bases else ""))
    return "\n".join(lines)


def write_pages(docs: Path) -> None:
    """Write the pages, where they have changed."""
    for place, text in {"library/config.md": config_page(), "errors.md": errors_page()}.items():
        path = docs / place
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(__file__).parent)
