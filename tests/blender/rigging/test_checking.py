"""Whatever of a mechanism somebody breaks is made anew."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import legs, oracle, rigs


def part(ob, role):
    return next(bone.name for bone in ob.data.bones if bone.planar_ik_part == role)


def edit(ob, change):
    rigs.activate(ob, "EDIT")
    change(ob.data.edit_bones)
    rigs.activate(ob, "POSE")


def delete(ob, role):
    name = part(ob, role)
    edit(ob, lambda bones: bones.remove(bones[name]))


def driver(ob, text):
    return next(curve for curve in ob.animation_data.drivers if text in curve.data_path)


def constraint(ob, bone="thigh.L", name="Planar IK Pose"):
    return ob.pose.bones[bone].constraints[name]


def at_target(ob, name="Pose"):
    return constraint(ob, part(ob, "target_in_frame"), f"Planar IK {name}")


def set_of(get, **values):
    def change(ob):
        for name, value in values.items():
            setattr(get(ob), name, value)

    return change


def in_edit(role, **values):
    def change(ob):
        name = part(ob, role)
        edit(ob, lambda bones: [setattr(bones[name], each, value) for each, value in values.items()])

    return change


def variable(ob, role="turn1"):
    found = (each for curve in ob.animation_data.drivers if role in curve.data_path for each in curve.driver.variables)
    return next(each for each in found if each.type == "TRANSFORMS")


BREAKING = {
    "constraint muted": set_of(constraint, mute=True),
    "constraint of the last bone removed": lambda ob: ob.pose.bones["shin.L"].constraints.remove(
        constraint(ob, "shin.L")
    ),
    "constraint of the first bone removed": lambda ob: ob.pose.bones["thigh.L"].constraints.remove(constraint(ob)),
    "constraint aimed at another bone": set_of(constraint, subtarget="hips"),
    "constraint in another space": set_of(constraint, owner_space="WORLD"),
    "constraint renamed": set_of(constraint, name="Copy"),
    "stretch removed": lambda ob: ob.pose.bones["thigh.L"].constraints.remove(constraint(ob, name="Planar IK Stretch")),
    "going to the target muted": set_of(at_target, mute=True),
    "going to something else": lambda ob: setattr(at_target(ob), "target", ob),
    "facing something else": lambda ob: setattr(at_target(ob, "Facing"), "target", ob),
    "aim muted": lambda ob: setattr(at_target(ob, "In Plane"), "mute", True),
    "another constraint on a part": lambda ob: ob.pose.bones[part(ob, "turn 2")].constraints.new("LIMIT_ROTATION"),
    "driver removed": lambda ob: ob.animation_data.drivers.remove(driver(ob, "turn1")),
    "all drivers removed": lambda ob: [ob.animation_data.drivers.remove(each) for each in [*ob.animation_data.drivers]],
    "influence not driven": lambda ob: ob.animation_data.drivers.remove(driver(ob, "influence")),
    "driver muted": lambda ob: setattr(driver(ob, "scale"), "mute", True),
    "driver with a modifier": lambda ob: driver(ob, "turn2").modifiers.new("NOISE"),
    "driver says something else": lambda ob: setattr(driver(ob, "turn2").driver, "expression", "0.5"),
    "driver of another kind": lambda ob: setattr(driver(ob, "turn2").driver, "type", "AVERAGE"),
    "driver reads another bone": lambda ob: setattr(variable(ob).targets[0], "bone_target", "hips"),
    "driver reads nothing": lambda ob: setattr(variable(ob).targets[0], "id", None),
    "variable renamed": lambda ob: setattr(variable(ob), "name", "w"),
    "part deleted": lambda ob: delete(ob, "turn 1"),
    "root deleted": lambda ob: delete(ob, "root"),
    "part moved": in_edit("target_in_frame", head=(0.0, 0.0, 0.0)),
    "part rolled": in_edit("turn 2", roll=1.0),
    "part inherits no scale": in_edit("target_in_frame", inherit_scale="NONE"),
    "part on nothing": in_edit("turn 1", parent=None),
    "order of rotations": lambda ob: setattr(ob.pose.bones[part(ob, "turn 1")], "rotation_mode", "QUATERNION"),
    "role gone": lambda ob: ob.data.bones[part(ob, "turn 2")].property_unset("planar_ik_part"),
    "spec gone": lambda ob: ob.data.bones[part(ob, "root")].property_unset("planar_ik_spec"),
    "spec of something else": lambda ob: setattr(ob.data.bones[part(ob, "root")], "planar_ik_spec", "{}"),
    "first bone inherits otherwise": lambda ob: setattr(ob.data.bones["thigh.L"], "use_inherit_rotation", False),
    "last bone is sheared": lambda ob: setattr(ob.data.bones["shin.L"], "inherit_scale", "FULL"),
    "knee moved": lambda ob: edit(ob, lambda bones: setattr(bones["thigh.L"], "tail", (0.1, -0.1, 0.5))),
    "first bone rolled": lambda ob: edit(ob, lambda bones: setattr(bones["thigh.L"], "roll", 1.0)),
    "hangs on another bone": lambda ob: edit(ob, lambda bones: setattr(bones["thigh.L"], "parent", bones["root"])),
    "plane changed": lambda ob: oracle.keep(ob.pose.bones["shin.L"], plane="FREE"),
    "feature gone": lambda ob: ob.pose.bones["shin.L"].pop("IK Softness"),
    "knee limit changed": lambda ob: oracle.keep(ob.pose.bones["shin.L"], min_angle=0.5),
}


TOLD = {
    "stretch removed", "part deleted", "root deleted", "role gone", "spec gone", "spec of something else",
    "knee moved", "first bone rolled", "plane changed", "feature gone", "knee limit changed",
}  # fmt: skip
"""What the value tells, and what is missing; the rest is told by the pose, where it does anything: see
test_broken.py."""


@pytest.mark.names_nothing  # what is deleted here
@pytest.mark.parametrize("name", BREAKING)
def test_is_made_anew(addon, name):
    last = legs.whole_leg(addon)
    ob = last.id_data
    assert legs.problem(addon, last) == ""
    BREAKING[name](ob)
    bpy.context.view_layer.update()
    last = ob.pose.bones["shin.L"]
    assert legs.problem(addon, last) or name not in TOLD
    addon("tasks.modes").to_rig(bpy.context, [last])
    last = ob.pose.bones["shin.L"]
    assert legs.problem(addon, last) == ""
    assert legs.worst(last) < 1e-5
    addon("tasks.modes").to_live(bpy.context, [last])
    assert all("-turn2" in name for name in legs.parts(ob)), "only what is no part any more may be left"


HARMLESS = {
    "slider moved": lambda ob: ob.pose.bones["shin.L"].__setitem__("IK Swivel", 2.0),
    "posed": lambda ob: setattr(ob.pose.bones["hips"], "scale", (1.0, 2.0, 1.5)),
    "edited elsewhere": lambda ob: edit(ob, lambda bones: setattr(bones["hand.R"], "roll", 1.0)),
    "went through edit mode": lambda ob: edit(ob, lambda bones: None),
    "a constraint of the user's": lambda ob: ob.pose.bones["shin.L"].constraints.new("LIMIT_ROTATION"),
    "collection shown": lambda ob: setattr(ob.data.collections_all["MCH Planar IK"], "is_visible", True),
    "collection removed": lambda ob: ob.data.collections.remove(ob.data.collections_all["MCH Planar IK"]),
    "driver of the user's": lambda ob: ob.driver_add('pose.bones["hand.R"].location', 0),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS.keys())
def test_is_not_seen(addon, change):
    last = legs.whole_leg(addon)
    ob = last.id_data
    change(ob)
    bpy.context.view_layer.update()
    assert legs.problem(addon, ob.pose.bones["shin.L"]) == ""
