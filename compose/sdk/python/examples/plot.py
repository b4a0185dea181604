# SPDX-License-Identifier: Apache-2.0
"""A plot that a program draws, as a file here."""

from cloister_sandbox import Sandbox

PROGRAM = """
import matplotlib.pyplot as plt; plt.plot([1, 4, 9]); plt.show()
"""

with Sandbox() as sandbox:
    picture = sandbox.run(PROGRAM).check().images[0]
    with open("plot.png", "wb") as file:
        file.write(picture.data)
    print("plot.png", picture.mime_type, len(picture.data))
