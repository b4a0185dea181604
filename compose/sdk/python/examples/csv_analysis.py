# SPDX-License-Identifier: Apache-2.0
"""A file goes in, a program reads it, and what it writes comes back."""

from cloister_sandbox import Sandbox

SALES = "region,amount\nnorth,10\nsouth,32\nnorth,5\n"
PROGRAM = """
import collections, csv, json
sums = collections.Counter()
for row in csv.DictReader(open("sales.csv")):
    sums[row["region"]] += int(row["amount"])
json.dump(sums, open("sums.json", "w"))
sums.most_common(1)
"""

with Sandbox() as sandbox, sandbox.session() as session:
    session.upload("sales.csv", SALES)
    result = session.run(PROGRAM, timeout=20).check()
    print("best:", result.result)
    print("files:", [one.filename for one in result.artifacts], session.read("sums.json").decode())
