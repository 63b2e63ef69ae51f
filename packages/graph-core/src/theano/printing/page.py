"""The page around a drawing: styles and a script of our own, all in one file, for who opens it without a network."""

from __future__ import annotations

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<style>
html, body { margin: 0; height: 100%; font: 14px sans-serif; color: #222; }
body { display: flex; flex-direction: column; }
header { padding: 6px 12px; border-bottom: 1px solid #ccc; display: flex; gap: 16px; align-items: center; }
header b { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
main { flex: 1; display: flex; min-height: 0; }
#stage { flex: 1; overflow: hidden; cursor: grab; background: #fcfcfc; }
#stage svg { width: 100%; height: 100%; }
aside { width: 340px; overflow: auto; border-left: 1px solid #ccc; padding: 8px 14px; }
aside dt { font-weight: bold; margin-top: 8px; }
aside dd { margin: 2px 0 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.box { cursor: pointer; }
.box.chosen rect { stroke: #c00; stroke-width: 3; }
.faint { opacity: 0.18; }
.edge.lit path { stroke: #c00; }
kbd, button { font: inherit; }
</style></head>
<body>
<header><b>@TITLE@</b>
<input id="search" type="search" placeholder="op, name or rule">
<button id="fit">whole graph</button>
<span>drag to move, wheel to zoom, click a node to ask</span></header>
<main><div id="stage">@SVG@</div><aside id="facts">Click a node to see what it is and which rule made it.</aside></main>
<script type="application/json" id="data">@FACTS@</script>
<script>
"use strict";
(function () {
  const facts = JSON.parse(document.getElementById("data").textContent);
  const svg = document.querySelector("#stage svg");
  const panel = document.getElementById("facts");
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = whole.slice();
  const boxes = [...svg.querySelectorAll(".box")], edges = [...svg.querySelectorAll(".edge")];

  function show() { svg.setAttribute("viewBox", view.join(" ")); }
  function scale() { return Math.max(view[2] / svg.clientWidth, view[3] / svg.clientHeight) || 1; }

  function choose(number) {
    for (const box of boxes) box.classList.toggle("chosen", Number(box.dataset.number) === number);
    for (const edge of edges)
      edge.classList.toggle("lit", Number(edge.dataset.from) === number || Number(edge.dataset.to) === number);
    panel.textContent = "";
    const list = document.createElement("dl");
    for (const [name, value] of Object.entries(facts[number] || {})) {
      if (name === "rule") continue;
      const term = document.createElement("dt"), told = document.createElement("dd");
      term.textContent = name;
      told.textContent = Array.isArray(value) ? value.join("\\n") : value;
      told.dataset.fact = name;
      list.append(term, told);
    }
    panel.append(list);
  }

  function search(text) {
    const wanted = text.trim().toLowerCase();
    for (const box of boxes) {
      const found = JSON.stringify(facts[Number(box.dataset.number)]).toLowerCase().includes(wanted);
      box.classList.toggle("faint", wanted !== "" && !found);
    }
    for (const edge of edges) edge.classList.toggle("faint", wanted !== "");
  }

  svg.addEventListener("wheel", function (event) {
    event.preventDefault();
    const factor = Math.pow(1.0015, event.deltaY), area = svg.getBoundingClientRect();
    const x = (event.clientX - area.left) / area.width, y = (event.clientY - area.top) / area.height;
    view[0] += view[2] * x * (1 - factor); view[1] += view[3] * y * (1 - factor);
    view[2] *= factor; view[3] *= factor;
    show();
  }, { passive: false });

  let from = null, moved = false;
  svg.addEventListener("pointerdown", function (event) { from = [event.clientX, event.clientY]; moved = false; });
  window.addEventListener("pointermove", function (event) {
    if (!from) return;
    const dx = event.clientX - from[0], dy = event.clientY - from[1];
    if (Math.abs(dx) + Math.abs(dy) > 3) moved = true;
    if (!moved) return;
    const step = scale();
    view[0] -= dx * step; view[1] -= dy * step;
    from = [event.clientX, event.clientY];
    show();
  });
  window.addEventListener("pointerup", function () { from = null; });
  for (const box of boxes)
    box.addEventListener("click", function () { if (!moved) choose(Number(box.dataset.number)); });
  document.getElementById("fit").addEventListener("click", function () { view = whole.slice(); show(); });
  document.getElementById("search").addEventListener("input", function (event) { search(event.target.value); });
})();
</script></body></html>
"""
