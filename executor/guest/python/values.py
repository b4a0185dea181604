# SPDX-License-Identifier: Apache-2.0
"""values.py - converts any Python value to JSON text of bounded size. driver.py loads this file when there is a result
to send, or a value for the bridge.

No module is imported to recognize a type: if an object of a module's type exists, the module is loaded, so types are
recognized by name.  A value that has no JSON form is represented by its repr.
"""

from _json import encode_basestring

MAX_DEPTH = 64
MAX_REPR = 65536
MAX_CELLS = 200000
# Limits for values that are only displayed; pandas and numpy use the same.
MAX_ROWS, END_ROWS, MAX_SHOWN = 60, 5, 1000


class TooLarge(Exception):
    pass


def _rows(table, shown):
    """Returns the rows that are sent, and a note about those that are not."""
    if not shown or len(table) <= MAX_ROWS:
        return table, {}
    note = f"its first and last {END_ROWS} rows; all of it as the value of `result`, or in a file"
    return table.iloc[[*range(END_ROWS), *range(-END_ROWS, 0)]], {"shape": table.shape, "note": note}


def _frame(value, shown):
    rows, note = _rows(value, shown)
    return {**rows.to_dict("split"), **note} if rows.size <= MAX_CELLS else str(value)


def _series(value, shown):
    rows, note = _rows(value, shown)
    return ({"name": value.name, "index": rows.index.tolist(), "data": rows.tolist(), **note}
            if rows.size <= MAX_CELLS else str(value))


def _array(value, shown):
    return value.tolist() if value.size <= (MAX_SHOWN if shown else MAX_CELLS) else str(value)


# The same as FORMS, for types of which less is sent if the value is only displayed.
TABLES = {
    "numpy.ndarray": _array,
    "pandas.core.frame.DataFrame": _frame,
    "pandas.core.indexes.base.Index": _array,
    "pandas.core.series.Series": _series,
}
# The name of a type or a base type, and what replaces its values.
FORMS = {
    "builtins.mappingproxy": dict,
    "builtins.dict_keys": list,
    "builtins.dict_values": list,
    "builtins.dict_items": list,
    "collections.deque": list,
    "datetime.date": lambda value: value.isoformat(),
    "datetime.time": lambda value: value.isoformat(),
    "datetime.timedelta": str,
    "decimal.Decimal": str,
    "enum.Enum": lambda value: value.value,
    "fractions.Fraction": str,
    "numpy.generic": lambda value: value.item(),
    "pathlib.PurePath": str,
    "uuid.UUID": str,
}


class Writer:
    """Writes a value piece by piece, so that a value that is too large fails early and does not use up the memory."""

    def __init__(self, limit, shown):
        self.parts, self.room, self.open, self.shown = [], limit, set(), shown

    def put(self, text):
        self.parts.append(text)
        self.room -= len(text)
        if self.room < 0:
            raise TooLarge

    def string(self, text):
        self.put(encode_basestring(text))

    def value(self, value):
        if value is None or value is True or value is False:
            self.put({None: "null", True: "true", False: "false"}[value])
        elif isinstance(value, str):
            self.string(str.__str__(value))
        elif self.form(value):
            pass
        elif isinstance(value, int):
            self.integer(value)
        elif isinstance(value, float):
            self.real(value)
        else:
            self.nested(value)

    # A form that returns a value of the same type, as for numpy's long double, is not used.
    def form(self, value):
        for kind in type(value).__mro__:
            name = f"{kind.__module__}.{kind.__qualname__}"
            if name in FORMS or name in TABLES:
                other = FORMS[name](value) if name in FORMS else TABLES[name](value, self.shown)
                if type(other) is type(value):
                    return False
                self.value(other)
                return True
        return False

    # JSON readers lose digits of integers beyond 64 bits, or refuse them.
    def integer(self, value):
        if -1 << 63 <= value < 1 << 63:
            self.put(int.__repr__(value))
        else:
            self.string(int.__repr__(value) if value.bit_length() < 10000 else hex(value))

    def real(self, value):
        text = float.__repr__(value)
        self.put(text) if value - value == 0 else self.string(text)

    def nested(self, value):
        if id(value) in self.open or len(self.open) >= MAX_DEPTH:
            return self.other(value)
        self.open.add(id(value))
        if isinstance(value, dict):
            self.mapping(dict.items(value))
        elif isinstance(value, (list, tuple)):
            self.sequence(value)
        elif isinstance(value, (set, frozenset)):
            self.sequence(ordered(value))
        elif hasattr(type(value), "__dataclass_fields__"):
            self.mapping((name, getattr(value, name, None)) for name in type(value).__dataclass_fields__)
        else:
            self.other(value)
        self.open.discard(id(value))

    def sequence(self, items):
        self.put("[")
        for i, item in enumerate(items):
            self.put(", " if i else "")
            self.value(item)
        self.put("]")

    # If JSON would make keys equal, such as 1 and "1", the result is a list of pairs.
    def mapping(self, items):
        items = list(items)
        keys = [key_text(key) for key, _ in items]
        if len(set(keys)) < len(keys):
            return self.sequence(items)
        self.put("{")
        for i, (key, (_, item)) in enumerate(zip(keys, items)):
            self.put(", " if i else "")
            self.string(key)
            self.put(": ")
            self.value(item)
        self.put("}")

    def other(self, value):
        try:
            text = repr(value)
        except Exception as error:
            text = f"<{type(value).__name__} without a repr: {type(error).__name__}>"
        self.string(text if len(text) <= MAX_REPR else text[:MAX_REPR] + "...")


def ordered(items):
    try:
        return sorted(items)
    except Exception:
        return items


def key_text(key):
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or key is True or key is False:
        return {None: "null", True: "true", False: "false"}[key]
    return str(key) if isinstance(key, (int, float)) or hasattr(key, "isoformat") else repr(key)


def utf8(text):
    try:
        return text.encode()
    except UnicodeEncodeError:  # an unpaired surrogate
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def as_json(value, limit, shown=False):
    """
    Returns JSON text in UTF-8 of at most limit bytes. A larger value is replaced by a string that says so and has its
    beginning.  Of a long table that is only displayed, such as the value of a last expression, both ends are sent.
    """
    writer = Writer(limit, shown)
    try:
        writer.value(value)
        data = utf8("".join(writer.parts))
        if len(data) <= limit:
            return data
    except TooLarge:
        pass
    note = f"{type(value).__name__} of more than {limit} bytes as JSON; write it to a file instead. It begins: "
    return utf8(encode_basestring(note + start(value, writer.parts)[:MAX_REPR // 16]))


def start(value, parts):
    """Prefers a table's own text, which has its first and last rows; its JSON begins with a list of row numbers."""
    try:
        table = type(value).__module__.partition(".")[0] == "pandas"
        return f"\n{value}" if table else "".join(parts)
    except Exception:
        return "".join(parts)


def parse_json(text):
    """Parses JSON without the json module, which the program may have replaced."""
    from _json import make_scanner

    class Context:
        strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant, memo = (
            False, None, None, float, int, float, {})

    return make_scanner(Context())(text.strip(), 0)[0]
