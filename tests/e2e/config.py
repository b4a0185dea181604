#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister config`: what it prints for each client, and how it changes existing files.

    config.py BIN

Python's own parsers read the file before and after; only the entry may differ.
"""

import copy
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

# Where each client's file is, below the home directory, and the key that holds its servers.
FILES = {"claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
         "claude-code": (".claude.json", "mcpServers"), "cursor": (".cursor/mcp.json", "mcpServers"),
         "vscode": (".config/Code/User/mcp.json", "servers"), "codex": (".codex/config.toml", "mcp_servers")}
PROJECTS = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}
URL = "https://sandbox.example:8765/mcp"


class Home:
    """A separate home directory, and cloister in it."""

    def __init__(self, bin):
        self.program = os.path.realpath(os.path.join(bin, "cloister"))
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="cloister-config-"))
        self.project = os.path.join(self.folder, "project")
        os.mkdir(self.project)
        self.env = {"HOME": self.folder, "PATH": "/usr/bin:/bin"}

    def __call__(self, *arguments, status=0, env=None):
        ran = subprocess.run([self.program, "config", *arguments], env={**self.env, **(env or {})}, cwd=self.project,
                             capture_output=True, text=True, check=False, timeout=20)
        assert ran.returncode == status, (arguments, ran)
        return ran

    def path(self, client):
        return os.path.join(self.folder, FILES[client][0])

    def put(self, client, text):
        """Writes the client's file, and removes what an earlier case left beside it."""
        path = self.path(client)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for backup in self.backups(client):
            os.remove(backup)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, 0o640)
        return path

    def get(self, client):
        with open(self.path(client), encoding="utf-8", newline="") as file:
            return file.read()

    def backups(self, client):
        return glob.glob(glob.escape(self.path(client)) + ".*.backup")

    def merged(self, client, text, *arguments):
        """Returns the file after --write. It is printed once, backed up once, and a second --write changes nothing."""
        path = self.put(client, text)
        self(client, "--write", *arguments)
        after, backups = self.get(client), self.backups(client)
        assert [open(b, encoding="utf-8", newline="").read() for b in backups] == [text], backups
        assert all(os.stat(name).st_mode & 0o777 == 0o640 for name in (path, *backups))
        again = self(client, "--write", *arguments)
        assert "already" in again.stdout and self.get(client) == after and self.backups(client) == backups
        return after

    def refused(self, client, text, why):
        """Nothing is changed, and the error is one line."""
        self.put(client, text)
        ran = self(client, "--write", status=1)
        assert re.search(why, ran.stderr) and ran.stderr.count("\n") == 1, (text, ran.stderr)
        with open(self.path(client), "rb") as file:
            assert file.read() == (text if isinstance(text, bytes) else text.encode())
        assert not self.backups(client)

    def close(self):
        shutil.rmtree(self.folder)


def parse(client, text):
    return tomllib.loads(text) if client == "codex" else json.loads(text)


def entry_of(client, text):
    return parse(client, text)[FILES[client][1]]["cloister"]


def program_of(home, client):
    """The entry that starts this cloister."""
    typed = {"type": "stdio"} if client in ("claude-code", "vscode") else {}
    return {**typed, "command": home.program, "args": ["serve"]}


def test_each_client_has_its_snippet(home):
    for client, (file, section) in FILES.items():
        ran = home(client)
        assert parse(client, ran.stdout) == {section: {"cloister": program_of(home, client)}}, ran.stdout
        assert os.path.join(home.folder, file) in ran.stderr
        assert not os.path.exists(os.path.join(home.folder, file))
    with_settings = json.loads(home("cursor", "--", "--toolsets=core,monitor").stdout)
    assert with_settings["mcpServers"]["cloister"]["args"] == ["serve", "--toolsets=core,monitor"]


def test_each_client_has_its_snippet_for_http(home):
    header = {"claude-code": "Bearer ${TOKEN}", "cursor": "Bearer ${env:TOKEN}", "vscode": "Bearer ${env:TOKEN}"}
    for client in header:
        typed = {} if client == "cursor" else {"type": "http"}
        assert entry_of(client, home(client, "--http", URL).stdout) == {**typed, "url": URL}
        assert entry_of(client, home(client, "--http=" + URL, "--token-env", "TOKEN").stdout) == {
            **typed, "url": URL, "headers": {"Authorization": header[client]}}
    assert entry_of("codex", home("codex", "--http", URL, "--token-env", "TOKEN").stdout) == {
        "url": URL, "bearer_token_env_var": "TOKEN"}
    assert "connector" in home("claude-desktop", "--http", URL, status=1).stderr


