"""Targets that are renamed or deleted: a chain follows the first and says so of the second."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.blender.rigs import (
    FREE,
    LEG,
    activate,
    assert_on_target,
    editing,
    make_chain,
    make_empty,
    make_rig,
    press,
    update,
)


def to_a_pole() -> dict[str, Any]:
    """Settings for a tip that goes to its target wherever that is."""
    return {"plane": "POLE", "pole_target": make_empty("pole", (0.3, 5, -0.5))}


@pytest.fixture
def rig() -> Any:
    """A leg that follows a bone of its own rig."""
    ob = make_rig((*LEG, FREE))
    make_chain(ob, ob, subtarget="free", **to_a_pole())
    update()
    return ob


def rename(ob: Any, mode: str, name: str, to: str) -> None:
    activate(ob)
    bpy.ops.object.mode_set(mode=mode)
    bones = ob.data.edit_bones if mode == "EDIT" else ob.data.bones
    bones[name].name = to
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


def follows(name: str) -> bool:
    """Whether the chain follows the bone of this name, and its tip is there when that moves."""
    ob = bpy.data.objects["rig"]
    chain = ob.pose.bones["shin"].planar_ik
    if chain.subtarget != name or chain.message:
        return False
    ob.pose.bones[name].location.z += 0.1
    update()
    assert_on_target(ob, ob, bone=name)
    return True


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_a_renamed_bone_is_followed(rig: Any, mode: str, caplog: pytest.LogCaptureFixture) -> None:
    rename(rig, mode, "free", "hand")
    assert follows("hand")
    rename(rig, mode, "hand", "fist")
    assert follows("fist")
    assert not caplog.messages


def test_it_is_through_undo_and_redo(rig: Any) -> None:
    bpy.ops.ed.undo_push(message="rigged")
    rig.data.bones["free"].name = "hand"
    bpy.ops.ed.undo_push(message="renamed")  # as Blender stores the step before the chain hears of it
    update()
    assert follows("hand")
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    update()
    assert follows("hand")
    bpy.ops.ed.undo()
    update()
    assert follows("free")
    bpy.ops.ed.redo()
    update()
    assert follows("hand")


def test_another_bone_of_the_old_name_is_not_followed_instead(rig: Any) -> None:
    rename(rig, "EDIT", "free", "hand")
    rename(rig, "EDIT", "hip", "free")
    assert follows("hand")


def test_a_bone_that_is_gone_is_named(rig: Any) -> None:
    with editing(rig) as bones:
        bones.remove(bones["free"])
    chain = rig.pose.bones["shin"].planar_ik
    assert (chain.reach, chain.message) == ("INVALID", "'rig' has no bone 'free'")


def test_a_target_that_was_deleted_is_not_reached() -> None:
    ob, target = make_rig(), make_empty("goal", (0.2, 0.4, -1.2))
    chain = make_chain(ob, target, **to_a_pole())
    update()
    assert chain.reach == "REACHED"
    activate(target)
    bpy.ops.object.delete()
    update()
    assert chain.reach == "INVALID"
    assert "goal' is in no scene, or was deleted" in chain.message or "has no target" in chain.message


def test_solving_once_poses_the_selected_chains_only() -> None:
    left, right = make_rig(name="left"), make_rig(name="right")
    for ob in (left, right):
        make_chain(ob, make_empty(f"target of {ob.name}", (0.2, 0.4, -1.2)), **to_a_pole())
    bpy.context.scene.planar_ik.live = False
    for ob in (left, right):
        ob.pose.bones["shin"].planar_ik.target.location = (0.1, -0.5, -1.0)
    update()
    press(left, "solve")
    assert_on_target(left, bpy.data.objects["target of left"])
    with pytest.raises(AssertionError):
        assert_on_target(right, bpy.data.objects["target of right"])
