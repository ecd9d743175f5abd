"""The drivers of mechanisms, put right at once where Blender leaves them behind: *AutoName* in Edit Mode has them fail,
which Blender takes for good; and where armatures are joined, some go on driving the bone that has the name now which
theirs had before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, PoseBone, Scene

from ..rig.data.access import ArmatureObject, copies_part, is_armature, is_part, made_on, split_path
from ..rig.data.animation import drivers_by_bone
from ..rig.data.carrying import revive
from ..rig.data.dependencies import is_structural
from .mechanism.blending import WORLD
from .mechanism.parts import property_path
from .mechanism.references import needs_of, role_of, subtarget_of


def _put_right(host: ArmatureObject) -> None:
    """Have the drivers of the mechanisms in an armature drive their own bones, and be evaluated."""
    every = [curve for name, of in drivers_by_bone(host).items() if _is_of_chain(host, name) for curve in of]
    if not every:
        return
    places = Counter((curve.data_path, curve.array_index) for curve in every)
    doubled = [curve for curve in every if places[curve.data_path, curve.array_index] > 1]
    groups = _groups(host, every) if doubled else []
    for curve in doubled:
        name, path = split_path(curve.data_path)
        own = next((group for group in groups if group & _read_by(host, curve)), {name})
        same = [other for other in own if _role(host, other) == _role(host, name)]
        if len(same) == 1:
            curve.data_path = property_path(same[0], path)
    revive({host})


def _is_of_chain(host: ArmatureObject, name: str) -> bool:
    """Whether a bone was made for a chain, or has constraints that were."""
    return is_part(host, name) or (name in host.pose.bones and bool(made_on(host.pose.bones[name])))


def _role(host: ArmatureObject, name: str) -> Any:
    """For what a bone was made; of a limb's own bone, for what those were that it copies."""
    if is_part(host, name):
        return role_of(host, name)
    return [role_of(host, part) for part in _copied_by(host.pose.bones[name])]


def _copied_by(bone: PoseBone) -> list[str]:
    """The parts of mechanisms that a limb's own bone copies."""
    return [subtarget_of(each) for each in made_on(bone) if copies_part(each)]


def _groups(host: ArmatureObject, drivers: list[Any]) -> list[set[str]]:
    """The bones of each mechanism with the limb's own, by what refers to what, whatever is driven."""
    found: list[set[str]] = []
    linked = [_read_by(host, curve) for curve in drivers]
    for bone in (bone for bone in host.pose.bones if _is_of_one(host, bone.name)):
        others = needs_of(bone, ()) if is_part(host, bone.name) else _copied_by(bone)
        linked.append({bone.name, *(name for name in others if is_part(host, name) and _is_of_one(host, name))})
    for names in linked:
        joined = names.union(*(group for group in found if group & names))
        found = [*(group for group in found if not group & names), joined]
    return found


def _is_of_one(host: ArmatureObject, name: str) -> bool:
    """Whether a bone belongs to one chain only."""
    return _is_of_chain(host, name) and not (is_part(host, name) and role_of(host, name) == WORLD)


def _read_by(host: ArmatureObject, curve: Any) -> set[str]:
    """Which bones of a chain a driver reads."""
    targets = [target for variable in curve.driver.variables for target in variable.targets]
    names = {target.bone_target or split_path(target.data_path)[0] for target in targets}
    return {name for name in names if _is_of_one(host, name)}


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, maybe the names of bones, as where the bones of an armature are others now."""
    if is_structural(depsgraph) and depsgraph.id_type_updated("ARMATURE"):
        for ob in _edited(depsgraph):
            if ob.is_editable:
                _put_right(ob)


def _edited(depsgraph: Depsgraph) -> Iterator[ArmatureObject]:
    for update in depsgraph.updates:
        ob: Any = update.id.original if update.id else None
        if isinstance(ob, bpy.types.Object) and is_armature(ob):
            yield ob


HANDLERS = (("depsgraph_update_post", _on_edit),)
