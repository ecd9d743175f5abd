"""Rigs as their makers build them, each with sliders of its own: *Solve Exactly* keeps the limb in every state of
these, in whole matrices, or leaves it to Blender's IK by the name of the slider that would be lost."""

from __future__ import annotations

from itertools import product
from math import pi
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import legs, rigs, skeletons

KEPT = 0.002
"""How far a bone may be off, its axes as long as the bone, in lengths of the limb."""

PLACES = ((0, 0, 0), (0.03, 0.2, -0.1), (-0.05, 0.45, 0.1))
"""Where the control of a foot is moved to."""

LEG = ("thigh.L", "shin.L", "foot.L", "toe.L")


def leg(**constraint: Any) -> tuple[Any, Any, Any]:
    """A leg with a control and a pole, whose IK has these settings: the rig, its shin's constraint and the control."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for name, head in (("c_foot_ik.L", (0.1, 0.02, 0.1)), ("c_leg_pole.L", (0.12, -1.0, 0.55))):
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = head, Vector(head) + Vector((0, 0, 0.1))
        bone.parent = ob.data.edit_bones["root"]
    bpy.ops.object.mode_set(mode="POSE")
    ik = ob.pose.bones["shin.L"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = ob, "c_foot_ik.L", 2, False
    ik.pole_target, ik.pole_subtarget, ik.pole_angle = ob, "c_leg_pole.L", -pi / 2
    for name, value in constraint.items():
        setattr(ik, name, value)
    return ob, ik, ob.pose.bones["c_foot_ik.L"]


def slider(owner: Any, name: str, low: float, high: float, value: float) -> str:
    """A custom property from one value to another; its path from the rig."""
    owner[name] = value
    owner.id_properties_ui(name).update(min=low, max=high, default=value)
    return f'{owner.path_from_id()}["{name}"]'


def pole_angle() -> tuple[Any, str]:
    """As Auto-Rig Pro: a slider of the foot's control turns the knee."""
    ob, ik, control = leg()
    rigs.drive(ik, "pole_angle", ob, slider(control, "pole angle", -0.8, 0.8, 0.0)).driver.expression = "value-pi/2"
    return ob, ""


def pole_angle_posed() -> tuple[Any, str]:
    """The same where FK bends the leg, as Blender turns that to the pole before it bends it further."""
    ob, _ = pole_angle()
    ob.pose.bones["shin.L"].rotation_quaternion = (0.95, 0.3, 0.05, 0.02)
    return ob, ""


def stretch_length() -> tuple[Any, str]:
    """As Auto-Rig Pro: the scale of the bones makes the leg longer."""
    ob, _, control = leg()
    path = slider(control, "stretch_length", 0.5, 2.0, 1.0)
    for name in LEG[:2]:
        rigs.drive(ob.pose.bones[name], "scale", ob, path, 1)
    return ob, "stretch_length"


def auto_stretch() -> tuple[Any, str]:
    """As Auto-Rig Pro: a slider says how far the bones stretch."""
    ob, _, control = leg(use_stretch=True)
    path = slider(control, "auto_stretch", 0.0, 1.0, 0.0)
    for name in LEG[:2]:
        rigs.drive(ob.pose.bones[name], "ik_stretch", ob, path).driver.expression = "value*0.1"
    return ob, "auto_stretch"


def use_stretch() -> tuple[Any, str]:
    """The constraint's own checkbox is driven."""
    ob, ik, control = leg()
    ob.pose.bones["shin.L"].ik_stretch = 0.1
    rigs.drive(ik, "use_stretch", ob, slider(control, "stretch", 0.0, 1.0, 0.0))
    return ob, "stretch"


def copied_turn() -> tuple[Any, str]:
    """A slider has the thigh copy another bone's turn before IK bends it, which has no pole."""
    ob, _, control = leg(pole_target=None)
    ob.pose.bones["hips"].rotation_quaternion = (0.9, 0.1, 0.4, 0.1)
    made = ob.pose.bones["thigh.L"].constraints.new("COPY_ROTATION")
    made.target, made.subtarget, made.mix_mode = ob, "c_leg_pole.L", "BEFORE"
    made.owner_space = made.target_space = "LOCAL"
    ob.pose.bones["c_leg_pole.L"].rotation_quaternion = (0.9, 0.1, 0.4, 0.1)
    rigs.drive(made, "influence", ob, slider(control, "follow thigh", 0.0, 1.0, 0.0))
    return ob, "follow thigh"


def copied_scale() -> tuple[Any, str]:
    """The bones are as long as the scale of a control says."""
    ob, *_ = leg()
    for name in LEG[:2]:
        made = ob.pose.bones[name].constraints.new("COPY_SCALE")
        made.target, made.subtarget = ob, "c_leg_pole.L"
    return ob, "c_leg_pole.L"


def iterations() -> tuple[Any, str]:
    """A slider says how often Blender's IK tries; the bone that is named is the one with the constraint."""
    ob, ik, control = leg()
    rigs.drive(ik, "iterations", ob, slider(control, "tries", 1, 500, 500))
    return ob, "tries' drives Iterations of 'shin.L"


