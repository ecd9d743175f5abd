"""The extension's zip, built and validated by Blender's own extension tool. Standard library only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from . import guide

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def build(python: Path) -> Path:
    """build/planar_ik-VERSION.zip, made by the tool of the Blender that is a module of this Python."""
    match = re.search(r'(?m)^version = "(.+)"$', (ROOT / "blender_manifest.toml").read_text())
    assert match, "blender_manifest.toml has no version"
    path = BUILD / f"planar_ik-{match.group(1)}.zip"
    BUILD.mkdir(exist_ok=True)
    unfinished = path.with_name(f"unfinished-{os.getpid()}.zip")
    try:
        with TemporaryDirectory(prefix="planar-ik-zip-") as folder:
            gather(Path(folder))
            _tool(python, "build", "--source-dir", folder, "--output-filepath", str(unfinished))
        validate(python, unfinished)
        unfinished.replace(path)  # In one step: another run may be installing the zip of that name.
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def gather(folder: Path) -> None:
    """Put what goes into the zip into this folder: what runs, the license, the guides; in the manifest, where on the
    web the repository is."""
    for name in ("__init__.py", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "addon", folder / "addon", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    guide.write(folder / "guide")
    manifest = (ROOT / "blender_manifest.toml").read_text()
    if address := website():
        manifest = re.sub(r"(?m)^(tagline = .+)$", rf'\1\nwebsite = "{address}"', manifest)
    (folder / "blender_manifest.toml").write_text(manifest)


def website() -> str:
    """Where on the web the repository is that this is a clone of; nothing where it is not there, or git is not here."""
    if not shutil.which("git"):
        return ""
    asked = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    return address_of(subprocess.run(asked, capture_output=True, text=True).stdout.strip())


def address_of(remote: str) -> str:
    """The page of a repository that is cloned from there, without a name or password."""
    match = re.fullmatch(r"(?:https://(?:[^@/]+@)?|(?:ssh://)?git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?/?", remote)
    return f"https://{match[1]}/{match[2]}" if match else ""


def validate(python: Path, path: Path) -> None:
    """Ask Blender whether it would take this zip."""
    _tool(python, "validate", str(path))


def _tool(python: Path, command: str, *arguments: str) -> None:
    """Run the tool that ``blender --command extension`` runs; bpy on PyPI brings it along as a script."""
    (scripts,) = python.parent.parent.glob("lib/python3.*/site-packages/bpy/*/scripts")
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    tags = scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    words = [str(python), str(tool), command, *arguments, "--valid-tags", str(tags)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}Blender's extension tool refused to {command}: its own words are above.")
