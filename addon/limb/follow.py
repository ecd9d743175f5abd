"""What a limb follows: its target and its pole, each an object or a bone of one, as its IK constraint says; which of
these can be moved and set; and the slider by which a rig itself switches."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Bone, Depsgraph, Object, PoseBone
from mathutils import Matrix, Vector

from ..blender.animation import driver_of, drivers_of
from ..blender.dependencies import Dependencies, driver_targets
from ..blender.keying import Change
from ..blender.types import ArmatureObject, Refused, bones_of, children_of, has_bone, is_armature, split_path
from . import settings, storage, tips
from .features import pole_follow, roll
from .features.foot import FOOT
from .names import joint_of, pole_name, target_name


class Follow(NamedTuple):
    """The target and the pole of a limb, each an object and, of an armature, the name of a bone."""

    target: Object | None = None
    subtarget: str = ""
    pole: Object | None = None
    pole_subtarget: str = ""

    @property
    def pairs(self) -> tuple[tuple[Object | None, str], tuple[Object | None, str]]:
        """Target and pole, each as object and name of a bone."""
        return (self.target, self.subtarget), (self.pole, self.pole_subtarget)


def follow_of(limb: PoseBone) -> Follow:
    """The target and pole of a limb; a bone that does not exist counts as none."""
    constraint = storage.limb_constraint_of(limb)
    return Follow() if constraint is None else follow_of_constraint(constraint)


def follow_of_constraint(constraint: Any) -> Follow:
    """The target and pole of an IK constraint. Its own rig without a bone is none: Blender empties the name as the bone
    is deleted in Edit Mode."""
    target, pole = constraint.target, constraint.pole_target
    target = None if target == constraint.id_data and not constraint.subtarget else target
    pole = None if pole == constraint.id_data and not constraint.pole_subtarget else pole
    bone = constraint.subtarget if is_armature(target) else ""
    return Follow(target, bone, pole, constraint.pole_subtarget if is_armature(pole) else "")


def set_follow(constraint: Any, follow: Follow) -> None:
    """Set the target and pole of an IK constraint."""
    constraint.target, constraint.subtarget = follow.target, follow.subtarget
    constraint.pole_target, constraint.pole_subtarget = follow.pole, follow.pole_subtarget


def is_gone(ob: Object | None, bone: str) -> bool:
    """Whether a target or pole is missing: there is no object, or it has no bone of this name."""
    return ob is None or (bool(bone) and not has_bone(ob, bone))


def place_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Vector | None:
    """Where an object's origin or a bone's head is in the evaluated world; None for a bone that is not there."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    if not bone:
        return evaluated.matrix_world.translation  # type: ignore[no-any-return]
    pose_bone = evaluated.pose.bones.get(bone) if evaluated.pose else None
    return None if pose_bone is None else evaluated.matrix_world @ pose_bone.head


def matrix_of(ob: Object, bone: str, depsgraph: Depsgraph) -> Matrix:
    """The evaluated transform of an object or of a bone that is there, in the world."""
    evaluated: Any = ob.evaluated_get(depsgraph)
    world: Matrix = evaluated.matrix_world
    return world @ evaluated.pose.bones[bone].matrix if bone else world.copy()


GONE_BONES = ("'{name}' has no bone '{bone}': pick another target", "'{name}' has no bone '{bone}': pick another pole")


def check_posable(limb: PoseBone) -> None:
    """Refuse a limb that can't be posed: its bones, its foot, its target or its pole are missing."""
    storage.check_complete(limb)
    follow = follow_of(limb)
    if tips.is_foot_gone(limb):
        raise Refused(tips.FOOT_GONE, bone=limb.name)
    if gone := gone_controls(limb):
        raise Refused("The control '{name}' is gone: make it anew", name=next(iter(gone.values())))
    if follow.target is None:
        raise Refused("Pick a target for '{bone}', or make one", bone=limb.name)
    for (ob, bone), template in zip(follow.pairs, GONE_BONES, strict=True):
        if ob is not None and is_gone(ob, bone):
            raise Refused(template, name=ob.name, bone=bone)


def gone_controls(limb: PoseBone) -> dict[str, str]:
    """What the controls of a limb were called that somebody deleted: its ``TARGET`` and its ``POLE``."""
    constraint: Any = storage.limb_constraint_of(limb)
    follow, foot = follow_of_constraint(constraint), tips.foot_of(limb)
    below, gone = foot.name if foot else "", dict[str, str]()
    if constraint.target != follow.target:
        gone["TARGET"] = target_name(limb.name, below)
    if constraint.pole_target != follow.pole:
        gone["POLE"] = pole_name(limb.name, below, joint_of([limb.name, below]))
    return gone


OFF_TIP = 1e-3
"""How far from the tip the rolled target may rest, in lengths of the limb's last bone."""


