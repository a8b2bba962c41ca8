"""A cache for generated data in a temporary folder. The name of a file depends on its inputs."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path


def kept(name: str, code: str, files: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """Return the file of this name. It is generated if it is missing, or if its code or input files have changed."""
    path = cache_folder() / f"{Path(name).stem}-{fingerprint(code, files)}{Path(name).suffix}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        make(unfinished)
        unfinished.replace(path)
    return path


def cache_folder() -> Path:
    path = Path(tempfile.gettempdir()) / f"markone-bench-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to another user; remove it or set TMPDIR")
    return path


def fingerprint(code: str, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(Path(code).read_bytes())
    digest.update(f"{version('scikit-learn')} {version('numpy')}".encode())
    for file in files:
        digest.update(f"{file.resolve()} {file.stat().st_size} {file.stat().st_mtime_ns}".encode())
    return digest.hexdigest()[:12]