def mmd() -> tuple[Any, str]:
    """As MMD Tools: knees that only bend, about their own X, by IK limits of all axes; toes that one bone aims."""
    ob, _ = skeletons.mmd(twist=False)
    rigs.activate(ob)
    for side in (".L", ".R"):
        knee, ankle = ob.pose.bones[f"ひざ{side}"], ob.pose.bones[f"足首{side}"]
        limit = knee.constraints.new("LIMIT_ROTATION")
        limit.name, limit.owner_space = "mmd_ik_limit_override", "LOCAL"
        for axis, most in (("x", pi), ("y", 0.0), ("z", 0.0)):
            setattr(knee, f"use_ik_limit_{axis}", True)
            setattr(knee, f"ik_min_{axis}", 0.0)
            setattr(knee, f"ik_max_{axis}", most)
        for owner, count, control in ((knee, 2, f"足ＩＫ{side}"), (ankle, 1, f"つま先ＩＫ{side}")):
            ik = owner.constraints.new("IK")
            ik.target, ik.subtarget, ik.chain_count, ik.iterations = ob, control, count, 40
    return ob, ""


TABLE = [pole_angle, pole_angle_posed, stretch_length, auto_stretch, use_stretch, copied_turn, copied_scale, iterations]


def states(ob: Any) -> np.ndarray:
    """The leg in each state of the rig's sliders and each place of its control: matrices (states, bones, 4, 4)."""
    control, seen = ob.pose.bones["c_foot_ik.L"], []
    sliders = {name: control[name] for name in control.keys() if not name.startswith("planar")}  # noqa: SIM118
    says = {name: control.id_properties_ui(name).as_dict() for name in sliders}
    values = [(each["min"], each["default"], each["max"]) for each in says.values()]
    for place, *chosen in product(PLACES, *values):
        control.location = place
        for name, value in zip(sliders, chosen, strict=True):
            control[name] = value
        ob.update_tag()
        seen.append(rigs.matrices(ob, LEG))
    control.location = PLACES[0]
    for name, value in sliders.items():
        control[name] = value
    ob.update_tag()
    bpy.context.view_layer.update()
    return np.array(seen)


def off(now: np.ndarray, before: np.ndarray, ob: Any, names: Any = LEG) -> float:
    """How far whole matrices are off, in lengths of the leg."""
    lengths = [ob.data.bones[name].length for name in names]
    scale = np.array([[length, length, length, 1.0] for length in lengths])[:, None]
    return float(np.abs((now - before) * scale).max() / sum(lengths[:2]))


@pytest.mark.parametrize("build", TABLE, ids=lambda build: build.__name__)
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_sliders_go_on_or_are_named(addon, build, mode):
    ob, lost = build()
    bpy.context.view_layer.update()
    before, snapshot = states(ob), rigs.snapshot()
    if lost:
        with pytest.raises(addon("blender.types").Refused, match=f"'{lost}'"):
            addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode=mode)
        assert rigs.snapshot() == snapshot
        return
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode=mode)
    assert off(states(ob), before, ob) < KEPT
    addon("tasks.converting").unconvert(bpy.context, [ob.pose.bones["shin.L"]])
    assert rigs.snapshot() == snapshot


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_legs_of_mmd_keep_their_limits_and_their_toes(addon, mode):
    ob, _ = mmd()
    names = [f"{name}{side}" for side in (".L", ".R") for name in ("足", "ひざ", "足首", "つま先")]
    for frame, (down, back) in {1: (0, 0), 10: (2.5, 1.0), 20: (0.8, -2.0), 30: (-1.0, 0.0)}.items():
        for side in (".L", ".R"):
            ob.pose.bones[f"足ＩＫ{side}"].location = (0.1, back, down)
            ob.pose.bones[f"足ＩＫ{side}"].keyframe_insert("location", frame=frame)
    before = legs.seen(ob, names, range(1, 31))
    constraints = addon("finding.constraints").candidates(ob)
    assert [bone.name for bone in constraints] == ["ひざ.L", "ひざ.R"]
    done = addon("tasks.converting").convert(bpy.context, constraints, mode=mode)
    assert not done.refused
    assert not [str(each) for each in done.warnings if "limit" in str(each)]
    for knee in ("ひざ.L", "ひざ.R"):
        assert ob.pose.bones[knee].planar_ik.max_angle < pi
    assert off(legs.seen(ob, names, range(1, 31)), before, ob, names) < KEPT