def has_roll(limb: PoseBone) -> bool:
    """Whether a limb has a foot roll, complete or not."""
    return storage.has_slider(limb, "roll")


def solver_follow(limb: PoseBone) -> Follow:
    """The target and pole that the solver uses: the limb's own, or with a foot roll its rolled helper as target."""
    follow = follow_of(limb)
    end_bone = rolled_target(limb) if follow.target is not None and has_roll(limb) else None
    return follow if end_bone is None else follow._replace(target=limb.id_data, subtarget=end_bone.name)


def rolled_target(limb: PoseBone, anywhere: bool = False) -> Bone | None:
    """The helper bone that the solver of a limb with foot roll uses as target, or None. None also if it is not at
    the tip, unless ``anywhere``: it belongs to another limb then, or the foot was moved in Edit Mode."""
    foot = tips.foot_of(limb)
    copying: Any = foot.constraints.get(FOOT) if foot else None
    if copying is None or copying.target != limb.id_data:
        return None
    bone = limb.id_data.data.bones.get(copying.subtarget)
    if bone is None or role_of(bone) != roll.ROLLED_TARGET:
        return None
    is_there = anywhere or (bone.head_local - tip_at_rest(limb)).length <= OFF_TIP * limb.bone.length
    return bone if is_there else None


def role_of(bone: Any) -> str:
    """The role that a helper bone was made for; "" if it was not made for a limb."""
    return str(getattr(bone, settings.MADE_FOR_LIMB))


def tip_at_rest(limb: PoseBone) -> Vector:
    """The rest position of a limb's tip, in the armature."""
    place: Vector = limb.bone.matrix_local @ Vector(
        tips.tip_of(limb, (storage.group_of(limb) or {}).get("tip", "FOOT")).tolist()
    )
    return place


def helpers_of(limb: PoseBone, anywhere: bool = False) -> dict[str, Bone]:
    """The helper bones of a limb's foot roll by role. If it is incomplete, those above its rolled target; none
    without one. See there for ``anywhere``."""
    end_bone: Any = rolled_target(limb, anywhere) if has_roll(limb) else None
    if end_bone is None:
        return {}
    bones = [end_bone, *end_bone.parent_recursive, *(end_bone.parent.children if end_bone.parent else ())]
    return {role: bone for bone in bones if (role := role_of(bone)) in roll.ROLL_ROLES}


def flat_toes(limb: PoseBone) -> list[PoseBone]:
    """The toe bones that a foot roll keeps flat on the ground."""
    foot = tips.foot_of(limb)
    return [toe for toe in children_of(foot) if roll.FLAT_TOE in toe.constraints] if foot else []


def unrolled(limb: PoseBone, depsgraph: Depsgraph) -> Matrix:
    """The evaluated world matrix that the solver's target would have without roll and bank."""
    helpers = helpers_of(limb)
    if roll.ROLL_CONTROL not in helpers:
        return matrix_of(*follow_of(limb)[:2], depsgraph)  # type: ignore[arg-type]  # it is there
    control, end_bone = helpers[roll.ROLL_CONTROL], helpers[roll.ROLLED_TARGET]
    at_rest = control.matrix_local.inverted() @ end_bone.matrix_local
    return matrix_of(limb.id_data, control.name, depsgraph) @ at_rest


HUNG_ON_TARGET = "pole_on_target"
"""What the group of a limb says whose pole hung on the target itself."""


def has_pole_follow(limb: PoseBone) -> bool:
    """Whether a limb has Pole Follow: a slider for how far its pole moves with its target."""
    return storage.has_slider(limb, "pole_follow")


class FollowingPole(NamedTuple):
    """A pole with Pole Follow: the limb whose slider says how far it goes, and what it goes with where that is 0 and 1:
    the bones ``above`` and ``target``."""

    limb: PoseBone
    above: str
    target: str


def following_pole(ob: Object, name: str) -> FollowingPole | None:
    """The Pole Follow of a bone, if it is a pole that has one."""
    carrying: Any = bones_of(ob)[name].constraints.get(pole_follow.CONSTRAINT) if has_bone(ob, name) else None
    if carrying is None or carrying.mute or len(carrying.targets) != 2:
        return None
    limbs = [limb for limb in storage.limbs_of(ob) if has_pole_follow(limb) and follow_of(limb).pairs[1] == (ob, name)]  # type: ignore[arg-type]
    return FollowingPole(limbs[0], *(target.subtarget for target in carrying.targets)) if limbs else None


def pole_goes_along(limb: PoseBone) -> bool:
    """Whether moving the target of a limb moves its pole, which then has to be put back."""
    (target, target_bone), (pole, pole_bone) = follow_of(limb).pairs
    if pole is None or is_gone(pole, pole_bone):
        return False
    if has_pole_follow(limb):
        return True
    if pole_bone and pole == target:
        return target_bone in (bone.name for bone in bones_of(pole)[pole_bone].parent_recursive)
    return pole.parent is not None and pole.parent == target


