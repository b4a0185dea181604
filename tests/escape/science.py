# SPDX-License-Identifier: Apache-2.0
"""Libraries of the profile data_science in a sandbox: checks a number or a picture from each.

Fonts and caches must be found although the root is read-only and each sandbox is new; threads must keep to the
processors of the run.  A library that is missing on the host is skipped; compose/install-deps --data-science installs all.
"""

import glob
import importlib.util
import json

import cases

PNG = r"""
def png(data):
    "Width, height and number of colours that are not white."
    from PIL import Image
    import io
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return [*image.size, min(len(image.getcolors(1 << 20)) - 1, 9)]
"""


def run(box, library, program, **limits):
    if importlib.util.find_spec(library) is None:
        raise cases.Skip(f"{library} is not installed; compose/install-deps --data-science installs it")
    end = box.run("import json\ndef tell(*values): print(json.dumps(values))\n" + program, wall_ms=60000, **limits)
    assert end.how == "exited" and end.exit_code == 0, (library, end.how, end.signal, end.err)
    assert end.err == "", (library, end.err)
    return json.loads(end.out)


def test_numpy(box):
    """LAPACK, FFT, random numbers, and a file of the workspace."""
    assert run(box, "numpy", r"""
import numpy as np
a = np.array([[2.0, 1.0], [1.0, 3.0]])
np.save("a.npy", a)
tell(round(float(np.linalg.det(np.load("a.npy"))), 9), [round(float(x), 6) for x in np.linalg.solve(a, [3, 5])],
     int(np.abs(np.fft.fft(np.ones(8)))[0]), np.random.default_rng(1).integers(0, 10, 3).tolist())
""") == [5.0, [0.8, 1.4], 8, [4, 5, 7]]


def test_pandas(box):
    """A table through CSV and back, with groups, dates of a time zone and an expression."""
    assert run(box, "pandas", r"""
import io, pandas as pd
frame = pd.read_csv(io.StringIO("k,v,t\na,1,2024-01-31\nb,2,2024-02-29\na,4,2024-03-31\n"), parse_dates=["t"])
tell(frame.groupby("k").v.sum().to_dict(), frame.to_csv(index=False).splitlines()[1], frame.query("v > 1").shape[0],
     str(frame.t.dt.tz_localize("Europe/Berlin").max()), frame.eval("w = v * 2").w.tolist())
""") == [{"a": 5, "b": 2}, "a,1,2024-01-31", 2, "2024-03-31 00:00:00+01:00", [2, 4, 8]]


def test_scipy(box):
    """Integration, optimisation, statistics, a sparse system."""
    assert run(box, "scipy", r"""
from scipy import integrate, optimize, stats, sparse
from scipy.sparse.linalg import spsolve
tell(round(integrate.quad(lambda x: x * x, 0, 3)[0], 6), round(optimize.brentq(lambda x: x ** 3 - 8, 0, 5), 6),
     round(float(stats.norm.cdf(1.96)), 4), spsolve(sparse.diags([2.0, 4.0]).tocsc(), [2.0, 8.0]).tolist())
""") == [9.0, 2.0, 0.975, [1.0, 2.0]]


def test_matplotlib(box):
    """A plot with text as PNG, SVG and PDF; fonts by family; mathematics."""
    got = run(box, "matplotlib", PNG + r"""
import io, matplotlib.pyplot as plt
from matplotlib import font_manager
figure, axes = plt.subplots(figsize=(4, 3), dpi=100)
axes.plot([1, 2, 3], [1, 4, 9], label=r"$x^2$ \u00fc")
axes.set_title("a title"); axes.legend()
files = {}
for form in "png", "svg", "pdf":
    files[form] = io.BytesIO(); figure.savefig(files[form], format=form)
tell(png(files["png"].getvalue()), b"<svg" in files["svg"].getvalue(), files["pdf"].getvalue()[:4].decode(),
     font_manager.findfont("DejaVu Sans").rsplit("/", 1)[1], plt.get_backend())
""")
    assert got == [[400, 300, 9], True, "%PDF", "DejaVuSans.ttf", "agg"], got


def test_seaborn(box):
    """A statistical plot."""
    assert run(box, "seaborn", PNG + r"""
import io, pandas as pd, seaborn as sns
axes = sns.barplot(data=pd.DataFrame({"x": ["a", "a", "b"], "y": [1, 3, 5]}), x="x", y="y")
data = io.BytesIO(); axes.figure.savefig(data, dpi=50)
tell([bar.get_height() for bar in axes.patches], png(data.getvalue())[:2])
""") == [[2.0, 5.0], [320, 240]]


def test_sympy(box):
    """Symbols, digits by mpmath, and a function made for numpy."""
    assert run(box, "sympy", r"""
import sympy as sp
x = sp.symbols("x")
tell(str(sp.integrate(x * sp.exp(x), x)), [int(r) for r in sp.solve(x ** 2 - 5 * x + 6)], str(sp.N(sp.pi, 30)),
     float(sp.lambdify(x, sp.sqrt(x), "numpy")(16.0)), sp.latex(x / 2))
""") == ["(x - 1)*exp(x)", [2, 3], "3.14159265358979323846264338328", 4.0, r"\frac{x}{2}"]


