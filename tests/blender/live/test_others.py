"""What live leaves alone: handlers of others, rigs that did not change, simulations, and all of it once disabled."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import legs, rigs

LISTS = ("frame_change_post", "depsgraph_update_pre", "depsgraph_update_post", "undo_post", "load_post")


def handlers():
    return {name: [*getattr(bpy.app.handlers, name)] for name in LISTS}


def names():
    return {name: [handler.__module__ for handler in each] for name, each in handlers().items()}


@pytest.fixture
def counted(addon, monkeypatch):
    """How often rigs were written to and evaluated for it."""
    posing, times = addon("live.posing"), []
    evaluate = posing._evaluate
    monkeypatch.setattr(posing, "_evaluate", lambda depsgraph: (times.append(1), evaluate(depsgraph)))
    return times


def test_handlers_of_others_stay_and_may_come():
    last, seen = legs.live_leg(), []

    def another(*_args):
        seen.append("another")

    def somebody(*_args):
        seen.append("somebody")
        if another not in bpy.app.handlers.depsgraph_update_post:
            bpy.app.handlers.depsgraph_update_post.append(another)

    before = handlers()
    bpy.app.handlers.depsgraph_update_post.append(somebody)
    legs.key(last.planar_ik.target, "location", (0, 0, 0), (1, 0, 0))
    for frame in (2, 3):
        bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    assert handlers() == {
        **before, "depsgraph_update_post": [*before["depsgraph_update_post"], somebody, another]
    }  # fmt: skip
    assert {*seen} == {"another", "somebody"}


def test_what_did_not_change_is_not_evaluated(counted):
    last = legs.live_leg()
    other = rigs.empty("other", (0, 0, 0))
    legs.key(other, "location", (0, 0, 0), (1, 0, 0))
    bpy.context.scene.frame_set(2)
    counted.clear()
    other.location.x = 3.0
    bpy.context.view_layer.update()
    for frame in (3, 4):
        bpy.context.scene.frame_set(frame)
    assert not counted
    last.planar_ik.target.location.x += 0.1
    bpy.context.view_layer.update()
    assert len(counted) == 1


def test_target_that_stands_still_costs_no_evaluation(counted):
    last = legs.live_leg()
    legs.key(last.planar_ik.target, "location", (0, 0.3, 0.5), (0, 0.3, 0.5))
    bpy.context.scene.frame_set(2)
    counted.clear()
    for frame in (3, 4, 5):
        bpy.context.scene.frame_set(frame)
        assert legs.off(last) < 1e-5
    assert not counted


def test_cloth_on_the_rig_keeps_its_cache():
    last = legs.live_leg()
    legs.key(last.planar_ik.target, "location", (0, 0.3, 0.5), (0.2, -0.3, 0.9))
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata([(0, 0, 3), (1, 0, 3), (0, 1, 3)], [], [(0, 1, 2)])
    cloth = bpy.data.objects.new("cloth", mesh)
    bpy.context.collection.objects.link(cloth)
    cloth.parent = last.id_data
    cache = cloth.modifiers.new("cloth", "CLOTH").point_cache
    for frame in (*range(1, 9), 4):
        bpy.context.scene.frame_set(frame)
    assert cache.info.startswith("8 frames")
    assert not cache.is_outdated
    last.planar_ik.swivel = 0.3
    bpy.context.view_layer.update()
    assert cache.info.startswith("8 frames")
    assert not cache.is_outdated


def test_disabled_it_leaves_nothing(addon):
    before = names()
    last = legs.live_leg()
    package = addon("addon")
    package.unregister()
    try:
        assert not hasattr(bpy.types.Scene, "planar_ik")
        assert not any(".live." in module for each in names().values() for module in each)
        bpy.context.view_layer.update()
        for bone in (last.parent, last):
            rest = bone.parent.bone.matrix_local.inverted() @ bone.bone.matrix_local
            assert np.allclose(bone.matrix, bone.parent.matrix @ rest @ bone.matrix_basis, atol=1e-6)
    finally:
        package.register()
    assert {name: sorted(each) for name, each in names().items()} == {
        name: sorted(each) for name, each in before.items()
    }
    bpy.context.view_layer.update()
    assert legs.off(last) < 1e-5


@pytest.mark.parametrize("gone", ["target", "rig", "bone", "constraint"])
def test_what_is_gone_leaves_the_others(gone, capfd):
    last, other = legs.live_leg(), legs.live_leg("other")
    other.planar_ik.target.location = (0.1, -0.4, 0.3)
    if gone == "target":
        bpy.data.objects.remove(last.planar_ik.target)
    elif gone == "rig":
        bpy.data.objects.remove(last.id_data)
    elif gone == "bone":
        rigs.activate(last.id_data, "EDIT")
        last.id_data.data.edit_bones.remove(last.id_data.data.edit_bones["upper"])
        bpy.ops.object.mode_set(mode="POSE")
    else:
        last.constraints.remove(last.constraints[0])
    for frame in (2, 3):
        bpy.context.scene.frame_set(frame)
        assert legs.off(bpy.data.objects["other"].pose.bones["lower"]) < 1e-5
    assert "Traceback" not in capfd.readouterr().err
