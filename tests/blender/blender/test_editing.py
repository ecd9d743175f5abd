"""Edit Mode for a moment leaves everything as it was, but for the bones; and bones, paths, names and handlers."""

import bpy
import pytest

from tests.blender.rigs import drive, empty, stack


def state():
    layer = bpy.context.view_layer
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    shown = {ob.name: (ob.hide_viewport, ob.hide_select, [c.name for c in ob.users_collection]) for ob in rigs}
    seen = {ob.name: (ob.mode, ob.select_get(), ob.hide_get()) for ob in layer.objects}
    return shown, seen, layer.objects.active, [ob.data.use_mirror_x for ob in rigs]


def hide(ob, how):
    """Put a rig where Blender edits no bones."""
    scene = bpy.context.scene.collection
    ob.hide_set(how == "eye")
    ob.hide_viewport = ob.hide_select = how == "disabled"
    if how in ("excluded", "elsewhere"):
        scene.objects.unlink(ob)
    if how == "excluded":
        collection = bpy.data.collections.new("Away")
        scene.children.link(collection)
        collection.objects.link(ob)
        bpy.context.view_layer.layer_collection.children["Away"].exclude = True


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
@pytest.mark.parametrize("how", ["shown", "eye", "disabled", "excluded", "elsewhere"])
def test_bones_are_made_in_rigs_wherever_they_are(addon, how, mode):
    ob, busy, other = stack("a", "b.L", "b.R"), stack("d", name="Busy"), empty("Other")
    ob.data.use_mirror_x = True
    bpy.context.view_layer.update()
    hide(ob, how)
    busy.select_set(True)
    other.select_set(True)
    bpy.context.view_layer.objects.active = busy
    bpy.ops.object.mode_set(mode=mode)
    before = state()
    with addon("blender.editing").edit_mode(bpy.context, ob):
        ob.data.edit_bones.new("new").tail = (0.0, 1.0, 0.0)
        ob.data.edit_bones["b.L"].tail.x = 0.5
    assert state() == before
    assert set(ob.data.bones.keys()) == {"a", "b.L", "b.R", "new"}
    assert ob.data.bones["b.R"].tail_local.x == 0.0


def test_what_was_posed_without_a_key_stays_also_after_an_error(addon):
    ob = stack("a", "b")
    ob.pose.bones["a"].keyframe_insert("location", frame=1)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.context.scene.frame_set(1)
    ob.pose.bones["a"].location = (1.0, 2.0, 3.0)
    before = state()
    with pytest.raises(KeyError, match="none"), addon("blender.editing").edit_mode(bpy.context, ob):
        ob.data.edit_bones["none"]
    bpy.context.view_layer.update()
    assert state() == before
    assert tuple(ob.pose.bones["a"].location) == (1.0, 2.0, 3.0)


def test_a_driver_is_set_while_no_scene_is_left_behind(addon):
    ob, scenes = empty("A"), len(bpy.data.scenes)
    with addon("blender.editing").without_window_updates():
        drive(ob, "location", empty("B"), "location.y", 0)
    assert len(bpy.data.scenes) == scenes
    bpy.data.objects["B"].location.y = 4.0
    bpy.context.view_layer.update()
    assert ob.location.x == 4.0


def test_paths_lead_to_bones_whatever_they_are_called(addon):
    types, name = addon("blender.types"), 'a "quoted" \\ bone] name'
    ob = stack("root", name)
    bone = ob.pose.bones[name]
    bone["IK Flip"] = True
    assert ob.path_resolve(types.path_to_bone(name)) == bone
    assert ob.path_resolve(types.path_to_custom(name, "IK Flip")) is True
    assert types.split_path(types.path_to_custom(name, "IK Flip")) == (name, '["IK Flip"]')
    assert types.split_path(types.path_to_bone(name) + ".location") == (name, "location")
    assert types.split_path("location") == ("", "location")
    assert types.children_of(ob.pose.bones["root"]) == [bone]
    assert [types.has_bone(each, name) for each in (ob, empty("E"), None)] == [True, False, False]
    assert types.can_edit_bones(ob)


@pytest.mark.parametrize(
    ("name", "other"),
    [("shin.L", "shin.R"), ("mixamorig:LeftArm", "mixamorig:RightArm"), ("spine", "spine"), ("arm_r.001", "arm_l.001")],
)
def test_names_have_an_other_side(addon, name, other):
    assert addon("limb.names").other_side(name) == other


def test_handlers_are_there_once_and_gone_after(addon):
    handlers, calls = addon("blender.types"), []
    listed = [("frame_change_post", lambda *_: calls.append(1))]
    before = len(bpy.app.handlers.frame_change_post)
    for _ in range(2):
        handlers.add_handlers(listed)
    bpy.context.scene.frame_set(3)
    handlers.remove_handlers(listed)
    assert (calls, len(bpy.app.handlers.frame_change_post)) == ([1], before)
