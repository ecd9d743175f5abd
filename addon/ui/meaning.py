"""Which limbs a selection means to get chains, which targets and poles, and what to say where it means none."""

from __future__ import annotations

from bpy.types import Context, Object, PoseBone

from ..rig.data.access import with_carriers
from ..rig.kinds import Refused
from ..rig.status import away
from ..rig.targets import Target
from ..rig.tasks.joints import lengths_to_joints
from ..rig.tasks.limbs import is_limb, points_astray, times_too_long, to_click
from ..rig.words import rpt_

NAMED = 3
"""How many bones a sentence names at most."""

NO_BONE = "Go to Pose Mode and select the lower bone of a limb"


def refusal(context: Context) -> str:
    """Why nothing can be added to what is selected; nothing if it can."""
    try:
        selection(context, any_bones=False)
    except Refused as why:
        return str(why)
    return ""


def selection(context: Context, any_bones: bool) -> tuple[list[PoseBone], list[Target]]:
    """The lower bones to get a chain, and the targets and poles that are selected, in whatever order: two at most.
    Raises `Refused`."""
    active = context.active_pose_bone
    bones = list(context.selected_pose_bones or ())
    if active and active not in bones:
        bones.append(active)
    if not bones:
        raise Refused(NO_BONE)
    lowers = [bone for bone in bones if (bone == active if any_bones else is_limb(bone))]
    if not lowers:
        raise Refused(_advice(active or bones[0]))
    lowers = _apart(lowers, active)
    used = {bone for lower in lowers for bone in (lower, lower.parent) if bone}
    above = {bone for each in used for bone in each.parent_recursive}
    others = [bone for bone in bones if not {bone, *bone.parent_recursive} & used and bone not in above]
    if active in others and len(lowers) > 1:  # Of several limbs it is none's target, but was meant to get something.
        raise Refused(_advice(active))
    goals = [Target(bone.id_data, bone.name) for bone in others]
    goals += [Target(ob, "") for ob in _objects_meant(context, lowers[0].id_data)]
    if len(goals) > 2:
        raise Refused("Select a target and a pole at most besides the lower bone")
    return lowers, goals


def told_left_out(context: Context, lowers: list[PoseBone], goals: list[Target]) -> str:
    """What to say of selected bones that become neither part nor target of the one limb that gets a chain. Several
    limbs are selected with whatever is around them."""
    if len(lowers) > 1:
        return ""
    lower, upper = lowers[0], lowers[0].parent
    followed = {(goal.object, goal.bone) for goal in goals}
    used = {(bone.id_data, bone.name) for bone in (lower, upper) if bone} | followed
    names = [bone.name for bone in context.selected_pose_bones or () if (bone.id_data, bone.name) not in used]
    if upper is None or not names:
        return ""
    sentence = rpt_("The limb is '{upper}' and '{lower}': what is above or below it was left out, {bones}")
    return sentence.format(upper=upper.name, lower=lower.name, bones=_listed(names))


def _listed(names: list[str]) -> str:
    """Names in quotes, of many the first ones."""
    shown = [f"'{name}'" for name in names[:NAMED]]
    return ", ".join([*shown, "…"] if len(names) > NAMED else shown)


def told_apart(context: Context, goals: list[Target], lower: PoseBone) -> tuple[Target | None, Target | None]:
    """The target and the pole among them: of two, the target is the one nearer to the tip."""
    if len(goals) == 2:
        goals = sorted(goals, key=lambda goal: _away(context, goal, lower))
    return goals[0] if goals else None, goals[1] if len(goals) == 2 else None


def _away(context: Context, goal: Target, lower: PoseBone) -> float:
    """How far a target is from the tip of a limb."""
    depsgraph = context.evaluated_depsgraph_get()
    return away(lower.id_data.evaluated_get(depsgraph).pose.bones[lower.name], goal, depsgraph)


def _objects_meant(context: Context, rig: Object) -> list[Object]:
    """The selected objects that can be targets; none if a part of the character is among them. Importers leave all of
    what they made selected, also empties that would do, and nobody means those."""
    objects = [ob for ob in context.selected_objects if ob.mode != "POSE"]
    return [] if any(_is_part(ob, rig) for ob in objects) else objects


def _is_part(ob: Object, rig: Object) -> bool:
    """Whether an object carries a rig, is deformed by one, or is a mesh that the rig carries."""
    is_skin = any(modifier.type == "ARMATURE" and modifier.show_viewport for modifier in ob.modifiers)
    carries = ob != rig and ob in with_carriers(rig)
    return is_skin or carries or (ob.type == "MESH" and rig in with_carriers(ob))


def _apart(lowers: list[PoseBone], active: PoseBone | None) -> list[PoseBone]:
    """Those that share no bone: of two that do, the active one; raises `Refused` if neither is."""
    kept: list[PoseBone] = []
    for lower in sorted(lowers, key=lambda bone: bone != active):
        rival = next((each for each in kept if {each, each.parent} & {lower, lower.parent}), None)
        if rival is None:
            kept.append(lower)
        elif rival != active:
            sentence = rpt_("The limbs of '{one}' and '{other}' would share a bone: select one of the two")
            raise Refused(sentence.format(one=rival.name, other=lower.name))
    return kept


def misfit(bone: PoseBone) -> str:
    """What to say of a rig whose bones do not end where the next ones begin, if that is what is wrong."""
    times = times_too_long(bone)
    if times == 1.0:
        return _astray(bone) if points_astray(bone) else ""
    sentence = rpt_(
        "The bones of '{rig}' are {times} times as long as from joint to joint: scale them all in Edit Mode by "
        "{factor} about Individual Origins, or import the glTF file with Temperance for Bone Dir"
    )
    return sentence.format(rig=bone.id_data.name, times=f"{times:.3g}", factor=f"{1.0 / times:.3g}")


def _astray(bone: PoseBone) -> str:
    sentence = rpt_(
        "The bones of '{rig}' do not point at the next joints: import the file again with Automatic Bone Orientation "
        "(in the older FBX importer), Fortune for Bone Dir (glTF) or Auto Connect (COLLADA)"
    )
    return sentence.format(rig=bone.id_data.name)


def _advice(bone: PoseBone) -> str:
    """What to say of a bone that is not the lower one of a limb."""
    if bone.parent and times_too_long(bone) == 1.0 and lengths_to_joints(bone):
        sentence = rpt_(
            "'{upper}' and '{lower}' do not end at the next joints: press End Bones at Joints in the sidebar's Item tab"
        )
        return sentence.format(upper=bone.parent.name, lower=bone.name)
    wrong = misfit(bone)
    if wrong:
        return wrong
    other = to_click(bone)
    if other and other.parent:
        sentence = rpt_("'{bone}' is not the lower bone of a limb: click '{lower}', which bends with '{upper}'")
        return sentence.format(bone=bone.name, lower=other.name, upper=other.parent.name)
    if bone.parent is None:
        sentence = rpt_("'{bone}' has no parent: select the lower of two bones that meet, like a shin or a forearm")
        return sentence.format(bone=bone.name)
    sentence = rpt_(
        "'{bone}' and its parent '{parent}' are no limb: select the lower of two bones that meet, like a shin or a "
        "forearm"
    )
    return sentence.format(bone=bone.name, parent=bone.parent.name)
