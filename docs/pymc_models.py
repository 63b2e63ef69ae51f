"""What the page about PyMC shows of docs/data/models.json, which `benchmarks/models/measure.py --record` writes."""

from __future__ import annotations

import speed
from charts import Axis, Chart, Point

PAGE = "tutorial/pymc.md"
PICTURE = f"{speed.PICTURES}/models.svg"
MODES = {"THEANO": "Theano", "NUMBA": "PyTensor, Numba"}

Times = dict[str, dict[str, float]]


def recorded() -> tuple[str, dict[str, Times]]:
    """Return how the times were measured, and those of each model in each mode."""
    found = speed.load("models")
    return found["measured"], {name.replace("_", " "): row for name, row in found["models"].items()}


def compile_picture(models: dict[str, Times]) -> tuple[str, str]:
    """Return the picture of seconds to the first value, and its text."""
    rows = [
        (name, [Point(who, row[m][key], hollow=key == "full") for m, who in MODES.items() for key in ("empty", "full")])
        for name, row in models.items()
    ]
    chart = Chart(
        "Seconds to the first value of a model",
        "Filled: with an empty cache. Hollow: in a new process, with a full one.",
        Axis(0.1, 30, {0.1: "0.1", 0.3: "0.3", 1: "1 s", 3: "3", 10: "10", 30: "30"}),
        list(MODES.values()),
    )
    spans = (
        f"{min(times):.2g} to {max(times):.2g} s with {who}"
        for m, who in MODES.items()
        if (times := [row[m]["empty"] for row in models.values()])
    )
    return chart.svg(rows), f"Seconds to the first value of {len(rows)} models with an empty cache: {'; '.join(spans)}"


def figures_table(models: dict[str, Times]) -> str:
    """Return the table of times until the first value, and of a call."""
    figures = {"empty": "empty cache", "full": "full cache", "call": "a call"}
    head = ["model", *(f"{who}: {what}" for who in MODES.values() for what in figures.values())]
    lines = [
        [
            name,
            *(f"{row[m][key]:.3g} µs" if key == "call" else f"{row[m][key]:.2f} s" for m in MODES for key in figures),
        ]
        for name, row in models.items()
    ]
    return speed.table(head, lines)


def chains_table(models: dict[str, Times]) -> str:
    """Return the table of sampled models."""
    head = ["model", *(f"{who}{what}" for who in MODES.values() for what in (": time", ": effective draws a second"))]
    lines = [
        [
            name,
            *(
                cell
                for t in (row[m] for m in MODES)
                for cell in (f"{t['sample']:.1f} s", f"{t['ess'] / t['sample']:.0f}")
            ),
        ]
        for name, row in models.items()
        if all("ess" in row[m] for m in MODES)
    ]
    return speed.table(head, lines)


def pages() -> dict[str, str]:
    """Return the page about PyMC and its picture, by their places below docs."""
    measured, models = recorded()
    svg, said = compile_picture(models)
    parts = {
        "models": f"![{said}](../{PICTURE})\n\n{figures_table(models)}\n{measured}\n",
        "chains": chains_table(models),
    }
    return {PAGE: speed.filled(PAGE, parts), PICTURE: svg}
