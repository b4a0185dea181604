# SPDX-License-Identifier: Apache-2.0
"""What the programs that time things share: quantiles, a table on stdout, and a file of the same beside the build."""

import json
import os


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def table(head, rows):
    """In Markdown, so that it can stand in the README as it is."""
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def write(folder, name, results):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        json.dump(results, out, indent=2)
