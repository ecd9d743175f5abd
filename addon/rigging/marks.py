"""Which limb what is on a rig was made for. Helper bones bear their role as a mark, constraints a name of ours; the
limb is that whose sliders their drivers read, else that on whose bones they act: Blender itself keeps both right as
bones are renamed, mirrored, joined, appended and copied."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from ..blender.animation import drivers_of
from ..blender.dependencies import constraint_targets
from ..blender.types import ArmatureObject, children_of, split_path
from ..limb import follow, settings, storage, tips
from ..limb.features.pole_follow import CONSTRAINT as FOLLOWING_POLE
from ..limb.spec import Spec, from_json

OUR_PATHS = tuple({slider.path for slider in settings.every_slider()})
"""How the paths begin from a limb's last bone to its sliders."""


class Made(NamedTuple):
    """What was made for a limb: the names of its helper bones and their roles, the constraints of other bones by bone
    and name, the spec of its mechanism, what poles with Pole Follow hang on without that, and whether its drivers read
    bones that are gone: as bones are renamed, Blender leaves paths that end in a number, as those to twists do."""

    bones: dict[str, str]
    constraints: list[tuple[str, str]]
    built: Spec | None = None
    parents: dict[str, str] = {}  # noqa: RUF012  # nobody changes it
    is_lost: bool = False

    @property
    def by_role(self) -> dict[str, str]:
        """The names of its helper bones by role."""
        return {role: name for name, role in self.bones.items()}


def made_on(ob: ArmatureObject, names: Collection[str] = ()) -> dict[str, Made]:
    """What was made for each limb of a rig, complete or not, by the name of its last bone. Also for bones of these
    names, which may have been limbs; for "", what is no limb's any more."""
    limbs = dict.fromkeys([*names, *(bone.name for bone in ob.pose.bones if getattr(bone, settings.LIMB_MARK))])
    tops, near = {bone.name: _top_of(bone) for bone in ob.data.bones if _is_helper(bone)}, _near(ob, limbs)
    owners: dict[Any, str] = {}  # of trees of helper bones by their tops, of constraints by bone and name
    lost = set[str]()
    for curve in drivers_of(ob):
        bone, path = split_path(curve.data_path)
        read = [split_path(target.data_path) for variable in curve.driver.variables for target in variable.targets]
        if bone in tops and any(name and name not in ob.pose.bones for name, _ in read):
            lost.add(tops[bone])
        if limb := next((name for name, path in read if name in limbs and path.startswith(OUR_PATHS)), ""):
            owners.setdefault(tops.get(bone) or (bone, *path.split('"')[1:2]), limb)
    made, loose = {name: Made({}, []) for name in ("", *limbs)}, []
    for pose_bone in ob.pose.bones:
        for constraint in pose_bone.constraints if pose_bone.name not in tops else ():
            key = pose_bone.name, constraint.name
            aimed = [tops[name] for target, name in constraint_targets(constraint) if target == ob and name in tops]
            limb = owners.get(key) or near.get(pose_bone.name, "")
            if limb and (aimed or storage.is_mechanism_constraint(constraint)):
                made[limb].constraints.append(key)
                owners |= {top: limb for top in aimed if top not in owners}
            elif storage.is_mechanism_constraint(constraint):
                loose.append((key, aimed))
    made[""].constraints.extend(key for key, aimed in loose if aimed and not any(top in owners for top in aimed))
    for name, top in tops.items():
        limb = owners.get(top, "")
        made[limb].bones[name] = follow.role_of(ob.data.bones[name])
        made[limb] = made[limb]._replace(is_lost=made[limb].is_lost or top in lost)
    return {name: own._replace(**_more_of(ob, name, own)) for name, own in made.items()}


def _more_of(ob: Any, name: str, own: Made) -> dict[str, Any]:
    root, group = own.by_role.get("root"), storage.group_of(ob.pose.bones[name]) if name else None
    parents: dict[str, str] = {}
    for pole in [bone for bone, constraint in own.constraints if constraint == FOLLOWING_POLE]:
        hung = [target.subtarget for target in ob.pose.bones[pole].constraints[FOLLOWING_POLE].targets]
        hung[:1] = ["" if follow.is_still_helper(ob, above) else above for above in hung[:1]]
        parents[pole] = hung[bool((group or {}).get(follow.HUNG_ON_TARGET))] if len(hung) == 2 else ""
    return {"built": from_json(getattr(ob.data.bones[root], settings.SPEC)) if root else None, "parents": parents}


def _near(ob: Any, limbs: Collection[str]) -> dict[str, str]:
    """Of which limb a bone is: of its chain, else its foot or a toe, else its pole."""
    bones = [ob.pose.bones[name] for name in limbs]
    near = {bone.name: limb.name for limb in bones for bone in storage.chain_bones(limb)}
    feet = [(foot, limb.name) for limb in bones if (foot := tips.foot_of(limb))]
    near = {bone.name: name for foot, name in feet for bone in (foot, *children_of(foot))} | near
    return {follow.follow_of(limb).pole_subtarget: limb.name for limb in bones} | near


def _is_helper(bone: Any) -> bool:
    return follow.role_of(bone) not in ("", *storage.CONTROL_KINDS)


def _top_of(bone: Any) -> str:
    """The topmost helper bone that one hangs on, or itself."""
    while bone.parent is not None and _is_helper(bone.parent):
        bone = bone.parent
    return str(bone.name)
