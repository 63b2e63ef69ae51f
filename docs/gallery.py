"""The gallery: a page, a notebook and a card for each program in `examples`, made of its own text.

The pictures in `_static/gallery` are what the programs draw: `nox -s gallery` runs them all and writes these anew.
`python docs/gallery.py NAME ...` runs the notebooks of some, `--pictures` draws all pictures.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

EXAMPLES = Path(__file__).parent.parent / "examples"
PICTURES = "_static/gallery"
#: The programs, and what is to be seen on the picture of each.
PROGRAMS = {
    "digits": "The loss while training, the weights that were learned, and digits with what they were taken for",
    "newton": "The loss by Newton's method and by gradient descent of as much work, and the weights of each digit",
    "posterior": "The trace of the draws, the posterior of the difference of two groups, and trajectories",
    "docstrings": "For each package of SciPy, the words that speak for it, and how often the answer is right",
    "photograph": "A photograph, what filters make of it, and the same with noise and with the noise taken out",
    "lenet": "The course of the training, the first filters, what they make of a digit, and the mistakes",
    "text": "The loss on read and unread text, and the text that the network writes, coloured by its certainty",
    "sharded": "The losses of three models while they are fitted, and the memory of each worker",
}

INDEX = """# Gallery of examples

Each is one program of at most 250 lines, which draws the picture that is shown, and is there as a script and as a
notebook.

::::{grid} 1 2 2 3
:gutter: 3

"""


class Program(NamedTuple):
    """What a program says of itself: the first line in two parts, the commands that run it, and what it does."""

    name: str
    title: str
    more: str
    commands: str
    text: str
    source: str


def program(name: str) -> Program:
    """Return what the docstring of a program has."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    first, commands, text = (ast.get_docstring(ast.parse(source)) or "").split("\n\n", 2)
    title, _, more = first.rstrip(".").partition(": ")
    more = f"{more[:1].upper()}{more[1:]}.\n\n" if more else ""
    return Program(name, title, more, inspect.cleandoc("\n" + commands), text, source)


def cells(name: str, source: str) -> list[tuple[str, str]]:
    """Return a program as the cells of a notebook: the docstring, what stands between functions, and each of these.

    Examples
    --------
    >>> source = '"Adds."\\nimport operator\\n\\n\\ndef main():\\n    print(operator.add(1, 2))\\n'
    >>> for kind, text in cells("sum", source):
    ...     print(kind, repr(text))
    markdown '# Adds.'
    code 'import operator'
    code 'def main():\\n    print(operator.add(1, 2))'
    code 'import sys\\n\\nsys.argv = ["sum.py"]\\nmain()'
    code 'from IPython.display import Image\\n\\nImage("sum.png")'
    """
    tree, lines = ast.parse(source), source.splitlines()
    body = [n for n in tree.body if not (isinstance(n, ast.If) and ast.unparse(n.test) == "__name__ == '__main__'")]
    marks = [body[0].end_lineno]
    for before, node in itertools.pairwise(body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            marks += [before.end_lineno, node.end_lineno]
    pieces = ["\n".join(lines[a:b]).strip("\n") for a, b in itertools.pairwise([*marks, body[-1].end_lineno])]
    pieces.append(f'import sys\n\nsys.argv = ["{name}.py"]\nmain()')
    pieces.append(f'from IPython.display import Image\n\nImage("{name}.png")')
    return [("markdown", f"# {ast.get_docstring(tree)}"), *(("code", text) for text in pieces if text)]


def notebook(name: str, source: str) -> str:
    """Return a program as a notebook, in the format of Jupyter (version 4.4)."""
    made: list[dict[str, Any]] = []
    for kind, text in cells(name, source):
        own = {"execution_count": None, "outputs": []} if kind == "code" else {}
        made.append({"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), **own})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def page(p: Program) -> str:
    """Return the page of a program."""
    return f"""# {p.title}

![{PROGRAMS[p.name]}](../{PICTURES}/{p.name}.png)

{p.more}{p.text}

{{download}}`The script <../../examples/{p.name}.py>`, {{download}}`the notebook <{p.name}.ipynb>`. It needs
`matplotlib`, `scikit-learn` and `tqdm` beside Theano; in a clone, `python3 tools/run.py example` sets up an environment
with all of it.

```sh
{p.commands}
```

```{{literalinclude}} ../../examples/{p.name}.py
:language: python
:start-after: from __future__ import annotations
```
"""


def card(p: Program) -> str:
    """Return what the gallery shows of a program."""
    picture = f"../{PICTURES}/{p.name}.png"
    image = f":img-top: {picture}\n:img-alt: {PROGRAMS[p.name]}"
    return f":::{{grid-item-card}} {p.title}\n{image}\n:link: {p.name}\n:link-type: doc\n:::\n"


def pages() -> dict[str, str]:
    """Return the files of the gallery, by their place in the documentation."""
    programs = [program(name) for name in PROGRAMS]
    found = {f"gallery/{p.name}.md": page(p) for p in programs}
    found |= {f"gallery/{p.name}.ipynb": notebook(p.name, p.source) for p in programs}
    cards, names = "\n".join(map(card, programs)), "\n".join(PROGRAMS)
    found["gallery/index.md"] = f"{INDEX}{cards}\n::::\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    return found


def execute(name: str) -> None:
    """Run a notebook as a reader would, in a folder of its own."""
    import nbformat
    from nbclient import NotebookClient

    text = notebook(name, program(name).source)
    with tempfile.TemporaryDirectory() as folder:
        found = NotebookClient(nbformat.reads(text, 4), timeout=600, resources={"metadata": {"path": folder}}).execute()
    last = found.cells[-1]["outputs"][0]["data"]
    print(f"{name}: {len(found.cells)} cells, the last shows {', '.join(last)}")


def draw(name: str, width: int = 1000, colours: int = 256) -> None:
    """Run a program, and keep its picture: no wider than so many pixels, and with so many colours."""
    from PIL import Image

    path = Path(__file__).parent / PICTURES / f"{name}.png"
    subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--picture", path], check=True)
    with Image.open(path) as whole:
        picture = whole.convert("RGB")
    picture.thumbnail((width, 10 * width))
    picture.quantize(colours).save(path, optimize=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--pictures"]:
        for each in PROGRAMS:
            draw(each)
    else:
        for each in sys.argv[1:]:
            execute(each)
