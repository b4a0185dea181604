# SPDX-License-Identifier: Apache-2.0
"""rich.py - pictures and tables of a run: open figures of matplotlib, and rich forms of a value.

driver.py loads this file when matplotlib is imported or the value has such a form. Everything is bounded: a picture
that is too large is drawn with fewer dots. If it is still too large, it is left out with a line on stderr.

The executor shows picture files, and does not show a figure with the same bytes again. So a figure that was saved and
left open is drawn again as it was saved, with the same resolution, format and frame.
"""

import os
import sys

MAX_PARTS, MAX_BYTES = 8, 4 << 20
MAX_DOTS = 16 << 20
FORMS = (("_repr_png_", "image/png"), ("_repr_svg_", "image/svg+xml"), ("_repr_html_", "text/html"))
SAVED = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}
FONTS, LENT = "/usr/share/cloister/matplotlib-fonts", "/tmp/.cache/matplotlib"


def lend_fonts(matplotlib):
    """
    Called when matplotlib is imported, before it searches for fonts: copies the font list that compose/install-deps
    made. Making the list takes 0.1 s in each run, and several seconds if there are thousands of fonts. It must be in a
    place that matplotlib can write to.
    """
    try:
        lists = os.listdir(FONTS)
        os.makedirs(LENT, exist_ok=True)
        for each in lists:
            with open(f"{FONTS}/{each}", "rb") as source, open(f"{LENT}/{each}", "xb") as copy:
                copy.write(source.read())
    except OSError:
        pass  # there is no list, or the program made one


def _note(text):
    print(text, file=sys.stderr)


def note_saves(figures):
    """Hooks matplotlib.figure after its import, to note how figures are saved."""
    from functools import wraps
    save = figures.Figure.savefig

    @wraps(save)
    def savefig(self, fname, *rest, **how):
        save(self, fname, *rest, **how)
        if isinstance(fname, (str, os.PathLike)) and not rest:
            path = os.path.abspath(fname)
            kind = how.get("format") or os.path.splitext(path)[1][1:] or sys.modules["matplotlib"].rcParams["savefig.format"]
            self._saved_last = path if os.path.exists(path) else f"{path}.{kind}", kind.lower(), how

    figures.Figure.savefig = savefig


def _as_saved(figure):
    """Returns type and bytes of a figure that equals the file it was saved to, or None."""
    from io import BytesIO
    path, kind, how = getattr(figure, "_saved_last", (None, None, None))
    if kind not in SAVED or not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES - 64:
        return None
    drawn = BytesIO()
    try:
        figure.savefig(drawn, **{**how, "format": kind})
        with open(path, "rb") as file:
            return (SAVED[kind], drawn.getvalue()) if file.read() == drawn.getvalue() else None
    except Exception:
        return None


def _figure(figure):
    """Returns the figure as PNG with as many dots as fit; None: it does not fit with any."""
    from io import BytesIO
    width, height = figure.get_size_inches()
    dpi = min(figure.dpi, (MAX_DOTS / max(width * height, 1e-9)) ** 0.5)
    while dpi >= 10:
        file = BytesIO()
        figure.savefig(file, format="png", dpi=dpi)
        if file.tell() <= MAX_BYTES - 64:
            return file.getvalue()
        dpi /= 2
    return None


def _figures(pyplot):
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        try:
            mime, data = _as_saved(figure) or ("image/png", _figure(figure))
        except Exception as error:
            _note(f"figure {number} is left out: {type(error).__name__}: {error}"[:500])
            continue
        if data == getattr(figure, "_displayed", b""):
            continue
        if data is None:
            _note(f"figure {number} is left out: it has more than {MAX_BYTES} bytes as PNG even with 10 dots per inch")
        else:
            yield mime, data
    pyplot.close("all")


def _forms(value):
    for name, mime in FORMS:
        form = getattr(type(value), name, None)
        try:
            data = form(value) if form is not None else None
        except Exception as error:
            _note(f"{name} is left out: {type(error).__name__}: {error}"[:500])
            continue
        if isinstance(data, str):
            data = data.encode("utf-8", "replace")
        if not data:
            continue
        if len(data) <= MAX_BYTES - 64:
            yield mime, bytes(data)
        else:
            _note(f"{name} is left out: it has {len(data)} bytes and {MAX_BYTES} are the most")


def rich(value, shown):
    """Returns payloads of RICH frames, figures first.  shown: how many the run has sent already."""
    parts = list(_forms(value))
    if "matplotlib.pyplot" in sys.modules:
        parts[:0] = _figures(sys.modules["matplotlib.pyplot"])
    return _payloads(parts, shown)


def _payloads(parts, shown):
    room = MAX_PARTS - shown
    if len(parts) > room:
        _note(f"{len(parts) - room} of {len(parts)} pictures and tables are left out: a run shows at most {MAX_PARTS}")
    return [mime.encode() + b"\n" + data for mime, data in parts[:room]]


def displayed(value, shown):
    """Returns payloads of RICH frames for display(). Writes the value as text if it is no picture."""
    matplotlib = sys.modules.get("matplotlib.figure")
    if matplotlib and isinstance(value, matplotlib.Figure):
        value._displayed = _figure(value)  # a figure that stays as it is is not shown at the end again
        return _payloads([("image/png", value._displayed)] if value._displayed else [], shown)
    parts = list(_forms(value))
    if not any(mime.startswith("image/") for mime, _ in parts):
        print(repr(value))
    return _payloads(parts, shown)
