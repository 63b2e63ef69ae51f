"""What the pages show of measurements: pictures and tables, made of docs/data/*.json.

A page has a place for each part, between `<!-- NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from charts import Axis, Chart, Point

DOCS = Path(__file__).parent
DATA = DOCS / "data"
sys.path.append(str(DOCS.parent))

from benchmarks import rating, report  # noqa: E402  (the root is not on the path before)
from benchmarks.workloads import GROUPS  # noqa: E402

Measured = dict[str, Any]
PICTURES = "_static/speed"
#: The peers of the pictures, and the frameworks of the benchmark that they are.
PEERS = {
    "JAX": ("jax",),
    "PyTorch": ("torch",),
    "PyTensor": ("pytensor-c", "pytensor-numba"),
    "NumPy": ("numpy",),
    "numexpr": ("numexpr",),
}
COMPILERS = {
    "Theano": "theano",
    "JAX": "jax",
    "PyTorch, compiled": "torch-compile",
    "PyTensor, C": "pytensor-c",
    "PyTensor, Numba": "pytensor-numba",
}
#: What `benchmark_NAME.json` was measured on.
MACHINES = {
    "granite": "Intel Granite Rapids",
    "zen3": "AMD Zen 3",
    "zen5": "AMD Zen 5",
    "emerald": "Intel Emerald Rapids",
    "emerald_v3": "Emerald Rapids, no AVX-512",
}
PROGRAMS = {
    "e_logreg_b60": "logistic regression",
    "e_mlp_b60": "784-500-10 network",
    "f_lenet_step": "LeNet",
    "h_net_1x64_grad": "recurrent network",
    "l_chain_grad": "long chain",
    "l_mlp20_step": "20-layer network",
    "l_deep_elementwise": "deep expression",
    "l_relu12_step": "12-layer network",
    "l_one_kernel": "exp(x) * y + 1",
    "m_logp30_grad": "30 log-densities",
    "m_logp60_grad": "60 log-densities",
}
#: The rows of the first page: workload, dtype, and what it computes.
SIX = (
    ("a_vec3_formula", "float64", "`x * y + z`, 3 numbers"),
    ("b_sigmoid_1e6", "float64", "`sigmoid(x)`, a million numbers"),
    ("b_gelu_erf_1e6", "float32", "`0.5 * x * (1 + erf(x / sqrt(2)))`, a million numbers, float32"),
    ("c_logsumexp_ax1", "float64", "`log(sum(exp(x), axis=1))`, 2,000 x 2,000 numbers"),
    ("e_mlp_b60", "float64", "a training step of a 784-500-10 network, batch of 60"),
    ("m_logp30_grad", "float64", "30 log-densities with their gradient"),
)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table, in which a number and its unit stay on one line."""
    return re.sub(r"(\d) (ns|µs|ms|s|[KM]iB)\b", "\\1\N{NO-BREAK SPACE}\\2", report.table(head, lines))


