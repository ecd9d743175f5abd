"""The settings behave like Blender's own: they are keyed, driven and copied by path. Files saved before keep theirs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.rigs import (
    NEAR,
    curves,
    joints,
    make_chain,
    make_empty,
    make_rig,
    put,
    reopened,
    select,
    set_keys,
    update,
)

SHIN = 'pose.bones["shin"]'
ANIMATED = {
    "enabled": False,
    "plane": "POLE",
    "bend": -0.5,
    "hinge_angle": 0.25,
    "lower_twist": -0.5,
    "influence": 0.5,
    "softness": 0.25,
    "stretch": 0.5,
    "stretch_max": 3.0,
    "stretch_volume": "VOLUME",
    "min_angle": 0.5,
    "max_angle": 2.0,
}
"""The settings that animate, each with a value that is not its default."""


@pytest.fixture
def leg() -> Any:
    ob = make_rig()
    make_chain(ob, make_empty("target", NEAR), pole_target=make_empty("pole", (0.3, 5, -0.5)))
    update()
    return ob.pose.bones["shin"]


def stored(group: Any) -> Any:
    """What Blender keeps of a bone's group, where files saved before have the settings."""
    return group.bl_system_properties_get() if hasattr(group, "bl_system_properties_get") else group


@pytest.mark.parametrize(("name", "value"), ANIMATED.items())
def test_a_setting_is_the_same_on_the_bone_and_in_its_group(leg: Any, name: str, value: Any) -> None:
    setattr(leg.planar_ik, name, value)
    assert getattr(leg, f"planar_ik_{name}") == value
    leg.property_unset(f"planar_ik_{name}")
    default = getattr(leg.planar_ik, name)
    assert default != value or name == "enabled"
    setattr(leg, f"planar_ik_{name}", value)
    assert getattr(leg.planar_ik, name) == value
    of_bone, of_group = leg.bl_rna.properties[f"planar_ik_{name}"], leg.planar_ik.bl_rna.properties[name]
    assert of_bone.default == of_group.default
    assert (of_bone.name, of_bone.description) == (of_group.name, of_group.description)


def test_a_group_knows_its_bone_in_the_evaluated_pose_and_after_undo(leg: Any) -> None:
    select(leg.id_data, "shin")
    put(leg.planar_ik, influence=0.25)
    evaluated = leg.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"]
    assert evaluated.planar_ik.influence == 0.25
    bpy.ops.ed.undo_push(message="a quarter")
    leg.planar_ik.influence = 0.75
    bpy.ops.ed.undo_push(message="three quarters")
    bpy.ops.ed.undo()
    bones = bpy.data.objects["rig"].pose.bones
    assert (bones["shin"].planar_ik.influence, bones["thigh"].planar_ik.influence) == (0.25, 1.0)


def test_a_renamed_bone_keeps_its_settings_and_gives_none_to_its_namesake(leg: Any) -> None:
    chain = leg.planar_ik
    chain.influence = 0.25
    leg.name, leg.parent.name = "lower", "shin"
    leg.parent.planar_ik_influence = 0.75
    assert chain.influence == 0.25
    assert leg.parent.planar_ik.influence == 0.75


@pytest.mark.parametrize("name", ANIMATED)
def test_a_bone_keys_and_drives_its_own_settings(leg: Any, name: str) -> None:
    assert leg.keyframe_insert(f"planar_ik_{name}", frame=1)
    assert leg.path_from_id(f"planar_ik_{name}") == f"{SHIN}.planar_ik_{name}"
    assert [path for path, _ in curves(leg.id_data)] == [f"{SHIN}.planar_ik_{name}"]
    assert leg.driver_add(f"planar_ik_{name}").data_path == f"{SHIN}.planar_ik_{name}"


def test_keys_on_the_bone_move_the_limb(leg: Any) -> None:
    set_keys(leg, "planar_ik_influence", {1: 1.0, 11: 0.0})
    bpy.context.scene.frame_set(6)
    half = joints(leg.id_data).tip
    assert leg.planar_ik.influence == pytest.approx(0.5)
    leg.id_data.animation_data_clear()
    put(leg, planar_ik_influence=0.5)
    assert np.linalg.norm(joints(leg.id_data).tip - half) < 1e-6
    put(leg, planar_ik_influence=1.0)
    assert np.linalg.norm(joints(leg.id_data).tip - half) > 0.1


