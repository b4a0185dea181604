# SPDX-License-Identifier: Apache-2.0
"""The `cloister` command with directories of its own."""

import os
import shutil
import subprocess
import tempfile


class Command:
    """cloister with its own directories; idle daemons end after a second."""

    def __init__(self, bin):
        self.program = os.path.join(os.path.abspath(bin), "cloister")
        self.directory = tempfile.mkdtemp(prefix="cloister-command-")
        os.chmod(self.directory, 0o755)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CLOISTER_")}
        self.env = {**kept, "CLOISTER_RUN": os.path.join(self.directory, "run"),
                    "CLOISTER_STATE": os.path.join(self.directory, "state"), "CLOISTER_SUPERVISOR_IDLE_S": "1"}

    def __call__(self, *arguments, input=b"", timeout=60):
        return subprocess.run([self.program, *arguments], env=self.env, input=input, capture_output=True, check=False,
                              timeout=timeout)

    def program_file(self, text, name="program.py"):
        path = os.path.join(self.directory, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def close(self):
        self("down")
        shutil.rmtree(self.directory, ignore_errors=True)
