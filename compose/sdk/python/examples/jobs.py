# SPDX-License-Identifier: Apache-2.0
"""Run; a file in and out; state; a plot to disk; output as it arrives, a time limit, an error."""

from cloister_sandbox import Sandbox

with Sandbox() as sandbox, sandbox.session() as session:
    print(sandbox.run("print(6 * 7)").stdout, end="")

    session.upload("in.csv", "a,b\n1,2\n")
    session.run("rows = open('in.csv').readlines(); open('out.txt', 'w').write(rows[0])")
    print(session.read("out.txt").decode(), end="")

    print(session.run("len(rows)").result)

    plot = session.run("import matplotlib.pyplot as plt; plt.plot([1, 4, 9]); plt.show()")
    with open("plot.png", "wb") as file:
        file.write(plot.images[0].data)

    slow = session.run("print('begun', flush=True)\nwhile True: pass", timeout=1, on_output=print)
    print(slow.timed_out, slow.error)
