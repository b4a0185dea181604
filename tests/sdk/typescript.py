#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""typescript.py BIN WORK: packs the package for TypeScript and Node, installs it as a user does, and runs the tests there.

Without npm, or an index that answers, it is skipped.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SOURCE = os.path.join(ROOT, "compose", "sdk", "typescript")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402
import tools  # noqa: E402
from daemons import Cluster, skip  # noqa: E402

BROUGHT = ("typescript@7.0.2", "@types/node@20.19.43", "ai@6.0.326", "zod@4.6.7")
FLAGS = ["--toolsets=core,monitor", "--result-bytes=0"]
SCOPES = "--scopes=read,run,monitor,vault"
OLDEST = (20, 3)
NO_ANSWER = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E50\d")
PACKED = {"package.json", "README.md", "index.d.ts", "tools.d.ts"}
PLOT = "import matplotlib.pyplot as plt; plt.plot([1, 4, 9]); plt.show()"
# The same picture without a library, which the machine may lack.
DRAWN = "import base64; open('plot.png', 'wb').write(base64.b64decode(" \
        "'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='))"
OPTIONS = {"strict": True, "target": "es2022", "module": "nodenext", "lib": ["es2023"], "types": ["node"], "noEmitOnError": True}
INSTALL = "npm install --install-links ./compose/sdk/typescript"
# E2B's program for the jobs of the README has 13 lines.
MOST_LINES = 13
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


def run(*command, timeout=300, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False, **more)


def done(*command, **more):
    ran = run(*command, **more)
    assert ran.returncode == 0, f"{' '.join(command)} ended with status {ran.returncode}:\n{ran.stdout[-3000:]}"
    return ran.stdout


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Project:
    """A program's directory, with the packed package, and beside it a copy of the sources."""

    def __init__(self, directory):
        self.directory, self.sources = directory, os.path.join(directory, "sources")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        shutil.copytree(SOURCE, self.sources, ignore=shutil.ignore_patterns("node_modules"))
        self.write("package.json", json.dumps({"private": True, "type": "module"}))
        packed = done("npm", "pack", "--json", "--pack-destination", directory, cwd=self.sources)
        self.archive = os.path.join(directory, json.loads(packed)[0]["filename"])

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def install(self):
        ran = run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", *BROUGHT, self.archive,
                  cwd=self.directory)
        if ran.returncode != 0 and NO_ANSWER.search(ran.stdout):
            skip("npm's index does not answer")
        assert ran.returncode == 0, ran.stdout

    def compile(self, files, **options):
        """tsc --strict of the files; what it writes is in `out`."""
        self.write("tsconfig.json", json.dumps({"compilerOptions": {**OPTIONS, "rootDir": ".", "outDir": "out", **options}, "files": files}))
        done(os.path.join("node_modules", ".bin", "tsc"), "-p", ".", cwd=self.directory)


def nodes():
    """The machine's, if it is new enough, and that of the tests."""
    own, theirs = shutil.which("node"), tools.node("node_modules/none")[0]
    return {version: node for node in (own, theirs) if node and (version := done(node, "--version").strip()) and number(version) >= OLDEST}


def number(version):
    return tuple(map(int, version[1:].split(".")[:2]))


def test_what_is_packed(project):
    with tarfile.open(project.archive) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    assert {name for name in names if "/" not in name} == PACKED, names
    assert {name.split("/")[0] for name in names - PACKED} == {"src", "examples"}, names
    assert all(name.endswith((".js", ".ts")) for name in names - PACKED), names


def test_the_command_of_the_readme_installs(project):
    assert f"`{INSTALL}`" in read(SOURCE, "README.md")
    place = os.path.join(project.directory, "installed")
    os.mkdir(place)
    done(*INSTALL.split()[:-1], "--no-audit", "--no-fund", project.sources, cwd=place)
    assert done("node", "-p", "import('cloister-sandbox').then((all) => console.log(typeof all.Sandbox.open))", cwd=place).endswith("function\n")


def test_the_sources_have_the_types_that_are_declared(project):
    project.write("same.ts", 'import * as types from "cloister-sandbox";\nimport * as sources from "./sources/src/index.js";\n'
                  'const rest: Omit<typeof types, "Sandbox"> = sources;\n'
                  'const open: typeof types.Sandbox.open = sources.Sandbox.open;\nconsole.log(rest, open);\n')
    project.compile(["same.ts", "sources/src/adapters/text.js"], allowJs=True, checkJs=True, noEmit=True)


def test_the_tool_has_the_type_that_is_declared(project):
    place = os.path.join(project.sources, "src", "adapters")
    shutil.copy(os.path.join(place, "ai.js"), os.path.join(place, "same.js"))
    project.write("tool.ts", 'import * as types from "cloister-sandbox/ai";\nimport * as sources from "./sources/src/adapters/same.js";\n'
                  'import { Sandbox } from "cloister-sandbox";\nimport type { Tool } from "ai";\n'
                  'declare const session: any;\nconst made: Tool<{ code: string }, types.Answer> = sources.runCode(session, { timeout: 1 });\n'
                  'types.runCode(await (await Sandbox.open()).session(), { timeout: 1, most: 9 });\n'
                  '// @ts-expect-error\ntypes.runCode(session, { most: "9" });\nconsole.log(made);\n')
    project.compile(["tool.ts"], allowJs=True, checkJs=True, noEmit=True, skipLibCheck=True)


