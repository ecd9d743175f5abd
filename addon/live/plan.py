"""Which limbs are posed live, and in which order: those that a limb hangs on come before it.

A plan is of what one graph of Blender's evaluates: a view layer in the window, or in a render. Plans are made anew when
Blender has built a graph anew (constraints, parents, drivers, F-curves, objects, what is shown), when a rig's own shape
or settings changed, after undo, and in another file. Nothing else is kept from event to event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, PoseBone, Scene, ViewLayer

from ..blender import animation, rotation
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import ArmatureObject, all_objects, is_armature, is_evaluated
from ..limb import follow, settings, solving, storage
from ..limb.table import ABSENT, Table, table_of


class BonesOfMode(NamedTuple):
    """The bones of a level that have their rotation in one mode: which they are, and the places of their rotations
    among (limbs, segments)."""

    mode: str
    channel: str
    bones: Any
    limbs: Any
    segments: Any


class ScaledBones(NamedTuple):
    """The bones of a level that a stretch scales, a row each: which they are, the rows of their limbs, and the power of
    the stretch that each axis is scaled by (bones, 3)."""

    bones: Any
    limbs: Any
    powers: Any


class BonesAtRest(NamedTuple):
    """The bones of a level whose own scale or location IK leaves out, a row each: which they are, and the rows of their
    limbs."""

    channel: str
    rest: float
    bones: Any
    limbs: Any


class Level(NamedTuple):
    """Limbs of all rigs that don't depend on each other: they are solved together."""

    table: Table
    by_mode: tuple[BonesOfMode, ...]
    scaled: ScaledBones | None
    at_rest: tuple[BonesAtRest, ...]


class LivePlan(NamedTuple):
    """The live limbs of a depsgraph in levels of dependency, whose tables all count the bones of all rigs; for each of
    the rigs a fingerprint from when the plan was made, and the animated paths. ``tag`` is what is to be evaluated again
    after channels were written."""

    levels: list[Level]
    fingerprints: dict[ArmatureObject, Any]
    paths: dict[ArmatureObject, set[str]]
    tag: Literal["OBJECT", "DATA"]


def make_plan(depsgraph: Depsgraph) -> LivePlan:
    """Look at all rigs that a graph evaluates. Others are looked at when they are shown."""
    rigs = [ob for ob in all_objects() if is_armature(ob) and is_evaluated(ob, depsgraph)]
    limbs = [bone for ob in rigs for bone in storage.limbs_of(ob) if is_posed(bone)]
    of_rigs, levels = storage.by_rig(limbs), []
    for level in levels_of(limbs):
        scaled = _scaled(table := table_of(level, of_rigs))
        levels.append(Level(table, tuple(_by_mode(table)), scaled, tuple(_at_rest(table, scaled))))
    return LivePlan(
        levels=levels,
        fingerprints={rig: rig_fingerprint(rig, [bone.name for bone in bones]) for rig, bones in of_rigs.items()},
        paths={rig: animation.animated_paths(rig) for rig in of_rigs},
        tag="DATA" if any(map(_is_simulated, all_objects())) else "OBJECT",
    )


def is_posed(limb: PoseBone) -> bool:
    """Whether a limb is posed live: nothing on the rig poses it, and all its bones are there."""
    return storage.mode_of(limb) == "LIVE" and bool(storage.bones_of_limb(limb))


SIMULATIONS = {"CLOTH", "DYNAMIC_PAINT", "FLUID", "NODES", "PARTICLE_SYSTEM", "SOFT_BODY"}


def _is_simulated(ob: Object) -> bool:
    """Whether an object may have a simulation to lose, if a rig that it hangs on has its transform evaluated anew: that
    is why only its armature is then, which Blender copies for that."""
    return ob.rigid_body is not None or any(modifier.type in SIMULATIONS for modifier in ob.modifiers)


def rig_fingerprint(rig: ArmatureObject, names: list[str]) -> Any:
    """What of a rig and its limbs, by the ``names`` of their last bones, may be edited without Blender building its
    depsgraph again; without sliders."""
    bones = rig.pose.bones
    modes = np.empty(len(bones), np.int32)
    bones.foreach_get("rotation_mode", modes)
    named: list[Any] = [bones.get(name) for name in names]
    limbs = [bone for bone in named if bone and storage.group_of(bone) is not None]
    groups = [(getattr(bone, settings.LIMB_MARK), *(key in bone for key in settings.FEATURE_KEYS)) for bone in limbs]
    return names, bones.keys(), modes.tobytes(), groups, [*_rest(rig)]


