# SPDX-License-Identifier: Apache-2.0
"""A library of Python as a peer of tests/bench/csv, by the protocol of csv.c.

    csv_peer.py LIBRARY TABLE
"""

import io
import json
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"


def by_csv(data):
    import csv
    return sum(1 for _ in csv.reader(io.StringIO(data.decode(), newline=""))) - 1


def by_pandas(data):
    import pandas
    return len(pandas.read_csv(io.BytesIO(data)))


def by_polars(data):
    import polars
    return len(polars.read_csv(data))


LIBRARIES = {"csv": by_csv, "pandas": by_pandas, "polars": by_polars}


def measure(read, data, seconds):
    begun, took, checked = time.process_time(), 0, 0
    while took < seconds:
        read(data)
        checked += len(data)
        took = time.process_time() - begun
    return checked / took / 1e6


def main():
    read = LIBRARIES[sys.argv[1]]
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    print(json.dumps({"rows": read(data)}), flush=True)
    for line in sys.stdin:
        print(measure(read, data, float(line)), flush=True)


main()
