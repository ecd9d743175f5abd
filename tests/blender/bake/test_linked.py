"""Rigs of another file: what is linked can't take keys, an override of it can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.bake_rigs import assert_same, bake_scene, key_hip, make_chain, make_leg, motion


@pytest.fixture
def linked(tmp_path: Path) -> Any:
    """A collection with a leg, its chain and its target, linked into an empty file."""
    ob = make_leg()
    chain = make_chain(ob, softness=0.1)
    key_hip(ob)
    collection = bpy.data.collections.new("figure")
    for each in (ob, chain.target):
        collection.objects.link(each)
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {collection})
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["figure"]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    bpy.context.view_layer.update()
    return wanted.collections[0]


def test_a_linked_rig_is_refused(linked):
    with pytest.raises(installed.addon("addon.bake").Refused, match="make a library override of it first"):
        bake_scene()


@pytest.mark.parametrize("is_overridden", [False, True])
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_an_override_is_baked_into_an_action_of_its_own(linked, tolerance, is_overridden):
    """Whether the action is linked or overridden as well: then keys that are written to it are dropped by Blender."""
    scene = bpy.context.scene
    override = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.collection.children.unlink(linked)
    bpy.context.view_layer.update()
    ob = next(each for each in override.all_objects if each.type == "ARMATURE")
    if is_overridden:
        ob.animation_data.action.override_create(remap_local_usages=True)
    wanted = motion(ob)
    with pytest.raises(installed.addon("addon.bake").Refused, match="is linked from another file"):
        bake_scene()
    bake_scene(into_new=True, tolerance=tolerance)
    assert ob.animation_data.action.library is None
    assert ob.animation_data.action.override_library is None
    assert_same(motion(ob), wanted, tolerance or 2e-6)
