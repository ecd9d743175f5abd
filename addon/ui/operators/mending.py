"""What a person can press when a chain can't be posed: each mend that helps, as a button beside the message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bpy.props import EnumProperty
from bpy.types import Context, Object, PoseBone

from ... import live
from ...native.convert import make_live, make_portable, rebuild
from ...native.mechanism.found import may_switch
from ...native.own import own_posture
from ...rig import status
from ...rig.data.access import (
    bones_of,
    chain_settings,
    path_to_bone,
    runs_on_rig,
    scene_of,
    scene_settings,
    takes_bones,
    upper_of,
    view_layer_of,
)
from ...rig.data.animation import drivers_of
from ...rig.data.dependencies import Dependencies
from ...rig.kinds import Kind, Refused, kind_of
from ...rig.problems import deleted, hangs_on, movers_of
from ...rig.targets import GOALS, Target
from ...rig.tasks.joints import end_at_joints, lengths_to_joints
from ...rig.tasks.setup import make_pole, new_empty, posture_of
from ...rig.words import rpt_
from ..finding import goals_of, selected_chains
from .chains import ChainOperator, PoseOperator
from .resetting import no_numbers, reset_numbers, reset_scales, settings_of_no_number, zero_scales

PARTS = dict(zip(("TARGET", "POLE"), GOALS, strict=True))
"""The settings that name what a chain follows, by what that is called."""


class Mend(NamedTuple):
    """What a button says, when it helps a chain that has a problem of this kind, and what it does."""

    label: str
    helps: Callable[[PoseBone, Kind | None], bool]
    act: Callable[[Context, PoseBone], None]


def mends_for(lower: PoseBone) -> list[str]:
    """The names of the mends that help a chain now."""
    kind = _kind_of(lower)
    return [name for name, mend in MENDS.items() if mend.helps(lower, kind)]


def _kind_of(lower: PoseBone) -> Kind | None:
    """Which problem a chain has; as Blender's property its message would not tell any more."""
    return kind_of(status.message(chain_settings(lower)))


def wrong_goals(lower: PoseBone) -> list[str]:
    """Which of target and pole a chain lacks, or can't follow."""
    kind = _kind_of(lower)
    return [part for part in PARTS if _is_wrong(lower, part, kind)]


def _is_wrong(lower: PoseBone, part: str, kind: Kind | None) -> bool:
    """Whether a chain lacks its target or its pole, or has one that it can't follow."""
    settings = chain_settings(lower)
    goal = Target.read(*(getattr(settings, name) for name in PARTS[part]))
    if part == "POLE" and settings.plane != "POLE" and not may_switch(lower):
        return False
    if goal is None or kind is Kind.CIRCLE:
        return True
    return bool(goal.problem() or deleted([goal]) or hangs_on(lower, goal, Dependencies()))


def _is(*kinds: Kind) -> Callable[[PoseBone, Kind | None], bool]:
    """Whether the problem is one of these."""
    return lambda _, kind: kind in kinds


def _make_target(context: Context, lower: PoseBone) -> None:
    """Where the tip is in the bones' own pose: a limb on the rig that follows what hangs on it shows another."""
    posed = own_posture(context, lower) if runs_on_rig(lower) else posture_of(context, lower)
    settings = chain_settings(lower)
    settings.target, settings.subtarget = new_empty(context, f"target_{lower.name}", posed.target, posed.mark), ""


def _moving_constraints(lower: PoseBone) -> list[tuple[str, str]]:
    """The bones and names of constraints that move the limb."""
    if lower.parent is None:
        return []
    found = [(mover.bone, mover.constraint) for mover in movers_of(lower, Dependencies()) if mover.constraint]
    bones = bones_of(lower.id_data)
    acting = [(bone, name, bones[bone].constraints[name]) for bone, name in found]
    return [(bone, name) for bone, name, each in acting if not each.mute and each.influence > 0.0]


def _turning_drivers(lower: PoseBone) -> list[Any]:
    """The F-curves of the drivers that turn or scale the limb."""
    if lower.parent is None:
        return []
    paths = [path_to_bone(bone.name) for bone in (lower, lower.parent)]
    found = tuple(f"{path}.{channel}" for path in paths for channel in ("rotation", "scale"))
    return [curve for curve in drivers_of(lower.id_data) if curve.data_path.startswith(found) and not curve.mute]


