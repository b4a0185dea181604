# SPDX-License-Identifier: Apache-2.0
"""The synchronous API: each method is that of aio.py, and may be called from any thread."""

from __future__ import annotations

import concurrent.futures
import os
import weakref
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, Union

from .aio import AsyncSandbox, Content, OnOutput
from .errors import SandboxError
from .portal import Portal
from .questions import OnQuestion
from .result import Artifact, Result, Runtime, Snapshot, Validation
from .server import Server
from .session import MAX_BYTES, MAX_FILES, AsyncSession
from .values import Object


def _end(portal: Portal, sandbox: AsyncSandbox) -> None:
    try:
        portal.run(sandbox.close())
    except SandboxError:
        pass  # It was closed before.
    finally:
        portal.close()


class Sandbox:
    """`with Sandbox() as sandbox: sandbox.run("print(1)").stdout`.  Without `with` it is closed at the end of the program.
    on_question is called in another thread."""

    def __init__(self, server: Optional[Server] = None, *, deadline: float = 120.0, retry: float = 0.0,
                 on_question: Optional[OnQuestion] = None) -> None:
        self._sandbox, self._portal = AsyncSandbox(server, deadline=deadline, retry=retry, on_question=on_question), Portal()
        self._end = weakref.finalize(self, _end, self._portal, self._sandbox)

    def __enter__(self) -> "Sandbox":
        self._portal.run(self._sandbox.__aenter__())
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and the server if this object started it.  Sessions stay until they expire."""
        self._end()

    def call(self, tool: str, **arguments: Any) -> Object:
        """The structured result of any tool.  Raises ToolError where it is refused."""
        return self._portal.run(self._sandbox.call(tool, **arguments))

    def method(self, name: str, params: Optional[Object] = None) -> Object:
        return self._portal.run(self._sandbox.method(name, params))

    def tools(self) -> List[str]:
        return self._portal.run(self._sandbox.tools())

    def run(self, code: str, *, session: Optional[str] = None, arguments: Optional[Sequence[str]] = None,
            stdin: Optional[Content] = None, language: Optional[str] = None, timeout: Optional[float] = None,
            files: Optional[Mapping[str, Content]] = None, profile: Optional[str] = None,
            limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
            allowed_domains: Optional[Sequence[str]] = None, allowed_imports: Optional[Sequence[str]] = None,
            packages: Optional[Sequence[str]] = None, environment: Optional[str] = None,
            env_secrets: Optional[Sequence[str]] = None, on_output: Optional[OnOutput] = None,
            retry: Optional[float] = None) -> Result:
        """Runs a program.  on_output is called in another thread."""
        return self._portal.run(self._sandbox.run(
            code, session=session, arguments=arguments, stdin=stdin, language=language, timeout=timeout, files=files,
            profile=profile, limits=limits, namespace=namespace, allowed_domains=allowed_domains,
            allowed_imports=allowed_imports, packages=packages, environment=environment, env_secrets=env_secrets,
            on_output=on_output, retry=retry))

    def validate(self, code: str, *, language: str = "python", profile: Optional[str] = None, auto_fix: bool = False) -> Validation:
        return self._portal.run(self._sandbox.validate(code, language=language, profile=profile, auto_fix=auto_fix))

    def session(self, id: Optional[str] = None, *, language: Optional[str] = None, ttl: Optional[int] = None,
                profile: Optional[str] = None, limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
                allowed_domains: Optional[Sequence[str]] = None, packages: Optional[Sequence[str]] = None,
                environment: Optional[str] = None) -> "Session":
        """A new session, or the one with this id, which the context manager does not end."""
        session = self._sandbox.session(id, language=language, ttl=ttl, profile=profile, limits=limits, namespace=namespace,
                                        allowed_domains=allowed_domains, packages=packages, environment=environment)
        return Session(self._portal, self._portal.run(session.open()))

    def upload(self, filename: str, content: Content, *, session: Optional[str] = None, overwrite: bool = True) -> str:
        return self._portal.run(self._sandbox.upload(filename, content, session=session, overwrite=overwrite))

    def read(self, path: str, *, session: Optional[str] = None) -> bytes:
        return self._portal.run(self._sandbox.read(path, session=session))

    def list(self, *, session: Optional[str] = None) -> List[Artifact]:
        return self._portal.run(self._sandbox.list(session=session))

    def artifacts(self, execution_id: str) -> List[Artifact]:
        return self._portal.run(self._sandbox.artifacts(execution_id))

    def snapshot(self, description: Optional[str] = None, *, session: Optional[str] = None) -> Snapshot:
        return self._portal.run(self._sandbox.snapshot(description, session=session))

    def restore(self, snapshot: Union[Snapshot, str], *, session: Optional[str] = None) -> Object:
        return self._portal.run(self._sandbox.restore(snapshot, session=session))

    def snapshots(self) -> List[Snapshot]:
        return self._portal.run(self._sandbox.snapshots())

    def delete_snapshot(self, snapshot: Union[Snapshot, str]) -> None:
        self._portal.run(self._sandbox.delete_snapshot(snapshot))

    def add_secret(self, name: str, value: Content, namespace: Optional[str] = None) -> None:
        self._portal.run(self._sandbox.add_secret(name, value, namespace))

    def secrets(self, namespace: Optional[str] = None) -> List[str]:
        return self._portal.run(self._sandbox.secrets(namespace))

    def delete_secret(self, name: str, namespace: Optional[str] = None) -> None:
        self._portal.run(self._sandbox.delete_secret(name, namespace))

    def runtimes(self) -> List[Runtime]:
        return self._portal.run(self._sandbox.runtimes())

    def set_limits(self, **limits: float) -> Object:
        return self._portal.run(self._sandbox.set_limits(**limits))

    def stats(self) -> Object:
        return self._portal.run(self._sandbox.stats())

    def info(self) -> Object:
        return self._portal.run(self._sandbox.info())

    def audit(self, limit: int = 50, **filters: str) -> List[Object]:
        return self._portal.run(self._sandbox.audit(limit, **filters))


class Session:
    """As AsyncSession."""

    def __init__(self, portal: Portal, session: AsyncSession) -> None:
        self._portal, self._session = portal, session

    @property
    def id(self) -> str:
        return self._session.id

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self._portal.run(self._session.__aexit__(kind, error, traceback))

    def close(self) -> None:
        self._portal.run(self._session.close())

    def run(self, code: str, *, language: Optional[str] = None, timeout: Optional[float] = None,
            files: Optional[Mapping[str, Content]] = None, profile: Optional[str] = None,
            limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
            allowed_domains: Optional[Sequence[str]] = None, allowed_imports: Optional[Sequence[str]] = None,
            packages: Optional[Sequence[str]] = None, environment: Optional[str] = None,
            env_secrets: Optional[Sequence[str]] = None, on_output: Optional[OnOutput] = None,
            retry: Optional[float] = None) -> Result:
        """As Sandbox.run()."""
        return self._portal.run(self._session.run(
            code, language=language, timeout=timeout, files=files, profile=profile, limits=limits,
            namespace=namespace, allowed_domains=allowed_domains, allowed_imports=allowed_imports, packages=packages,
            environment=environment, env_secrets=env_secrets, on_output=on_output, retry=retry))

    def submit(self, code: str, **options: Any) -> "concurrent.futures.Future[Result]":
        """As run(), without waiting: for asyncio.wrap_future(), whose cancellation cancels the run at the server."""
        return self._portal.submit(self._session.run(code, **options))

    def upload(self, filename: str, content: Content, *, overwrite: bool = True) -> None:
        self._portal.run(self._session.upload(filename, content, overwrite=overwrite))

    def upload_dir(self, path: Union[str, "os.PathLike[str]"], to: str = ".", *, max_files: int = MAX_FILES,
                   max_bytes: int = MAX_BYTES) -> List[str]:
        return self._portal.run(self._session.upload_dir(path, to, max_files=max_files, max_bytes=max_bytes))

    def download_dir(self, path: Union[str, "os.PathLike[str]"], of: str = ".", *, max_files: int = MAX_FILES,
                     max_bytes: int = MAX_BYTES) -> List[str]:
        return self._portal.run(self._session.download_dir(path, of, max_files=max_files, max_bytes=max_bytes))

    def read(self, path: str) -> bytes:
        return self._portal.run(self._session.read(path))

    def list(self) -> List[Artifact]:
        return self._portal.run(self._session.list())

    def snapshot(self, description: Optional[str] = None) -> Snapshot:
        return self._portal.run(self._session.snapshot(description))

    def restore(self, snapshot: Union[Snapshot, str]) -> Object:
        return self._portal.run(self._session.restore(snapshot))

    def bridge(self, key: str, data: Any) -> None:
        self._portal.run(self._session.bridge(key, data))

    def state(self) -> Dict[str, Any]:
        return self._portal.run(self._session.state())
