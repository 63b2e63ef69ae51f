"""How Sphinx builds these pages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import functions
import generate
import neighbours
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

project = "Theano"
copyright = "2026, the Theano developers"
version = release = generate.version()

extensions = ["myst_parser", "sphinx.ext.intersphinx", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
intersphinx_mapping = neighbours.mapping()
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "Theano"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
nitpicky = False
toc_object_entries_show_parents = "hide"

# A clone lacks these pages. Tracked ones stay as they are: their test says when one is stale.
generate.write_pages(Path(__file__).parent, lambda place: not generate.is_tracked(place))


def trim(app, tree):
    """Leave out the empty lines around code: doctest wants one after what is printed, readers do not."""
    for block in list(tree.findall(nodes.literal_block)):
        block.rawsource = text = block.astext().strip("\n")
        block.children = []
        block += nodes.Text(text)


def write_formula(writer, node):
    """Write a formula as MathML, which browsers show without a script from the network."""
    writer.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def is_whole(app, env):
    """Say which public names the inventory lacks."""
    missing = set(functions.public()) - set(env.domains.python_domain.objects)
    if missing:
        logging.getLogger("reference").warning("no entry in the reference: %s", ", ".join(sorted(missing)))


def setup(app):
    """Change what pages have of code before it is written, and how they show formulas."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("doctree-read", trim)
    app.connect("env-check-consistency", is_whole)