def test_keys_and_drivers_on_the_group_are_taken_over(leg: Any) -> None:
    ob, scene = leg.id_data, bpy.context.scene
    for frame, influence in ((1, 1.0), (11, 0.0)):
        leg.planar_ik.influence = influence
        ob.keyframe_insert(f"{SHIN}.planar_ik.influence", frame=frame)
    driver = ob.driver_add(f"{SHIN}.planar_ik.softness").driver
    driver.expression = "0.25 + frame"
    for frame, influence in ((5, 0.648), (6, 0.5)):
        scene.frame_set(frame)
        assert leg.planar_ik_influence == pytest.approx(influence)
        assert leg.planar_ik_softness == 1.0
    assert [path for path, _ in curves(ob)] == [f"{SHIN}.planar_ik_influence"]
    assert [curve.data_path for curve in ob.animation_data.drivers] == [f"{SHIN}.planar_ik_softness"]
    leg.planar_ik.influence = 0.75
    ob.keyframe_insert(f"{SHIN}.planar_ik.influence", frame=21)
    for frame in (15, 16):
        scene.frame_set(frame)
    assert [path for path, _ in curves(ob)] == [f"{SHIN}.planar_ik_influence"]
    keys = curves(ob)[f"{SHIN}.planar_ik_influence", 0].keyframe_points
    assert [tuple(key.co) for key in keys] == [(1.0, 1.0), (11.0, 0.0), (21.0, 0.75)]


def save_as_before(leg: Any, folder: Any) -> Any:
    """Save a file whose chain has its settings, keys and drivers in the bone's group, and open it."""
    ob, group = leg.id_data, stored(leg.planar_ik)
    numbers = {"plane": 1, "stretch_volume": 2, "enabled": True}
    for name, value in ANIMATED.items():
        leg.property_unset(f"planar_ik_{name}")
        group[name] = numbers.get(name, value)
    ob.keyframe_insert(f"{SHIN}.planar_ik.influence", frame=1)
    track = ob.animation_data.nla_tracks.new()
    track.strips.new("strip", 100, ob.animation_data.action)
    ob.animation_data.action = None
    ob.keyframe_insert(f"{SHIN}.planar_ik.bend", frame=1)
    ob.driver_add(f"{SHIN}.planar_ik.softness").driver.expression = "0.25"
    reader = bpy.data.objects["pole"].driver_add("scale", 0).driver
    variable = reader.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, f"{SHIN}.planar_ik.stretch_max"
    reader.expression = variable.name
    return reopened(folder)


def test_a_file_saved_before_keeps_settings_keys_strips_and_drivers(leg: Any, tmp_path: Any) -> None:
    ob = save_as_before(leg, tmp_path)
    bone = ob.pose.bones["shin"]
    wanted = {**ANIMATED, "enabled": True}
    assert {name: getattr(bone, f"planar_ik_{name}") for name in wanted} == pytest.approx(wanted)
    assert not set(stored(bone.planar_ik).keys()) & set(wanted)
    assert [path for path, _ in curves(ob)] == [f"{SHIN}.planar_ik_bend"]
    ob.animation_data.action = ob.animation_data.nla_tracks[0].strips[0].action
    assert [path for path, _ in curves(ob)] == [f"{SHIN}.planar_ik_influence"]
    assert [curve.data_path for curve in ob.animation_data.drivers] == [f"{SHIN}.planar_ik_softness"]
    update()
    assert bpy.data.objects["pole"].scale[0] == 3.0


def override(leg: Any, folder: Any) -> Any:
    """Save what is there as a library, and open a shot that overrides it; give the rig."""
    collection = bpy.data.collections.new("character")
    for ob in bpy.data.objects:
        collection.objects.link(ob)
    leg.id_data.use_fake_user = collection.use_fake_user = True
    library = str(folder / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.collections = ["character"]
    bpy.context.scene.collection.children.link(into.collections[0])
    into.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return reopened(folder)


def test_overrides_of_a_library_saved_before_keep_what_they_set(leg: Any, tmp_path: Any) -> None:
    for name, number in (("influence", 0.25), ("softness", 0.5), ("stretch", 0.5)):
        stored(leg.planar_ik)[name] = number
    rig = override(leg, tmp_path)
    bone = rig.pose.bones["shin"]
    stored(bone.planar_ik)["softness"] = 0.125  # as it was when the shot was saved
    path = f"{SHIN}.planar_ik.softness"
    rig.override_library.properties.add(path).operations.add("REPLACE")
    rig = reopened(tmp_path)
    values = ("influence", 0.25), ("softness", 0.125), ("stretch", 0.5)
    assert [getattr(rig.pose.bones["shin"], f"planar_ik_{name}") for name, _ in values] == [v for _, v in values]
    rig.pose.bones["shin"].planar_ik_stretch = 0.75
    rig = reopened(tmp_path)
    values = (*values[:2], ("stretch", 0.75))
    assert [getattr(rig.pose.bones["shin"], f"planar_ik_{name}") for name, _ in values] == [v for _, v in values]


def test_no_more_is_stored_than_was_set(leg: Any, addon: ModuleType) -> None:
    names = addon.rig.settings.NAMES
    assert [name for name in names if leg.is_property_set(f"planar_ik_{name}")] == ["enabled"]
    select(leg.id_data, "shin")
    bpy.ops.pose.planar_ik_remove()
    assert not any(leg.is_property_set(f"planar_ik_{name}") for name in names)
