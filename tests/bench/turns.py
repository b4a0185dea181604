# SPDX-License-Identifier: Apache-2.0
"""Engines that do the same work in turn: processes that print what they have prepared as JSON, and then, for each line with a number
of seconds, how much they did in a second of processor time."""

import contextlib
import json
import select
import statistics
import subprocess
import sys

START_S, MEMORY = 60, 4 << 30


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout[-2000:]}")


class Engine:
    """A process that is prepared and `said` so, or None if it cannot be, or not in START_S and MEMORY."""

    def __init__(self, command):
        self.process = subprocess.Popen(["prlimit", f"--data={MEMORY}", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if not select.select([self.process.stdout], [], [], START_S)[0]:
            self.process.kill()
        line = self.process.stdout.readline()
        self.said = json.loads(line) if line else None
        self.rates = []

    def measure(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        self.rates.append(float(self.process.stdout.readline()))

    def rate(self):
        return statistics.median(self.rates)

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def measure(engines, rounds, seconds):
    able = [engine for engine in engines.values() if engine.said]
    for engine in able:
        engine.measure(seconds)  # what is compiled while it runs
        engine.rates.clear()
    for turn in range(rounds):
        for engine in able[::1 if turn % 2 else -1]:
            engine.measure(seconds)
