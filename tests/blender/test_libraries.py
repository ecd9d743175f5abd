"""Limbs of a library: an animator links the rig, overrides it, poses, keys and bakes it there."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import installed
from tests.blender import legs, oracle, rigs
from tests.blender.libraries import overridden, saved
from tests.blender.snapshots import differences

LIMBS = {"shin.L": "RIG", "shin.R": "LIVE"}


@pytest.fixture
def library(addon, tmp_path):
    """A file with a biped in a collection: one leg on the rig, one live, with targets that are bones."""
    ob = rigs.biped()
    adding = addon("tasks.adding")
    requests = [adding.LimbRequest(ob.pose.bones[name]) for name in LIMBS]
    lasts = adding.add(bpy.context, requests, pole_follows=False).limbs
    addon("tasks.modes").to_rig(bpy.context, lasts[:1])
    return saved(ob, tmp_path)


def holds(ob):
    for name, mode in LIMBS.items():
        last = ob.pose.bones[name]
        bpy.context.view_layer.update()
        want = oracle.expected(last)
        assert np.abs(oracle.seen(last)[0] - want.joints).max() < (1e-4 if want.influence in (0.0, 1.0) else 2e-3)
        assert last.planar_ik.mode == mode
        assert last.planar_ik.reach == want.reach, last.planar_ik.message


def animate(ob):
    """Key targets and influences as an animator does."""
    for name in LIMBS:
        last = ob.pose.bones[name]
        target = ob.pose.bones[last.planar_ik.subtarget]
        for frame, influence, place in ((1, 0.0, (0.05, 0, 0.3)), (5, 1.0, (0.1, -0.1, 0.2)), (9, 1.0, (0.1, 0, 2.5))):
            rigs.put(target, Vector(place))
            target.keyframe_insert("location", frame=frame)
            last["IK Influence"] = influence
            last.keyframe_insert('["IK Influence"]', frame=frame)
        last["IK Flip"], last["IK Swivel"] = True, 0.5


def over_frames(ob):
    found = []
    for frame in (1, 3, 5, 9):
        bpy.context.scene.frame_set(frame)
        holds(ob)
        found.append(rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R")))
    return np.array(found)


def test_an_animator_poses_keys_and_saves(library, tmp_path):
    (ob,) = overridden(library)
    holds(ob)
    rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.1, -0.1, 0.2)))
    holds(ob)
    animate(ob)
    before = over_frames(ob)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot, use_scripts=False)
    (ob,) = (each for each in bpy.context.scene.objects if each.override_library and each.type == "ARMATURE")
    assert ob.pose.bones["shin.R"]["IK Flip"]
    assert np.abs(over_frames(ob) - before).max() < 1e-6


@pytest.mark.parametrize(
    ("option", "why"), [("", ""), ("remove", "library's file"), ("for_game", "constraints and controls would stay")]
)
def test_bake(addon, library, option, why):
    """Nothing that needs edits of bones, which is refused before anything is written."""
    (ob,) = overridden(library)
    animate(ob)
    before = over_frames(ob)
    options = {option: True} if option else {}
    request = addon("tasks.baking").BakeRequest([ob.pose.bones[name] for name in LIMBS], range(1, 10), **options)
    if option:
        with pytest.raises(addon("blender.types").Refused, match=why):
            addon("tasks.baking").bake(bpy.context, request)
        assert np.abs(over_frames(ob) - before).max() < 1e-6
        return
    addon("tasks.baking").bake(bpy.context, request)
    after = legs.seen(ob, ("thigh.L", "shin.L", "thigh.R", "shin.R"), (1, 3, 5, 9))
    assert np.abs(after - np.delete(before, 2, axis=1)).max() < 1e-4


def test_mirror_poses_the_other_side(library):
    """Of limbs that are there; what they are made of is the library's."""
    (ob,) = overridden(library)
    rigs.activate(ob)
    left, right = (ob.pose.bones[name] for name in LIMBS)
    target, other = (ob.pose.bones[last.planar_ik.subtarget] for last in (left, right))
    rigs.put(target, Vector((0.2, -0.15, 0.25)))
    left["IK Swivel"] = 0.4
    before = properties_of(ob)
    rigs.click(ob, target.name)
    assert bpy.ops.pose.planar_ik_mirror() == {"FINISHED"}
    holds(ob)
    assert (rigs.place(ob, other.name) - Vector((-0.2, -0.15, 0.25))).length < 1e-5
    assert right["IK Swivel"] == pytest.approx(0.4)
    after = properties_of(ob)
    assert {name for name in after if after[name] != before[name]} == {right.name}


NEED_BONES: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("add", "remove", "rebuild", "convert", "unconvert")},
    "set": {"plane": "HINGE"},
}