def _rivals(lower: PoseBone) -> list[PoseBone]:
    """The lower bones of other chains that have a bone of this one, and are switched on as it is."""
    if lower.parent is None or not chain_settings(lower).enabled:
        return []
    found, bones = movers_of(lower, Dependencies()), bones_of(lower.id_data)
    rivals = [bones[mover.bone] for mover in found if not mover.constraint]
    return [bone for bone in rivals if chain_settings(bone).enabled]


def _is_moved(lower: PoseBone, kind: Kind | None) -> bool:
    return bool(_moving_constraints(lower) or (kind is Kind.DRIVEN and _turning_drivers(lower)))


def _mute(_context: Context, lower: PoseBone) -> None:
    for bone, name in _moving_constraints(lower):
        bones_of(lower.id_data)[bone].constraints[name].mute = True
    for curve in _turning_drivers(lower):
        curve.mute = True
    lower.id_data.update_tag()


def _switch_off_rivals(_context: Context, lower: PoseBone) -> None:
    for rival in _rivals(lower):
        chain_settings(rival).enabled = False


def _switch_on(_context: Context, lower: PoseBone) -> None:
    chain_settings(lower).enabled = True  # which has the constraints follow


def _enable(context: Context, lower: PoseBone) -> None:
    """Have Blender evaluate a rig and what its chain follows, and go on hiding them, by the eye."""
    view_layer: Any = view_layer_of(context)
    for ob in (lower.id_data, *(goal.object for goal in goals_of(lower).values())):
        was_hidden = ob.hide_viewport
        ob.hide_viewport = ob.hide_render = False
        layers = [*_layers_with(view_layer.layer_collection, ob)]
        for layer in [each for each in layers if each.exclude or each.collection.hide_viewport]:
            if layer.exclude:  # else this would include what is excluded below
                layer.exclude = False
            layer.collection.hide_viewport, layer.hide_viewport = False, True
        for layer in layers:
            layer.collection.hide_render = False
        if was_hidden:
            ob.hide_set(True)


def _layers_with(layer: Any, ob: Object) -> Iterator[Any]:
    """The collections of a view layer that an object is in, from outside in."""
    if ob in layer.collection.all_objects.values():
        yield layer
        for child in layer.children:
            yield from _layers_with(child, ob)


def _is_at_rest(lower: PoseBone, _kind: Kind | None) -> bool:
    return bool(lower.id_data.data.pose_position == "REST")


def _show_pose(_context: Context, lower: PoseBone) -> None:
    lower.id_data.data.pose_position = "POSE"


def _align_scale(context: Context, lower: PoseBone) -> None:
    lower.bone.inherit_scale = "ALIGNED"
    _rebuild(context, lower)


def _inherit_all(context: Context, lower: PoseBone) -> None:
    bone = (upper_of(lower) if _kind_of(lower) is Kind.UPPER_INHERITS else lower).bone
    bone.inherit_scale, bone.use_inherit_rotation = "FULL", True
    _rebuild(context, lower)


def _stretch_uniformly(_context: Context, lower: PoseBone) -> None:
    chain_settings(lower).stretch_volume = "UNIFORM"


def _rebuild(context: Context, lower: PoseBone) -> None:
    """Have a chain that runs on the rig take notice of what its bones are now."""
    if runs_on_rig(lower):
        view_layer_of(context).update()
        rebuild(context, [lower])


def _run_on_rig(context: Context, lower: PoseBone) -> None:
    make_portable(context, [lower])


def _run_on_extension(context: Context, lower: PoseBone) -> None:
    make_live(context, [lower])


def _go_live(context: Context, _lower: PoseBone) -> None:
    scene_settings(scene_of(context)).live = True


def _reset_scales(_context: Context, lower: PoseBone) -> None:
    reset_scales(lower)


def _reset_numbers(context: Context, lower: PoseBone) -> None:
    reset_numbers(lower)
    _rebuild(context, lower)


