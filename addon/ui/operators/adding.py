"""What a selection asks for when chains are added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bpy.types import Context, Object, PoseBone
from mathutils import Quaternion

from ... import live
from ...native.convert import make_live, make_portable
from ...rig.data.access import chain_settings, has_chain, runs_on_rig, takes_bones
from ...rig.kinds import Refused
from ...rig.status import away
from ...rig.targets import Target
from ...rig.tasks.controls import Control, make_controls
from ...rig.tasks.ends import end_of, keep_rotation, turn_of
from ...rig.tasks.joints import lengths_to_joints
from ...rig.tasks.limbs import is_limb, points_astray, times_too_long, to_click
from ...rig.tasks.setup import Fitting, add_fitting, fit_chain, named_target, remove_unused, reset_chain, stop_chain
from ...rig.words import rpt_
from ..translations import told

NAMED = 3
"""How many bones a sentence names at most."""

NO_BONE = "Go to Pose Mode and select the lower bone of a limb"


class Request(NamedTuple):
    """What the caller asked for by name; empty strings leave it to the selection and the pose."""

    plane: str
    target: str
    subtarget: str
    pole_target: str
    pole_subtarget: str
    on_rig: bool
    flip: bool
    any_bones: bool
    controls: str = "EMPTY"
    keep_rotation: bool = False


def add_chains(context: Context, request: Request) -> list[str]:
    """Add a chain to every selected limb; return warnings. Raises `Refused` before anything is changed."""
    target = named_target(request.target, request.subtarget)
    pole = named_target(request.pole_target, request.pole_subtarget)
    left_out = ""
    if target and context.active_pose_bone:
        lowers = [context.active_pose_bone]
    else:
        lowers, goals = _selection(context, request.any_bones)
        left_out = _left_out(context, lowers, goals)
        target, selected_pole = _told_apart(context, goals, lowers[0])
        pole = pole or selected_pole
    if target and len(lowers) > 1:
        raise Refused("Select one lower bone and a target, or several lower bones and no target")
    fittings = [fit_chain(context, lower, target, pole, request.plane) for lower in lowers]
    warnings = [left_out] if left_out else []
    warnings += [warning for fitting in fittings if (warning := fitting.warning() or misfit(fitting.lower))]
    if request.controls != "EMPTY":
        _check_bones_can_be_made(fittings)
    fittings, marks = _without_chains(context, fittings)
    if request.controls != "EMPTY":
        fittings = _with_controls(context, fittings, request.controls == "ROOT")
    ends = fittings if request.keep_rotation else []
    turns = [_turn_of_end(context, fitting.lower) for fitting in ends]
    for fitting in fittings:
        add_fitting(context, fitting, {"bend": -fitting.fit.bend} if request.flip else {})
    names = [(fitting.lower.id_data, fitting.lower.name) for fitting in fittings]
    if request.keep_rotation:
        warnings += _keep_rotations(context, fittings, turns)
    remove_unused(marks)
    if request.on_rig:
        warnings += put_on_rig(context, names)
    live.refresh(context)
    return warnings


def _check_bones_can_be_made(fittings: list[Fitting]) -> None:
    """Raise `Refused` if a rig takes no bones for controls."""
    for ob in (fitting.lower.id_data for fitting in fittings):
        if not takes_bones(ob):
            raise Refused(
                rpt_("No bones can be added to '{rig}', which is linked: make empties instead").format(rig=ob.name)
            )


def _without_chains(context: Context, fittings: list[Fitting]) -> tuple[list[Fitting], set[Any]]:
    """Fittings of limbs without the chains that they had, switched off; and what was made for these."""
    names = [(fitting.lower.id_data, fitting.lower.name) for fitting in fittings]
    old = [(ob, name) for ob, name in names if has_chain(ob.pose.bones[name])]
    make_live(context, [ob.pose.bones[name] for ob, name in old if runs_on_rig(ob.pose.bones[name])])
    marks: set[Any] = set()
    for ob, name in old:
        stop_chain(ob.pose.bones[name])
        marks |= reset_chain(ob.pose.bones[name])
    pairs = zip(fittings, names, strict=True)
    return [fitting._replace(lower=ob.pose.bones[name]) for fitting, (ob, name) in pairs], marks


def _with_controls(context: Context, fittings: list[Fitting], under_root: bool) -> list[Fitting]:
    """Fittings with new bones of the rig for the targets and poles that they lack."""
    done: list[tuple[Fitting, Any, str]] = []
    for ob in {fitting.lower.id_data: None for fitting in fittings}:
        of_rig = [(fitting, fitting.lower.name) for fitting in fittings if fitting.lower.id_data == ob]
        for fitting, name in of_rig:
            goals = _lacking(context, fitting, name)
            root = _root_of(ob.pose.bones[name]) if under_root else ""
            made: Any = dict(zip(goals, make_controls(context, ob, goals.values(), root), strict=True))
            done.append((fitting._replace(**made), ob, name))
    return [fitting._replace(lower=ob.pose.bones[name]) for fitting, ob, name in done]


def _root_of(lower: PoseBone) -> str:
    """The bone at the top of a limb's rig; none if that is the limb's own, on which no target can hang."""
    top = lower.parent_recursive[-1]
    return "" if top == lower.parent else top.name


def _lacking(context: Context, fitting: Fitting, name: str) -> dict[str, Control]:
    """The target and the pole that a limb has none of, as bones."""
    posed, lower = fitting.posed, fitting.lower.id_data.pose.bones[name]
    found = {}
    if fitting.target is None:
        turn = turn_of(context, end_of(lower) or lower)
        found["target"] = Control("target", name, posed.target, turn, posed.mark)
    if fitting.pole is None and fitting.fit.plane == "POLE":
        found["pole"] = Control("pole", name, posed.pole, Quaternion(), posed.mark)
    return found


def _turn_of_end(context: Context, lower: PoseBone) -> Quaternion:
    """How the bone below a limb is turned in the world; without one, not at all."""
    end = end_of(lower)
    return turn_of(context, end) if end else Quaternion()


def _keep_rotations(context: Context, fittings: list[Fitting], turns: list[Quaternion]) -> list[str]:
    """Have the bones below the limbs, which were turned so, keep their targets' rotation; new empties take theirs."""
    warnings = []
    for fitting, turn in zip(fittings, turns, strict=True):
        target: Any = chain_settings(fitting.lower).target
        if fitting.target is None and end_of(fitting.lower):
            target.rotation_euler = turn.to_euler()
        warnings.append(keep_rotation(context, fitting.lower, turn))
    return [warning for warning in warnings if warning]


