# SPDX-License-Identifier: Apache-2.0
# Data: formats, databases, dates, texts, numbers and archives.
#: program csv
import csv, io, sys
writer = csv.writer(sys.stdout)
writer.writerows([["a", "b,c", 'quo"te'], [1, None, "new\nline"]])
print(list(csv.DictReader(io.StringIO("x,y\n1,2\n"))), csv.Sniffer().sniff("a;b\n1;2\n").delimiter)
#: program json
import decimal, json
print(json.dumps({"b": [1, 2.5, None, True], "a": "é\u2028"}, sort_keys=True), json.dumps("é", ensure_ascii=False), json.dumps({1: 2}, indent=2))
print(json.loads('{"x": 1e3, "y": [NaN]}'), json.loads("1.10", parse_float=decimal.Decimal))
json.loads('{"a": 1,}')
#: program json of what it cannot have
import json
json.dumps({"x": {1, 2}})
#: program xml
import xml.etree.ElementTree as ET
from xml.dom import minidom
root = ET.fromstring("<a x='1'><b>text</b><b/></a>")
ET.SubElement(root, "c").text = "<&>"
print(ET.tostring(root), [b.text for b in root.findall("b")], root.find("./b[1]").text)
ET.ElementTree(root).write("a.xml", encoding="utf-8", xml_declaration=True)
print(open("a.xml").read(), minidom.parseString("<a><b/></a>").toprettyxml(indent=" "))
ET.fromstring("<a>")
#: program html and URLs
import html, html.parser, urllib.parse
print(html.escape("<a href='x'>"), html.unescape("&eacute;&#8364;"), urllib.parse.urlsplit("http://u@h:8/p?q=1#f"), urllib.parse.quote("ä b/"))
class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        print(tag, attributes)
Parser().feed("<p class=x><br/></p>")
print(urllib.parse.urljoin("http://a/b/c", "../d"), urllib.parse.parse_qs("a=1&a=2"), urllib.parse.urlencode({"k": "v w"}))
#: program configparser and tomllib
import configparser, sys, tomllib
config = configparser.ConfigParser()
config.read_string("[a]\nx = 1\ny = %(x)s2\n")
print(config["a"].getint("y"), tomllib.loads('x = [1, 2]\n[t]\nd = 2020-01-02'))
config.write(sys.stdout)
#: program sqlite
import sqlite3
with sqlite3.connect("a.db") as connection:
    connection.execute("create table t (id integer primary key, name text, price real)")
    connection.executemany("insert into t (name, price) values (?, ?)", [("a", 1.5), ("b", 2)])
print(connection.execute("select name, sum(price) over (order by id) from t").fetchall())
connection.row_factory = sqlite3.Row
print(dict(connection.execute("select * from t").fetchone()))
connection.execute("pragma journal_mode=wal")
try:
    connection.execute("select * from missing")
except sqlite3.OperationalError as error:
    print(error)
#: program sqlite in memory with functions and search
import sqlite3
connection = sqlite3.connect(":memory:")
connection.create_function("double", 1, lambda x: 2 * x)
connection.execute("create virtual table d using fts5(text)")
connection.execute("insert into d values ('the quick fox')")
print(connection.execute("select double(4), text from d where d match 'quick'").fetchall(), connection.execute("select json_extract('{\"a\":[1,2]}', '$.a[1]')").fetchone())
#: program sqlite from two connections
import sqlite3
one, two = (sqlite3.connect("a.db", timeout=0.05, isolation_level=None) for _ in range(2))
one.execute("create table t (x)")
one.execute("begin exclusive")
try:
    two.execute("insert into t values (1)")
except sqlite3.OperationalError as error:
    print(error)
#: program dbm and shelve
import dbm, shelve
with shelve.open("s") as shelf:
    shelf["a"] = [1, 2]
with shelve.open("s") as shelf:
    print(dict(shelf), dbm.whichdb("s"))
