"""A bake for games, as engines get it: out through Blender's own exporters and in again."""

from __future__ import annotations

from typing import Any

import addon_utils
import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import LENGTH, key_hip, make_chain, make_leg
from tests.blender.rigs import curves, editing, in_scene, override_of, select

FRAMES = range(1, 25)
SAME = 1e-5 * LENGTH


def make_creature() -> Any:
    """A leg with a foot, under a root that moves; a control that nothing hangs on but by a constraint; a skin."""
    ob = make_leg()
    with editing(ob) as bones:
        for name, head, tail, parent, deforms in (
            ("foot", (0.1, 0, -1.9), (0.1, -0.4, -2.0), "shin", True),
            ("patch", (0.3, 0, 0), (0.3, 0, 0.2), "hip", True),
            ("control", (0.5, 0, 0), (0.5, 0, 0.2), None, False),
        ):
            made = bones.new(name)
            made.head, made.tail, made.use_deform = head, tail, deforms
            made.parent = bones.get(parent or "")
        bones["hip"].use_deform = False
    key_hip(ob)
    control = ob.pose.bones["control"]
    for frame, x in ((1, 0.0), (24, 0.6)):
        control.location.x = x
        control.keyframe_insert("location", frame=frame)
        ob.pose.bones["foot"].scale = (1.0, 1.0 + 1e-6 * frame, 1.0)
        ob.pose.bones["foot"].keyframe_insert("scale", frame=frame)
    copies = ob.pose.bones["patch"].constraints.new("COPY_LOCATION")
    copies.target, copies.subtarget = ob, "control"
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0, 0, 0), (0, 0, -1), (0.1, 0, -1.9)], [], [(0, 1, 2)])
    skin = in_scene("skin", mesh)
    for name in ("thigh", "shin", "foot", "patch"):
        skin.vertex_groups.new(name=name).add([0, 1, 2], 1.0, "REPLACE")
    skin.modifiers.new("rig", "ARMATURE").object = ob
    skin.parent = ob
    bpy.context.scene.frame_end = 24
    return ob