def put_on_rig(context: Context, names: list[tuple[Any, str]]) -> list[str]:
    """Let new chains, by their objects and lower bones, run on the rig; what can't stays live, with a warning."""
    try:
        make_portable(context, [ob.pose.bones[name] for ob, name in names])
    except Refused as why:
        if len(names) == 1:
            return [rpt_("Runs on the extension: {why}").format(why=told(str(why)))]
        return [warning for name in names for warning in put_on_rig(context, [name])]
    return []


def refusal(context: Context) -> str:
    """Why nothing can be added to what is selected; nothing if it can."""
    try:
        _selection(context, any_bones=False)
    except Refused as why:
        return str(why)
    return ""


def _selection(context: Context, any_bones: bool) -> tuple[list[PoseBone], list[Target]]:
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
        raise Refused(advice(active or bones[0]))
    lowers = _apart(lowers, active)
    used = {bone for lower in lowers for bone in (lower, lower.parent) if bone}
    above = {bone for each in used for bone in each.parent_recursive}
    others = [bone for bone in bones if not {bone, *bone.parent_recursive} & used and bone not in above]
    if active in others and len(lowers) > 1:  # Of several limbs it is none's target, but was meant to get something.
        raise Refused(advice(active))
    goals = [Target(bone.id_data, bone.name) for bone in others]
    goals += [Target(ob, "") for ob in _objects_meant(context, lowers[0].id_data)]
    if len(goals) > 2:
        raise Refused("Select a target and a pole at most besides the lower bone")
    return lowers, goals


def _left_out(context: Context, lowers: list[PoseBone], goals: list[Target]) -> str:
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


def _told_apart(context: Context, goals: list[Target], lower: PoseBone) -> tuple[Target | None, Target | None]:
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
    return is_skin or ob in _carriers(rig) or (ob.type == "MESH" and rig in _carriers(ob))


def _carriers(ob: Object) -> Iterator[Object]:
    """What an object is parented to, and that in turn."""
    while ob.parent:
        ob = ob.parent
        yield ob


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


def advice(bone: PoseBone) -> str:
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