def test_wrong_lines_are_refused(home):
    for line, status, why in [
            ([], 2, "usage"), (["emacs"], 2, "emacs"), (["cursor", "--wriet"], 2, "wriet"), (["cursor", "vscode"], 2, "usage"),
            (["cursor", "--http", "ftp://x"], 1, "URL"), (["cursor", "--http", "http://"], 1, "URL"),
            (["cursor", "--http", "http://a b"], 1, "URL"), (["cursor", "--http", 'http://a"'], 1, "URL"),
            (["cursor", "--token-env", "X"], 1, "--http"), (["cursor", "--http", URL, "--token-env", "se-cret"], 1, "variable"),
            (["cursor", "--http", URL, "--", "--x"], 1, "settings"), (["codex", "--project"], 1, "project"),
            (["cursor", "--", "a\nb"], 1, "control")]:
        ran = home(*line, status=status)
        assert why in ran.stderr and ran.stdout == "", (line, ran)
    assert "claude-desktop, claude-code, cursor, vscode, codex" in home("--help").stdout


def test_files_are_made_where_there_are_none(home):
    for client, (file, section) in FILES.items():
        path = os.path.join(home.folder, file)
        ran = home(client, "--write")
        assert path in ran.stdout and "as it was" not in ran.stdout, ran
        assert parse(client, home.get(client)) == {section: {"cloister": program_of(home, client)}}
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert home.merged(client, "  \n") and entry_of(client, home.get(client)) == program_of(home, client)


def test_the_environment_says_where_files_are(home):
    other = os.path.join(home.folder, "else where")
    for client, variable, file in [("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
                                   ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
                                   ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"), ("codex", "CODEX_HOME", "config.toml")]:
        home(client, "--write", env={variable: other})
        with open(os.path.join(other, file), encoding="utf-8") as made:
            assert entry_of(client, made.read()) == program_of(home, client)
    for client, file in PROJECTS.items():
        home(client, "--project", "--write")
        with open(os.path.join(home.project, file), encoding="utf-8") as made:
            assert entry_of(client, made.read()) == program_of(home, client)


BUSY = """{
    "theme": "dark",   "big": 12345678901234567,
    "mcpServers": {
        "other": {"command": "x", "args": ["//", "}"], "env": {"A": "\\u00e9\\""}},
        "cloister": { "command": "/old/cloister", "args": ["serve", "--old"], "env": {"KEEP": "1"}, "disabled": true }
    },
    "last": [1.50, {"mcpServers": {}}]
}
"""


def test_all_else_stays_byte_by_byte(home):
    after = home.merged("cursor", BUSY)
    new = {**program_of(home, "cursor"), "env": {"KEEP": "1"}, "disabled": True}
    assert entry_of("cursor", after) == new
    before_entry, behind_entry = BUSY[:BUSY.index('{ "command": "/old')], BUSY[BUSY.index("\n    },\n    \"last\""):]
    assert after.startswith(before_entry) and after.endswith(behind_entry), after
    over_http = home.merged("cursor", BUSY, "--http", URL)
    assert entry_of("cursor", over_http) == {"url": URL, "env": {"KEEP": "1"}, "disabled": True}
    without = home.merged("cursor", '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}')
    assert without.startswith('{\n\t"mcpServers": {\n\t\t"a": {},\n\t\t"cloister": {\n\t\t\t"command"'), without
    assert without.endswith('\n\t\t}\n\t}\n}'), without


def test_odd_layouts_of_json(home):
    for text in ["{}", "{ }", "{\n}", '{"a":1}', '{"mcpServers":{}}', '{"mcpServers":{"b":{}}}', '\ufeff{"a": 1}\r\n',
                 '{\r\n  "mcpServers": {\r\n  }\r\n}\r\n', '{"mcp\\u0053ervers": {"cl\\u006fister": {"command": "old"}}}',
                 '{"mcpServers": {"cloister": {}}}', '{"\\"}": "{", "mcpServers": {"\\\\": {}, "x": {"y": "\\"}"}}}']:
        after = home.merged("claude-code", text)
        want = json.loads(text.lstrip("\ufeff"))
        want.setdefault("mcpServers", {})["cloister"] = program_of(home, "claude-code")
        assert json.loads(after.lstrip("\ufeff")) == want, (text, after)


# Line ends stay as they are. In a file with both kinds, old lines stay and new lines end in LF.
def test_ends_of_lines(home):
    for client, texts in {"cursor": ('{\r\n}\r\n', '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}', '{"mcpServers":{"cloister":{}}}\r\n'),
                          "codex": ('x = 1\r\n', '[mcp_servers.cloister]\r\nurl = "x"\r\n\r\n[y]\r\n')}.items():
        for text in texts:
            after = home.merged(client, text)
            assert after.count("\n") == after.count("\r\n") > text.count("\n") and "\r\r" not in after, after
    mixed = '{\r\n  "mcpServers": {\n  }\r\n}\r\n'
    after = home.merged("cursor", mixed)
    assert after.count("\r\n") == 3 and after.count("\n") > 6, after
    after = home.merged("codex", "\ufeffx = 1\r\n")
    assert after.startswith("\ufeffx = 1\r\n\r\n[mcp_servers.cloister]\r\n"), after


COMMENTS = """// mine, all mine
{
  /* the servers, "servers": {} */
  "servers": {
    "a": { "type": "http", "url": "http://x/*y*/" }, // its URL has // in it
    // "cloister": {}
  },
  "inputs": [ { "id": "x", }, ],
}
"""


def without_comments(text):
    kept = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or " ", text, flags=re.S)
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[]}])', lambda m: m[1] or "", kept))


