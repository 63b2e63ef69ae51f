"""Pictures of graphs: pages in a real browser, Graphviz, notebooks."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import d3viz
from theano.printing.drawing import MOST_NODES, Drawing
from theano.printing.layout import lay_out

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def step():
    """A step of training, profiled."""
    w = theano.shared(np.ones((4, 3)), name="w")
    x, y = T.matrix("x"), T.ivector("y")
    cost = T.nnet.categorical_crossentropy(T.nnet.softmax(T.dot(x, w)), y).mean()
    f = theano.function([x, y], cost, updates=[(w, w - 0.1 * T.grad(cost, w))], name="step", profile=True)
    f(np.ones((2, 4)), np.zeros(2, "int32"))
    return f


@pytest.fixture
def page(step, tmp_path):
    d3viz.d3viz(step, tmp_path / "deep" / "step.html")
    return (tmp_path / "deep" / "step.html").read_text()


def facts_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_needs_no_network(page):
    links = re.findall(r"(?:https?:)?//[\w.]+/\S*", page)
    assert set(links) <= {'http://www.w3.org/2000/svg"'} and "<link" not in page and "src=" not in page


def test_each_node_tells_which_rule_made_it(page, step):
    facts = facts_of(page)
    report = step.maker.rewriting
    nodes = [one for one in facts if one["kind"] == "node"]
    assert len(nodes) == len(step.maker.fgraph.apply_nodes)
    for node, told in zip(step.maker.fgraph.toposort(), nodes, strict=True):
        steps = report.why(node)
        assert told["label"] == str(node.op) and told["rule"] == (steps[0].rule if steps else "")
        assert told["made by"] == ([str(s) for s in steps] or ["as it was written"])
    assert any(one["rule"] for one in nodes) and all("%" in one["time"] for one in nodes)
    assert any("test_pictures.py" in one.get("written at", "") for one in nodes)


def test_colours_of_a_profiled_function_tell_where_the_time_goes(step):
    times = step.profile.apply_time
    slowest = max(times, key=times.get)
    order = step.maker.fgraph.toposort()
    drawn = re.findall(r'<title>([^<]*)</title><rect [^>]*rx="14" fill="(#\w+)"', step._repr_svg_())
    colours = dict(zip(order, (colour for _, colour in drawn), strict=True))
    assert colours[slowest] == "#ff9d5c" and colours[min(times, key=times.get)] != "#ff9d5c"
    assert all(re.search(r"\d %", told) for told, _ in drawn)
    assert "#ff9d5c" not in Drawing(step, {"Elemwise": "#123456"}).svg()


ASK = """<script>
addEventListener("load", () => {
  const box = [...document.querySelectorAll(".box.ellipse")].find(b => b.textContent.includes("Gemm"));
  box.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const search = document.getElementById("search");
  search.value = "gemm";
  search.dispatchEvent(new Event("input"));
  const svg = document.querySelector("#stage svg"), before = svg.getAttribute("viewBox");
  svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: 50, clientY: 50, cancelable: true }));
  document.body.dataset.zoomed = String(svg.getAttribute("viewBox") !== before);
  document.getElementById("fit").click();
  document.body.dataset.fitted = String(svg.getAttribute("viewBox") === before);
});
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_in_a_browser(step, page, tmp_path):
    path = tmp_path / "asked.html"
    path.write_text(page.replace("</body>", ASK + "</body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    panel = dom[dom.index('id="facts"') : dom.index("</aside>")]
    node = next(n for n in step.maker.fgraph.toposort() if "Gemm" in str(n.op))
    rule = step.maker.rewriting.why(node)[0].rule
    assert 'data-fact="made by"' in panel and rule in panel and "Gemm" in panel
    assert dom.count('class="box ellipse chosen"') == 1 and "faint" in dom and 'class="edge lit' in dom
    assert 'data-zoomed="true"' in dom and 'data-fitted="true"' in dom


def test_what_is_drawn_does_not_overlap(step):
    drawing = Drawing(step)
    found, widths = drawing._layout()
    rows: dict[float, list] = {}
    for key, (x, y) in found.place.items():
        rows.setdefault(y, []).append((x - widths[key] / 2, x + widths[key] / 2))
    for row in rows.values():
        row.sort()
        assert all(a[1] < b[0] for a, b in itertools.pairwise(row))
    assert all(found.place[a][1] < found.place[b][1] for a, b, _ in drawing.edges)
    assert all(0 < x < found.width and 0 < y < found.height for x, y in found.place.values())
    ElementTree.fromstring(drawing.svg())


def test_long_edges_keep_clear():
    """The edge from a to d passes two layers; its points lie beside what stands there."""
    found = lay_out(dict.fromkeys("abcd", 50.0), [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert len(found.bends[3]) == 2
    for (x, y), key in zip(found.bends[3], "bc", strict=True):
        assert found.place[key][1] == y and abs(found.place[key][0] - x) > 25


def test_hostile_names_stay_text(tmp_path):
    x = T.vector('</script><script>alert("1")</script>&')
    d3viz.d3viz(T.exp(x), tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert page.count("<script") == 2 and 'alert("1")</script>' not in page
    ElementTree.fromstring(Drawing(T.exp(x)).svg())
    assert facts_of(page)[0]["label"] == x.name


# -- notebooks --------------------------------------------------------------------------------------------------


def test_graphs_show_themselves_in_notebooks(step):
    x = T.vector("x")
    y = T.exp(x) * 2
    for thing in (y.owner, step, step.maker.fgraph):
        assert thing._repr_svg_().startswith("<svg")
    assert y._repr_svg_() is None and y._repr_latex_().startswith("$")  # a formula, where it is short enough
    assert x._repr_svg_() is None  # a name says more
    for _ in range(MOST_NODES):
        y = T.exp(y)
    assert y._repr_svg_() is None and repr(y) == "Elemwise{exp,no_inplace}.0"


# -- Graphviz -----------------------------------------------------------------------------------------------------


def test_pictures_by_graphviz(step, tmp_path, capsys):
    pytest.importorskip("pydot")
    if shutil.which("dot") is None:
        with pytest.raises(RuntimeError, match="(?i)install both: pip install pydot.*graphviz"):
            theano.printing.pydotprint(step, tmp_path / "f.png")
        return
    for format, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("dot", b"digraph")):
        path = tmp_path / f"f.{format}"
        theano.printing.pydotprint(step, path, format=format)
        assert path.read_bytes().startswith(start)
        assert capsys.readouterr().out == f"The output file is available at {path}\n"
    theano.printing.pydotprint(
        step, tmp_path / "all", compact=False, with_ids=True, high_contrast=False, var_with_name_simple=True,
        colorCodes={"Gemm": "purple"}, max_label_size=12, print_output_file=False, format="dot",
    )  # fmt: skip
    text = (tmp_path / "all.dot").read_text()
    assert "purple" in text and "id=0" in text and "..." in text and capsys.readouterr().out == ""
    image = theano.printing.pydotprint(T.exp(T.vector("v")), return_image=True, format="svg")
    assert b"svg" in (image if isinstance(image, bytes) else image.data.encode())


def test_graphviz_language(step, tmp_path):
    pytest.importorskip("pydot")
    d3viz.d3write(step, tmp_path / "f.dot")
    assert (tmp_path / "f.dot").read_text().startswith("digraph")
    assert "Gemm" in d3viz.PyDotFormatter(compact=False)(step).to_string()


def test_what_lacks_is_named(step, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pydot", None)
    for draw in (theano.printing.pydotprint, d3viz.d3write):
        with pytest.raises(RuntimeError, match="pip install pydot.*graphviz"):
            draw(step, tmp_path / "f.png")
    monkeypatch.undo()
    pytest.importorskip("pydot")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="pip install pydot.*graphviz"):
        theano.printing.pydotprint(step, tmp_path / "f.png")


def test_a_function_whose_updates_work_in_place_is_drawn(tmp_path):
    # In-place candidates that the graph refuses together are tried by halves: what was refused made no node.
    x, y = T.dmatrix("x"), T.lvector("y")
    w, b = theano.shared(np.zeros((4, 3)), "w"), theano.shared(np.zeros(3), "b")
    cost = T.nnet.categorical_crossentropy(T.nnet.softmax(T.dot(x, w) + b), y).mean() + 0.01 * (w**2).sum()
    updates = [(p, p - 0.1 * T.grad(cost, p)) for p in (w, b)]
    f = theano.function([x, y], cost, updates=updates)
    theano.d3viz.d3viz(f, tmp_path / "f.html")
    page = (tmp_path / "f.html").read_text()
    assert "inplace_elemwise_opt" in page
    for node in f.maker.fgraph.toposort():
        assert all(step.rule for step in f.maker.rewriting.why(node))


def test_branches_of_a_lazy_choice_have_borders(tmp_path):
    a, b, c = T.dmatrix("a"), T.dmatrix("b"), T.dscalar("c")
    both = T.exp(a)
    z = theano.ifelse.ifelse(c > 0, [T.dot(both, b), b], [both - b, T.tanh(both)], name="choice")
    for choice in ("choice", True, z[0].owner, z[1]):
        path = tmp_path / "choice.dot"
        theano.printing.pydotprint([T.sqr(z[0]) + z[1]], path, format="dot", cond_highlight=choice, print_output_file=False)
        parts = dict(re.findall(r"subgraph cluster_(\w+) {(.*?)^}", path.read_text(), re.DOTALL | re.MULTILINE))
        ops = {title: sorted(re.findall(r'label="(?:Elemwise{)?(\w+)', part)) for title, part in parts.items()}
        assert ops == {"Left": ["dot"], "Right": ["sub", "tanh"], "Middle": ["exp"]}
    for choice in ("other", (c > 0).owner):
        with pytest.warns(UserWarning, match="no lazy choice"):
            theano.printing.pydotprint(z, path, format="dot", cond_highlight=choice, print_output_file=False)
        assert "cluster" not in path.read_text()
