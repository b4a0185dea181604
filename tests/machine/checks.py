# SPDX-License-Identifier: Apache-2.0
"""Runs in the emulated machine: limits by cgroup 2, wherever the daemons were started.  The last line is that of cases.py."""

import importlib
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", directory) for directory in ("machine", "support", "escape")]

import box as boxes  # noqa: E402
import cases  # noqa: E402
import places  # noqa: E402
import served  # noqa: E402

BIN, ONLY = sys.argv[1], sys.argv[2:]
# Of tests/escape: what a cgroup limits.
ESCAPES = {"posture": ("test_I15_cgroup",), "resources": ("test_R01_memory",),
           "processes": ("test_P01_fork_bomb", "test_P01_fork_bomb_by_shell", "test_P01_thread_bomb", "test_P02_double_fork")}
IN_A_CONTAINER = "test_information", "test_all_boxes", "test_memory"


def served_in(place, tests=served, **settings):
    """The daemons in a cgroup, and `cloister` as their client."""
    with served.Daemons(BIN, place, **settings) as daemons:
        counts = cases.play(tests, daemons, label=f" {place.name}")
    assert daemons.down, f"{place.name}: a cgroup is left"
    return counts


def contained_in(place):
    tests = types.SimpleNamespace(**{name: getattr(served, name) for name in IN_A_CONTAINER})
    return served_in(place, tests, CLOISTER_EXECUTOR_OWN_CGROUP="true")


def boxed_in(place):
    """An executor alone in a cgroup of its own, as a unit of systemd."""
    tests = types.SimpleNamespace(**{name: getattr(importlib.import_module(kind), name) for kind, names in ESCAPES.items() for name in names},
                                  test_alone=places.test_alone)
    box = boxes.Box(BIN, None, prefix=place.prefix(), zygotes=("",))
    print(f"limits by {box.isolation['limits_by']}; missing: {box.isolation['missing']}", flush=True)
    return cases.play(tests, box, label=f" {place.name}")


ROWS = [*((place, served_in) for place in places.SERVED), (places.CONTAINED, contained_in), (places.ALONE, boxed_in)]
cases.end(*[play(place) for place, play in ROWS if not ONLY or place.name in ONLY])