def test_comments_stay(home):
    after = home.merged("vscode", COMMENTS)
    want = without_comments(COMMENTS)
    want["servers"]["cloister"] = program_of(home, "vscode")
    assert without_comments(after) == want, after
    assert all(line in after.splitlines() for line in COMMENTS.splitlines()), after
    for text in ["{ // none\n}", "// none\n{}", '{"servers": { // none\n  }}', '{"servers": {"a": {}, /* c */ }}', "{/**/}",
                 '{"servers": {\n  "a": {} // last\n}}']:
        after = home.merged("vscode", text)
        want = without_comments(text)
        want.setdefault("servers", {})["cloister"] = program_of(home, "vscode")
        assert without_comments(after) == want, (text, after)
    home.refused("claude-desktop", COMMENTS, "line 1 is not JSON")


def test_what_is_not_json_is_not_touched(home):
    for text, why in [("{", "line 1"), ("{} {}", "line 1"), ("[]", "no object"), ('{"a": 1, "a": 2}', "line 1"), ("{'a': 1}", "line 1"),
                      ('{"mcpServers": []}', "no object"), ('{"mcpServers": {"cloister": "x"}}', "no object"), (b"\xff", "line 1"),
                      ('\n\n{"a": tru}', "line 3"), ('{"a": 1,}', "line 1"), (b"{}\0", "zero byte"), ('{"a": "x\n"}', "line 1")]:
        home.refused("claude-code", text, why)
    for text in ["{,}", '{"a": [,]}', '{"a": 1,,}', "{ /* }", '{"a": [1, , 2]}', "/ {}", '{"a" /* : 1}', '{"a": "b /* }']:
        home.refused("vscode", text, "line 1 is not JSON")


TOML = '''# top
model = "o" # = [mcp_servers.cloister]
notify = [
  "a", # ]
  """x
[mcp_servers.cloister]
""",
]

[mcp_servers."other.one"]   # not ours
command = 'C:\\'
[mcp_servers.other.env]
A = "\\"]"
'''
OWN = '''
 [ mcp_servers . "cloister" ]  # ours
# a remark
command = "/old"
startup_timeout_sec = 20
args = [
  "serve", # old
]
env = { K = "v" }

[mcp_servers.cloister.tools]
x = 1
[projects."/a b"]
trust_level = """trusted\"""""
[[list]]
url = "not ours"
'''


def test_toml_keeps_all_but_the_table(home):
    after = home.merged("codex", TOML)
    want = tomllib.loads(TOML)
    want["mcp_servers"]["cloister"] = program_of(home, "codex")
    assert tomllib.loads(after) == want and after.startswith(TOML), after
    text = TOML + OWN
    after = home.merged("codex", text)
    want = tomllib.loads(text)
    want["mcp_servers"]["cloister"].update(program_of(home, "codex"))
    assert tomllib.loads(after) == want, after
    assert "# a remark\n" in after and 'env = { K = "v" }\n' in after and "# old" not in after
    after = home.merged("codex", text, "--http", URL)
    assert entry_of("codex", after) == {"url": URL, "startup_timeout_sec": 20, "env": {"K": "v"}, "tools": {"x": 1}}
    for text in ["x = 1", "\n", "[mcp_servers]", "[mcp_servers]\n[mcp_servers.cloister]", "[mcp_servers.cloister.env]\nA = '1'\n",
                 "mcp_servers.a.command = 'x'\r\n", "a = 'x'#[\r\n[b]\r\nc = {d = [1, {e = '}'}]}\r\n", "'mcp_servers.cloister' = 1\n"]:
        after = home.merged("codex", text)
        assert entry_of("codex", after) == {**program_of(home, "codex"), **tomllib.loads(text).get("mcp_servers", {}).get("cloister", {})}
        rest = tomllib.loads(after)
        before = tomllib.loads(text)
        before.setdefault("mcp_servers", {})["cloister"] = rest["mcp_servers"]["cloister"]
        assert rest == before, (text, after)