def load(name: str) -> Any:
    """Return the content of a data file."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def measurements() -> dict[str, Measured]:
    """Return what was measured on processors, by the names of machines, the newest and largest first."""
    files = {path.stem.partition("_")[2]: path.stem for path in sorted(DATA.glob("benchmark_*.json"))}
    found = {name: load(stem) for name, stem in files.items()}
    of_processors = {name: m for name, m in found.items() if not report.is_of_device(m)}
    return dict(sorted(of_processors.items(), key=lambda item: (item[1]["date"], len(item[1]["rows"])), reverse=True))


def machine(name: str, measured: Measured) -> str:
    """Return the name of a machine."""
    return MACHINES.get(name, measured["machine"]["processor"])


def taken(name: str, measured: Measured) -> str:
    """Return on which machine and when something was measured."""
    return f"{machine(name, measured)}, {measured['date']}"


def of_threads(measured: Measured, threads: int) -> list[Measured]:
    """Return the rows of a number of threads."""
    return [row for row in measured["rows"] if row["threads"] == threads]


def by_group(rows: list[Measured]) -> dict[str, list[Measured]]:
    """Return rows by the titles of their groups; only groups that have some."""
    found = {title: [row for row in rows if row["group"] == letter] for letter, title in GROUPS.items()}
    return {title: some for title, some in found.items() if some}


def ratios(rows: list[Measured], frameworks: Sequence[str]) -> list[float]:
    """Return the time of a peer, the best of its frameworks, by ours, for each row that it has."""
    found = []
    for row in rows:
        cells = {name: row["cells"][name] for name in frameworks if name in row["cells"]}
        value = rating.ratio({"cells": cells | {"theano": rating.ours(row)}})
        if value is not None:
            found.append(value)
    return found


# -- pictures --------------------------------------------------------------------------------------------------------


def ratios_picture(name: str, measured: Measured) -> tuple[str, str]:
    """Return the picture of each peer's time by ours, by group, and its text for those who do not see it."""
    groups = by_group(of_threads(measured, 1))
    means = {
        peer: {
            title: rating.geometric_mean(found) for title, rows in groups.items() if (found := ratios(rows, frameworks))
        }
        for peer, frameworks in PEERS.items()
    }
    means = {peer: found for peer, found in means.items() if found}
    values = [value for found in means.values() for value in found.values()]
    least, largest = min(values), max(values)
    shown = [tick for tick in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if min(1, least) <= tick <= largest * 1.2]
    chart = Chart(
        "The time that others take, divided by Theano's",
        f"Above 1, Theano is faster. Geometric means of programs, one thread.\n{taken(name, measured)}",
        Axis(min(0.8, least * 0.8), largest * 1.25, {tick: f"{tick:g}" for tick in shown}, border=True),
        list(means),
    )
    rows = [(title, [Point(peer, found[title]) for peer, found in means.items() if title in found]) for title in groups]
    said = "; ".join(f"{peer} {min(found.values()):.2g} to {max(found.values()):.3g}" for peer, found in means.items())
    return chart.svg(
        row for row in rows if row[1]
    ), f"Time of other systems divided by Theano's, means of {len(groups)} groups: {said}"


def roofline_picture(name: str, measured: Measured) -> tuple[str, str]:
    """Return the picture of the share that rows reach of what the machine gives, and its text."""
    found = {
        title: [value for row in rows if (value := rating.share(row)) is not None]
        for title, rows in by_group(of_threads(measured, 1)).items()
    }
    found = {title: values for title, values in found.items() if values}
    chart = Chart(
        "The share of the machine's speed that Theano reaches",
        f"1 is the speed of memory, or of matrix products. One thread.\n{taken(name, measured)}",
        Axis(0.02, 1.4, {0.02: "0.02", 0.05: "0.05", 0.1: "0.1", 0.2: "0.2", 0.5: "0.5", 1: "1"}),
        ["a program", "median of the group"],
    )
    rows = [
        (
            title,
            [
                *(Point("a program", v, faint=True) for v in values),
                Point("median of the group", statistics.median(values)),
            ],
        )
        for title, values in found.items()
    ]
    said = ", ".join(f"{title} {statistics.median(values):.2f}" for title, values in found.items())
    return chart.svg(rows), f"Share of the speed of memory or of products that Theano reaches, medians: {said}"


