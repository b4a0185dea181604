# SPDX-License-Identifier: Apache-2.0
"""Shared by the benchmarks: quantiles, tables on stdout, and result files beside the build."""

import json
import os


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def summary(values):
    return {"calls": len(values), "min": min(values), **{f"p{q}": quantile(values, q / 100) for q in (50, 90, 99)}}


def table(head, rows):
    """In Markdown, so that the README can include it unchanged."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def heading(text):
    """The heading of the table, and the load of the machine, on which its figures depend."""
    print(f"\n{text} (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)\n", flush=True)


def budget(what, kind, bound, measured, unit="", ceiling=None):
    """kind: "most" or "least" that the measured value may be; ceiling: the peer that does the minimum, and its value."""
    met = measured <= bound if kind == "most" else measured >= bound
    return {"what": what, "kind": kind, "budget": bound, "measured": measured, "unit": unit, "ceiling": ceiling, "met": met}


def verdict(one):
    """A budget that even the ceiling misses proves nothing about cloister."""
    if one["met"]:
        return "met"
    if one["ceiling"] is None:
        return "missed"
    who, reached = one["ceiling"]
    return f"{'out of reach' if reached < one['budget'] else 'missed'}: {who}: {reached:.1f}"


def tell_budgets(budgets):
    heading("budgets")
    table(["what", "budget", "measured", ""],
          [[b["what"], f"at {b['kind']} {b['budget']}{b['unit']}", f"{b['measured']:.2f}{b['unit']}", verdict(b)] for b in budgets])


def write(directory, name, results):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
        json.dump(results, out, indent=2)


def plot(bars, label, path):
    """Bars of {name: value} on a logarithmic scale; no picture without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print(f"no {os.path.basename(path)}: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(bars) + 1))
    names = list(bars)[::-1]
    for name, drawn in zip(names, axes.barh(names, [bars[n] for n in names])):
        axes.annotate(f" {bars[name]:.2f}", (drawn.get_width(), drawn.get_y() + drawn.get_height() / 2), va="center")
    axes.set_xscale("log")
    axes.set_xlim(right=max(bars.values()) * 3)
    axes.set_xlabel(label)
    figure.tight_layout()
    figure.savefig(path)