MENDS = {
    "TARGET": Mend("Make a Target", lambda lower, kind: _is_wrong(lower, "TARGET", kind), _make_target),
    "POLE": Mend("Make a Pole", lambda lower, kind: _is_wrong(lower, "POLE", kind), make_pole),
    "ENABLE": Mend("Enable in Viewports", _is(Kind.DISABLED), _enable),
    "MUTE": Mend("Mute What Moves It", _is_moved, _mute),
    "RIVAL": Mend("Switch the Other Chain Off", lambda lower, _: bool(_rivals(lower)), _switch_off_rivals),
    "UNMUTE": Mend("Un-Mute Its Constraints", _is(Kind.MUTED), _switch_on),
    "POSE": Mend("Show Pose Position", _is_at_rest, _show_pose),
    "ALIGN": Mend("Set Inherit Scale to Aligned", _is(Kind.UNEVEN, Kind.STRETCHED_BENT), _align_scale),
    "INHERIT": Mend("Inherit in Full", _is(Kind.LOWER_INHERITS, Kind.UPPER_INHERITS), _inherit_all),
    "UNIFORM": Mend(
        "Set Stretch Volume to Uniform", _is(Kind.STRETCHED_ASIDE, Kind.STRETCHED_BENT), _stretch_uniformly
    ),
    "SCALE": Mend(
        "Reset Scale of Zero", lambda lower, kind: kind is Kind.NOTHING and bool(zero_scales(lower)), _reset_scales
    ),
    "NUMBER": Mend(
        "Reset What Is Not a Number",
        lambda lower, kind: kind is Kind.NOT_A_NUMBER and bool(no_numbers(lower) or settings_of_no_number(lower)),
        _reset_numbers,
    ),
    "REBUILD": Mend("Rebuild on the Rig", _is(Kind.OUTDATED), _rebuild),
    "RIG": Mend("Run on the Rig", _is(Kind.MOVED), _run_on_rig),
    "EXTENSION": Mend("Run on the Extension", _is(Kind.KEPT_WAITING), _run_on_extension),
    "LIVE": Mend("Switch Live On", _is(Kind.LIVE_IS_OFF), _go_live),
}


class POSE_OT_planar_ik_mend(ChainOperator):
    """Take away what keeps the selected chains from being posed"""

    bl_idname = "pose.planar_ik_mend"
    bl_label = "Mend Planar IK"

    way: EnumProperty(
        name="Way",
        description="What to do",
        items=[(name, mend.label, mend.label) for name, mend in MENDS.items()],
    )

    def act(self, context: Context) -> None:
        """Mend every selected chain that this helps."""
        mend = MENDS[self.way]
        is_mended = False
        for lower in selected_chains(context, or_off=True):
            # Asked of each when it is its turn, as to mend one chain may have mended others.
            if mend.helps(lower, _kind_of(lower)):
                mend.act(context, lower)
                is_mended = True
        if not is_mended:
            raise Refused(
                rpt_("{mend}: this would not help, as nothing of the kind is in the way").format(mend=rpt_(mend.label))
            )
        live.refresh(context)


class POSE_OT_planar_ik_end_at_joints(PoseOperator):
    """Make the active bone and its parent as long as to the next joints. Their heads and axes stay, and with them pose
    and skin"""

    bl_idname = "pose.planar_ik_end_at_joints"
    bl_label = "End Bones at Joints"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where that makes a limb of the active bone and its parent."""
        bone = context.active_pose_bone
        if bone is None or not lengths_to_joints(bone):
            cls.poll_message_set(rpt_("Click a bone that begins straight ahead of its parent, but not where that ends"))
            return False
        return True

    def act(self, context: Context) -> None:
        """Give both bones their lengths."""
        bone: Any = context.active_pose_bone
        ob = bone.id_data
        if not takes_bones(ob):
            sentence = rpt_("'{rig}' is linked: let its bones end at joints in the file that it is linked from")
            raise Refused(sentence.format(rig=ob.name))
        end_at_joints(context, ob, lengths_to_joints(bone))


CLASSES = (POSE_OT_planar_ik_mend, POSE_OT_planar_ik_end_at_joints)