def compile_picture(name: str, measured: Measured) -> tuple[str, str]:
    """Return the picture of the seconds that programs take to compile, and its text."""
    rows: list[tuple[str, list[Point]]] = []
    for row in measured["compile"]:
        cells = {who: row["cells"].get(framework, {}) for who, framework in COMPILERS.items()}
        points = [
            Point(who, cell[key], hollow=key == "warm_s")
            for who, cell in cells.items()
            for key in ("cold_s", "warm_s")
            if key in cell
        ]
        rows.append((PROGRAMS.get(row["name"], row["name"]), points[::-1]))  # ours is drawn last
    present = {point.series for _, points in rows for point in points}
    longest = max(point.value for _, points in rows for point in points)
    chart = Chart(
        "Seconds to compile a program",
        f"Filled: with an empty cache. Hollow: in a new process, with a full one.\n{taken(name, measured)}",
        Axis(0.008, max(60, longest * 1.2), {0.01: "0.01", 0.1: "0.1", 1: "1 s", 10: "10", 60: "60"}),
        [who for who in COMPILERS if who in present],
    )
    spans = []
    for who in chart.looks:
        cold = [p.value for _, points in rows for p in points if p.series == who and not p.hollow]
        spans.append(f"{who} {min(cold):.2g} to {max(cold):.2g} s")
    return chart.svg(rows), f"Seconds to compile {len(rows)} programs with an empty cache: {'; '.join(spans)}"


DRAWN = {"ratios": ratios_picture, "roofline": roofline_picture, "compiling": compile_picture}


def picture(which: str, folder: str = "") -> str:
    """Return the line of a page that shows a picture."""
    name, measured = next(iter(measurements().items()))
    return f"![{DRAWN[which](name, measured)[1]}]({folder}{PICTURES}/{which}.svg)\n"


# -- tables ----------------------------------------------------------------------------------------------------------


def summary(rows: list[Measured]) -> tuple[str, str]:
    """Return the geometric mean of the best peer's time by ours, and how many rows are below the limit, of how many."""
    found = [value for row in rows if (value := rating.ratio(row)) is not None]
    mean = report.number(rating.geometric_mean(found)) if found else ""
    return mean, f"{sum(value < rating.EQUAL for value in found)} of {len(found)}" if found else ""


def machines_table() -> str:
    """Return the table of machines."""
    below = f"below {rating.EQUAL}"
    head = ["machine", "measured", "1 thread", below, "2 threads", below, "caches", "beside"]
    lines = []
    for name, m in measurements().items():
        said = {who: m["frameworks"].get(names[0], {}).get("version", "") for who, names in PEERS.items()}
        beside = ", ".join(f"{who} {version.partition('+')[0]}" for who, version in said.items() if version)
        caches = re.sub(
            r"(\d+) KiB", lambda k: f"{int(k[1]) // 1024} MiB" if int(k[1]) >= 1024 else k[0], m["machine"]["caches"]
        )
        means = *summary(of_threads(m, 1)), *summary(of_threads(m, 2))
        lines.append([machine(name, m), m["date"].replace("-", "\N{NON-BREAKING HYPHEN}"), *means, caches, beside])
    return table(head, lines)


def groups_table() -> str:
    """Return the geometric means by group, on each machine; those of two threads where they were measured."""
    columns: dict[str, dict[str, list[Measured]]] = {}
    for name, m in measurements().items():
        for threads, title in ((1, machine(name, m)), (2, f"{machine(name, m)}, 2 threads")):
            if groups := by_group(of_threads(m, threads)):
                columns[title] = groups
    titles = next(iter(columns.values()))
    lines = [
        [title, str(len(rows)), *(summary(groups.get(title, []))[0] for groups in columns.values())]
        for title, rows in titles.items()
    ]
    return table(["group", "rows", *columns], lines)


def lost_table(rows: list[Measured]) -> str:
    """Return the rows on which a peer is faster, with the reasons; those of 1 and of 2 threads in one line."""
    found: dict[tuple[str, str], dict[int, Measured]] = {}
    for _, row in rating.losses(rows, below=rating.EQUAL):
        found.setdefault((row["name"], row["dtype"]), {})[row["threads"]] = row
    lines = []
    for (name, dtype), by_threads in found.items():
        worst = next(iter(by_threads.values()))
        ratios = (report.number(rating.ratio(by_threads[n])) if n in by_threads else "" for n in (1, 2))
        fastest = dict.fromkeys(spelled(str(rating.best_peer(row))) for row in by_threads.values())
        lines.append(
            [f"`{name}` {dtype}", *ratios, ", ".join(fastest), report.number(rating.share(worst)), rating.reason(worst)]
        )
    return table(["program", "1 thread", "2 threads", "fastest", "of the floor", "reason"], lines)