def test_toml_that_cannot_take_a_table_is_not_touched(home):
    for text, why in [
            ("mcp_servers = {}", "table of its own"), ("mcp_servers.cloister.command = 'x'", "table of its own"),
            ("[mcp_servers]\ncloister = {}", "line 2: .*table of its own"), ("[mcp_servers]\n'cloister'.args = []", "table of its own"),
            ("[[mcp_servers]]\na = 1", "table of its own"), ("[[mcp_servers.cloister]]\na = 1", "table of its own"),
            ("[mcp_servers.cloister]\n[mcp_servers.cloister]", "line 2: .*twice"), ("x = '", "line 1: a string"), ('x = "a\nb"', "line 1: a string"),
            ("x = [1\n", "line 1: a bracket"), ("x = 1]", "closes"), ('\nx = """', "line 2: a string"), ("x", "no ="), ("x =", "no value"),
            ("= 1", "no key"), ("[a", "bracket"), ("[a] b", "behind"), ("[[a]", "bracket"), ('["\\u0061"]', "letters"),
            (b"x = 1\0", "zero byte"), ("{}", "no key")]:
        home.refused("codex", text, why)


def words(random_):
    return random_.choice(["a", "b c", "mcp_servers", "cloister", "é", 'q"', "\\", "]", "#", "", "//", "/*", "}", ",]", "\t"])


def value(random_, depth):
    kind = random_.randrange(6 if depth else 4)
    if kind == 4:
        return [value(random_, depth - 1) for _ in range(random_.randrange(4))]
    if kind == 5:
        return {words(random_): value(random_, depth - 1) for _ in range(random_.randrange(4))}
    return [random_.randrange(-9, 10**12), words(random_), random_.random() < 0.5, 1.5][kind]


def toml_of(random_, value_):
    """One of the ways to write the value."""
    if isinstance(value_, dict):
        return "{ " + ", ".join(f"{json.dumps(k, ensure_ascii=False)} = {toml_of(random_, v)}" for k, v in value_.items()) + " }"
    if isinstance(value_, list):
        gap = random_.choice(["", "\n", " # ] [x]\n", "\r\n\t"])
        return "[" + gap + "".join(toml_of(random_, v) + "," + gap for v in value_) + "]"
    if isinstance(value_, str):
        if "'" not in value_ and random_.random() < 0.4:
            return random_.choice([f"'{value_}'", f"'''{value_}'''", f"'''\n[mcp_servers.cloister]\n'''"])
        return random_.choice([json.dumps(value_, ensure_ascii=False), '"""' + json.dumps(value_, ensure_ascii=False)[1:-1] + '"""'])
    return json.dumps(value_)


def test_any_text_keeps_what_it_says(home):
    random_ = random.Random(4)
    for _ in range(60):
        old = {words(random_): value(random_, 3) for _ in range(random_.randrange(5))}
        if not isinstance(old.get("mcpServers", {}), dict):
            continue
        if random_.random() < 0.5:
            old["mcpServers"] = {"x": value(random_, 2), "cloister": {"env": value(random_, 1), "url": "u"}}
        text = json.dumps(old, indent=random_.choice([None, 1, 2, 4, "\t"]), ensure_ascii=random_.random() < 0.5)
        want = copy.deepcopy(old)
        kept = {k: v for k, v in want.setdefault("mcpServers", {}).get("cloister", {}).items() if k != "url"}
        want["mcpServers"]["cloister"] = {**kept, **program_of(home, "cursor")}
        assert json.loads(home.merged("cursor", text)) == want, text
    for _ in range(60):
        tables = {f"t{n}": value(random_, 3) for n in range(random_.randrange(4))}
        lines = [f"{name} = {toml_of(random_, table)}" for name, table in tables.items() if not isinstance(table, dict)]
        lines += [f"[{name}]\n" + "\n".join(f"{json.dumps(k, ensure_ascii=False)} = {toml_of(random_, v)}" for k, v in table.items())
                  for name, table in tables.items() if isinstance(table, dict)]
        if random_.random() < 0.5:
            lines.insert(random_.randrange(len(lines) + 1) if all(line[0] == "[" for line in lines) else len(lines),
                         f"[mcp_servers.cloister]\nenv = {toml_of(random_, {'A': words(random_)})}\nurl = 'u'")
        text = random_.choice(["\n", "\n\n", "\n# [x]\n"]).join(lines)
        want = tomllib.loads(text)
        kept = {k: v for k, v in want.setdefault("mcp_servers", {}).get("cloister", {}).items() if k != "url"}
        want["mcp_servers"]["cloister"] = {**kept, **program_of(home, "codex")}
        assert tomllib.loads(home.merged("codex", text or " ")) == want, text


