"""The pinned Python environments under .venvs, made when first needed. Standard library only.

An environment is a dependency group of pyproject.toml on one version of Python. It is made anew when the groups
change, and when the making of it was interrupted: the stamp that says it is whole is written last.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venvs"  # Not ".venv": uv takes a folder of that name for an environment of its own.
UV = "uv==0.13.8"

BLENDERS = {"4.5": "3.11", "5.2": "3.13", "5.3": "3.13"}
"""The versions of Blender that we support, and the one Python that each one's bpy is built for."""

MACHINE = ".".join(map(str, sys.version_info[:2]))
"""The version of the Python that runs this."""


def blender(version: str) -> Path:
    """The Python that has this version of Blender as a module."""
    return environment(f"blender-{version}", BLENDERS[version])


def environment(group: str, version: str = MACHINE) -> Path:
    """The Python of the environment with this dependency group, on this version of Python."""
    folder = HOME / group
    python = folder / "bin" / "python"
    stamp = folder / "made-from"
    pins = hashlib.sha256(f"{version}\n{_pins()}".encode()).hexdigest()
    with _locked(folder):
        if stamp.exists() and stamp.read_text() == pins:
            return python
        print(f"Making {folder.relative_to(ROOT)} (Python {version})", flush=True)
        _uv("venv", "--quiet", "--clear", "--no-project", "--python", _interpreter(version), str(folder))
        _uv("pip", "install", "--quiet", "--python", str(python), "--group", f"{ROOT / 'pyproject.toml'}:{group}")
        stamp.write_text(pins)
    return python


def _pins() -> str:
    """The dependency groups as they stand in pyproject.toml: what else is configured there makes no environment."""
    section = re.search(r"(?ms)^\[dependency-groups\]$.*?(?=^\[|\Z)", (ROOT / "pyproject.toml").read_text())
    assert section, "pyproject.toml has no [dependency-groups]"
    return section.group().strip()


@contextmanager
def _locked(folder: Path) -> Generator[None, None, None]:
    """Two runs at the same time must not make the same environment."""
    HOME.mkdir(exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _interpreter(version: str) -> str:
    """Where this version of Python is on the machine."""
    if version == MACHINE:
        return sys.executable
    result = subprocess.run(_uv_command("python", "find", version), env=_uv_settings(), capture_output=True, text=True)
    if result.returncode:
        blenders = ", ".join(name for name, python in BLENDERS.items() if python == version)
        raise SystemExit(
            f"Blender {blenders} as a module needs Python {version}, which is not on this machine. Install it "
            f"(pyenv install {version}, or the package python{version} of your system), then run this again."
        )
    return result.stdout.strip()


def _uv(*arguments: str) -> None:
    if subprocess.run(_uv_command(*arguments), env=_uv_settings()).returncode:
        raise SystemExit(f"uv {arguments[0]} failed: its own words are above.")


def _uv_command(*arguments: str) -> list[str]:
    tools = HOME / "tools"
    stamp = tools / "made-from"
    with _locked(tools):
        if not stamp.exists() or stamp.read_text() != UV:
            _make_tools(tools)
            stamp.write_text(UV)
    return [str(tools / "bin" / "uv"), *arguments]


def _make_tools(tools: Path) -> None:
    """uv comes from PyPI: unlike pip it installs for every Python of the machine and keeps one copy of each bpy."""
    if subprocess.run([sys.executable, "-m", "venv", "--clear", str(tools)]).returncode:
        raise SystemExit("python3 cannot make virtual environments. Install its venv module (Debian: python3-venv).")
    if subprocess.run([str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", UV]).returncode:
        raise SystemExit(f"pip could not install {UV}: its own words are above.")


def _uv_settings() -> dict[str, str]:
    """Every Python that pyenv has, ahead of its shims, which refuse all versions but the chosen one.

    Nor may uv fetch a Python of its own: it would be another one than the machine's, from outside PyPI.
    """
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = [str(folder) for folder in sorted(versions.glob("3.*/bin"))]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "UV_PYTHON_DOWNLOADS": "never"}
