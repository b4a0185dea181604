#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister config`: what it prints for each client, the commands that it runs, the files that it edits.

    config.py BIN

Fake `claude` and `codex` programs record their arguments.  Python's own parsers say what a file means before and after.
"""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

# Where each client looks, below the home; what its servers stand in.
FILES = {"claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
         "claude-code": (".claude.json", "mcpServers"), "cursor": (".cursor/mcp.json", "mcpServers"),
         "vscode": (".config/Code/User/mcp.json", "servers"), "codex": (".codex/config.toml", "mcp_servers")}
PROJECTS = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}
EDITED = ["claude-desktop", "cursor", "vscode"]  # the others have a command
URL = "https://sandbox.example:8765/mcp"
SECRET = "sk-do-not-print"


class Home:
    """A home of its own, cloister in it, and a directory in PATH for the clients' commands."""

    def __init__(self, bin):
        self.program = os.path.realpath(os.path.join(bin, "cloister"))
        self.directory = os.path.realpath(tempfile.mkdtemp(prefix="cloister-config-"))
        os.chmod(self.directory, 0o755)  # daemons of root have users of their own
        self.project = os.path.join(self.directory, "project")
        self.commands = os.path.join(self.directory, "commands")
        os.mkdir(self.project)
        os.mkdir(self.commands)
        self.env = {"HOME": self.directory, "PATH": f"{self.commands}:/usr/bin:/bin"}

    def __call__(self, *arguments, status=0, env=None, before=()):
        """No text of an earlier entry or of another server is ever printed."""
        ran = subprocess.run([*before, self.program, "config", *arguments], env={**self.env, **(env or {})}, cwd=self.project,
                             capture_output=True, text=True, check=False, timeout=20)
        assert ran.returncode == status, (arguments, ran)
        assert SECRET not in ran.stdout + ran.stderr, ran
        return ran

    def fake(self, name, status=0):
        """A client's command that says something, and records its arguments."""
        path = os.path.join(self.commands, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s\\0" "$@" >"$0.line"\necho "{name} speaks"\nexit {status}\n')
        os.chmod(path, 0o755)

    def recorded(self, name):
        with open(os.path.join(self.commands, name + ".line"), encoding="utf-8") as file:
            return file.read().split("\0")[:-1]

    def without_commands(self):
        for name in os.listdir(self.commands):
            os.remove(os.path.join(self.commands, name))

    def path(self, client):
        return os.path.join(self.directory, FILES[client][0])

    def put(self, client, text):
        """The client's file, and nothing of what an earlier case left beside it."""
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

    def edited(self, client, text, *arguments):
        """The file after --write.  The old text is in one backup, and a second --write changes nothing."""
        path = self.put(client, text)
        ran = self(client, "--write", *arguments)
        after, backups = self.get(client), self.backups(client)
        assert [open(b, encoding="utf-8", newline="").read() for b in backups] == [text] and backups[0] in ran.stdout, (backups, ran)
        assert all(os.stat(name).st_mode & 0o777 == 0o640 for name in (path, *backups))
        again = self(client, "--write", *arguments)
        assert "already" in again.stdout and self.get(client) == after and self.backups(client) == backups
        return after

    def refused(self, client, text, why):
        """Nothing is touched, the reason is one line, and the entry is printed for the user to add."""
        self.put(client, text)
        ran = self(client, "--write", status=1)
        assert re.search(why, ran.stderr) and ran.stderr.count("\n") == 1 and "by hand" in ran.stderr, (text, ran.stderr)
        assert entry_of(client, ran.stdout) == program_of(self, client), ran.stdout
        with open(self.path(client), "rb") as file:
            assert file.read() == (text if isinstance(text, bytes) else text.encode())
        assert not self.backups(client)

    def close(self):
        shutil.rmtree(self.directory)


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
        assert os.path.join(home.directory, file) in ran.stderr
        assert not os.path.exists(os.path.join(home.directory, file))
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
            (["emacs"], 2, "emacs"), (["cursor", "--wriet"], 2, "wriet"), (["cursor", "vscode"], 2, "usage"),
            (["cursor", "--http", "ftp://x"], 1, "URL"), (["cursor", "--http", "http://"], 1, "URL"),
            (["cursor", "--http", "http://a b"], 1, "URL"), (["cursor", "--http", 'http://a"'], 1, "URL"),
            (["cursor", "--token-env", "X"], 1, "--http"), (["cursor", "--http", URL, "--token-env", "se-cret"], 1, "variable"),
            (["cursor", "--http", URL, "--", "--x"], 1, "settings"), (["codex", "--project"], 1, "project"),
            (["cursor", "--", "a\nb"], 1, "control")]:
        ran = home(*line, status=status)
        assert why in ran.stderr and ran.stdout == "", (line, ran)
    assert "claude-desktop, claude-code, cursor, vscode, codex" in home("--help").stdout