def is_still_helper(ob: ArmatureObject, name: str) -> bool:
    """Whether a bone is the helper bone that never moves."""
    bone: Any = ob.data.bones.get(name)
    return bone is not None and role_of(bone) == pole_follow.STILL


FIXING = {"COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH", "CLAMP_TO", "SHRINKWRAP", "FOLLOW_TRACK", "OBJECT_SOLVER"}
"""The constraints that leave nothing to what they hold, at full influence."""


def change_of(limb: PoseBone, slider: str) -> Change:
    """A `Change` for a slider of a limb that will be set."""
    return Change.of_property(limb.id_data, limb.name, settings.slider_of(slider).path)


def check_movable(limb: PoseBone, ob: Object, bone: str) -> None:
    """Refuse to move a target or pole that something else poses, that another file has, or that carries the limb.
    Drivers, constraints or another limb may pose it."""
    name, dependencies = bone or ob.name, Dependencies()
    if not ob.is_editable:
        raise Refused("'{name}' is of another file: make a library override of it, then snap", name=name)
    check_apart(limb, ob, bone, dependencies)
    owner: Any = bones_of(ob)[bone] if bone else ob
    if bone:
        own = [*owner.constraints]
        movers: list[Any] = [mover for mover in dependencies.constraints_and_drivers(owner) if mover not in own]
        movers += [other for other in storage.limbs_of(ob) if owner in storage.bones_of_limb(other)]  # type: ignore[arg-type]
    else:
        movers = [
            curve for curve in drivers_of(ob) if curve.data_path in ("location", "delta_location") and not curve.mute
        ]
    fixing = [
        constraint
        for constraint in owner.constraints
        if not constraint.mute and constraint.influence >= 1.0 and constraint.type in FIXING
    ]
    if movers or fixing:
        raise Refused("Something else moves '{name}': mute its constraints and drivers, then snap", name=name)


def check_apart(limb: PoseBone, ob: Object, bone: str, dependencies: Dependencies) -> None:
    """Refuse to move something that the limb hangs on."""
    first = storage.bones_of_limb(limb)[0]
    if (ob, bone) in dependencies.dependencies_of((limb.id_data, first.parent.name if first.parent else "")):
        raise Refused(
            "'{name}' carries this limb: have the limb follow something else, then snap", name=bone or ob.name
        )


def check_undriven(limb: PoseBone, *names: str) -> None:
    """Refuse to set sliders of a limb that are gone, or that drivers set."""
    for name in names:
        if not storage.has_slider(limb, name):
            raise Refused(storage.EDITED, bone=limb.name)
        curve = driver_of(limb.id_data, storage.path_to_slider(limb.name, name))
        if curve is not None and not curve.mute:
            source = next(driver_targets(curve), None)
            raise Refused(
                "{slider} of '{bone}' is driven by '{source}': set that",
                slider=settings.slider_of(name).key,
                bone=limb.name,
                source=(source[1] or source[0].name) if source else "a formula",
            )


class RigSlider(NamedTuple):
    """A rig's own slider that switches a limb between FK and IK, as Rigify's rigs have."""

    bone: str  # that has the slider
    name: str  # of its custom property
    copying: str  # the bone that copies the limb as far as the slider says
    constraint: str  # the name of the one by which it does


def rig_slider(limb: PoseBone) -> RigSlider | None:
    """The rig's own slider that switches a limb between FK and IK, or None. It drives how far other bones copy each
    of the limb's; what copies one of them, as a twist bone does, is none."""
    drivers = [curve for curve in drivers_of(limb.id_data) if not curve.mute]
    driven = {curve.data_path: curve for curve in drivers if curve.data_path.endswith(".influence")}
    copied = [_sliders_copying(bone, driven) for bone in storage.bones_of_limb(limb)] if driven else []
    if not copied:
        return None
    return next((slider for key, slider in copied[-1].items() if all(key in of_bone for of_bone in copied)), None)


def _sliders_copying(source: PoseBone, driven: dict[str, Any]) -> dict[tuple[str, str], RigSlider]:
    """The custom properties by which other bones copy one, by bone and name."""
    sliders, rig = dict[tuple[str, str], RigSlider](), source.id_data
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if getattr(constraint, "target", None) != rig or getattr(constraint, "subtarget", "") != source.name:
                continue
            curve = driven.get(constraint.path_from_id("influence"))
            for variable in curve.driver.variables if curve else ():
                owner, path = split_path(variable.targets[0].data_path)
                if path.startswith("[") and path != settings.slider_of("influence").path:
                    name = path.strip("[]\"'")
                    sliders.setdefault((owner, name), RigSlider(owner, name, bone.name, constraint.name))
    return sliders
