"""What a release has beside the zip: ``make release``, rehearsed by .ci/run, run by .github/workflows/release.yml.

Standard library only. With a tag in the variable TAG, that has to be the version of the manifest."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from pathlib import Path

from .package import BUILD, ROOT


def prepare() -> int:
    """Check the tag, and write the pictures, the checksums and the notes beside the zip and the sample in build."""
    version = re.search(r'(?m)^version = "(.+)"$', (ROOT / "blender_manifest.toml").read_text())
    assert version, "blender_manifest.toml has no version"
    if (tag := os.environ.get("TAG")) and tag != f"v{version[1]}":
        print(f"The tag {tag} is not the version of the manifest, {version[1]}")
        return 1
    parts = [BUILD / f"planar_ik-{version[1]}.zip", BUILD / "planar_ik_sample.blend"]
    if missing := [path.name for path in parts if not path.exists()]:
        print(f"build has no {missing[0]}: make zip sample")
        return 1
    pictures = BUILD / "planar_ik_pictures.zip"
    with zipfile.ZipFile(pictures, "w") as zipped:
        for path in sorted(path for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".gif")):
            zipped.write(path, path.name)
    (BUILD / "SHA256SUMS").write_text("".join(map(_sum_of, [*parts, pictures])))
    news = re.search(rf"(?ms)^## {re.escape(version[1])} .*?\n(.+?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text())
    if news is None:
        print(f"CHANGELOG.md says nothing of {version[1]}")
        return 1
    (BUILD / "notes.md").write_text(news[1].strip() + "\n")
    return 0


def _sum_of(path: Path) -> str:
    """A line as sha256sum -c takes it."""
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
