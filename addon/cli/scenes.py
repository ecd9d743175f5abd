"""Which scenes of a file are worked on, and which of their chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import bpy
from bpy.types import PoseBone, Scene

from ..bake.scope import acting_chains
from ..rig.data.access import (
    ArmatureObject,
    Key,
    chain_settings,
    has_chain,
    is_armature,
    key_of,
    runs_on_rig,
    scene_of,
    view_layer_of,
)
from ..rig.data.editing import object_mode
from .codes import Code, Stop

ALL = "all"


class Sought(NamedTuple):
    """The chains that a command is about: words for what they run on, those of an object, and whether it writes to
    them."""

    where: str
    of: Callable[[ArmatureObject], list[PoseBone]]
    writes: bool = True


def _live(ob: ArmatureObject) -> list[PoseBone]:
    return [bone for bone in ob.pose.bones if has_chain(bone) and not runs_on_rig(bone)]


def _portable(ob: ArmatureObject) -> list[PoseBone]:
    return [bone for bone in ob.pose.bones if runs_on_rig(bone)]


def _orphans(ob: ArmatureObject) -> list[PoseBone]:
    """The bones of an object whose chains are on, but have no parent, so that `acting_chains` leaves them out."""
    return [bone for bone in ob.pose.bones if bone.parent is None and chain_settings(bone).enabled]


SOUGHT = {
    "bake": Sought("", acting_chains),
    "report": Sought("", acting_chains, writes=False),
    "portable": Sought(" on the extension", _live),
    "live": Sought(" on the rig", _portable),
}
"""By commands; what is converted need not be switched on."""


class Chosen(NamedTuple):
    """The chains to work on, by their scenes, none twice; the names of other scenes that have more, of objects with
    chains that the view layers exclude, of linked objects whose chains can't be written to, and of chains whose lower
    bone has no parent."""

    chains: dict[Scene, list[PoseBone]]
    left_out: list[str]
    excluded: list[str]
    linked: list[str]
    orphaned: list[str]


def choose(source: Path, sought: Sought, scene: str | None, chains: list[str] | None) -> Chosen:
    """The chains of a scene, or of the active one, or of all; of those the ones that are named, if any are, or else
    those that can be written to."""
    scenes = _scenes(source, scene)
    seen: set[Key] = set()
    found = {each: _unseen(_chains(each, sought), seen) for each in scenes}
    others = [each for each in bpy.data.scenes if each not in scenes and _unseen(_chains(each, sought), seen)]
    excluded = [ob.name for each in scenes for ob in each.objects if is_armature(ob) and _unseen(sought.of(ob), seen)]
    linked: list[str] = []
    orphans = [lower for each in scenes for lower in _chains(each, sought._replace(of=_orphans))]
    if chains:
        found = _named(source, sought, found, chains)
    elif sought.writes:
        found, linked = _editable(found)
    posed = {each: lowers for each, lowers in found.items() if lowers}
    orphaned = [*map(_name_of, orphans)] if sought.of is acting_chains else []
    return Chosen(posed, [each.name for each in others], excluded, linked, orphaned)


@contextmanager
def shown(scene: Scene) -> Iterator[None]:
    """Make a scene the active one for a while, in Object Mode: a rig that was saved in Edit Mode stands at rest."""
    window = bpy.context.window
    if window is None:
        with (
            bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]),
            object_mode(bpy.context, ()),
        ):
            yield
        return
    before = window.scene
    if before != scene:
        window.scene = scene
    try:
        with object_mode(bpy.context, ()):
            yield
    finally:
        if before != scene:
            window.scene = before


def _name_of(lower: PoseBone) -> str:
    """What a chain is called on the command line."""
    return f"{lower.id_data.name}:{lower.name}"


def _scenes(source: Path, name: str | None) -> list[Scene]:
    if name is None:
        return [scene_of(bpy.context)]
    if name == ALL:
        return [scene for scene in bpy.data.scenes if not scene.library]
    scene = bpy.data.scenes.get(name)
    if scene is None:
        names = ", ".join(f"'{scene.name}'" for scene in bpy.data.scenes)
        raise Stop(Code.BAD_INPUT, f"{source} has no scene '{name}': it has {names}")
    return [scene]


def _chains(scene: Scene, sought: Sought) -> list[PoseBone]:
    layer = view_layer_of(bpy.context) if scene == bpy.context.scene else scene.view_layers[0]
    return [lower for ob in layer.objects if is_armature(ob) for lower in sought.of(ob)]


def _unseen(lowers: list[PoseBone], seen: set[Key]) -> list[PoseBone]:
    new = [lower for lower in lowers if key_of(lower) not in seen]
    seen.update(map(key_of, new))
    return new


def _editable(found: dict[Scene, list[PoseBone]]) -> tuple[dict[Scene, list[PoseBone]], list[str]]:
    """The chains without those of linked objects, and the names of these."""
    own = {scene: [lower for lower in lowers if lower.id_data.is_editable] for scene, lowers in found.items()}
    linked = [lower.id_data.name for lowers in found.values() for lower in lowers if not lower.id_data.is_editable]
    return own, [*dict.fromkeys(linked)]


def _named(
    source: Path, sought: Sought, found: dict[Scene, list[PoseBone]], wanted: list[str]
) -> dict[Scene, list[PoseBone]]:
    names = [_name_of(lower) for lowers in found.values() for lower in lowers]
    for name in wanted:
        if name not in names:
            raise Stop(
                Code.BAD_INPUT, f"{source} has no chain '{name}'{sought.where}: it has {', '.join(names) or 'none'}"
            )
    return {scene: [lower for lower in lowers if _name_of(lower) in wanted] for scene, lowers in found.items()}