def test_three_bones_stop_where_one_is_at_its_limit(addon):
    for limits in (((-0.6, 0.9), (-0.9, 0.6)), ((-2.0, 2.0), (-0.3, 0.3)), ((-0.1, 3.0), (-3.0, 0.7))):
        thigh, shin, hock, foot = (0, 0, 1.2), (0, -0.25, 0.85), (0, 0.15, 0.45), (0, 0.05, 0.1)
        ob = rigs.rig({
            "hip": ((0, 0, 1.4), thigh, ""),
            "thigh": (thigh, shin, "hip"), "shin": (shin, hock, "thigh"), "hock": (hock, foot, "shin"),
            "paw": (foot, (0, -0.1, 0.02), "hock"), "paw_ik": (foot, (0, 0.05, 0.2), ""),
        })  # fmt: skip
        ik = ob.pose.bones["hock"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = ob, "paw_ik", 3, False
        for name, (low, high) in zip(("shin", "hock"), limits, strict=True):
            bone = ob.pose.bones[name]
            bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
            bone.ik_min_x, bone.ik_max_x = low, high
        bpy.context.view_layer.update()
        done = addon("tasks.converting").convert(bpy.context, [ob.pose.bones["hock"]], mode="RIG")
        assert [str(each) for each in done.warnings] == []
        for along in np.linspace(-0.6, 1.0, 17):
            ob.pose.bones["paw_ik"].location = (0, along, 0)
            seen = rigs.evaluated(ob).pose.bones
            turns = [addon("blender.types").own_matrix(seen[name]).to_euler().x for name in ("shin", "hock")]
            room = [min(turn - low, high - turn) for turn, (low, high) in zip(turns, limits, strict=True)]
            assert min(room) > -1e-4
            if ob.pose.bones["hock"].planar_ik.reach == "LIMITED":
                assert min(room) < 1e-3
        bpy.data.objects.remove(ob)


@pytest.mark.parametrize("scale", [1.0, 4.8])
def test_the_reason_is_told_and_what_nobody_sees_is_not(addon, scale):
    ob, _, control = leg(use_stretch=True)
    ob.scale = (scale,) * 3
    for name in LEG[:2]:
        ob.pose.bones[name].ik_stretch = 0.1
    bpy.context.view_layer.update()
    for frame, place in enumerate(PLACES, 1):
        control.location = place
        control.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    with pytest.raises(addon("blender.types").Refused, match="stretches it within reach"):
        addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode="RIG")
    bpy.data.actions.remove(ob.animation_data.action)
    control, last = ob.pose.bones["c_foot_ik.L"], ob.pose.bones["shin.L"]
    control.location, last.constraints["IK"].influence, last.parent.use_ik_limit_x = PLACES[0], 0.0, True
    bpy.context.view_layer.update()
    done = addon("tasks.converting").convert(bpy.context, [last], mode="RIG")
    assert done.limbs
    assert [str(each) for each in done.warnings] == []


def test_what_stretches_a_limb_from_above_is_named(addon):
    """As the spines of CloudRig, which squash what hangs on them."""
    ob, *_ = leg()
    made = ob.pose.bones["hips"].constraints.new("LIMIT_SCALE")
    made.use_max_y, made.max_y, made.owner_space = True, 0.7, "LOCAL"
    bpy.context.view_layer.update()
    with pytest.raises(addon("blender.types").Refused, match=r"'hips' is stretched, and 'thigh\.L' with it"):
        addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode="RIG")


def test_what_else_moves_a_limb_is_named(addon):
    ob, *_ = leg()
    made = ob.pose.bones["shin.L"].constraints.new("COPY_ROTATION")
    made.target, made.subtarget, made.name = ob, "c_foot_ik.L", "turns after IK"
    bpy.context.view_layer.update()
    with pytest.raises(addon("blender.types").Refused, match="mute 'turns after IK', which moves it too"):
        addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode="LIVE")


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_every_slot_of_the_action_is_kept(addon, mode):
    """In whole matrices, at either end of a slider of the rig."""
    ob, _ = pole_angle()
    control, pole = ob.pose.bones["c_foot_ik.L"], ob.pose.bones["c_leg_pole.L"]
    data, action = ob.animation_data, bpy.data.actions.new("moves")
    slots = [action.slots.new("OBJECT", name) for name in ("walk", "run", "rig again")]
    for k, slot in enumerate(slots, 1):
        data.action, data.action_slot = action, slot
        for frame, along in ((1, 0.1), (8, -0.2), (15, 0.3)):
            control.location, pole.location = (0.05 * k, 0.3 + along / k, -along), (along * k, 0.1, 0)
            ob.pose.bones["thigh.L"].rotation_quaternion = (1, along * k, 0.1 * k, 0)
            for bone, path in (
                (control, "location"),
                (pole, "location"),
                (ob.pose.bones["thigh.L"], "rotation_quaternion"),
            ):
                bone.keyframe_insert(path, frame=frame)

    def seen() -> np.ndarray:
        found = []
        for slot, angle in product(slots, (-0.8, 0.0, 0.8)):
            data.action_slot, control["pole angle"] = slot, angle
            ob.update_tag()
            found.append(legs.seen(ob, LEG, range(1, 16)))
        data.action_slot, control["pole angle"] = slots[0], 0.0
        ob.update_tag()
        return np.array(found)

    before = seen()
    assert np.ptp(before, axis=0).max() > 0.3
    bpy.context.scene.frame_set(1)
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["shin.L"]], mode=mode)
    assert off(seen(), before, ob) < KEPT
