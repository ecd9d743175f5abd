"""Limbs that IK can't be put on are refused, with nothing changed."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import rigs


@pytest.fixture
def refused(addon):
    return addon("blender.types").Refused


def bones(ob):
    return ob.pose.bones


def edited(ob, change):
    rigs.activate(ob, "EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="POSE")


def no_length(ob):
    def change(edit):
        edit["shin.L"].use_connect = False
        edit["shin.L"].head = edit["thigh.L"].head

    edited(ob, change)


def constraint(ob, name, kind, **settings):
    made = bones(ob)[name].constraints.new(kind)
    for key, value in settings.items():
        setattr(made, key, value)


def key_location(ob):
    bone = bones(ob)["shin.L"]
    edited(ob, lambda edit: setattr(edit["shin.L"], "use_connect", False))
    bone = bones(ob)["shin.L"]
    for frame, x in ((1, 0.0), (9, 0.2)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def inherits_no_scale(ob):
    for name in ("shin.L", "shin.R"):  # as of several limbs, one that IK can't show is left out
        ob.data.bones[name].inherit_scale = "NONE"
    bones(ob)["hips"].scale = (1.5, 1.5, 1.5)


REFUSALS = {
    "no parent": (lambda ob: None, "root", {}),
    "not long enough": (lambda ob: None, "hips", {"segments": (2, 1)}),
    "at rest": (lambda ob: setattr(ob.data, "pose_position", "REST"), "shin.L", {}),
    "no inherited rotation": (
        lambda ob: setattr(ob.data.bones["shin.L"], "use_inherit_rotation", False),
        "shin.L",
        {},
    ),
    "other inherited scale": (inherits_no_scale, "shin.L", {}),
    "no length": (no_length, "shin.L", {}),
    "keyed location": (key_location, "shin.L", {}),
    "scaled": (lambda ob: setattr(bones(ob)["thigh.L"], "scale", (1, 2, 1)), "shin.L", {}),
    "constraint": (lambda ob: constraint(ob, "thigh.L", "LIMIT_ROTATION"), "shin.L", {}),
    "IK": (lambda ob: constraint(ob, "shin.L", "IK", target=ob, subtarget="root", chain_count=2), "shin.L", {}),
    "IK below": (lambda ob: constraint(ob, "toe.L", "IK", target=ob, subtarget="root", chain_count=4), "shin.L", {}),
    "driver": (lambda ob: bones(ob)["thigh.L"].driver_add("rotation_quaternion", 1), "shin.L", {}),
    "target is part of it": (lambda ob: None, "shin.L", {"target": "foot.L"}),
    "target is not there": (lambda ob: None, "shin.L", {"target": "nobody"}),
    "target is the rig": (lambda ob: None, "shin.L", {"target": ""}),
    "pole is part of it": (lambda ob: None, "shin.L", {"pole": "thigh.L"}),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_change_nothing(add, refused, case):
    setup, name, options = REFUSALS[case]
    ob = rigs.biped()
    setup(ob)
    options = {key: (ob, value) if key in {"target", "pole"} else value for key, value in options.items()}
    before = rigs.snapshot()
    with pytest.raises(refused):
        add(ob, "shin.R", name, **options)
    assert rigs.snapshot() == before


@pytest.mark.parametrize("frames", [(1, 9), (5,)], ids=["always", "in one frame"])
@pytest.mark.parametrize("noise", [1e-6, 2e-5, 2.9e-5, 4e-5, 9e-5, 3e-4])
def test_what_is_added_reaches(add, refused, noise, frames):
    """Locations of lower bones: as little as IK holds, or refused."""
    ob = rigs.biped()
    edited(ob, lambda edit: setattr(edit["shin.L"], "use_connect", False))
    shin, size = bones(ob)["shin.L"], sum(ob.data.bones[name].length for name in ("thigh.L", "shin.L"))
    for frame in (1, 5, 9):
        shin.location.x = noise * size if frame in frames else 0.0
        shin.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    if noise > 3e-5:
        with pytest.raises(refused, match="own location"):
            add(ob, "shin.L")
        return
    add(ob, "shin.L")
    for frame in range(1, 10):
        bpy.context.scene.frame_set(frame)
        assert bones(ob)["shin.L"].planar_ik.reach == "REACHED"


def test_limbs_that_share_a_bone_are_refused(add, refused):
    ob = rigs.biped()
    with pytest.raises(refused):
        add(ob, "shin.L", "foot.L")
    add(ob, "shin.L")
    for name in ("shin.L", "foot.L", "thigh.L"):
        with pytest.raises(refused):
            add(ob, name)


def test_what_moves_nothing_is_taken(add):
    ob = rigs.biped()
    constraint(ob, "thigh.L", "LIMIT_ROTATION", mute=True)
    constraint(ob, "shin.L", "IK", target=ob, subtarget="root", chain_count=2, mute=True)
    bones(ob)["thigh.L"].keyframe_insert("location")  # as importers do
    bones(ob)["thigh.L"].keyframe_insert("scale", frame=5)
    assert add(ob, "shin.L")


@pytest.mark.parametrize(("chain_count", "is_taken"), [(0, False), (3, False), (2, True)])
def test_a_muted_solver_that_reaches_above_keeps_a_limb_off_the_rig(addon, add, refused, capfd, chain_count, is_taken):
    """Blender finds a dependency cycle in it, which it tells on standard error."""
    ob = rigs.biped()
    constraint(ob, "shin.L", "IK", mute=True, chain_count=chain_count)
    add(ob, "shin.L")
    before = rigs.snapshot()
    if is_taken:
        addon("tasks.modes").to_rig(bpy.context, [bones(ob)["shin.L"]])
    else:
        with pytest.raises(refused, match="reaches above the limb"):
            addon("tasks.modes").to_rig(bpy.context, [bones(ob)["shin.L"]])
        assert rigs.snapshot() == before
    bpy.context.view_layer.update()
    assert "ependency cycle" not in "".join(capfd.readouterr())
