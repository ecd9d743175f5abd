"""Chains on the rig are baked as live ones are."""

from __future__ import annotations

import bpy
import pytest

from scripts import installed

from .bake_rigs import FEATURES, FRAMES, LENGTH, assert_same, bake_scene, key_hip, make_chain, make_leg, motion
from .natives import make_portable

SAME = 1e-5
"""How far what runs on the rig may be from the solution, in lengths of the limb."""


BLENDED = 1e-4
"""The same below influence 1: Blender blends by an arc cosine in single precision, and the bake by roots."""


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
@pytest.mark.parametrize("feature", ["plain", "pole", "bend", "influence", "moving parent", "constrained target"])
def test_chains_on_the_rig_are_baked_by_arrays(addon, feature, tolerance):
    ob = make_leg()
    FEATURES[feature](ob, make_chain(ob))
    key_hip(ob)
    make_portable(ob)
    wanted = motion(ob)
    report = bake_scene(tolerance=tolerance)
    assert report.chains[0].way in {"curves", "isolated"}
    assert not ob.pose.bones["shin"].planar_ik.enabled
    assert_same(motion(ob), wanted, tolerance + (BLENDED if feature == "influence" else SAME) * LENGTH)


def test_one_that_can_only_be_stepped_is_refused(addon):
    ob = make_leg()
    FEATURES["driven constraint"](ob, make_chain(ob))
    make_portable(ob)
    with pytest.raises(installed.addon("addon.bake").Refused, match="bring the chain back from the rig"):
        bake_scene()
    bpy.context.view_layer.update()
    assert ob.pose.bones["shin"].planar_ik.enabled


def test_switching_them_off_leaves_the_scene_and_their_mechanisms_alone(addon):
    """Setting each would have all of the scene evaluated, and its mechanism looked at."""
    ob = make_leg()
    make_chain(ob)
    make_portable(ob)
    wanted = motion(ob)
    bones, updates = len(ob.data.bones), []

    def note(*_args: object) -> None:
        updates.append(1)

    baking = installed.addon("addon.bake")
    request = baking.Request(baking.chains_of_scene(bpy.context), FRAMES)
    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        baking.finish(baking.bake(bpy.context, request))
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)
    assert not updates
    shin = ob.pose.bones["shin"]
    assert all(each.mute for bone in (shin, shin.parent) for each in bone.constraints)
    ob.animation_data.action = None
    shin.planar_ik.enabled = True
    assert len(ob.data.bones) == bones
    assert_same(motion(ob), wanted, SAME * LENGTH)