#: program pickle and struct
import pickle, struct
print(pickle.loads(pickle.dumps({"a": {1, 2}, "b": (None, b"x")})), struct.pack("<IhB", 1, -2, 3), struct.unpack(">d", struct.pack(">d", 1.5)), struct.calcsize("nP"))
#: program datetime
from datetime import date, datetime, timedelta, timezone
print(datetime(2024, 2, 29, 12, tzinfo=timezone.utc).isoformat(), date(2024, 3, 1) - timedelta(days=1), datetime.fromisoformat("2024-01-02T03:04:05+02:00"))
print(datetime.strptime("3 May 2021", "%d %b %Y"), datetime(2024, 1, 1).strftime("%A %j %U %c %x %p %Z|"), datetime.fromtimestamp(0), timedelta(hours=30))
#: program zones
import time, zoneinfo
from datetime import datetime, timedelta
berlin = zoneinfo.ZoneInfo("Europe/Berlin")
print(datetime(2024, 7, 1, 12, tzinfo=berlin), datetime(2024, 3, 31, 1, 30, tzinfo=berlin) + timedelta(hours=1), len(zoneinfo.available_timezones()) > 400)
print(time.tzname, time.timezone, datetime.now().astimezone().tzname(), time.localtime(0).tm_hour)
zoneinfo.ZoneInfo("No/Where")
#: program another zone from the environment
import os, time
os.environ["TZ"] = "America/New_York"
time.tzset()
print(time.strftime("%H:%M %Z", time.localtime(0)), time.tzname)
#: program clocks
import time
began = time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time(), time.time()
time.sleep(0.02)
ended = time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time(), time.time()
print([b >= a for a, b in zip(began, ended)], time.get_clock_info("monotonic").resolution, time.clock_getres(time.CLOCK_MONOTONIC))
try:
    time.clock_settime(time.CLOCK_REALTIME, 0)
except OSError as error:
    print(error)
#: program calendar and locale
import calendar, locale
print(calendar.month(2024, 2), calendar.isleap(1900), locale.getlocale(), locale.setlocale(locale.LC_ALL, ""), locale.getpreferredencoding())
print(locale.localeconv()["decimal_point"], f"{1234567:n} {1234567.891:,.2f}")
locale.setlocale(locale.LC_ALL, "de_XX.UTF-8")
#: program locales of the system
import locale
for name in "C", "POSIX", "C.UTF-8":
    print(locale.setlocale(locale.LC_ALL, name), locale.nl_langinfo(locale.CODESET))
#: program texts
import string, textwrap, unicodedata
print("ß".upper(), "İ".lower().encode(), unicodedata.name("é"), unicodedata.normalize("NFD", "é").encode(), "日本".center(6, "*"), "a\u0301".isidentifier())
print(textwrap.fill("a long text that is wrapped", 10), string.Template("$x").substitute(x=1), f"{3.14159:>8.2f}|{255:#x}|{'x':^5}|{1e10:g}", "%05d" % 3)
#: program regular expressions
import re
print(re.findall(r"(\w+)@(\w+)", "a@b c@d"), re.sub(r"(?P<x>\d)", r"<\g<x>>", "a1"), re.split(r"\s*,\s*", "a , b,c"), re.match("(?i)ÄB", "äb"))
re.compile("(")
#: program difflib
import difflib, sys
sys.stdout.writelines(difflib.unified_diff(["a\n", "b\n"], ["a\n", "c\n"], "old", "new"))
print(difflib.get_close_matches("aple", ["apple", "maple"]))
#: program numbers
import cmath, decimal, fractions, math, statistics
print(0.1 + 0.2, round(2.5), decimal.Decimal("0.1") + decimal.Decimal("0.2"), fractions.Fraction(1, 3) + 1, math.isqrt(99), cmath.sqrt(-1), math.fsum([0.1] * 10))
print(statistics.mean([1, 2, 4]), statistics.stdev([1, 2, 3, 4]), math.comb(5, 2), float("inf"), -0.0, 1e308 * 10, math.nan)
math.sqrt(-1)
#: program hashes and base64
import base64, binascii, hashlib, hmac, zlib
print(hashlib.sha256(b"x").hexdigest(), hashlib.md5(b"x").hexdigest(), hmac.new(b"k", b"m", "sha1").hexdigest(), zlib.crc32(b"x"))
print(base64.b64encode(b"\xff\x00"), binascii.hexlify(b"ab"), hashlib.scrypt(b"p", salt=b"s", n=16, r=1, p=1).hex()[:8], len(hashlib.algorithms_available) > 10)
#: program archives
import bz2, gzip, io, lzma, tarfile, zipfile, zlib
data = b"data" * 100
print([module.decompress(module.compress(data)) == data for module in (bz2, gzip, lzma, zlib)])
open("a.txt", "wb").write(data)
with tarfile.open("a.tar.gz", "w:gz") as archive:
    archive.add("a.txt", "b.txt")