def test_sklearn(box):
    """Models that are fitted, by threads and by processes of joblib."""
    assert run(box, "sklearn", r"""
from sklearn.datasets import load_iris
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
data = load_iris()
line = LinearRegression().fit([[1], [2], [3]], [2, 4, 6])
forest = RandomForestClassifier(20, random_state=0, n_jobs=2)
tell(round(float(line.predict([[4]])[0]), 6), bool(cross_val_score(forest, data.data, data.target, cv=3, n_jobs=2).mean() > 0.9),
     sorted(map(int, __import__("numpy").bincount(KMeans(2, n_init=1, random_state=0).fit([[0], [0], [9]]).labels_))))
""") == [8.0, True, [1, 2]]


def test_statsmodels(box):
    """A regression by formula."""
    assert run(box, "statsmodels", r"""
import pandas as pd, statsmodels.formula.api as smf
fit = smf.ols("y ~ x", pd.DataFrame({"x": range(20), "y": [*range(1, 39, 2), 40]})).fit()
tell([round(float(p), 3) for p in fit.params], round(float(fit.rsquared), 4), "OLS Regression" in str(fit.summary().tables[0]))
""") == [[0.914, 2.014], 0.9997, True]


def test_openpyxl(box):
    """A workbook written and read, also by pandas."""
    assert run(box, "openpyxl", r"""
import openpyxl, pandas as pd
book = openpyxl.Workbook(); book.active.append(["a", "b"]); book.active.append([1, "=A2*2"]); book.save("a.xlsx")
frame = pd.DataFrame({"x": [1.5, 2.5]}); frame.to_excel("b.xlsx", index=False)
tell(openpyxl.load_workbook("a.xlsx").active["B2"].value, float(pd.read_excel("b.xlsx").x.sum()))
""") == ["=A2*2", 4.0]


def test_reportlab(box):
    """A PDF with a table and text in a font of the system."""
    assert run(box, "reportlab", r"""
import io
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table
pdfmetrics.registerFont(TTFont("D", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
out = io.BytesIO()
style = getSampleStyleSheet()["Normal"]; style.fontName = "D"
SimpleDocTemplate(out).build([Paragraph("gr\u00fc\u00df", style), Table([[1, 2], [3, 4]])])
tell(out.getvalue()[:5].decode(), b"DejaVuSans" in out.getvalue(), out.getvalue().rstrip()[-5:].decode())
""") == ["%PDF-", True, "%%EOF"]


THREADS = r"""
import os, numpy, sklearn.cluster, joblib, threadpoolctl
(numpy.ones((500, 500)) @ numpy.ones((500, 500))).sum()
tell(sorted({each["num_threads"] for each in threadpoolctl.threadpool_info()}), len(os.listdir("/proc/self/task")), joblib.cpu_count())
"""


def test_threads_keep_to_the_processors(box):
    """R: a run with a share of the host does not start one thread per host processor."""
    assert run(box, "sklearn", THREADS, cpu_milli=1000) == [[1], 1, 1]
    assert run(box, "sklearn", THREADS, cpu_milli=300) == [[1], 1, 1]
    pools, threads, joblib = run(box, "sklearn", THREADS, cpu_milli=2000)
    # A library that looks where it may run finds one of two there, without a cgroup.
    assert set(pools) <= {1, 2} and threads <= 3 and joblib in (1, 2), (pools, threads, joblib)


def test_threads_of_a_fork(box):
    """A fork computes with as many threads as a cold start although its libraries were loaded with one; a sandbox with a
    single processor has one."""
    code = "import os, numpy, threadpoolctl\na = numpy.ones((300, 300))\n(a @ a).sum()\n" \
           "tell([each['num_threads'] for each in threadpoolctl.threadpool_info()], len(os.listdir('/proc/self/task')), os.environ['OMP_NUM_THREADS'])"
    for cpu in 1000, 2000, 64000:
        cold, warm = (run(box, "threadpoolctl", code, cpu_milli=cpu, start=start) for start in ("cold", "warm libraries"))
        assert cold == warm, (cpu, cold, warm)
        assert cpu > 1000 or cold[1] == 1, cold


def test_fonts_are_listed_once(box):
    """The font list of the installation is found; without it, the list is made."""
    if not glob.glob("/usr/share/cloister/matplotlib-fonts/fontlist-*.json"):
        raise cases.Skip("compose/install-deps --data-science made no list of fonts")
    assert run(box, "matplotlib", r"""
import logging
said = []
class Keep(logging.Handler):
    def emit(self, record): said.append(record.getMessage().split(" ")[0])
import matplotlib
matplotlib.set_loglevel("debug")
logging.getLogger("matplotlib.font_manager").addHandler(Keep())
logging.getLogger("matplotlib").propagate = False
logging.getLogger("matplotlib").handlers = [logging.NullHandler()]
import matplotlib.font_manager as fonts
first = list(said)
fonts._load_fontmanager(try_read_cache=False); fonts._load_fontmanager()
tell(first, said[-1], len(fonts.fontManager.ttflist) > 5)
""") == [["Using"], "Using", True]