def heads(ob: Any, names: list[str]) -> np.ndarray:
    """Where bones begin, in the world, on every frame."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([evaluated.matrix_world @ evaluated.pose.bones[name].head for name in names])
    return np.array(found)


BONES = ["thigh", "shin", "foot", "patch"]


@pytest.fixture
def baked(addon) -> tuple[Any, np.ndarray, Any]:
    """The rig, where its bones were before, and the report."""
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob, stretch=0.0)
    wanted = heads(ob, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    report = baking.finish(baking.bake_for_game(bpy.context, request))
    return ob, wanted, report


def test_limbs_and_deforming_bones_are_keyed_in_full_and_nothing_is_left(baked):
    ob, wanted, report = baked
    bpy.context.scene.planar_ik.live = False
    assert np.abs(heads(ob, BONES) - wanted).max() < 2e-6
    found = curves(ob)
    assert not [path for path, _ in found if path.endswith("scale") or "planar_ik" in path]
    for name in ("hip", *BONES):
        keys = {
            path.rpartition(".")[2]: len(c.keyframe_points) for (path, _), c in found.items() if f'"{name}"' in path
        }
        rotation = "rotation_euler" if name == "hip" else "rotation_quaternion"
        assert keys == ({rotation: 24} if name == "shin" else {rotation: 24, "location": 24})
        bone = ob.pose.bones[name]
        assert (tuple(bone.scale), len(bone.constraints)) == ((1.0, 1.0, 1.0), 0)
    assert len(found['pose.bones["control"].location', 0].keyframe_points) == 2
    settings = ob.pose.bones["shin"].planar_ik
    assert (settings.enabled, settings.target, report.warnings) == (False, None, ())


def test_of_a_limb_that_runs_on_the_rig_no_mechanism_is_left(addon):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob)
    before = {bone.name for bone in ob.data.bones}
    installed.addon("addon.native.convert").make_portable(bpy.context, [ob.pose.bones["shin"]])
    assert {bone.name for bone in ob.data.bones} > before
    wanted = heads(ob, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    baking.finish(baking.bake_for_game(bpy.context, request))
    assert {bone.name for bone in ob.data.bones} == before
    assert np.abs(heads(ob, BONES) - wanted).max() < SAME
    assert not ob.pose.bones["shin"].constraints


def test_joints_of_a_limb_that_stretches_stay_where_they_are_without_scale(addon):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob, stretch=1.0)
    wanted = heads(ob, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    report = baking.finish(baking.bake_for_game(bpy.context, request))
    assert np.abs(heads(ob, BONES) - wanted).max() < SAME
    assert len(curves(ob)['pose.bones["shin"].location', 1].keyframe_points) == 24
    limb = ("thigh", "shin", "foot")
    assert report.warnings == tuple(f"The scale of '{name}' in 'leg' is left out: games get it at 1" for name in limb)


def test_a_mirrored_bone_is_told(addon):
    """Whose axes are as long as ever."""
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob)
    ob.pose.bones["patch"].scale = (-1.0, 1.0, 1.0)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    report = baking.finish(baking.bake_for_game(bpy.context, request))
    assert report.warnings == ("The scale of 'patch' in 'leg' is left out: games get it at 1",)


def test_strips_that_scale_bones_act_no_more(addon):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob)
    data, kept = ob.animation_data, ob.animation_data.action
    ob.animation_data.action = None
    patch = ob.pose.bones["patch"]
    patch.scale = (1.5, 1.5, 1.5)
    patch.keyframe_insert("scale", frame=1)
    data.nla_tracks.new().strips.new("scaled", 1, data.action).frame_end = 24
    data.action = kept
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    report = baking.finish(baking.bake_for_game(bpy.context, request))
    assert report.warnings == ("The scale of 'patch' in 'leg' is left out: games get it at 1",)
    bpy.context.scene.frame_set(12)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["patch"]
    assert tuple(posed.matrix.to_scale()) == pytest.approx((1.0, 1.0, 1.0), abs=1e-6)


def test_what_strips_do_to_the_object_and_to_other_bones_goes_on(addon):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob)
    data, kept = ob.animation_data, ob.animation_data.action
    data.action = None
    control = ob.pose.bones["control"]
    control["smile"] = 0.0
    for frame, share in ((1, 0.0), (24, 1.0)):
        ob.location, control["smile"] = (share, 2.0 * share, 0.3), share
        ob.keyframe_insert("location", frame=frame)
        control.keyframe_insert('["smile"]', frame=frame)
    data.nla_tracks.new().strips.new("walk", 1, data.action)
    data.action = kept
    wanted = heads(ob, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    report = baking.finish(baking.bake_for_game(bpy.context, request))
    assert not report.warnings
    assert np.abs(heads(ob, BONES) - wanted).max() <= SAME
    bpy.context.scene.frame_set(24)
    assert (ob.location.x, control["smile"]) == pytest.approx((1.0, 1.0))


def test_drivers_of_custom_properties_go_on_and_those_that_move_bones_do_not(addon):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob)
    ob.pose.bones["hip"]["smile"] = 0.0
    for path in ('pose.bones["hip"]["smile"]', 'pose.bones["patch"].location'):
        ob.driver_add(path, *([] if "smile" in path else [0])).driver.expression = "frame / 10"
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float))
    baking.finish(baking.bake_for_game(bpy.context, request))
    assert [curve.data_path for curve in ob.animation_data.drivers] == ['pose.bones["hip"]["smile"]']
    bpy.context.scene.frame_set(20)
    assert ob.pose.bones["hip"]["smile"] == pytest.approx(2.0)


ROUNDED = 2e-6
"""What exporters make of scale 1 where they take matrices apart: poses, or the bones at rest."""

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "glTF": ("gltf", {"export_def_bones": True, "export_force_sampling": False}),
    "glTF, sampled": ("gltf", {"export_def_bones": True}),
    "FBX": ("fbx", {"use_armature_deform_only": True, "add_leaf_bones": False}),
}
"""Exporters and their options."""


@pytest.mark.parametrize("form", FORMS)
def test_joints_come_through_an_engine_s_file_unscaled(baked, tmp_path, form):
    _, wanted, _ = baked
    exporter, options = FORMS[form]
    addon_utils.enable({"gltf": "io_scene_gltf2", "fbx": "io_scene_fbx"}[exporter])
    path = str(tmp_path / f"creature.{'glb' if exporter == 'gltf' else 'fbx'}")
    getattr(bpy.ops.export_scene, exporter)(filepath=path, **options)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    getattr(bpy.ops.import_scene, exporter)(filepath=path)
    (ob,) = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert np.linalg.norm(heads(ob, BONES) - wanted, axis=-1).max() < SAME
    scales = [curve for (name, _), curve in curves(ob).items() if name.endswith(".scale")]
    sizes = [size for bone in ob.pose.bones for size in bone.scale]
    sizes += [curve.evaluate(frame) for curve in scales for frame in FRAMES]
    assert np.abs(np.array(sizes) - 1.0).max() <= ROUNDED
    assert bool(scales) == (form != "glTF")


def overridden(tmp_path: Any, **settings: Any) -> Any:
    """The creature in another file, overridden, with a chain put on it there."""
    ob = make_creature()
    if settings:
        with editing(ob) as bones:
            bones["foot"].use_connect = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", ob.name)
    chain = make_chain(rig, **settings)
    bpy.context.scene.frame_end = 24
    return rig, chain


def test_an_override_with_a_connected_bone_below_a_longer_one_is_refused_before_anything_is_done(addon, tmp_path):
    baking = installed.addon("addon.bake")
    rig, chain = overridden(tmp_path, stretch=1.0)
    before = heads(rig, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float), True)
    with pytest.raises(baking.Refused, match="is connected to a bone that gets longer, and a game gets no scale"):
        baking.finish(baking.bake_for_game(bpy.context, request))
    assert chain.enabled
    assert np.abs(heads(rig, BONES) - before).max() <= SAME


def test_the_constraints_of_an_override_do_not_come_back(addon, tmp_path):
    baking = installed.addon("addon.bake")
    rig, _ = overridden(tmp_path)
    wanted = heads(rig, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float), True)
    baking.finish(baking.bake_for_game(bpy.context, request))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "reopened.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "reopened.blend"))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and not ob.library)
    assert all(each.mute for each in rig.pose.bones["patch"].constraints)
    assert np.abs(heads(rig, BONES) - wanted).max() <= SAME


def test_limbs_that_a_library_has_on_its_rig_are_baked_and_left_off(addon, tmp_path):
    baking = installed.addon("addon.bake")
    ob = make_creature()
    make_chain(ob, stretch=0.0)
    select(ob, "shin")
    bpy.ops.pose.planar_ik_make_portable()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    rig = override_of(tmp_path / "library.blend", ob.name)
    chain = rig.pose.bones["shin"].planar_ik
    assert (chain.runs_on, chain.enabled) == ("RIG", True)
    wanted = heads(rig, BONES)
    request = baking.Request(baking.chains_of_scene(bpy.context), np.array(FRAMES, float), True)
    baking.finish(baking.bake_for_game(bpy.context, request))
    assert not chain.enabled
    assert np.abs(heads(rig, BONES) - wanted).max() <= SAME
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "reopened.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "reopened.blend"))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and not ob.library)
    assert np.abs(heads(rig, BONES) - wanted).max() <= SAME
