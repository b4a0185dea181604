# SPDX-License-Identifier: Apache-2.0
"""A session of the asynchronous API."""

from __future__ import annotations

import os
import posixpath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, Generator, List, Mapping, Optional, Sequence, Type, Union

from . import directory
from .errors import Closed, SandboxError, ToolError
from .result import Artifact, Result, Snapshot
from .values import Object, objects, required

if TYPE_CHECKING:
    from .aio import AsyncSandbox, Content, OnOutput

MAX_FILES, MAX_BYTES = 1000, 100_000_000


class AsyncSession:
    """A session: its variables, imports and files stay between runs."""

    def __init__(self, sandbox: AsyncSandbox, id_: Optional[str], arguments: Object) -> None:
        self._sandbox, self._id, self._arguments = sandbox, id_, arguments
        self._own = id_ is None

    @property
    def id(self) -> str:
        if self._id is None:
            raise Closed("the session is not open: use `async with`, or await it")
        return self._id

    async def open(self) -> "AsyncSession":
        if self._id is None:
            self._id = required(await self._sandbox.call("create_session", **self._arguments), "session_id", str)
        return self

    def __await__(self) -> Generator[Any, None, "AsyncSession"]:
        return self.open().__await__()

    async def __aenter__(self) -> "AsyncSession":
        return await self.open()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        if self._own and self._id is not None:
            await self._leave(error)

    # A session that has ended is no fault; nor may this hide the exception of the block.
    async def _leave(self, error: Optional[BaseException]) -> None:
        try:
            await self.close()
        except Exception as failed:
            if error is None and not (isinstance(failed, ToolError) and failed.code in ("not_found", "session_expired")):
                raise

    async def close(self) -> None:
        """Ends the session and deletes its files."""
        id_, self._id = self.id, None
        await self._sandbox.call("terminate_session", session_id=id_)

    async def run(self, code: str, *, language: Optional[str] = None, timeout: Optional[float] = None,
                  files: Optional[Mapping[str, Content]] = None, profile: Optional[str] = None,
                  limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
                  allowed_domains: Optional[Sequence[str]] = None, allowed_imports: Optional[Sequence[str]] = None,
                  packages: Optional[Sequence[str]] = None, environment: Optional[str] = None,
                  env_secrets: Optional[Sequence[str]] = None, on_output: Optional[OnOutput] = None,
                  retry: Optional[float] = None) -> Result:
        """As AsyncSandbox.run()."""
        return await self._sandbox.run(
            code, session=self.id, language=language, timeout=timeout, files=files, profile=profile, limits=limits,
            namespace=namespace, allowed_domains=allowed_domains, allowed_imports=allowed_imports, packages=packages,
            environment=environment, env_secrets=env_secrets, on_output=on_output, retry=retry)

    async def upload(self, filename: str, content: Content, *, overwrite: bool = True) -> None:
        await self._sandbox.upload(filename, content, session=self.id, overwrite=overwrite)

    async def read(self, path: str) -> bytes:
        return await self._sandbox.read(path, session=self.id)

    async def upload_dir(self, path: Union[str, "os.PathLike[str]"], to: str = ".", *, max_files: int = MAX_FILES,
                         max_bytes: int = MAX_BYTES) -> List[str]:
        """Writes the regular files of a local directory into the directory `to`; returns their names there.  Symbolic links
        in it and empty directories are left out.  Raises ValueError, and writes nothing, if it has more than the limits."""
        names, size = [], 0  # type: List[str], int
        for local, name in directory.files_under(os.fspath(path), max_files, max_bytes):
            content = directory.read(local, max_bytes - size)
            size += len(content)
            names.append(posixpath.normpath(posixpath.join(to, name)))
            await self.upload(names[-1], content)
        return names

    async def download_dir(self, path: Union[str, "os.PathLike[str]"], of: str = ".", *, max_files: int = MAX_FILES,
                           max_bytes: int = MAX_BYTES) -> List[str]:
        """Writes the files of the workspace's directory `of` into a local directory; returns their names there.  Raises
        ValueError, and reads nothing, if they are more than the limits."""
        reply = await self._sandbox.call("sandbox_list_artifacts", session_id=self.id)
        if reply.get("truncated"):
            raise SandboxError("the workspace has more files than the server lists")
        above = "" if posixpath.normpath(of) == "." else posixpath.normpath(of) + "/"
        files = [one for one in (Artifact.of(raw) for raw in objects(reply, "artifacts")) if one.filename.startswith(above)]
        directory.check(len(files), sum(one.size for one in files), max_files, max_bytes)
        names = [one.filename[len(above):] for one in files]
        for name in names:
            directory.write(os.fspath(path), name, await self.read(above + name))
        return names

    async def list(self) -> List[Artifact]:
        return await self._sandbox.list(session=self.id)

    async def snapshot(self, description: Optional[str] = None) -> Snapshot:
        return await self._sandbox.snapshot(description, session=self.id)

    async def restore(self, snapshot: Union[Snapshot, str]) -> Object:
        return await self._sandbox.restore(snapshot, session=self.id)

    async def bridge(self, key: str, data: Any) -> None:
        """Hands a JSON value to the session's programs, which read it from `bridge`."""
        await self._sandbox.call("bridge_data", session_id=self.id, key=key, data=data)

    async def state(self) -> Dict[str, Any]:
        """Variables and environment."""
        return await self._sandbox.call("inspect_state", session_id=self.id)