with tarfile.open("a.tar.gz") as archive:
    archive.extractall("out")
    print(archive.getnames(), open("out/b.txt", "rb").read() == data)
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x/y.txt", data)
    print(archive.namelist(), archive.infolist()[0].compress_size < 50)
zipfile.ZipFile("a.txt")
#: program heapq, bisect, deque and functools
import bisect, collections, functools, heapq, operator
heap = [5, 1, 4]
heapq.heapify(heap)
print(heapq.heappop(heap), bisect.bisect([1, 3, 5], 3), collections.deque([1, 2, 3], 2), functools.reduce(operator.mul, range(1, 6)))
@functools.lru_cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
print(fibonacci(80), fibonacci.cache_info(), collections.OrderedDict(a=1), collections.ChainMap({"a": 1}, {"b": 2})["b"])
#: program ctypes
import ctypes, ctypes.util
libc = ctypes.CDLL(None, use_errno=True)
print(libc.abs(-3), libc.strlen(b"four"), libc.open(b"/missing", 0), ctypes.get_errno(), ctypes.util.find_library("m"))
class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]
numbers = (ctypes.c_int * 3)(3, 1, 2)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
libc.qsort(numbers, 3, 4, compare)
print(list(numbers), ctypes.sizeof(Pair), ctypes.CDLL("libm.so.6").abs(-1))
ctypes.CDLL("libmissing.so")
#: program array, memoryview and bytes
import array, io
values = array.array("d", [1, 2])
view = memoryview(bytearray(b"abc"))
view[0] = 120
print(values.tobytes().hex(), bytes(view), io.BytesIO(b"xy").read(1), int.from_bytes(b"\1\0", "big"), bytes.fromhex("ff 00"))
#: program e-mail and mime types
import email.message, mimetypes
message = email.message.EmailMessage()
message["Subject"] = "Grüße"
message.set_content("text\n")
print(message.as_string(), mimetypes.guess_type("a.json"), mimetypes.guess_type("a.tar.gz"), mimetypes.guess_extension("text/csv"))
#: program pprint and reprlib
import pprint, reprlib, sys
pprint.pprint({"key": list(range(30)), "other": {"nested": "x" * 50}}, width=60)
print(reprlib.repr(list(range(100))), ascii("é"), repr("\x00\n"))
#: program the size of a terminal
import os, shutil
print(shutil.get_terminal_size())
os.get_terminal_size()
#: program environment variables
import os, subprocess
os.environ["MINE"] = "ü"
print(os.getenv("MINE"), os.getenv("NONE", "default"), subprocess.check_output("echo $MINE", shell=True), os.path.expandvars("$MINE/x"), os.environb[b"MINE"])
print(os.environ["TMPDIR"], os.environ["LANG"], "PYTHONPATH" in os.environ, os.environ.get("TERM"))
os.environ["NONE"]
#: program numpy
#: modules numpy
import numpy as np
a = np.arange(6, dtype=float).reshape(2, 3)
print(a @ a.T, np.linalg.det(np.eye(2)), a.mean(axis=0), np.random.default_rng(1).integers(0, 10, 3), np.array([1, 2]) / 0)
m = np.memmap("m", dtype="i4", mode="w+", shape=4)
m[:] = 3
print(int(m.sum()))
np.load("missing.npy")
#: program pandas
#: modules pandas
import pandas as pd
frame = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
print(frame.groupby("k").v.sum(), frame.describe(), sep="\n")
frame.to_csv("a.csv", index=False)
print(pd.read_csv("a.csv").dtypes)
#: program matplotlib
#: modules matplotlib
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2], [3, 4])
figure.savefig("a.png")
print(open("a.png", "rb").read(4), plt.get_backend())
