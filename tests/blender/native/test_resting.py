"""A limb on the rig that lost what it follows shows its bones' own pose, as a live one does, until that is back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.natives import leg_on_rig, make_portable, matrices
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
    put,
    reopened,
    update,
)

SAME = 1e-5


def posed_leg() -> tuple[Any, np.ndarray]:
    """A leg with a pose of its own, and where that has its bones."""
    ob = make_rig()
    for name, turn in (("thigh", 0.2), ("shin", 0.3)):
        ob.pose.bones[name].rotation_quaternion = (1, turn, 0, 0.1)
    update()
    return ob, matrices(ob)


def on_rig(ob: Any) -> Any:
    """Its chain, once it is on the rig with a target and a pole that are bones of another armature."""
    controls = make_rig((FREE, FREE._replace(name="knee", head=(0.3, 5, -0.5), tail=(0.3, 5, 0))), "controls")
    goals = {"subtarget": "free", "pole_target": controls, "pole_subtarget": "knee"}
    make_chain(ob, controls, plane="POLE", **goals)
    make_portable(ob)
    return ob.pose.bones["shin"].planar_ik


def no_object(_chain: Any) -> None:
    bpy.data.objects.remove(bpy.data.objects["controls"])


def deleted_by_hand(_chain: Any) -> None:
    activate(bpy.data.objects["controls"])
    bpy.ops.object.delete()


def no_bone(name: str) -> Callable[[Any], None]:
    def lose(_chain: Any) -> None:
        with editing(bpy.data.objects["controls"]) as bones:
            bones.remove(bones[name])

    return lose


def cleared(name: str) -> Callable[[Any], None]:
    def lose(chain: Any) -> None:
        setattr(chain, name, None)

    return lose


LOST = {
    "target and pole": no_object,
    "both, by hand": deleted_by_hand,
    "the target's bone": no_bone("free"),
    "the pole's bone": no_bone("knee"),
    "the target, cleared": cleared("target"),
    "the pole, cleared": cleared("pole_target"),
}


@pytest.mark.parametrize("what", LOST)
def test_a_limb_that_lost_what_it_follows_shows_its_own_pose(what: str) -> None:
    ob, own = posed_leg()
    chain = on_rig(ob)
    assert_on_target(ob, chain.target, bone="free", within=SAME)
    LOST[what](chain)
    update()
    assert chain.reach == "INVALID"
    assert any(word in chain.message for word in ("has no", "was deleted"))
    assert np.allclose(matrices(ob), own, atol=1e-6)
    target = make_empty("other", (0.2, 0.4, -1.2))
    chain.target = target
    chain.pole_target = make_empty("pole", (0.3, 5, -0.5))
    update()
    assert_on_target(ob, target, within=SAME)


def test_the_button_makes_a_target_and_the_limb_follows_it() -> None:
    ob = leg_on_rig(plane="SWING")
    bpy.data.objects.remove(bpy.data.objects["target"])
    update()
    press(ob, "mend", way="TARGET")
    chain = ob.pose.bones["shin"].planar_ik
    chain.target.location.z += 0.2
    update()
    assert_on_target(ob, chain.target, within=SAME)


def test_undo_and_redo_of_what_deletes_a_target() -> None:
    ob, own = posed_leg()
    make_chain(ob, plane="SWING")
    make_portable(ob)
    solved = matrices(ob)
    activate(bpy.data.objects["target"])
    bpy.ops.ed.undo_push(message="before")
    for delete in (bpy.ops.object.delete, lambda: bpy.data.objects.remove(bpy.data.objects["target"])):
        delete()
        bpy.ops.ed.undo_push(message="deleted")
        update()
        bpy.data.objects["rig"].location.x += 1
        bpy.ops.ed.undo_push(message="after")
        shown = []
        for step in ("undo", "undo", "redo", "redo", "undo", "undo"):
            getattr(bpy.ops.ed, step)()
            update()
            shown.append(matrices(bpy.data.objects["rig"]))
        for seen, wanted in zip(shown, (own, solved, own, own, own, solved), strict=True):
            assert np.allclose(seen, wanted, atol=1e-6)


def test_a_target_that_is_back_in_the_scene_is_followed_again() -> None:
    ob, own = posed_leg()
    make_chain(ob, plane="SWING")
    make_portable(ob)
    target, objects = bpy.data.objects["target"], bpy.context.scene.collection.objects
    objects.unlink(target)
    update()
    assert np.allclose(matrices(ob), own, atol=1e-6)
    objects.link(target)
    update()
    assert_on_target(ob, target, within=SAME)


def test_constraints_that_somebody_muted_stay_so() -> None:
    ob = leg_on_rig(plane="SWING")
    for name in ("thigh", "shin"):
        for constraint in ob.pose.bones[name].constraints:
            constraint.mute = True
    make_empty("another")
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert "are muted: un-mute them" in chain.message
    press(ob, "mend", way="UNMUTE")
    assert_on_target(ob, chain.target, within=SAME)


def test_a_target_that_a_blender_without_the_extension_deleted(tmp_path: Path) -> None:
    ob, own = posed_leg()
    make_chain(ob, plane="SWING")
    make_portable(ob)
    handlers = bpy.app.handlers.depsgraph_update_post
    ours = [each for each in handlers if each.__module__.startswith(installed.MODULE)]
    for each in ours:
        handlers.remove(each)
    bpy.data.objects.remove(bpy.data.objects["target"])
    update()
    assert not np.allclose(matrices(ob), own, atol=1e-2)
    handlers.extend(ours)
    ob = reopened(tmp_path)
    update()
    assert np.allclose(matrices(ob), own, atol=1e-6)


def test_a_limb_whose_settings_lost_the_target_unnoticed_says_what_it_follows_still() -> None:
    """As where a pose is pasted by a Blender without the extension, which takes the settings with it."""
    ob = leg_on_rig(plane="SWING")
    chain, solved = ob.pose.bones["shin"].planar_ik, matrices(ob)
    with installed.addon("addon.rig.chain_settings").quietly():
        chain.target = None
    make_empty("another")
    update()
    assert np.allclose(matrices(ob), solved, atol=1e-6)
    assert "lost its target and follows 'target' still" in chain.message


def test_a_target_that_is_renamed_in_edit_mode_is_none_that_is_gone() -> None:
    ob, _ = posed_leg()
    chain = on_rig(ob)
    with editing(bpy.data.objects["controls"]) as bones:
        bones["free"].name = "hand"
        update()
        assert not any(each.mute for each in ob.pose.bones["shin"].constraints)
    put(chain.target.pose.bones["hand"], location=(0, 0.1, 0))
    assert_on_target(ob, chain.target, bone="hand", within=SAME)


def test_a_bake_of_others_leaves_a_limb_without_a_target_as_it_is() -> None:
    ob, own = posed_leg()
    make_chain(ob, plane="SWING")
    make_portable(ob)
    bpy.data.objects.remove(bpy.data.objects["target"])
    update()
    switch_all = installed.addon("addon.native.switching").switch_all
    for is_on in (False, True):
        switch_all([ob.pose.bones["shin"]], is_on)
    update()
    assert np.allclose(matrices(ob), own, atol=1e-6)


def test_a_limb_whose_bone_collection_was_removed_shows_its_own_pose_too() -> None:
    ob, own = posed_leg()
    make_chain(ob, plane="SWING")
    make_portable(ob)
    ob.data.collections.remove(ob.data.collections["Planar IK"])
    bpy.data.objects.remove(bpy.data.objects["target"])
    update()
    assert np.allclose(matrices(ob), own, atol=1e-6)


def test_a_rig_that_is_edited_is_not_asked_for_what_it_has_not(capfd: pytest.CaptureFixture[str]) -> None:
    ob = leg_on_rig((*LEG, FREE), plane="SWING")
    chain = ob.pose.bones["shin"].planar_ik
    chain.target, chain.subtarget = ob, "free"
    with editing(ob) as bones:
        bones["free"].tail.z += 0.1
        make_empty("another")
        update()
        bones.remove(bones["free"])
        update()
    assert "not available" not in "".join(capfd.readouterr())
    assert all(each.mute for each in ob.pose.bones["shin"].constraints)