def spelled(framework: str) -> str:
    """Return how the pages call a framework of the benchmark."""
    names = {name: who for who, frameworks in PEERS.items() for name in frameworks}
    return (names | {name: who for who, name in COMPILERS.items()}).get(framework, framework)


def compiling_table(measured: Measured) -> str:
    """Return seconds of compiling, with an empty and with a full cache."""
    present = {who: name for who, name in COMPILERS.items() if any(name in row["cells"] for row in measured["compile"])}

    def both(cell: Measured) -> str:
        if "warm_s" in cell:
            return f"{cell['cold_s']:.2f}, {cell['warm_s']:.2f}"
        return "too long" if "not done" in str(cell.get("failure")) else ""

    lines = [
        [
            f"{PROGRAMS.get(row['name'], '')} (`{row['name']}`)",
            *(both(row["cells"].get(name, {})) for name in present.values()),
        ]
        for row in measured["compile"]
    ]
    return table(["program", *present], lines)


def six_table() -> str:
    """Return the few rows that the first page shows, and on what they were measured."""
    name, measured = next(iter(measurements().items()))
    rows = {(row["name"], row["dtype"]): row["cells"] for row in of_threads(measured, 1)}
    lines, heads = [], ["one thread", "Theano"]
    for workload, dtype, said in SIX:
        cells = rows[workload, dtype]
        best = {
            peer: min(
                (cells[f] for f in names if "median_ms" in cells.get(f, {})), key=lambda c: c["median_ms"], default={}
            )
            for peer, names in PEERS.items()
        }
        lines.append([said, report.cell(cells["theano"]), *(report.cell(c) if c else "" for c in best.values())])
    kept = [k for k in range(2 + len(PEERS)) if k < 2 or any(line[k] for line in lines)]
    heads += PEERS
    text = table([heads[k] for k in kept], [[line[k] for k in kept] for line in lines])
    return f"{text}\n{taken(name, measured)}.\n"


def device_table(measured: Measured) -> str:
    """Return the rows of a device, with the reasons of those on which a peer is faster."""
    card = next(said["device"] for said in measured["frameworks"].values() if "device" in said)
    peers = report.peers_of(measured["rows"])
    names = [spelled(name.removesuffix("-gpu")) for name in peers]
    versions = ", ".join(
        f"{who} {measured['frameworks'][name]['version']}" for who, name in zip(names, peers, strict=True)
    )
    lines = []
    for row in measured["rows"]:
        value = rating.ratio(row)
        why = rating.reason(row) if value is not None and value < rating.EQUAL else ""
        lines.append(
            [
                report.label(row),
                report.cell(rating.ours(row)),
                *(report.cell(row["cells"].get(name, {})) for name in peers),
                report.number(value),
                report.number(rating.share(row)),
                why,
            ]
        )
    head = ["program", "Theano", *names, "ratio", "of the floor", "reason"]
    return f"Measured on {measured['date']} on {card}, beside {versions}.\n\n" + table(head, lines)


def kernels_table() -> str:
    """Return the kernels for CUDA that need many registers, or a stack."""
    found = load("device_resources")
    both = " and ".join(f"sm_{c}" for c in found["capabilities"])
    many = [k for k in found["kernels"] if max(k["registers"]) > 128 or max(k["stack"])]
    lines = [
        [
            f"`{k['kernel']}`",
            str(k["programs"]),
            *(" / ".join(map(str, k[field])) for field in ("registers", "stack", "shared")),
        ]
        for k in many
    ]
    said = (
        f"Read on {found['date']} from the machine code for {both}. "
        f"The other {len(found['kernels']) - len(many)} kernels "
        "need at most 128 registers and no stack.\n\n"
    )
    return said + table(["kernel", "programs", "registers", "stack, bytes", "shared memory, bytes"], lines)


