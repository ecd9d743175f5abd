"""What chains say of themselves is true, and the animator's pose is not lost, where both were seen to fail: on the
extension and on the rig, by where the evaluated tip is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender.natives import make_portable, parts
from tests.blender.programs import run
from tests.blender.rigs import (
    FREE,
    HIP,
    LEG,
    NEAR,
    NEXT,
    SHIN,
    THIGH,
    Bone,
    activate,
    frame_of,
    joints,
    key_location,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    press,
    put,
    reopened,
    rig_and_twin,
    rotation,
    select,
    set_keys,
    shown_rotation,
    update,
)

BY_HAND = Quaternion((0.9, 0.3, -0.2, 0.1)).normalized()
"""A pose of the thigh that an animator set."""

on_both = pytest.mark.parametrize("way", ["EXTENSION", "RIG"])


def add_chain(ob: Any, way: str, lower: str = "shin", place: Any = NEAR, **settings: Any) -> Any:
    """A chain that goes to its target anywhere within reach."""
    if "target" not in settings:
        settings["target"] = make_empty(f"target of {ob.name} {lower}", place)
    make_chain(ob, lower=lower, plane="SWING", **settings)
    if way == "RIG":
        activate(ob)
        make_portable(ob, lower)
    return ob.pose.bones[lower].planar_ik


def told(ob: Any, lower: str = "shin") -> str:
    """What a chain says of its reach: that it is reached if the tip is there, and how far away it is."""
    chain = ob.pose.bones[lower].planar_ik
    off = np.linalg.norm(joints(ob, lower).tip - place_of(chain.target, chain.subtarget))
    assert chain.residual == pytest.approx(off, abs=2e-6)
    assert (chain.reach == "REACHED") == (off <= 1e-5 * length(ob, lower)), chain.message
    assert (chain.reach == "INVALID") == bool(chain.message)
    return chain.reach


@on_both
def test_an_object_whose_armature_is_also_anothers_that_lost_its_chain(way: str) -> None:
    ob = make_rig()
    twin = ob.copy()
    bpy.context.scene.collection.objects.link(twin)
    update()
    for each, place in ((ob, NEAR), (twin, (0.1, 0.2, -2.8))):
        add_chain(each, way, place=place, stretch=float(way == "EXTENSION"))
    activate(ob)
    press(ob, "remove")
    assert told(twin) == ("REACHED" if way == "EXTENSION" else "TOO_FAR")
    put(twin.pose.bones["shin"].planar_ik.target, location=NEAR)
    assert told(twin) == "REACHED"
    bpy.context.scene.frame_set(3)
    assert told(twin) == "REACHED"


@on_both
def test_bones_that_are_scaled_to_nothing_on_one_axis(way: str) -> None:
    ob = make_rig()
    add_chain(ob, way)
    for bone in ("hip", "thigh", "shin"):
        for axis in range(3):
            ob.pose.bones[bone].scale[axis] = 0.0
            update()
            told(ob)
            ob.pose.bones[bone].scale[axis] = 1.0
            update()
            assert told(ob) == "REACHED"


@on_both
def test_a_tip_that_blender_makes_not_a_number_has_no_distance(way: str) -> None:
    thigh = Bone("thigh", (0, 0, 0), (0, -1, 0), "hip")
    ob = make_rig((HIP, thigh, Bone("shin", (0, -1, 0), (0, -1.6, 0.7), "thigh", connected=True)))
    chain = add_chain(ob, way, place=(0.2, 0.4, -0.9))
    for axis in range(3):  # below the second, Blender 4.5 makes it so by Limit Rotation in local space alone
        ob.pose.bones["thigh"].scale[axis] = 0.0
        update()
        assert math.isfinite(chain.residual)
        assert (chain.reach == "INVALID") == bool(chain.message)
        ob.pose.bones["thigh"].scale[axis] = 1.0
        update()
        assert told(ob) == "REACHED"


@on_both
@pytest.mark.parametrize("is_removed", [True, False])
def test_another_chain_of_the_rig_that_is_released(way: str, is_removed: bool) -> None:
    legs = [bone._replace(name=bone.name + side) for side in "LR" for bone in (THIGH, SHIN)]
    legs = [bone._replace(parent=f"thigh{bone.name[-1]}") if bone.connected else bone for bone in legs]
    ob = make_rig((HIP, *legs))
    for lower, place in (("shinL", NEAR), ("shinR", NEXT)):
        add_chain(ob, way, lower, place)
    if is_removed:
        press(ob, "remove", "shinL")
    else:
        ob.pose.bones["shinL"].planar_ik.enabled = False
    told(ob, "shinR")
    update()
    assert told(ob, "shinR") == "REACHED"


@on_both
def test_another_scene_right_after_a_file_was_opened(way: str, tmp_path: Path) -> None:
    ob = make_rig()
    target = add_chain(ob, way).target
    key_location(target, [NEAR, NEXT], 1, 10)
    other = bpy.data.scenes.new("other")
    for each in (ob, target):
        other.collection.objects.link(each)
    other.frame_set(9)
    ob = reopened(tmp_path)
    assert told(ob) == "REACHED"
    bpy.context.window.scene = bpy.data.scenes["other"]
    told(ob)
    update()
    assert told(ob) == "REACHED"


@on_both
@pytest.mark.parametrize("bone", ["hip", "thigh", "shin"])
def test_a_constraint_that_comes_on_in_a_later_frame(way: str, bone: str) -> None:
    ob = make_rig()
    add_chain(ob, way)
    constraint = ob.pose.bones[bone].constraints.new("COPY_ROTATION")
    constraint.target = make_empty("other")
    constraint.target.rotation_euler = (1, 2, 0.5)
    set_keys(constraint, "mute", {1: True, 10: False})
    chain = ob.pose.bones["shin"].planar_ik
    for frame in (1, 10, 2, 11):
        bpy.context.scene.frame_set(frame)
        told(ob)
        assert (f"'{constraint.name}' moves '{bone}'" in chain.message) == (frame >= 10 and bone != "hip")


@on_both
@pytest.mark.parametrize("setting", [{"influence": 0.5}, {"softness": 0.3}, {"max_angle": 2.0}, {"bend": 0.3}])
def test_the_residual_whatever_is_set(way: str, setting: dict[str, float]) -> None:
    ob = make_rig()
    target = add_chain(ob, way, **setting).target
    for place in (NEXT, (0, 0.1, -1.85), (0, 0, -3), (0, 0, -0.05)):
        put(target, location=place)
        told(ob)


@pytest.mark.parametrize("is_live", [True, False])
def test_a_rotation_that_is_set_with_its_mode(is_live: bool) -> None:
    ob = make_rig()
    chain, thigh = add_chain(ob, "EXTENSION"), ob.pose.bones["thigh"]
    bpy.context.scene.planar_ik.live = is_live
    thigh.rotation_mode = "XYZ"
    thigh.rotation_euler = (0.3, -0.7, 0.2)
    update()
    put(chain, enabled=False)
    assert tuple(thigh.rotation_euler) == pytest.approx((0.3, -0.7, 0.2))


@pytest.mark.parametrize("step", ["remove", "snap_target", "snap_fk", "disable"])
@pytest.mark.parametrize("is_posed_anew", [False, True])
def test_live_off_after_the_file_was_opened_again(tmp_path: Path, step: str, is_posed_anew: bool) -> None:
    ob = make_rig()
    ob.pose.bones["thigh"].rotation_quaternion = own = BY_HAND
    add_chain(ob, "EXTENSION")
    put(bpy.context.scene.planar_ik, live=False)
    ob = reopened(tmp_path)
    solved, chain = joints(ob), ob.pose.bones["shin"].planar_ik
    assert chain.residual == pytest.approx(0.0, abs=1e-5)
    chain.target.location.z -= 0.1
    update()
    assert chain.residual == pytest.approx(0.1, abs=1e-5)
    select(ob, "shin")
    if is_posed_anew:
        ob.pose.bones["thigh"].rotation_quaternion = own = Quaternion((0.8, -0.1, 0.5, 0.2)).normalized()
        update()
    if step == "disable":
        chain.enabled = False
    else:
        getattr(bpy.ops.pose, f"planar_ik_{step}")()
    update()
    if step == "snap_fk":
        put(chain, enabled=False)
        assert np.allclose(joints(ob).tip, solved.tip - (0, 0, 0.1), atol=1e-5)
        return
    if step == "snap_target":
        put(chain, enabled=False)
    assert rotation(ob.pose.bones["thigh"]) == pytest.approx(tuple(own), abs=1e-6)
    if step == "snap_target":
        fk = joints(ob).tip
        assert np.allclose(place_of(chain.target), fk, atol=1e-5)


def test_bones_without_keys_after_undo_with_two_view_layers() -> None:
    ob = make_rig((*LEG, FREE))
    bpy.context.scene.view_layers.new("other")
    add_chain(ob, "EXTENSION")
    ob.pose.bones["hip"].keyframe_insert("rotation_quaternion", frame=1)
    turns = [Quaternion((1, x, 0, 0)).normalized() for x in (0.1, 0.5, 0.9)]
    for turn in turns:
        bpy.data.objects["rig"].pose.bones["free"].rotation_quaternion = turn
        for layer in bpy.context.scene.view_layers:
            layer.update()
        bpy.ops.ed.undo_push(message="turn")
    for turn in reversed(turns[:2]):
        bpy.ops.ed.undo()
        ob = bpy.data.objects["rig"]
        for layer in reversed(bpy.context.scene.view_layers[:]):
            layer.update()
        bpy.context.scene.frame_set(2)
        assert rotation(ob.pose.bones["free"]) == pytest.approx(tuple(turn), abs=1e-6)
        assert shown_rotation(ob, "free") == pytest.approx(tuple(turn), abs=1e-6)
        assert told(ob) == "REACHED"


def test_bones_with_line_breaks_and_quotes_in_their_names(tmp_path: Path) -> None:
    names = {"hip": "hi\np", "thigh": "thi\ngh", "shin": 'sh"i\n\\n'}
    wanted = {}
    for way in ("EXTENSION", "RIG"):
        bones = [bone._replace(name=names[bone.name], parent=names.get(bone.parent, "")) for bone in LEG]
        ob = make_rig(bones, way)
        key_location(add_chain(ob, way, names["shin"], stretch=1.0).target, [NEAR, NEXT], 1, 10)
        bpy.context.scene.frame_set(5)
        wanted[way] = joints(ob, names["shin"])
    bpy.context.scene.frame_end = 11
    path, out = tmp_path / "names.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    code, lines, err = run("bake", path, "-o", out)
    assert (code, [line["chain"] for line in lines]) == (0, [names["shin"]] * 2), err
    select(ob, names["shin"])
    bpy.ops.pose.planar_ik_remove()
    assert {bone.inherit_scale for bone in ob.data.bones} == {"FULL"}
    bpy.ops.wm.open_mainfile(filepath=str(out))
    bpy.context.scene.frame_set(5)
    for way, places in wanted.items():
        assert not bpy.data.objects[way].pose.bones[names["shin"]].planar_ik.enabled
        assert np.allclose(joints(bpy.data.objects[way], names["shin"]), places, atol=1e-5)


@pytest.mark.parametrize(("parent", "word"), [("", "has no parent"), ("hip", "press Rebuild")])
def test_a_lower_bone_on_the_rig_that_gets_another_parent(parent: str, word: str) -> None:
    ob = make_rig()
    had = parts(ob)
    chain = add_chain(ob, "RIG")
    select(ob, "shin")
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].parent = ob.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="POSE")
    update()
    assert chain.reach == "INVALID"
    assert word in chain.message
    bpy.ops.pose.planar_ik_remove()
    had["bones"]["shin"] = (parent, *had["bones"]["shin"][1:])
    assert parts(ob) == had


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_a_target_bone_that_is_renamed_is_followed_on_the_rig(mode: str) -> None:
    ob = make_rig((*LEG, FREE))
    chain = add_chain(ob, "RIG", target=ob, subtarget="free")
    activate(ob)
    bpy.ops.object.mode_set(mode=mode)
    (ob.data.edit_bones if mode == "EDIT" else ob.data.bones)["free"].name = "hand"
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    assert chain.subtarget == "hand"
    ob.pose.bones["hand"].location.z += 0.1
    update()
    assert told(ob) == "REACHED"


@on_both
@pytest.mark.parametrize("how", ["delete", "unlink", "free"])
def test_a_target_that_was_deleted(way: str, how: str) -> None:
    ob = make_rig()
    chain = add_chain(ob, way)
    if how == "delete":
        activate(chain.target)
        bpy.ops.object.delete()
    elif how == "unlink":
        bpy.context.scene.collection.objects.unlink(chain.target)
    else:
        bpy.data.objects.remove(chain.target)
    update()
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        assert chain.reach == "INVALID"
        assert "was deleted" in chain.message or "has no target" in chain.message


def steep(hip: Any, thigh: Any, shin: Any) -> tuple[Bone, ...]:
    """A leg by where its bones end, and their rolls."""
    names = ("hip", "thigh", "shin")
    heads, parents = ((0, 0, 0), (0, 0, 0), thigh[:3]), ("", "hip", "thigh")
    ends = zip(names, heads, (hip, thigh, shin), parents, strict=True)
    return tuple(Bone(name, head, end[:3], parent, name == "shin", end[3]) for name, head, end, parent in ends)


STEEP = {
    "not square": steep((-0.002, 0.028, 0.5, -1.016), (0.052, 0.025, -1, 1.474), (0.072, 0.026, -1.9, 2.112)),
    "almost opposite": steep((-0.069, 0.056, 0.5, 1.416), (0.149, -0.147, -1, 1.018), (0.085, -0.142, -1.9, 0.641)),
    "y up": steep((-0.031, 0.5, -0.018, -1.102), (0.046, -1, 0.006, -2.388), (0.035, -1.9, -0.048, -2.234)),
    "y up, not square": steep((0.003, 0.5, -0.025, 0.528), (0.069, -1, -0.001, -1.129), (-0.029, -1.9, 0.025, 2.605)),
}
"""Legs that point almost the opposite way of their hips: Blender makes their axes neither square nor as set."""


@pytest.mark.parametrize("bones", STEEP.values(), ids=STEEP)
def test_a_leg_that_points_the_opposite_way_of_its_hip_is_exact_on_the_rig(bones: Any) -> None:
    ob = make_rig(bones)
    frame = frame_of(ob)
    target = add_chain(ob, "RIG").target
    for direction in np.random.default_rng(5).normal(size=(20, 3)):
        put(target, location=frame.outside(1.7 * direction / np.linalg.norm(direction)))
        assert np.linalg.norm(joints(ob).tip - place_of(target)) <= 3e-6 * length(ob)


@pytest.mark.parametrize("way", ["add", "rebuild"])
def test_a_limb_on_the_rig_stretches_no_other_object_of_its_armature(way: str) -> None:
    ob, twin = rig_and_twin()
    before = [bone.matrix.copy() for bone in twin.pose.bones]
    chain = add_chain(ob, "EXTENSION", place=(0.1, 0.2, -2.8), stretch=float(way == "add"))
    select(ob, "shin")
    if way == "rebuild":
        bpy.ops.pose.planar_ik_make_portable()
        put(chain, stretch=1.0)
        assert chain.reach == "INVALID"
    with pytest.raises(RuntimeError, match="inherit"):
        getattr(bpy.ops.pose, {"add": "planar_ik_make_portable", "rebuild": "planar_ik_rebuild"}[way])()
    update()
    assert [bone.matrix for bone in twin.pose.bones][: len(before)] == before
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.data = ob.data.copy()
    select(ob, "shin")
    getattr(bpy.ops.pose, {"add": "planar_ik_make_portable", "rebuild": "planar_ik_rebuild"}[way])()
    assert told(ob) == "REACHED"


def test_a_limb_stretches_on_the_rig_where_the_other_object_of_its_armature_does_too() -> None:
    ob, twin = rig_and_twin()
    for each in (twin, ob):
        add_chain(each, "EXTENSION", place=(0.1, 0.2, -2.8), stretch=1.0)
    activate(ob)
    press(ob, "make_portable")
    assert ob.pose.bones["shin"].planar_ik.runs_on == "RIG"
    assert (told(ob), told(twin)) == ("REACHED", "REACHED")


@on_both
def test_straight_limbs_stay_straight(way: str) -> None:
    ways = np.random.default_rng(7).normal(size=(12, 3))
    bones = [HIP]
    for i, along in enumerate(Vector(way).normalized() for way in ways):
        root = Vector((0.3 * i, 0.7, -0.4))
        bones.append(Bone(f"thigh{i}", root, root + along, "hip", roll=0.3))
        bones.append(Bone(f"shin{i}", root + along, root + 1.9 * along, f"thigh{i}", True))
    ob = make_rig(bones)
    lowers = [f"shin{i}" for i in range(len(ways))]
    select(ob, *lowers)
    update()
    knees = [joints(ob, lower).knee for lower in lowers]
    bpy.ops.pose.planar_ik_add(runs_on=way)
    update()
    for lower, knee in zip(lowers, knees, strict=True):
        assert told(ob, lower) == "REACHED"
        assert np.linalg.norm(joints(ob, lower).knee - knee) <= 1e-5