def test_files_are_made_where_there_are_none(home):
    for client in EDITED:
        file, section = FILES[client]
        path = os.path.join(home.directory, file)
        ran = home(client, "--write")
        assert path in ran.stdout and "backup" not in ran.stdout, ran
        assert parse(client, home.get(client)) == {section: {"cloister": program_of(home, client)}}
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert entry_of(client, home.edited(client, "  \n")) == program_of(home, client)


def test_the_environment_says_where_files_are(home):
    other = os.path.join(home.directory, "else where")
    for client, variable, file in [("claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
                                   ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json")]:
        home(client, "--write", env={variable: other})
        with open(os.path.join(other, file), encoding="utf-8") as made:
            assert entry_of(client, made.read()) == program_of(home, client)
    for client, variable, file in [("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"), ("codex", "CODEX_HOME", "config.toml")]:
        assert os.path.join(other, file) in home(client, env={variable: other}).stderr
    for client, file in PROJECTS.items():
        home(client, "--project", "--write")
        with open(os.path.join(home.project, file), encoding="utf-8") as made:
            assert entry_of(client, made.read()) == program_of(home, client)


# The settings are hostile to a shell, which must not see them.
ODD = ["--name=a b'c\"$(touch x)`é\\", "--", "", "*"]


def test_claude_code_adds_it_by_its_own_command(home):
    home.fake("claude")
    for flags, scope in [((), "user"), (("--project",), "project")]:
        ran = home("claude-code", "--write", *flags, "--", *ODD)
        assert ran.stdout.startswith("claude speaks\n") and "/mcp" in ran.stdout, ran
        *line, entry = home.recorded("claude")
        assert line == ["mcp", "add-json", "--scope", scope, "cloister"], line
        assert json.loads(entry) == {**program_of(home, "claude-code"), "args": ["serve", *ODD]}
    home("claude-code", "--write", "--http", URL, "--token-env", "TOKEN", env={"TOKEN": SECRET})
    assert json.loads(home.recorded("claude")[-1]) == {
        "type": "http", "url": URL, "headers": {"Authorization": "Bearer ${TOKEN}"}}
    assert not os.path.exists(home.path("claude-code"))
    home.without_commands()


def test_codex_adds_it_by_its_own_command(home):
    home.fake("codex")
    ran = home("codex", "--write", "--", *ODD)
    assert ran.stdout.startswith("codex speaks\n") and "/mcp" in ran.stdout, ran
    assert home.recorded("codex") == ["mcp", "add", "cloister", "--", home.program, "serve", *ODD]
    home("codex", "--write", "--http", URL)
    assert home.recorded("codex") == ["mcp", "add", "cloister", "--url", URL]
    home("codex", "--write", "--http", URL, "--token-env", "TOKEN", env={"TOKEN": SECRET})
    assert home.recorded("codex") == ["mcp", "add", "cloister", "--url", URL, "--bearer-token-env-var", "TOKEN"]
    assert not os.path.exists(home.path("codex"))
    home.without_commands()


def test_a_command_that_fails_is_reported(home):
    for client, name, hint in [("claude-code", "claude", "claude mcp remove cloister"), ("codex", "codex", "codex mcp list")]:
        home.fake(name, status=3)
        ran = home(client, "--write", status=1)
        assert f"{name} failed (status 3)" in ran.stderr and hint in ran.stderr and ran.stdout == f"{name} speaks\n", ran
        os.chmod(os.path.join(home.commands, name), 0o644)
        assert f"start {name}: " in home(client, "--write", status=1).stderr
    home.fake("claude", status=3)
    made = os.path.join(home.project, ".mcp.json")
    if os.path.exists(made):
        os.remove(made)
    home("claude-code", "--write", "--project", status=1)
    assert not os.path.exists(made)
    home.without_commands()


def test_a_command_that_is_missing_is_printed(home):
    """The line that is printed gives the fake program, through a shell, the arguments that it would have got."""
    for client, name in [("claude-code", "claude"), ("codex", "codex")]:
        lines = []
        for flags, status in [((), 0), (("--write",), 1)]:
            ran = home(client, *flags, "--", *ODD, status=status)
            assert entry_of(client, ran.stdout) == {**program_of(home, client), "args": ["serve", *ODD]}, ran
            assert home.path(client) in ran.stderr and ran.stderr.count("\n") == 1, ran
            lines.append(re.search(r"(?:runs|is installed): (.*?)(?:; or add this to .*)?\n", ran.stderr)[1])
        assert "is not in PATH" in ran.stderr and lines[0] == lines[1], lines
        home.fake(name)
        home(client, "--write", "--", *ODD)
        wanted = home.recorded(name)
        assert shlex.split(lines[0]) == [name, *wanted]
        subprocess.run(["sh", "-c", lines[0]], env=home.env, cwd=home.project, check=True, stdout=subprocess.DEVNULL)
        assert home.recorded(name) == wanted
        home.without_commands()
        assert not os.path.exists(home.path(client))


BUSY = """{
    "theme": "dark",   "most": 999999999999999,
    "mcpServers": {
        "z": {"command": "x", "args": ["//", "}"], "env": {"KEY": "%s", "A": "\\u00e9\\""}},
        "cloister": { "env": {"KEEP": "%s"}, "command": "/old/cloister", "url": "u", "type": "t", "disabled": true },
        "Cloister": {}, "a": {}
    },
    "last": [1.5, {"mcpServers": {}}, null, "\\ud83d\\ude00", -0.25e-7]
}
""" % (SECRET, SECRET)


def ordered(text):
    """Objects as lists of pairs, so that their order counts."""
    return json.loads(text, object_pairs_hook=list)


def test_all_else_keeps_its_value_and_its_place(home):
    want = ordered(BUSY)
    want[2][1][1] = ("cloister", [("env", [("KEEP", SECRET)]), ("command", home.program), ("disabled", True), ("args", ["serve"])])
    assert ordered(home.edited("cursor", BUSY)) == want
    want[2][1][1] = ("cloister", [("env", [("KEEP", SECRET)]), ("url", URL), ("disabled", True)])
    assert ordered(home.edited("cursor", BUSY, "--http", URL)) == want
    want[2][1][1] = ("cloister", [("env", [("KEEP", SECRET)]), ("disabled", True), ("url", URL),
                                  ("headers", [("Authorization", "Bearer ${env:TOKEN}")])])
    without_url = BUSY.replace('"url": "u", ', "")
    assert ordered(home.edited("cursor", without_url, "--http", URL, "--token-env", "TOKEN")) == want
    for text in ["{}", "{ }", '{"a":1}', '{"mcpServers":{}}', '{"mcpServers":{"b":{}}}', '{\r\n"mcpServers": {\r\n}\r\n}\r\n',
                 '{"mcp\\u0053ervers": {"cl\\u006fister": {"command": "old"}}}', '{"": {"": [[], {}, "", false]}}',
                 '{"MCPSERVERS": {"x": 1}, "mcpservers": 2}', '{"\\"}": "{", "mcpServers": {"\\\\": {}, "x": {"y": "\\"}"}}}']:
        want = json.loads(text)
        want.setdefault("mcpServers", {})["cloister"] = program_of(home, "claude-desktop")
        assert json.loads(home.edited("claude-desktop", text)) == want, text


def test_what_is_not_strict_json_is_not_touched(home):
    for text, why in [("{", "line 1"), ("{} {}", "line 1"), ("[]", "not a JSON object"), ('{"a": 1, "a": 2}', "line 1"), ("{'a': 1}", "line 1"),
                      ('{"mcpServers": []}', '"mcpServers" in it is not'), ('{"mcpServers": {"cloister": "x"}}', '"cloister" in it is not'),
                      (b"\xff", "line 1"), (b'{"a": "\xff"}', "line 1"), ('\n\n{"a": tru}', "line 3"), ('{"a": 1,}', "line 1"), (b"{}\0", "line 1"),
                      ('{"a": "x\n"}', "line 1"), ("// mine\n{}", "line 1"), ('{\n  "a": {} /* last */\n}', "line 2"), ("\ufeff{}", "line 1"),
                      (f'{{"KEY": "{SECRET}" "{SECRET}"}}', "line 1"), (f'{{"{SECRET}": 1, "{SECRET}": 2}}', "line 1"),
                      (f'{{"KEY": {SECRET}}}', "line 1")]:
        home.refused("cursor", text, why)


# cJSON would cut, merge, round or rewrite these.
def test_values_that_would_change_are_not_touched(home):
    for value in ["12345678901234567", "9007199254740992", "-9223372036854775807", "1e2", "1.0", "0.30000000000000004"]:
        for text in f'{{"a": [{value}]}}', f'{{"mcpServers": {{"cloister": {{"env": {{"A": {value}}}}}}}}}':
            home.refused("cursor", text, "a number in it would be rounded")
    home.edited("cursor", '{"mcpServers": {"cloister": {"args": [12345678901234567]}}}')  # this one is replaced
    home.refused("cursor", '{"a": "b\\u0000c"}', "line 1")
    home.refused("cursor", '{"a": "\\ud800"}', "line 1")
    home.refused("cursor", '{"a": 1e999}', "line 1")
    home.refused("cursor", '{"a": ' + "[" * 1500 + "]" * 1500 + "}", "nested too deeply")
    home.refused("cursor", '{"a": ' + "[" * 100000, "line 1")


def test_a_file_that_changes_meanwhile_is_not_touched(home):
    """strace holds the program at its first fsync, that of the backup; then the client writes."""
    path = home.put("cursor", "{}")
    began = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:delay_enter=2s:when=1", home.program, "config", "cursor",
                              "--write"], env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while not glob.glob(os.path.join(glob.escape(os.path.dirname(path)), ".draft-*")):
        assert time.monotonic() < until and began.poll() is None, began.communicate()
        time.sleep(0.01)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"theirs": 1}')
    stderr = began.communicate(timeout=20)[1]
    assert began.returncode == 1 and "in the meantime" in stderr and home.get("cursor") == '{"theirs": 1}', stderr