REST = (
    ("matrix_local", np.float32, 16),
    ("inherit_scale", np.int32, 1),
    ("use_inherit_rotation", np.bool_, 1),
    ("use_local_location", np.bool_, 1),
)
"""What of an armature's bones makes a limb's shape: the property, its type and how many numbers it has."""


def _rest(rig: ArmatureObject) -> Iterator[bytes]:
    bones = rig.data.bones
    yield bytes([rig.data.pose_position == "REST"])
    for name, kind, size in REST:
        numbers: Any = np.empty(size * len(bones), kind)
        bones.foreach_get(name, numbers)
        yield numbers.tobytes()


def _by_mode(table: Table) -> Iterator[BonesOfMode]:
    places: dict[str, list[tuple[int, int, int]]] = {}
    for row, limb in enumerate(table.limbs):
        bones = table.rigs[table.rig[row]].pose.bones
        for segment, name in enumerate(limb.bones):
            places.setdefault(bones[name].rotation_mode, []).append((table.bones[row, segment], row, segment))
    for mode, rows_of_mode in places.items():
        yield BonesOfMode(mode, rotation.rotation_channel(mode), *np.array(rows_of_mode).T)


def _scaled(table: Table) -> ScaledBones | None:
    """A bone that inherits the size of the limb's bone above it is as much longer by that."""
    rows: list[tuple[int, int, Any]] = []
    for row, limb in enumerate(table.limbs):
        place = table.rig[row]
        bones, first = table.rigs[place].pose.bones, (0, *table.ends)[place]
        powers = np.log2(solving.scales_of(limb, 2.0))
        rows += [(first + bones.find(bone.name), row, powers) for bone in solving.scaled_bones(bones[limb.name])]
    return ScaledBones(*(np.array(column) for column in zip(*rows, strict=True))) if rows else None


def _at_rest(table: Table, scaled: ScaledBones | None) -> Iterator[BonesAtRest]:
    """As on the rig: bones below the first have no location, and none has a scale but what stretch gives it."""
    is_scaled = (table.bones == ABSENT) | np.isin(table.bones, scaled.bones if scaled else ())
    is_moved = table.bones == ABSENT
    is_moved[:, 0] = True
    for channel, rest, left in (("scale", 1.0, is_scaled), ("location", 0.0, is_moved)):
        limbs, segments = np.nonzero(~left)
        yield BonesAtRest(channel, rest, table.bones[limbs, segments], limbs)


def levels_of(limbs: list[PoseBone]) -> list[list[PoseBone]]:
    """Limbs in levels: each below those of the limbs that move its parent, target or pole. In a dependency cycle,
    one of them is taken first."""
    owners: dict[BoneRef, int] = {}
    for i, limb in enumerate(limbs):
        for bone in storage.chain_bones(limb):
            owners[limb.id_data, bone.name] = i
    among = Dependencies()
    needs = [
        {owners[ref] for ref in among.dependencies_of(*_moved_by(limb)) if ref in owners} - {i}
        for i, limb in enumerate(limbs)
    ]
    levels: dict[int, int] = {}

    def level(i: int, below: tuple[int, ...] = ()) -> int:
        if i not in levels:
            levels[i] = 1 + max((level(j, (*below, i)) for j in needs[i] if j not in below), default=-1)
        return levels[i]

    for i in range(len(limbs)):
        level(i)
    return [
        [limbs[i] for i in range(len(limbs)) if levels[i] == n] for n in range(max(levels.values(), default=-1) + 1)
    ]


def _moved_by(limb: PoseBone) -> list[tuple[Object, str]]:
    parent = storage.bones_of_limb(limb)[0].parent
    followed = [(ob, name) for ob, name in follow.solver_follow(limb).pairs if ob]
    return [*followed, (limb.id_data, parent.name if parent else "")]


# which of them hold, from event to event


PLANS: dict[tuple[int, int, str], LivePlan] = {}
"""The plans of Blender's depsgraphs."""


def key_of(depsgraph: Depsgraph) -> tuple[int, int, str]:
    """The key of a depsgraph among the plans that are kept."""
    scene, layer = cast("Scene", depsgraph.scene), cast("ViewLayer", depsgraph.view_layer)
    return scene.as_pointer(), layer.as_pointer(), depsgraph.mode


def tag_rigs() -> None:
    """Have Blender evaluate all rigs again, and forget their plans."""
    PLANS.clear()
    for ob in getattr(bpy.data, "objects", ()):  # no data while Blender starts
        if is_armature(ob):
            ob.update_tag(refresh={"DATA"})
