"""What keeps a file that was opened from being what it was when it was saved: missing libraries, Python that is off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.types import ID, AnimData, Library

MOVERS = ("ARMATURE", "CURVE", "KEY", "LATTICE", "MESH", "OBJECT", "SCENE")
"""Kinds of datablocks whose drivers can move a limb or what it follows."""

FEW = 5
"""How many of them a sentence names."""


class Links(NamedTuple):
    """The files that a file links: those that are there, and those that are not; ``lost`` are sentences' words for all
    that is not there, also datablocks that a file no longer holds."""

    there: list[Path]
    missing: list[Path]
    lost: list[str]


def links() -> Links:
    """What the file that is open links, also through others."""
    paths = {library: _path(library) for library in bpy.data.libraries if not library.packed_file}
    missing = {library: path for library, path in paths.items() if not path.exists()}
    lost = [str(path) for path in missing.values()]
    for block in _blocks():
        library = block.library
        if getattr(block, "is_missing", False) and library in paths and library not in missing:
            lost.append(f"{block.id_type.capitalize()} '{block.name}' in {paths[library]}")
    return Links(sorted(set(paths.values()) - set(missing.values())), sorted(set(missing.values())), sorted(set(lost)))


def frozen_drivers() -> list[str]:
    """The drivers that move something by Python, which acts only in files opened with it."""
    found = []
    for block in _blocks():
        data: AnimData | None = getattr(block, "animation_data", None)
        if data and block.id_type in MOVERS:
            found += [f"{block.name}: {curve.data_path}" for curve in data.drivers if _needs_python(curve.driver)]
    return found


def few(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _needs_python(driver: Any) -> bool:
    return driver is not None and driver.type == "SCRIPTED" and not driver.is_simple_expression


def _path(library: Library) -> Path:
    return Path(bpy.path.abspath(library.filepath, library=library.library)).resolve()


def _blocks() -> Iterator[ID]:
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            yield from getattr(bpy.data, prop.identifier)