# -- other pages -----------------------------------------------------------------------------------------------------


def cluster_tables() -> dict[str, str]:
    """Return what a step on several processes costs."""
    found = load("cluster")
    step = found["step"]
    lines = [
        [who, f"{s['step']} ms", f"{s['one_by_one']} ms", f"{s.get('efficiency', s['one_by_one'] / s['step'] / 2):.2f}"]
        for who, s in (
            ('Dask, workers that `on="dask"` starts', step["on"]),
            ("Dask, a cluster with its own settings", step["client"]),
            ("MPI", step["mpi"]),
        )
    ]
    when = f"Measured on {found['date']} on {found['processors']} processors.\n\n"
    sizes = [f"{size / 1000:,.0f} kB" for size in found["bytes"]]
    costs = [[row["engine"], str(row["processes"]), *map(str, row["ms"])] for row in found["cost"]]
    more = [
        [
            row["engine"],
            f"{row['workers']:,}",
            f"{row['ms']:g}",
            f"{row['efficiency_1s']:.2f}",
            f"{row['efficiency_10s']:.2f}",
        ]
        for row in found["extrapolated"]
        if row["gbit"] == 10 and row["workers"] in (8, 128, 1000)
    ]
    return {
        "cluster step": when + table(["2 processes", "a step", "both blocks in one process", "efficiency"], lines),
        "cluster costs": table(["ms", "processes", *sizes], costs),
        "cluster extrapolated": table(["", "workers", "ms", "blocks of 1 s", "blocks of 10 s"], more),
    }


def memory_table() -> str:
    """Return what a deep expression takes of memory and time, by the number of sections."""
    found = load("deep_expressions")
    cells = [
        [
            str(row["sections"]) if row["sections"] > 1 else "none",
            *(f"{row[who]['mib']:,} MiB, {row[who]['ms']} ms" for who in ("ours", "peer")),
        ]
        for row in found["rows"]
    ]
    return f"Measured on {found['date']}: {found['machine']}.\n\n" + table(["sections", "Theano", found["peer"]], cells)


def filled(place: str, parts: dict[str, str]) -> str:
    """Return a page with its parts between their marks."""
    text = (DOCS / place).read_text(encoding="utf-8")
    for name, part in parts.items():
        text, count = re.subn(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, part=part: f"{m[1]}\n{part}\n{m[2]}", text, flags=re.S
        )
        if count != 1:
            raise SystemExit(f"{place} has {count} places for {name!r}")
    return text


def pages() -> dict[str, str]:
    """Return the pages and pictures, by their places below docs."""
    name, measured = next(iter(measurements().items()))
    found = {f"{PICTURES}/{which}.svg": draw(name, measured)[0] for which, draw in DRAWN.items()}
    shown = {which: picture(which) for which in DRAWN}
    card = load("benchmark_h200")
    found["performance.md"] = filled(
        "performance.md",
        {
            **shown,
            "machines": machines_table(),
            "groups": groups_table(),
            "lost": lost_table(measured["rows"]),
            "compile times": compiling_table(measured),
            "device": device_table(card),
            "kernels": kernels_table(),
        },
    )
    found["tutorial/distributed.md"] = filled("tutorial/distributed.md", cluster_tables())
    found["tutorial/gradients.md"] = filled("tutorial/gradients.md", {"deep expressions": memory_table()})
    found["index.md"] = filled(
        "index.md", {"ratios": shown["ratios"], "compiling": shown["compiling"], "six": six_table()}
    )
    found["../README.md"] = filled(
        "../README.md",
        {
            "ratios": picture("ratios", "docs/"),
            "compiling": picture("compiling", "docs/"),
            "six": six_table(),
        },
    )
    return found
