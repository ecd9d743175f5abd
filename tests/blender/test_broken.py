"""What chains refer to may be wrong, renamed, deleted or half edited: a sentence each, and no exception."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.rigs import (
    FREE,
    HIP,
    LEG,
    NEAR,
    NEXT,
    Bone,
    activate,
    assert_on_target,
    assert_refused,
    editing,
    make_chain,
    make_empty,
    make_rig,
    plane_chain,
    put,
    update,
)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"target": None}, "no target"),
        ({"subtarget": "nobody"}, "no bone 'nobody'"),
        ({"plane": "POLE"}, "no pole"),
        ({"bend": float("nan")}, "Bend is not a number"),
        ({"influence": float("nan")}, "Influence is not a number"),
    ],
)
def test_what_is_missing_or_wrong_is_named(settings, word):
    ob, other = make_rig(), make_rig((HIP,), "other")
    chain = make_chain(ob, other)
    for name, value in settings.items():
        setattr(chain, name, value)
    update()
    assert_refused(chain, word)


def test_a_target_at_no_number_leaves_the_limb_alone(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = make_chain(ob, target, plane="SWING")
    put(target.location, x=float("nan"))
    assert_refused(chain, "not a number")
    put(target.location, x=0.2)
    assert chain.reach == "REACHED"
    put(ob.location, x=float("nan"))
    assert_refused(chain, "what carries the limb")
    put(ob.location, x=0)
    assert chain.reach == "REACHED"
    assert "Traceback" not in capfd.readouterr().err


def test_overlapping_chains_are_both_refused():
    foot = Bone("foot", LEG[2].tail, (0.1, 0.4, -2), "shin")
    ob = make_rig((*LEG, foot))
    first = make_chain(ob, make_empty("target", NEAR))
    second = make_chain(ob, first.target, "foot")
    assert_refused(first, "foot")
    assert_refused(second, "shin")
    put(second, enabled=False)
    assert first.message == ""


def test_a_bone_without_a_parent():
    ob = make_rig((HIP,))
    assert_refused(make_chain(ob, make_empty("target", NEAR), "hip"), "no parent")


def test_a_renamed_target_bone_is_named_until_it_is_set_again():
    ob = make_rig((*LEG, FREE))
    chain = plane_chain(ob, ob, "free")
    put(ob.data.bones["free"], name="control")
    if chain.message:
        assert "no bone 'free'" in chain.message
    put(chain, subtarget="control")
    assert_on_target(ob, ob, bone="control")


@pytest.mark.parametrize("names", [("shin", "calf"), ("thigh", "femur"), ("hip", "pelvis")])
def test_a_renamed_bone_keeps_its_chain(names, capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    ob.data.bones[names[0]].name = names[1]
    lower = names[1] if names[0] == "shin" else "shin"
    for place in (NEXT, NEAR):
        put(target, location=place)
        assert_on_target(ob, target, lower)
    assert "Traceback" not in capfd.readouterr().err


def test_bones_that_swap_their_names():
    legs = [
        bone._replace(name=f"{bone.name}{i}", parent=bone.parent and f"{bone.parent}{i}") for i in "12" for bone in LEG
    ]
    ob = make_rig(legs)
    near, far = make_empty("near", NEAR), make_empty("far", NEXT)
    plane_chain(ob, near, lower="shin1")
    plane_chain(ob, far, lower="shin2")
    for old, new in (("shin1", "x"), ("shin2", "shin1"), ("x", "shin2")):
        ob.data.bones[old].name = new
    near.location.z -= 0.1
    far.location.z -= 0.1
    update()
    assert_on_target(ob, near, "shin2")
    assert_on_target(ob, far, "shin1")


@pytest.mark.parametrize("name", ["target", "pole"])
def test_a_deleted_target_or_pole(name, capfd):
    ob = make_rig()
    chain = plane_chain(ob, make_empty("target", NEAR))
    bpy.data.objects.remove(bpy.data.objects[name])
    update()
    assert_refused(chain, name)
    bpy.context.scene.frame_set(3)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["shin", "thigh", "hip", "free"])
def test_a_deleted_bone(name, capfd):
    ob = make_rig((*LEG, FREE))
    plane_chain(ob, ob, "free")
    with editing(ob) as bones:
        bones.remove(bones[name])
    bpy.context.scene.frame_set(3)
    if name == "free":
        assert "no bone 'free'" in ob.pose.bones["shin"].planar_ik.message
    elif name != "shin":  # without the thigh, the limb is hip and shin
        assert_on_target(ob, ob, bone="free")
    assert "Traceback" not in capfd.readouterr().err


def test_a_deleted_rig_and_a_deleted_scene_object(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    other = make_rig(name="other")
    plane_chain(ob, target)
    plane_chain(other, target)
    bpy.data.objects.remove(ob)
    put(target, location=NEXT)
    assert_on_target(other, target)
    bpy.context.scene.collection.objects.unlink(other)
    update()
    bpy.context.scene.frame_set(4)
    assert "Traceback" not in capfd.readouterr().err


def test_bones_edited_in_edit_mode():
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].tail = (0.2, 0, -2.2)
    target.location = NEXT
    update()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    assert_on_target(ob, target)


def test_bones_renamed_in_edit_mode(capfd, caplog):
    ob, target = make_rig(), make_empty("target", NEAR)
    plane_chain(ob, target)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    put(ob.data.edit_bones["shin"], name="calf")
    bpy.context.scene.frame_set(7)
    bpy.ops.object.mode_set(mode="OBJECT")
    put(target, location=NEXT)
    assert_on_target(ob, target, "calf")
    assert caplog.messages == []
    assert "Traceback" not in capfd.readouterr().err


def test_an_armature_that_was_never_evaluated(capfd):
    ob, target = make_rig(), make_empty("target", NEAR)
    chain = plane_chain(ob, target)
    new = bpy.data.objects.new("new", bpy.data.armatures.new("new"))
    assert new.pose is None
    put(target, location=NEXT)
    assert_on_target(ob, target)
    chain.target, chain.subtarget = new, "hip"
    update()
    assert_refused(chain, "'new' has no bone 'hip'")
    assert "Traceback" not in capfd.readouterr().err
