"""A pose that is not keyed: Blender sets all that is animated to its animation where bones or drivers come and go."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.rigs import LEG, make_rig, select, update

TURNED = (0.1, 0.5, -0.3)
"""How the hip is turned, which is keyed at rest."""

EXACT = 1e-5


def posed(runs_on: str | None) -> Any:
    """A leg whose hip is keyed at rest, with a limb on it if asked for, and the hip turned without a key."""
    ob = make_rig(LEG)
    hip = ob.pose.bones["hip"]
    hip.rotation_mode = "XYZ"
    hip.keyframe_insert("rotation_euler", frame=1)
    ob["mood"] = 1.0
    ob.keyframe_insert('["mood"]', frame=1)
    bpy.context.scene.frame_set(1)
    select(ob, "shin")
    if runs_on:
        bpy.ops.pose.planar_ik_add(runs_on=runs_on)
    hip.rotation_euler = TURNED
    ob["mood"] = 0.5
    update()
    return ob


def matrices(ob: Any) -> np.ndarray:
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.pose.bones[bone.name].matrix for bone in LEG])


def soften(ob: Any) -> None:
    ob.pose.bones["shin"].planar_ik.softness = 1e-6


DONE = {
    "add": (None, lambda ob: bpy.ops.pose.planar_ik_add()),
    "add with bones": (None, lambda ob: bpy.ops.pose.planar_ik_add(controls="BONE")),
    "add, live": (None, lambda ob: bpy.ops.pose.planar_ik_add(runs_on="EXTENSION")),
    "on the rig": ("EXTENSION", lambda ob: bpy.ops.pose.planar_ik_make_portable()),
    "live": ("RIG", lambda ob: bpy.ops.pose.planar_ik_make_live()),
    "rebuild": ("RIG", lambda ob: bpy.ops.pose.planar_ik_rebuild()),
    "soften": ("RIG", soften),
}


@pytest.mark.parametrize("what", DONE)
def test_a_pose_without_keys_stays(what: str) -> None:
    runs_on, do = DONE[what]
    ob = posed(runs_on)
    before = matrices(ob)
    do(ob)
    update()
    assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)
    assert ob["mood"] == 0.5
    assert matrices(ob) == pytest.approx(before, abs=EXACT)
    bpy.context.scene.frame_set(1)  # which is when Blender gives it up
    assert tuple(ob.pose.bones["hip"].rotation_euler) == (0.0, 0.0, 0.0)
    assert ob["mood"] == 1.0


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
@pytest.mark.parametrize("operator", ["planar_ik_remove", "planar_ik_snap_target"])
def test_what_moves_the_limb_leaves_it_as_well(operator: str, runs_on: str) -> None:
    ob = posed(runs_on)
    getattr(bpy.ops.pose, operator)()
    update()
    assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)


@pytest.mark.parametrize("sets_keys", ["auto keying", "keyed influence"])
@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_keys_that_switching_sets_leave_it_as_well(runs_on: str, sets_keys: str) -> None:
    """Each key that Python edits has Blender set all that its action animates."""
    ob = posed(runs_on)
    witness = bpy.data.objects.new("witness", None)
    bpy.context.scene.collection.objects.link(witness)
    witness.keyframe_insert("location", frame=1)
    witness.location.x = 0.5
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = sets_keys == "auto keying"
    if sets_keys == "keyed influence":
        path = '["planar_ik.influence"]' if runs_on == "RIG" else "planar_ik_influence"
        ob.pose.bones["shin"].keyframe_insert(path, frame=1)
    update()
    before = matrices(ob)
    for _ in ("to FK", "to IK"):
        bpy.ops.pose.planar_ik_switch()
        update()
        assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)
        assert (ob["mood"], witness.location.x) == (0.5, 0.5)
        assert matrices(ob) == pytest.approx(before, abs=EXACT)


@pytest.mark.parametrize("name", ['a"b', "x[1]", "back\\slash", "y.z", "two words"])
def test_a_property_of_any_name_stays(name: str) -> None:
    ob = posed("EXTENSION")
    owners = (ob, ob.pose.bones["hip"])
    for owner in owners:
        owner[name] = 1.0
        owner.keyframe_insert(f'["{bpy.utils.escape_identifier(name)}"]', frame=1)
        owner[name] = 0.5
    update()
    bpy.ops.pose.planar_ik_make_portable()
    update()
    for owner in (ob, ob.pose.bones["hip"]):
        assert owner[name] == 0.5
        assert [key for key in owner.keys() if key != "mood"] == [name]  # noqa: SIM118 - of Blender's


@pytest.mark.parametrize("mode", ["POSE", "OBJECT"])
@pytest.mark.parametrize("what", ["on the rig", "live", "rebuild", "remove", "add"])
def test_a_pose_without_keys_outlasts_undo_and_redo(what: str, mode: str) -> None:
    """Of steps that add bones to the rig, or take them away, by the limb or in Object Mode by its target."""
    runs_on = {"on the rig": "EXTENSION", "add": None}.get(what, "RIG")
    do = {"on the rig": "make_portable", "live": "make_live"}.get(what, what)
    ob = posed(runs_on)
    if mode == "OBJECT" and runs_on:
        target = ob.pose.bones["shin"].planar_ik.target
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
        target.select_set(True)
        bpy.context.view_layer.objects.active = target
    before = matrices(ob)
    bpy.ops.ed.undo_push(message="posed")
    getattr(bpy.ops.pose, f"planar_ik_{do}")()
    update()
    after = matrices(ob)
    bpy.ops.ed.undo_push(message=what)
    for step, wanted in ((bpy.ops.ed.undo, before), (bpy.ops.ed.redo, after), (bpy.ops.ed.undo, before)):
        step()
        update()
        ob = bpy.data.objects["rig"]
        assert tuple(ob.pose.bones["hip"].rotation_euler) == pytest.approx(TURNED)
        assert ob["mood"] == 0.5
        assert matrices(ob) == pytest.approx(wanted, abs=EXACT)
    bpy.context.scene.frame_set(1)
    assert tuple(ob.pose.bones["hip"].rotation_euler) == (0.0, 0.0, 0.0)
