"""Limbs that hang on limbs are posed after these, in the same rig and across rigs."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import legs, rigs


def chain():
    """A limb on the foot of another: ``upper2`` and ``lower2`` below ``foot``, whose name sorts before."""
    second = {
        "a lower": ((0, -0.7, -0.5), (0, -0.3, -1), "upper2"),
        "upper2": ((0, -0.3, 0), (0, -0.7, -0.5), "foot"),
        "upper3": ((0, -0.3, -1), (0.3, -0.5, -1.5), "a lower"),
        "lower3": ((0.3, -0.5, -1.5), (0.1, -0.3, -2), "upper3"),
    }
    bones = {**legs.LEG, "upper2": second.pop("upper2"), **second}
    last = legs.live_leg(bones=bones)
    for name, place in (("lower3", (0.4, 0.3, -0.5)), ("a lower", (0.3, 0.3, 0.1))):
        limb = last.id_data.pose.bones[name].planar_ik
        limb.target = rigs.empty(name, place)
        limb.plane = "FREE"
    return [last, last.id_data.pose.bones["a lower"], last.id_data.pose.bones["lower3"]]


def rig_on_rig():
    """A limb whose target is the foot of another rig's, and one whose target is a bone that is parented to it."""
    first, second, third = legs.live_leg("c"), legs.live_leg("b"), legs.live_leg("a")
    first.planar_ik.influence = 1.0
    second.planar_ik.target, second.planar_ik.subtarget = first.id_data, "foot"
    hanging = rigs.empty("hanging", (0, 0.1, 0))
    hanging.parent, hanging.parent_type, hanging.parent_bone = second.id_data, "BONE", "foot"
    third.planar_ik.target = hanging
    return [third, second, first]


def parented():
    """A whole rig that hangs on the tip of another's limb."""
    carrier, carried = legs.live_leg("z"), legs.live_leg("a")
    carried.id_data.parent, carried.id_data.parent_type = carrier.id_data, "BONE"
    carried.id_data.parent_bone = "foot"
    return [carrier, carried]


@pytest.mark.parametrize("make", [chain, rig_on_rig, parented])
def test_in_order(make):
    lasts = make()
    bpy.context.view_layer.update()
    mover = bpy.data.objects[
        {"chain": "target of rig", "rig_on_rig": "target of c", "parented": "target of z"}[make.__name__]
    ]
    legs.key(mover, "location", (0.5, 0.4, 0.6), (-0.2, -0.5, 1.0))
    for frame in range(2, 9):
        bpy.context.scene.frame_set(frame)
        assert max(map(legs.off, lasts)) < 1e-5
    mover.location.z += 0.3
    bpy.context.view_layer.update()
    assert max(map(legs.off, lasts)) < 1e-5


def test_limbs_in_a_circle_neither_hang_nor_stop_others(capfd):
    first, second, third = legs.live_leg("a"), legs.live_leg("b"), legs.live_leg("c")
    for last, other in ((first, second), (second, first)):
        constraint = last.constraints["Planar IK"]  # as somebody may set it: it is refused by `planar_ik`
        constraint.target, constraint.subtarget = other.id_data, "foot"
    for frame in (2, 3):
        bpy.context.scene.frame_set(frame)
    third.planar_ik.target.location.x += 0.1
    bpy.context.view_layer.update()
    assert legs.off(third) < 1e-5
    assert "Traceback" not in capfd.readouterr().err


def test_a_limb_on_a_control_of_its_own_rig():
    last = legs.live_leg()
    constraint = last.constraints["Planar IK"]
    constraint.target, constraint.subtarget = last.id_data, "tail"
    bpy.context.view_layer.update()
    last.id_data.pose.bones["tail"].location = (0.2, -0.6, -1.5)
    rigs.activate(last.id_data)
    bpy.context.view_layer.update()
    assert legs.off(last) < 1e-5


CROWD = ({"plane": "HINGE"}, {"plane": "POLE", "swivel": 0.5}, {"stretch": 1.0}, {"flip": True}, {"influence": 1.0}, {})


def test_rigs_of_many_kinds_are_posed_together():
    """Also where only one of them is due, and beside a limb of more bones."""
    lasts = [legs.live_leg(name) for name in "abcdef"]
    for last, settings in zip(lasts, CROWD, strict=True):
        last.planar_ik.pole_target = rigs.empty("pole", (0.5, 5, 1))
        for name, value in settings.items():
            setattr(last.planar_ik, name, value)
    longer = legs.live_leg("long", {**legs.LEG, "last": ((0, 0.05, 0), (0.1, 0.3, -0.6), "lower")})
    longer.planar_ik.enabled = False
    longest = longer.id_data.pose.bones["last"]
    far = rigs.empty("far", (0.5, 0.4, 0.6))
    longest.planar_ik.chain_count, longest.planar_ik.target, longest.planar_ik.plane = 3, far, "FREE"
    for last in (None, *lasts):
        for ob in [last.planar_ik.target] if last else bpy.data.objects:
            if ob.type == "EMPTY":
                ob.location.x += 0.1
        bpy.context.view_layer.update()
        assert max(map(legs.off, lasts)) < 1e-5
        shown = longest.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
        tip = shown.matrix_world @ shown.pose.bones["last"].tail
        assert (tip - far.matrix_world.translation).length < 1e-5