def test_links_and_others_files(home):
    real = os.path.join(home.folder, "dotfiles.json")
    for path in [home.path("cursor"), *home.backups("cursor")]:
        if os.path.lexists(path):
            os.remove(path)
    with open(real, "w", encoding="utf-8") as file:
        file.write('{"a": 1}')
    os.makedirs(os.path.dirname(home.path("cursor")), exist_ok=True)
    os.symlink(real, home.path("cursor"))
    home("cursor", "--write")
    assert os.path.islink(home.path("cursor")) and entry_of("cursor", open(real, encoding="utf-8").read())
    os.remove(real)
    assert "link" in home("cursor", "--write", status=1).stderr and os.path.islink(home.path("cursor"))
    os.remove(home.path("cursor"))
    os.mkdir(home.path("cursor"))
    assert "regular file" in home("cursor", "--write", status=1).stderr
    os.rmdir(home.path("cursor"))
    if os.geteuid() == 0:
        os.chown(home.put("cursor", "{}"), 65534, 65534)
        assert "another user" in home("cursor", "--write", status=1).stderr and home.get("cursor") == "{}"


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


class Running:
    """The daemons' folders, and the end of what was started in them."""

    def __init__(self, home):
        self.home = home
        self.env = {**home.env, "CLOISTER_RUN": os.path.join(home.folder, "run"), "CLOISTER_STATE": os.path.join(home.folder, "state"),
                    "CLOISTER_SUPERVISOR_IDLE_S": "1"}

    def __enter__(self):
        return self

    def cloister(self, *arguments):
        return subprocess.run([self.home.program, *arguments], env=self.env, capture_output=True, text=True, check=False, timeout=30)

    def __exit__(self, *_):
        self.cloister("down")


def test_the_program_that_is_told_is_a_server(home):
    with Running(home) as running:
        for client in FILES:
            entry = entry_of(client, home(client).stdout)
            with daemons.Client([entry["command"], *entry["args"]], env=running.env, stderr=subprocess.DEVNULL) as server:
                assert "execute_code" in [tool["name"] for tool in server.request("tools/list")["tools"]]


def test_the_url_and_the_token_that_are_told_are_let_in(home):
    """The variable is put in as a client would."""
    with Running(home) as running:
        token = running.cloister("token", "add", "me").stdout.strip()
        serve = subprocess.Popen([home.program, "serve", "--transport=http", "--listen=127.0.0.1:0"], env=running.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            url = next(said["url"] for said in map(json.loads, serve.stderr) if said["text"] == "listening") + "/mcp"
            entries = [entry_of(client, home(client, "--http", url, "--token-env", "TOKEN").stdout) for client in PROJECTS]
            entries.append(entry_of("codex", home("codex", "--http", url, "--token-env", "TOKEN").stdout))
            for entry in entries:
                said = entry.get("headers", {}).get("Authorization") or "Bearer ${" + entry["bearer_token_env_var"] + "}"
                for value, status in (token, 200), ("cl_wrong", 401):
                    assert ask(entry["url"], re.sub(r"\$\{(env:)?TOKEN\}", value, said)) == status, (entry, status)
        finally:
            serve.terminate()
            serve.stderr.close()
            serve.wait(30)


def ask(url, authorization):
    """The status that a question is answered with; what is answered names the tools."""
    request = urllib.request.Request(url, json.dumps(QUESTION).encode(), {
        "Authorization": authorization, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert b'"execute_code"' in answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def main():
    home = Home(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], home)
    finally:
        home.close()


main()
