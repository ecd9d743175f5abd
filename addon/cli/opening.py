"""Opening a file to work on its chains, and telling what it lacks: libraries, Python, scenes that are left out."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.types import AnimData, Library, PoseBone, Scene

from ..bake.ways.courses.expressions import is_trusted
from ..rig.data.access import scene_of
from ..rig.data.animation import datablocks
from .codes import Code, Stop
from .files import open_blend
from .output import say
from .scenes import ALL, SOUGHT, Chosen, choose

MOVERS = ("ARMATURE", "CURVE", "KEY", "LATTICE", "MESH", "OBJECT", "SCENE")
"""Kinds of datablocks whose drivers can move a limb or what it follows."""

FEW = 5
"""How many of them a sentence names."""


class Opened(NamedTuple):
    """A file that is open: its chains to be worked on, and what a person should know of it."""

    chains: dict[Scene, list[PoseBone]]
    warnings: list[str]


def open_shot(arguments: Namespace, source: Path) -> Opened:
    """Open a file, and say what it lacks; stop if that is an error, or if it has no chain."""
    open_blend(source, arguments.enable_autoexec)
    sought = SOUGHT[arguments.command]
    chosen = choose(source, sought, arguments.scene, arguments.chain)
    found: list[tuple[Code | None, str]] = []
    if chosen.linked and not chosen.chains:
        words = f"{source} has chains of linked objects only, of which library overrides have to be made first"
        raise Stop(Code.LEFT_OUT, f"{words}: {_few(chosen.linked)}")
    lost = links().lost
    if lost:
        found.append((Code.MISSING, f"{source} links what is not there: {_few(lost)}"))
    frozen = [] if arguments.enable_autoexec else _frozen_drivers()
    if frozen:
        needs = f"{source} has drivers that stand still without Python, which --enable-autoexec runs: {_few(frozen)}"
        found.append((Code.FROZEN, needs))
    texts = [] if arguments.enable_autoexec else _moving_texts()
    if texts:
        needs = f"{source} has texts that may move things as frames change, which --enable-autoexec runs: {_few(texts)}"
        found.append((Code.FROZEN, needs))
    found += _left_out(arguments, source, chosen)
    for code, sentence in found:
        if code and arguments.strict:
            raise Stop(code, sentence)
        say(sentence)
    if not chosen.chains and not getattr(arguments, "allow_no_chains", False):
        name = arguments.scene or scene_of(bpy.context).name
        where = "any scene" if name == ALL else f"its scene '{name}'"
        raise Stop(Code.BAD_INPUT, f"{source} has no chain{sought.where} in {where}")
    return Opened(chosen.chains, [sentence for _, sentence in found])


def _left_out(arguments: Namespace, source: Path, chosen: Chosen) -> list[tuple[Code | None, str]]:
    """What to say of chains that are not worked on, and with which code where that is an error."""
    unless_named = None if arguments.chain else Code.LEFT_OUT
    unless_chosen = None if arguments.scene else unless_named
    found: list[tuple[Code | None, str]] = []
    if chosen.left_out:
        scenes = ", ".join(f"'{name}'" for name in chosen.left_out)
        words = f"{source} has more chains in other scenes, which --scene takes by name or all at once: {scenes}"
        found.append((unless_chosen, words))
    if chosen.excluded:
        words = (
            f"{source} has more chains, of objects that its view layer excludes, and left out: {_few(chosen.excluded)}"
        )
        found.append((unless_chosen, words))
    if chosen.linked:
        words = f"{source} has chains of objects that are linked, not overridden, and left out: {_few(chosen.linked)}"
        found.append((Code.LEFT_OUT, words))
    if chosen.orphaned:
        words = f"{source} has chains of bones that have no parent, and left out: {_few(chosen.orphaned)}"
        found.append((unless_named, words))
    return found


class Links(NamedTuple):
    """The files that a file links: those that are there, and those that are not; ``lost`` are sentences' words for all
    that is not there, also datablocks that a file no longer holds."""

    there: list[Path]
    missing: list[Path]
    lost: list[str]


def links() -> Links:
    """What the file that is open links, also through others."""
    paths = {library: _path(library) for library in bpy.data.libraries if not library.packed_file}
    missing = {library: path for library, path in paths.items() if not os.path.exists(path)}
    lost = [str(path) for path in missing.values()]
    for block in datablocks():
        library = block.library
        if getattr(block, "is_missing", False) and library in paths and library not in missing:
            lost.append(f"{block.id_type.capitalize()} '{block.name}' in {paths[library]}")
    return Links(sorted(set(paths.values()) - set(missing.values())), sorted(set(missing.values())), sorted(set(lost)))


def _frozen_drivers() -> list[str]:
    """The drivers that move something by Python, which acts only in files opened with it."""
    found = []
    for block in datablocks():
        data: AnimData | None = getattr(block, "animation_data", None)
        if data and block.id_type in MOVERS:
            found += [f"{block.name}: {curve.data_path}" for curve in data.drivers if _needs_python(curve.driver)]
    return [*dict.fromkeys(found)]


def _moving_texts() -> list[str]:
    """The texts that Blender runs as it opens a file, if it may, and by which something is done whenever the frame
    changes."""
    return [text.name for text in bpy.data.texts if text.use_module and "frame_change" in text.as_string()]


def _few(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _needs_python(driver: Any) -> bool:
    """Whether a driver reads more than what Blender lets Python evaluate in every file."""
    return driver is not None and not (driver.is_valid and is_trusted(driver))


def _path(library: Library) -> Path:
    return Path(os.path.realpath(bpy.path.abspath(library.filepath, library=library.library)))