def test_links_and_others_files(home):
    real = os.path.join(home.directory, "dotfiles.json")
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
        os.chown(home.put("cursor", "{}"), 0, 65534)
        home("cursor", "--write")
        kept = [os.stat(path) for path in (home.path("cursor"), *home.backups("cursor"))]
        assert [(st.st_gid, st.st_mode & 0o777) for st in kept] == [(65534, 0o640)] * 2
        os.chown(home.put("cursor", "{}"), 65534, 65534)
        assert "another user" in home("cursor", "--write", status=1).stderr and home.get("cursor") == "{}"


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


class Running:
    """The daemons' directories, and the end of what was started in them."""

    def __init__(self, home):
        self.home = home
        self.env = {**home.env, "CLOISTER_RUN": os.path.join(home.directory, "run"), "CLOISTER_STATE": os.path.join(home.directory, "state"),
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


def test_remove_undoes_write(home):
    home.without_commands()
    for client in EDITED:
        text = json.dumps({FILES[client][1]: {"other": {"command": "x", "env": {"KEY": SECRET}}}, "z": 1.5}, indent=1)
        shutil.rmtree(os.path.dirname(home.path(client)), ignore_errors=True)
        home.put(client, text)
        home(client, "--write")
        assert "removed cloister" in home(client, "--remove").stdout
        assert parse(client, home.get(client)) == json.loads(text), client
        assert "no entry" in home(client, "--remove").stdout
        home.put(client, '{"a": 1, "a": 2}')
        assert "stays" in home(client, "--remove", status=1).stderr
    home(EDITED[0], "--remove", "--write", status=1)
    home("cursor", "--write", "--project")
    assert "removed" in home("cursor", "--remove", "--project").stdout


def test_remove_by_the_clients_command(home):
    home.without_commands()
    home.put("claude-code", json.dumps({"mcpServers": {"cloister": {"command": "x"}}}))
    home.put("codex", '[mcp_servers.cloister]\ncommand = "x"\n')
    for client in "claude-code", "codex":
        assert "stays" in home(client, "--remove", status=1).stderr, "its file is not for others to edit"
    home.fake("claude")
    home.fake("codex")
    home("claude-code", "--remove")
    home("codex", "--remove")
    assert home.recorded("claude") == ["mcp", "remove", "--scope", "user", "cloister"]
    assert home.recorded("codex") == ["mcp", "remove", "cloister"]


def test_uninstall_undoes_and_lists(home):
    home.without_commands()
    for client in FILES:
        if os.path.exists(home.path(client)):
            os.remove(home.path(client))
    for client in EDITED:
        home(client, "--write")
    links = os.path.join(home.directory, ".local/bin")
    os.makedirs(links)
    os.symlink(home.program, os.path.join(links, "cloister"))
    env = {**home.env, "CLOISTER_RUN": os.path.join(home.directory, "run"), "CLOISTER_STATE": os.path.join(home.directory, "state")}
    subprocess.run([home.program, "up"], env=env, capture_output=True, check=True, timeout=60)
    done = subprocess.run([home.program, "uninstall"], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and "have stopped" in done.stdout, done
    assert not os.listdir(links) and all("cloister" not in home.get(client) for client in EDITED), done
    assert f"rm -r {home.directory}/state" in done.stdout and os.path.isdir(env["CLOISTER_STATE"]) and "packages of Debian" in done.stdout, done
    os.symlink("/usr/bin/env", os.path.join(links, "cloister"))
    again = subprocess.run([home.program, "uninstall"], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert again.returncode == 0 and "stays: it leads to" in again.stdout and os.listdir(links), again


def main():
    home = Home(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], home)
    finally:
        home.close()


main()