def test_types_refuse_what_is_wrong(project):
    project.write("wrong.ts", 'import { Sandbox } from "cloister-sandbox";\nconst sandbox = await Sandbox.open();\n'
                  '// @ts-expect-error\nawait sandbox.run("1", { timeout: "soon" });\n'
                  '// @ts-expect-error\nawait sandbox.run("1", { limits: { maxRam: 1 } });\n'
                  '// @ts-expect-error\nnew Sandbox({});\n'
                  '// @ts-expect-error\n(await sandbox.call("validate_csv_data", { csv_content: "a" })).row_cout;\n'
                  'const size: number = (await sandbox.run("1", { allowedDomains: ["x"], envSecrets: ["A"] })).images[0].data.length + '
                  '(await sandbox.call("sandbox_read_artifact", { path: "a" })).total_size;\nconsole.log(size);\n')
    project.compile(["wrong.ts"], noEmit=True)


def test_the_types_of_tools_are_those_of_the_server(project):
    done("node", "sources/scripts/tools.js", "--check", cwd=project.directory)


def test_the_readme_has_the_example(project):
    blocks = re.findall(r"^```ts\n(.*?)^```", read(SOURCE, "README.md"), re.S | re.M)
    jobs = read(SOURCE, "examples", "jobs.ts").partition("// The jobs")[2].partition("\n")[2]
    assert jobs in blocks, "README.md has another program than examples/jobs.ts"
    lines = [line for line in jobs.split("\n") if line.strip() and not line.startswith("//")]
    assert len(lines) <= MOST_LINES, len(lines)
    del project


def test_the_examples(project):
    installed = "node_modules/cloister-sandbox/examples"
    for name in os.listdir(os.path.join(project.directory, installed)):
        text = read(project.directory, installed, name)
        project.write(name, text.replace(PLOT, DRAWN))
        if name.endswith(".ts"):
            project.compile([name])
            name = "out/" + name.replace(".ts", ".js")
        said = done("node", name, cwd=project.directory, timeout=60)
        assert all(word in said for word in EXPECTED[os.path.basename(name)]), said
    with open(os.path.join(project.directory, "plot.png"), "rb") as file:
        assert file.read(4) == b"\x89PNG"


EXPECTED = {"jobs.js": ["42\n", "a,b\n", "2\n", "stdout begun", "true timeout"],
            "csv_analysis.js": ['best: [["south",32]]', '{"north": 15, "south": 32}'],
            "agent_ai.js": ["tool: 42", "ZeroDivisionError", "ai: The answer is 42."],
            "agent.js": ["result: 2", "new file: note.txt, 2 bytes", "IndexError", "invalid_argument", "TimeoutError"]}


def play(node, project, script, *options):
    """The counts of a script of tests."""
    shutil.copy(os.path.join(HERE, script), project.directory)
    ran = run(node, script, *map(json.dumps, options), cwd=project.directory)
    print(ran.stdout, end="", flush=True)
    totals = TOTALS.search(ran.stdout)
    counts = dict(zip(("passed", "failed", "skipped"), map(int, totals.groups()))) if totals else {"passed": 0, "failed": 1, "skipped": 0}
    if ran.returncode != 0 and counts["failed"] == 0:
        print(f"failed {script}: status {ran.returncode}")
        counts["failed"] += 1
    return counts


def token(cluster):
    command = [os.path.join(cluster.bin, "cloister"), "token", "add", "typescript", SCOPES, "--state=" + cluster.state]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def against_programs(project, binaries):
    small = {"executor": ["--max-concurrent=1", "--max-waiting=0"]}
    with Cluster(binaries) as cluster, Cluster(binaries, flags=small) as crowded, \
            cluster.served([*FLAGS, "--anonymous=false"]) as served, crowded.served(FLAGS) as full:
        command = [*cluster.command("gateway"), *FLAGS]
        os.environ["CLOISTER_COMMAND"] = shlex.join(command)
        yield cases.play(sys.modules[__name__], project)
        del os.environ["CLOISTER_COMMAND"]
        http = {"url": served.url, "token": token(cluster)}
        for version, node in nodes().items():
            print(f"--- Node {version}", flush=True)
            yield play(node, project, "typescript_native.mjs", {"command": command}, {"command": [*crowded.command("gateway"), *FLAGS]})
            yield play(node, project, "typescript_native.mjs", http, {"url": full.url})
            yield play(node, project, "typescript_adapters.mjs", {"command": command})
            yield play(node, project, "typescript_faults.mjs", {**http, "token": "wrong"})


def main(binaries, work):
    if not shutil.which("npm") or not shutil.which("node"):
        skip("npm and node are needed")
    project = Project(work)
    project.install()
    shutil.copy(os.path.join(HERE, "typescript_cases.mjs"), project.directory)
    cases.end(*against_programs(project, binaries))


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
