#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bundle.py BUILD WORK: the MCP bundle and the registry's server.json of this build, as clients and the registry use them.

The official tool checks and unpacks the bundle. Its server is started as the manifest says, and runs a program.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

REPOSITORY = "https://github.com/example/cloister"


class Bundle:
    """A bundle of the build, made by compose/mcpb/pack."""

    def __init__(self, build, work):
        self.work, self.tool = work, os.path.join(work, "tool", "node_modules", ".bin", "mcpb")
        made = subprocess.run([os.path.join(ROOT, "compose", "mcpb", "pack"), build, work, "--repository", REPOSITORY],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert made.returncode == 0, made.stdout
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            self.version = re.search(r"project\(cloister VERSION (\S+)", file.read())[1]
        self.path = os.path.join(work, f"cloister-{self.version}-linux-x64.mcpb")
        with open(os.path.join(work, "server.json"), encoding="utf-8") as file:
            self.server = json.load(file)
        with zipfile.ZipFile(self.path) as file:
            self.manifest = json.loads(file.read("manifest.json"))
        # Clients may install it in a path with spaces.
        self.place = tempfile.mkdtemp(prefix="cloister bundle ")
        os.chmod(self.place, 0o755)

    def official(self, *arguments):
        return subprocess.run([self.tool, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)

    def unpacked(self):
        """Unpacks the bundle, once; returns the directory."""
        directory = os.path.join(self.place, "it")
        if not os.path.exists(directory):
            ran = self.official("unpack", self.path, directory)
            assert ran.returncode == 0, ran.stdout
        return directory

    def command(self, **user_config):
        """The command that a client would start, with its user's configuration or else the defaults."""
        words = {"__dirname": self.unpacked()}
        for name, option in self.manifest["user_config"].items():
            words["user_config." + name] = user_config.get(name, option["default"])
        config = self.manifest["server"]["mcp_config"]
        return [re.sub(r"\$\{([^}]*)\}", lambda match: words[match[1]], part) for part in [config["command"], *config["args"]]]

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)


def test_the_official_tool_takes_it(bundle):
    for arguments in (("validate", os.path.join(bundle.unpacked(), "manifest.json")), ("info", bundle.path)):
        ran = bundle.official(*arguments)
        assert ran.returncode == 0, ran.stdout
    broken = os.path.join(bundle.place, "manifest.json")
    with open(broken, "w", encoding="utf-8") as file:
        json.dump({key: value for key, value in bundle.manifest.items() if key != "version"}, file)
    assert bundle.official("validate", broken).returncode != 0


def test_the_bundle_has_the_programs_and_no_more(bundle):
    with zipfile.ZipFile(bundle.path) as file:
        modes = {entry.filename: stat.S_IMODE(entry.external_attr >> 16) for entry in file.infolist()}
    assert {name.split("/")[0] for name in modes} == {"bin", "libexec", "LICENSE", "manifest.json"}, modes
    for name, mode in modes.items():
        assert bool(mode & 0o111) == bool(re.match(r"(bin/|libexec/cloister/cloister-)", name)), (name, oct(mode))
        assert not mode & 0o022, (name, oct(mode))
    assert bundle.manifest["server"]["entry_point"] in modes
    assert os.path.getsize(bundle.path) < 4 << 20


def test_versions_agree(bundle):
    said = subprocess.run([bundle.command()[0], "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said == f"cloister {bundle.version}\n"
    assert bundle.manifest["version"] == bundle.server["version"] == bundle.version


class Desktop:
    """A client's home directory, and the bundle's daemons in it; they end one second after the client."""

    def __init__(self, bundle, **user_config):
        self.bundle, self.directory = bundle, tempfile.mkdtemp(prefix="cloister-desktop-")
        os.chmod(self.directory, 0o755)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("CLOISTER_")}
        self.env = {**kept, "CLOISTER_RUN": os.path.join(self.directory, "run"), "CLOISTER_STATE": os.path.join(self.directory, "state"),
                    "CLOISTER_SUPERVISOR_IDLE_S": "1"}
        self.command = bundle.command(**user_config)

    def __enter__(self):
        self.client = daemons.Client(self.command, env=self.env, stderr=subprocess.DEVNULL, cwd="/")
        return self.client

    def __exit__(self, *_):
        self.client.close()
        subprocess.run([self.command[0], "down"], env=self.env, capture_output=True, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)


def test_it_runs_a_program(bundle):
    with Desktop(bundle) as client:
        program = os.readlink(f"/proc/{client.process.pid}/exe")
        result = client.call("execute_code", {"code": "open('a.txt', 'w').write('x')\nprint('from the bundle')\n6 * 7"})
        assert program.startswith(bundle.unpacked() + "/"), program
    value = result["structuredContent"]
    assert not result["isError"] and value["result"] == 42 and value["stdout"] == "from the bundle\n", result
    assert [artifact["filename"] for artifact in value["artifacts"]] == ["a.txt"] and value["isolation"]["layers"], value


def test_the_manifest_tells_its_tools(bundle):
    with Desktop(bundle) as client:
        offered = client.request("tools/list")["tools"]
    assert bundle.manifest["tools"] == [{"name": tool["name"], "description": tool["description"]} for tool in offered]
    with Desktop(bundle, toolsets="core,monitor") as client:
        assert len(client.request("tools/list")["tools"]) > len(offered)


def test_the_registry_would_take_server_json(bundle):
    """Rules of the schema of 2025-12-11 and of the registry's own checks, as far as they concern this file."""
    server = bundle.server
    assert server["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert set(server) <= {"$schema", "name", "title", "description", "version", "repository", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]", server["name"])
    assert 3 <= len(server["name"]) <= 200 and server["name"] == "io.github.example/cloister"
    assert 1 <= len(server["description"]) <= 100 and 1 <= len(server["title"].strip()) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+", server["version"])
    assert server["repository"] == {"url": REPOSITORY, "source": "github"}
    gateway = os.path.join(bundle.unpacked(), "libexec", "cloister", "cloister-gateway")
    settings = subprocess.run([gateway, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for package in server["packages"]:
        assert set(package) <= {"registryType", "identifier", "fileSha256", "transport", "environmentVariables"}
        assert package["registryType"] == "mcpb" and package["transport"] == {"type": "stdio"}
        assert re.fullmatch(r"https://\S+", package["identifier"]) and "mcp" in package["identifier"].lower()
        assert package["identifier"].startswith(f"{REPOSITORY}/releases/download/v{bundle.version}/")
        assert package["identifier"].endswith("/" + os.path.basename(bundle.path))
        with open(bundle.path, "rb") as file:
            assert package["fileSha256"] == hashlib.sha256(file.read()).hexdigest()
        for variable in package["environmentVariables"]:
            assert set(variable) <= {"name", "description", "default", "format", "isRequired", "isSecret", "choices"}
            assert re.fullmatch(r"CLOISTER_[A-Z_]+", variable["name"]) and variable["description"]
            flag = variable["name"].removeprefix("CLOISTER_GATEWAY_").lower().replace("_", "-")
            assert f"--{flag}=" in settings, variable


def main(build, work):
    if not shutil.which("npm") or not shutil.which("node"):
        daemons.skip("node and npm are needed")
    bundle = Bundle(os.path.abspath(build), os.path.abspath(work))
    try:
        cases.run(sys.modules[__name__], bundle)
    finally:
        bundle.close()


main(*sys.argv[1:])
