"""Add leaves limbs where they are, whatever rig and pose they are in, and leaves nothing of itself behind."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import rigs


def test_a_control_rests_where_the_limb_rests(add):
    ob = rigs.biped()
    ob.pose.bones["thigh.L"].rotation_quaternion = (0.9, -0.4, 0, 0)
    (last,) = add(ob, "shin.L", knee="POLE")
    target, pole = ob.pose.bones["foot_ik.L"], ob.pose.bones["knee_pole.L"]
    foot, knee = ob.data.bones["foot.L"], ob.data.bones["shin.L"]
    assert (target.bone.head_local - foot.head_local).length < 1e-6
    assert np.allclose(target.bone.matrix_local.to_3x3(), np.eye(3), atol=1e-6)
    turned = ob.pose.bones["foot.L"].matrix.to_3x3() @ foot.matrix_local.to_3x3().inverted()
    assert np.allclose(target.matrix.to_3x3(), turned, atol=1e-5)
    assert (rigs.place(ob, "foot_ik.L") - rigs.place(ob, "foot.L")).length < 1e-5
    assert (pole.bone.head_local - knee.head_local).y < -0.5  # in front
    assert (rigs.place(ob, "knee_pole.L") - rigs.place(ob, "shin.L")).length == pytest.approx(
        0.906 * 1.04**0.5, abs=0.01
    )
    assert last.planar_ik.swivel == 0.0


def test_a_pelvis_carries_no_controls(add):
    ob = rigs.rig({"hips": ((0, 0, 1), (0, 0, 1.2), ""), "thigh": ((0, 0, 1), (0, 0.1, 0.5), "hips"),
                   "shin": ((0, 0.1, 0.5), (0, 0, 0), "thigh")})  # fmt: skip
    add(ob, "shin")
    assert ob.pose.bones["shin_ik"].parent is None


@pytest.mark.parametrize("root", ["root", "Bone.009"])
def test_controls_go_along_with_what_moves_all(add, root):
    """What is called so, or at the origin with a body between it and its limbs."""
    ob = rigs.rig(
        {
            root: ((0, 0, 0), (0, 0.3, 0), ""),
            "Bone": ((0, 0, 1), (0, 0, 1.3), root),
            "Bone.001": ((0, 0, 1), (0, -0.1, 0.5), "Bone"),
            "Bone.002": ((0, -0.1, 0.5), (0, 0, 0), "Bone.001"),
            "Bone.003": ((0, 0, 1.3), (0, 0, 1.6), "Bone"),
        }
    )
    add(ob, "Bone.002", knee="POLE")
    limb = ob.pose.bones["Bone.002"].planar_ik
    assert {ob.data.bones[name].parent.name for name in (limb.subtarget, limb.pole_subtarget)} == {root}


def test_controls_stand_upright_without_a_foot_or_its_turn(add):
    ob = rigs.biped()
    ob.rotation_euler = (np.pi / 2, 0, 0)  # as importers leave rigs
    bpy.context.view_layer.update()
    add(ob, "shin.L", foot=False)
    turned = (rigs.evaluated(ob).matrix_world @ ob.pose.bones["foot_ik.L"].matrix).to_3x3()
    assert np.allclose(turned, np.eye(3), atol=1e-5)


def test_given_a_target_and_a_pole_the_limb_goes_there(add, solved):
    ob = rigs.biped()
    goal, aim = rigs.empty("goal", (0.3, -0.3, 0.4)), rigs.empty("aim", (2.0, -0.4, 0.6))
    (last,) = add(ob, "shin.L", target=(goal, ""), pole=(aim, ""))
    assert last.planar_ik.plane == "POLE"
    assert solved([last]).reach[0] == 0
    root, knee, tip = (np.array(rigs.place(ob, name)) for name in ("thigh.L", "shin.L", "foot.L"))
    assert np.linalg.norm(tip - goal.location) < 1e-5
    way = (tip - root) / np.linalg.norm(tip - root)
    aside, wanted = (each - root - way * ((each - root) @ way) for each in (knee, np.array(aim.location)))
    assert aside @ wanted / np.linalg.norm(aside) / np.linalg.norm(wanted) > 1 - 1e-6


def test_a_puppet_bends_in_its_plane_and_its_control_stays_there(add, solved):
    ob = rigs.puppet()
    lasts = add(ob, "shin")
    assert lasts[0].planar_ik.plane == "HINGE"
    target = ob.pose.bones["foot_ik"]
    axes = target.bone.matrix_local.to_3x3().col
    across = [i for i in range(3) if abs(axes[i].y) > 0.999]
    assert [i for i in range(3) if target.lock_location[i]] == across
    assert [i for i in range(3) if not target.lock_rotation[i]] == across
    target.location[1 if across != [1] else 0] += 0.1
    assert solved(lasts).reach[0] in (0, 1)
    for name in ("shin", "foot"):
        assert abs(rigs.place(ob, name).y) < 1e-6


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_what_would_move_another_bone_is_refused(add, mode):
    """Whose driver takes a property that Add makes, and something else until it is there."""
    ob = rigs.biped()
    ob.pose.bones["foot.R"].rotation_mode = "XYZ"
    driver = ob.pose.bones["foot.R"].driver_add("rotation_euler", 0).driver
    driver.type, read = "SUM", driver.variables.new().targets[0]
    read.id, read.data_path = ob, 'pose.bones["shin.L"]["IK Influence"]'
    read.use_fallback_value = True
    bpy.context.view_layer.update()
    before = rigs.snapshot()
    with pytest.raises(RuntimeError, match=r"'toe\.R' would move by"):
        add(ob, "shin.L", mode=mode)
    assert rigs.snapshot() == before


@pytest.mark.names_nothing  # what a control had keys for that was deleted
def test_curves_of_a_deleted_control_do_not_move_the_new_one(addon):
    """And an action that is not in use, whose controls get no keys, is named."""
    ob, animation, adding = rigs.biped(), addon("blender.animation"), addon("tasks.adding")
    ob.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=1)
    other = ob.animation_data.action
    other.name, other.use_fake_user, ob.animation_data.action = "other", True, bpy.data.actions.new("now")
    curve = animation.new_curve(animation.curve_holder(ob), 'pose.bones["foot_ik.L"].location')
    curve.keyframe_points.insert(1, 5.0)
    before = rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L"))
    added = adding.add(bpy.context, [adding.LimbRequest(ob.pose.bones["shin.L"])])
    bpy.context.scene.frame_set(2)
    assert np.abs(rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L")) - before).max() < 1e-4
    assert ["'other'" in str(warning) for warning in added.warnings] == [True]