@pytest.mark.parametrize("name", NEED_BONES)
def test_what_needs_bones_is_refused(library, name):
    (ob,) = overridden(library)
    before, had = rigs.matrices(ob, ob.pose.bones.keys()), properties_of(ob)
    for bone in ("forearm.L", *LIMBS):
        rigs.activate(ob)
        rigs.click(ob, bone)
        with pytest.raises(RuntimeError):
            getattr(bpy.ops.pose, f"planar_ik_{name}")(**NEED_BONES[name])
    assert np.abs(rigs.matrices(ob, ob.pose.bones.keys()) - before).max() < 1e-6
    assert properties_of(ob) == had
    holds(ob)


def properties_of(ob):
    """The custom properties of a rig's bones, as plain values."""
    return {
        bone.name: {key: value.to_dict() if hasattr(value, "to_dict") else value for key, value in bone.items()}
        for bone in ob.pose.bones
    }


def test_nothing_but_plain_values_is_registered_on_bones():
    """Blender compares properties of PoseBone for every bone of every override: a group with getters costs seconds."""
    owners = (bpy.types.PoseBone, bpy.types.Bone, bpy.types.Object, bpy.types.Armature, bpy.types.Constraint)
    assert isinstance(bpy.types.PoseBone.planar_ik, property)
    ours = {
        each.identifier: each.type
        for owner in owners
        for each in owner.bl_rna.properties
        if "planar" in each.identifier
    }
    texts = dict.fromkeys(("planar_ik_limb", "planar_ik_part", "planar_ik_spec"), "STRING")
    assert ours == texts | {"planar_ik_segment": "INT", "planar_ik_tip": "BOOLEAN"}


def test_what_is_private_is_not_shown():
    """Of what a limb keeps on bones, Blender's panel Custom Properties draws the sliders only."""
    ob = rigs.biped()
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE", foot_roll=True)
    bpy.ops.pose.planar_ik_set(twist=True)
    for name, value in {"softness": 0.1, "stretch": 0.5, "max_angle": 2.5}.items():
        setattr(ob.pose.bones["shin.L"].planar_ik, name, value)
    bones = [*ob.pose.bones, *ob.data.bones]
    shown = {key for bone in bones for key in {*bone.keys()} if key not in bone.bl_rna.properties}
    assert {"IK Influence", "IK Roll", "IK Stretch"} <= shown
    assert not [key for key in shown if not key.startswith("IK ")]


def test_overrides_of_rigs_without_limbs_are_as_without_the_extension(tmp_path):
    path = saved(rigs.biped(), tmp_path)

    def properties():
        made = overridden(path, 3)
        for ob in made:
            ob.override_library.operations_update()
        return [sorted(each.rna_path for each in ob.override_library.properties) for ob in made]

    with_it = properties()
    installed.disable()
    try:
        assert properties() == with_it
    finally:
        installed.enable()


OF_MECHANISM = (("enabled", False), ("plane", "FREE"), ("chain_count", 3), ("softness", 0.1), ("stretch", 1.0))
OF_MECHANISM += (("plane", "HINGE"), ("max_angle", 2.5))
GONE = {
    "shin.L": OF_MECHANISM,
    "shin.R": OF_MECHANISM,
    "forearm.L": (("enabled", True), ("target", "goal"), ("chain_count", 2), ("influence", 1.0)),
}
"""What is set on a limb, or on a bone that is none, that an override would not keep."""

KEPT = (("influence", 0.5), ("flip", True), ("swivel", 0.3), ("target", "goal"), ("pole_target", "pole"))
"""What it keeps, and a linked rig does not."""

FOLLOWED = {"goal": (0.05, -0.15, 0.3), "pole": (0.3, -1.0, 0.6)}
"""Where what can be followed is, by name."""


@pytest.mark.parametrize("kind", ["overridden", "linked"])
def test_what_is_gone_after_reopening_is_refused(addon, library, kind):
    (ob,) = overridden(library)
    objects = {name: rigs.empty(name, place) for name, place in FOLLOWED.items()}
    ob = ob if kind == "overridden" else ob.override_library.reference
    wrong = [(name, *each) for name, settings in GONE.items() for each in settings]
    if kind == "linked":
        wrong += [(name, *each) for name in LIMBS for each in KEPT]
    before = rigs.snapshot()
    for bone, name, value in wrong:
        with pytest.raises(addon("blender.types").Refused):
            setattr(ob.pose.bones[bone].planar_ik, name, objects.get(value, value))
        assert not differences(before, rigs.snapshot()), (bone, name)


def test_what_an_override_keeps_is_taken(library, tmp_path):
    (ob,) = overridden(library)
    objects = {name: rigs.empty(name, place) for name, place in FOLLOWED.items()}
    for bone in LIMBS:
        for name, value in KEPT:
            setattr(ob.pose.bones[bone].planar_ik, name, objects.get(value, value))
    holds(ob)
    before = rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"), use_scripts=False)
    (ob,) = (each for each in bpy.context.scene.objects if each.override_library and each.type == "ARMATURE")
    holds(ob)
    assert ob.pose.bones["shin.L"].planar_ik.target.name == "goal"
    after = rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"))
    assert np.abs(after - before).max() < 1e-5
